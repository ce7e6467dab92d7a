"""Where the state of a learner is kept: in RAM only, or also in a folder, change by change."""

import copy
import json
import threading
import time
from collections.abc import Sequence
from operator import is_not
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import engine, kernels
from minout._typing import Floats, Id, Ints, Label
from minout.codecs import ExactCodec
from minout.engine import Certificate, Columns, Delta, MalformedError, State
from minout.errors import InvalidInputError, MinoutError, UnwritableError
from minout.features import FeatureMap
from minout.model_file import (
    check_codec,
    encode_notes,
    expect_rows_of,
    found_features,
    header,
    plain_note,
)
from minout.store import DamagedRecord, Database, decode_arrays, encode_arrays
from minout.store.database import (
    Changes,
    ExampleRecord,
    Key,
    KnownState,
    LogEntry,
    OnWait,
    Reading,
)
from minout.store.folder import prepare_folder, remove_if_empty

Durability = Literal["example", "batch"]

BATCH_CHANGES, BATCH_SECONDS = 1_000, 0.5
"""A group commit comes after so many changes, or so many seconds after the first of them."""
MOST_NAMED = 100
"""At most so many pairs of labels are named in one entry of the log."""
SPARE = 2**26
"""Free places may take so many bytes more than the file has."""
ABOUT, NOTES = "about", "notes"


class Loaded(NamedTuple):
    """A state that was read, its feature map, and what the store knows once it is adopted.

    `notes` is what the database has, as JSON; the state has notes of its own if the user changed
    some that are not committed. `known` is None if nothing has been committed yet.
    """

    features: FeatureMap
    state: State
    header: dict[str, Any]
    positions: Ints
    notes: str
    known: KnownState | None = None


class Store:
    """Where a learner keeps its state: this one in RAM only, so that there is nothing to do.

    A learner calls `begin` before a change, `record` while it applies one, `note` when it has, and
    `end`. Each may be interrupted: a change that was recorded is noted later, and a state that was
    read counts when it is adopted.
    """

    def begin(self, _state: State, _features: FeatureMap, /) -> Loaded | None:
        """Take the turn; return the newest state if another process has changed it."""
        return None

    def adopt(self, loaded: Loaded, /) -> None:
        """Take over a state that was read; twice is the same as once."""

    def record(
        self, state: State, delta: Delta | None, action: str = "", /, *, log_ids: bool = False
    ) -> None:
        """Remember the change that is being applied; None stands for a state that is all new.

        With `log_ids` the log keeps the ids of examples that it forgets.
        """

    def note(self) -> None:
        """Note what the change that was recorded last concerns."""

    def end(self, _state: State, /) -> None:
        """Commit what was noted, now or soon."""

    def flush(self, _state: State, /) -> None:
        """Commit what was noted, and return when it is on the disk."""

    def newest(self, _state: State, _features: FeatureMap, /) -> Loaded | None:
        """Return the newest state; None if it is the one that was read or written last."""
        return None

    def close(self, _state: State, /) -> None:
        """Commit what was noted, and release the files."""

    def abandon(self) -> None:
        """Release the files without a commit."""

    def compact(self, _state: State, /) -> None:
        """Leave nothing deleted in any file."""


class _Changed:
    """What has changed since the last commit: keys of records, not their values."""

    def __init__(self) -> None:
        self.count, self.since = 0, 0.0
        self.everything = self.all_places = self.all_pairs = self.far = False
        self.places: dict[int, None] = {}
        self.pairs: set[int] = set()
        self.log: list[LogEntry] = []
        self.forgotten: list[str] = []

    @property
    def moves_far(self) -> bool:
        """Whether discriminants of far pairs have changed."""
        return self.far or self.all_pairs


class _ImageMark(NamedTuple):
    """Which images there are: those of a geometry, with so many in use."""

    geometry: Any
    dtype: Any
    generation: int
    used: int

    @classmethod
    def of(cls, state: State) -> "_ImageMark":
        """Return the mark of a state."""
        images = state.frame.images
        return cls(images.geometry, images.dtype, images.generation, images.count)

    def continues(self, before: "_ImageMark") -> bool:
        """Return whether all images of an earlier mark are still where they were."""
        is_same = self.geometry is before.geometry and self[1:3] == before[1:3]
        return is_same and before.used <= self.used


class _Written(NamedTuple):
    """What the database has, as far as it is not in the seals: to write what differs."""

    shared: dict[str, tuple[Any, ...]]
    images: _ImageMark | None
    notes: str
    labels: frozenset[Label] = frozenset()


_NOTHING_WRITTEN = _Written({}, None, "{}")


class FolderStore(Store):
    """A state in a model's folder.

    Parameters
    ----------
    folder : Path
        The folder.
    durability : {"example", "batch"}
        Whether each call commits, or a group of them does.
    read_only : bool, default=False
        Only read; the folder must exist. Otherwise it is made if it does not, and removed again by
        `close` if nothing was written.
    on_wait : callable, optional
        Called while another process has the turn: see `Database`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        durability: Durability = "batch",
        read_only: bool = False,
        on_wait: OnWait | None = None,
    ) -> None:
        if durability not in ("batch", "example"):
            raise InvalidInputError(
                f'`durability` must be "batch" or "example", not {durability!r}.'
            )
        self.folder, self.durability, self.read_only = folder, durability, read_only
        self._made_folder = prepare_folder(folder, create=not read_only)
        self._database = Database(folder, read_only=read_only, on_wait=on_wait)
        self._changed, self._written = _Changed(), _NOTHING_WRITTEN
        self._recorded: tuple[State, Delta | None, str, bool] | None = None
        self._state: State | None = None
        self._first: State | None = None
        self._given: FeatureMap | None = None
        self._features: dict[str, Any] = {}
        self._positions: Ints = np.zeros(0, dtype=np.int64)
        self._next_position = 0
        self._rows: Ints = np.zeros(0, dtype=np.int64)
        self._failure: MinoutError | None = None
        self._guard = threading.RLock()
        self._completed = self._log_start = 0
        self._writing: tuple[int, Changes, _Written] | None = None
        self.is_closed = False

    @property
    def database(self) -> Database:
        """The database."""
        return self._database

    @property
    def is_new(self) -> bool:
        """Whether no state has ever been written."""
        return self._database.newest() == 0

    def commit_due(self) -> bool:
        """Return whether a group commit is due."""
        changed = self._changed
        if self.is_closed or not changed.count:
            return False
        waited = time.monotonic() - changed.since
        return changed.count >= BATCH_CHANGES or waited >= BATCH_SECONDS

    # Changes

    def begin(self, state: State, features: FeatureMap, /) -> Loaded | None:
        """Take the turn; return the newest state if another process has changed it."""
        self._require_writable()
        with self._guard:
            self.note()
            if self._failure is not None:
                self.flush(state)
            self._completed, self._log_start = self._changed.count, len(self._changed.log)
            if self._database.in_turn or not self._database.begin():
                return None
            if self._changed.count:
                raise self._lost()
            return self._load(features, state, state.examples.codec)

    def record(
        self, state: State, delta: Delta | None, action: str = "", /, *, log_ids: bool = False
    ) -> None:
        """Remember the change that is being applied; None stands for a state that is all new.

        With `log_ids` the log keeps the ids of examples that it forgets.
        """
        self._recorded = state, delta, action, log_ids

    def note(self) -> None:
        """Note what the change that was recorded last concerns.

        If it is interrupted, it begins again: twice is the same as once, but for the log.
        """
        with self._guard:
            self._settle()
            if self._recorded is None:
                return
            (state, delta, action, log_ids), changed = self._recorded, self._changed
            if not changed.count:
                changed.since = time.monotonic()
            changed.count += 1
            if delta is None or state is not self._state:
                changed.everything = True
                self._state = state
            if delta is not None:
                self._note(state, delta)
                if not log_ids:
                    names = delta.certificate.forgotten
                    changed.forgotten.extend(json.dumps(each) for each in names)
            if action or (delta is not None and _is_worth_logging(delta)):
                changed.log.append(_entry(state, delta, action, log_ids=log_ids))
            self._recorded = None

    def _note(self, state: State, delta: Delta) -> None:
        changed = self._changed
        if delta.reduced is not None or delta.all_regions is not None:
            changed.all_places = changed.all_pairs = True
        if delta.region_count is not None:  # a call that failed was undone
            changed.everything = True
            del changed.log[self._log_start :]
        if delta.all_separators is not None or delta.label is not None:
            changed.all_pairs = True
        changed.far = changed.far or bool(delta.discriminants)
        changed.pairs.update(delta.separators)
        placed = [] if delta.added is None else [state.examples.added]
        if delta.relabelled is not None:
            placed.append(delta.relabelled[0])
        for place in placed:
            self._place(place)
        known = [state.place_of[each] for each in delta.corrected if each in state.place_of]
        changed.places.update(dict.fromkeys([*placed, *delta.removed.tolist(), *known]))

    def _place(self, place: int) -> None:
        # A row joins its region after all others.
        if place >= len(self._positions):
            self._positions = _longer(self._positions, place + 1)
        self._positions[place] = self._next_position
        self._next_position += 1

    def end(self, state: State, /) -> None:
        """Commit what was noted: at once, or if a group commit is due."""
        with self._guard:
            self.note()
            if self.durability == "example":
                self.flush(state)
            else:
                self.commit_if_due(state)

    def commit_if_due(self, state: State, *, is_due: bool = False) -> None:
        """Commit what was noted if a group commit is due; end the turn if there is nothing.

        If the commit fails, the next change tries again and reports it.
        """
        self.note()
        if self.commit_due() or (is_due and self._changed.count):
            try:
                self.flush(state)
            except MinoutError as error:
                self._failure, self._changed.since = error, time.monotonic()
        else:
            self.leave()

    def commit_meanwhile(self, state: State) -> None:
        """Commit what earlier calls changed while another call is computed, if it is due.

        The turn is kept, so that no other process changes the model under that call.
        """
        if not self._guard.acquire(blocking=False):
            return
        try:
            self._settle()
            is_earlier = self._recorded is None and self._changed.count == self._completed
            if self.commit_due() and is_earlier and self._database.in_turn:
                changes, after = self._changes(state, encode_notes(state.notes))
                self._writing = self._database.version + 1, changes, after
                self._database.commit_and_stay(changes)
                self._settle()
                self._completed = self._changed.count
        except MinoutError as error:
            self._failure, self._changed.since = error, time.monotonic()
        finally:
            self._guard.release()

    def leave(self) -> None:
        """End the turn, unless changes wait for a group commit."""
        with self._guard:
            if not self.is_closed and not self._changed.count and self._recorded is None:
                self._database.end()

    def flush(self, state: State, /) -> None:
        """Commit what was noted, and return when it is on the disk."""
        if self.read_only or self.is_closed:
            return
        with self._guard:  # another thread may be committing what earlier calls changed
            self._flush(state)

    def _flush(self, state: State) -> None:
        self.note()
        notes = encode_notes(state.notes)
        if not self._changed.count and notes == self._written.notes:
            self._failure = None
            self._database.end()
            return
        if not self._database.in_turn and self._database.begin():
            raise self._lost()
        changes, after = self._changes(state, notes)
        self._writing = self._database.version + 1, changes, after
        self._database.commit(changes)
        self._settle()

    def _settle(self) -> None:
        # Know what was written, if the last commit succeeded; it may have been interrupted.
        if self._writing is None:
            return
        number, changes, after = self._writing
        if self._database.settle() == number:
            self._first = self._failure = None
            for record in changes.examples:
                self._rows[record.place] = record.digest if record.id is not None else 0
            self._written = after
            self._changed, self._log_start = _Changed(), 0
        self._writing = None

    def _lost(self) -> UnwritableError:
        # Drop what was noted, and return the error for it; the next call reads the newest state.
        self._database.end()
        self._state, self._failure, self._changed = None, None, _Changed()
        return UnwritableError(
            f"The last changes could not be written to {self.folder}, and another process has "
            "changed the model since; they are lost."
        )

    def restored(self, state: State, features: FeatureMap) -> Loaded:
        """Return the state that was committed last, with the notes of the given one."""
        self._database.end()
        codec = state.examples.codec
        if self._first is not None and self.is_new:
            codec = self._first.examples.codec
            first = State(self._first.settings, 0, self._first.examples.dtype, codec)
            loaded = Loaded(features, first, self._features, self._positions, "{}")
        else:
            loaded = self._load(features, None, codec)
        loaded.state.notes = state.notes
        return loaded

    def abandon(self) -> None:
        """Release the files without a commit; remove a folder that stayed empty."""
        if self.is_closed or not self._database.is_mine:
            return
        self.is_closed = True
        self._database.end()
        if self.read_only or self._database.newest():
            self._database.close()
            return
        self._database.remove()
        if self._made_folder is not None:
            remove_if_empty(self.folder, self._made_folder)

    def __del__(self) -> None:
        """Commit what has not been committed yet, when the learner is no longer used."""
        if not getattr(self, "is_closed", True):  # missing if the folder could not be opened
            state = self._recorded[0] if self._recorded is not None else self._state
            if state is None:
                self.abandon()
            else:
                self.close(state)

    def close(self, state: State, /) -> None:
        """Commit what was noted, and release the files; remove a folder that stayed empty."""
        if not self.is_closed and self._database.is_mine:
            self.flush(state)
            self.abandon()

    def _require_writable(self) -> None:
        if self.is_closed:
            raise UnwritableError(f"{self.folder} has been closed; open it again.")
        if self.read_only:
            raise UnwritableError(f"{self.folder} was opened to be read only.")
        self._database.require_process()

    def write(
        self, state: State, described: dict[str, Any], log: Sequence[LogEntry], action: str
    ) -> None:
        """Write a state that is all new, and earlier entries of the log.

        `described` is the `header` of its feature map.
        """
        self._features = described
        self._changed.log.extend(log)
        self.record(state, None, action)
        self.flush(state)

    def compact(self, state: State) -> None:
        """Write the database anew, so that nothing deleted is left in any file."""
        self._require_writable()
        self.flush(state)
        had = [label for labels in state.corrected.values() for label in labels]
        self._database.compact({json.dumps(each) for each in (*state.labels, *had)})

    # Writing

    def _changes(self, state: State, notes: str) -> tuple[Changes, _Written]:
        changed, end = self._changed, state.examples.end
        if changed.everything or changed.all_places:
            self._number_members(state)
        every_place = changed.everything or changed.all_places
        places = range(end) if every_place else [place for place in changed.places if place < end]
        if end > len(self._rows):
            self._rows = _longer(self._rows, end)
        records = [self._example(state, place) for place in places]
        images, mark = self._images(state)
        parts, shared = self._parts(state)
        if notes != self._written.notes or self._written is _NOTHING_WRITTEN:
            parts[NOTES] = notes.encode()
        labels = self._written.labels
        if changed.everything or changed.all_pairs or changed.forgotten:
            labels = frozenset(state.labels)
        gone = self._written.labels - labels if changed.forgotten else ()
        given = state.examples.given
        new_rows = (
            (record.place, given[record.place].tobytes())
            for record in records
            if record.id is not None and self._rows[record.place] != record.digest
        )
        changes = Changes(
            end,
            records,
            new_rows,
            self._separators(state),
            images,
            parts,
            changed.log,
            changed.forgotten,
            [json.dumps(each) for each in gone],
        )
        return changes, _Written(shared, mark, notes, labels)

    def _number_members(self, state: State) -> None:
        self._positions = np.zeros(max(state.examples.end, 1), dtype=np.int64)
        for members in state.regions.members:
            self._positions[members.places] = np.arange(members.count)
        self._next_position = state.examples.end

    def _example(self, state: State, place: int) -> ExampleRecord:
        examples = state.examples
        if not examples.stored[place]:
            return ExampleRecord.free(place)
        id = state.ids[place]
        had = state.corrected.get(id)
        return ExampleRecord(
            place,
            json.dumps(id),
            json.dumps(state.label_at(place)),
            int(examples.regions[place]),
            int(self._positions[place]),
            float(examples.weights[place]),
            float(examples.times[place]),
            int(examples.serials[place]),
            int(examples.digests[place].view(np.int64)),
            None if had is None else json.dumps(had),
        )

    def _separators(self, state: State) -> dict[Key, bytes | None]:
        changed, pairs = self._changed, self._changed.pairs
        found: dict[Key, bytes | None] = {}
        if changed.everything or changed.all_pairs:
            pairs = set(state.separators.stored(state.regions.order.owner))
            found = dict.fromkeys(self._database.keys("separators"))
        for pair in sorted(pairs):
            record = engine.separator_record(state, pair)
            found[pair] = None if record is None else encode_arrays(record)
        return found

    def _images(self, state: State) -> tuple[dict[Key, bytes | None], "_ImageMark"]:
        # Images are added after those that there are; if those have changed, all are written.
        images, known = state.frame.images, self._database.keys("images")
        before, mark = self._written.images, _ImageMark.of(state)
        start, doubtful = 0, set(known)
        if before is not None and not self._changed.everything and mark.continues(before):
            start, doubtful = before.used, known & self._changed.places.keys()
        added, places = images.since(start)
        found: dict[Key, bytes | None] = {
            place: image.tobytes() for place, image in zip(places.tolist(), added, strict=True)
        }
        for place in doubtful - found.keys():
            image = images.at(int(place)) if start else None
            found[place] = None if image is None else image.tobytes()
        return found, mark

    def _parts(self, state: State) -> tuple[dict[Key, bytes | None], dict[str, tuple[Any, ...]]]:
        examples = state.examples
        about = {
            **self._features,
            "end": examples.end,
            "width": examples.given.shape[1],
            "dtype": examples.given.dtype.name,
            "state": engine.summary(state),
        }
        parts: dict[Key, bytes | None] = {ABOUT: json.dumps(about).encode()}
        now, changed, known = _shared_objects(state), self._changed, self._database.keys("parts")
        for name in engine.SHARED:
            before = self._written.shared.get(name, ())
            is_new = len(before) != len(now[name]) or any(map(is_not, before, now[name]))
            is_new = is_new or changed.everything or (name == "far" and changed.moves_far)
            arrays = engine.shared(state, name) if is_new else {}
            if is_new and (arrays or name in known):
                parts[name] = encode_arrays(arrays) if arrays else None
        return parts, now

    # Reading

    def load(self, features: FeatureMap | None, codec: ExactCodec | None) -> Loaded:
        """Read the newest state; feature map and codec must be the given ones, if there are."""
        return self._load(features, None, codec)

    def start(self, first: State, features: FeatureMap, *, is_given: bool) -> None:
        """Begin a new model with an empty state, and the feature map that the user gave, if any."""
        self._first, self._given = copy.copy(first), features if is_given else None
        self._features = header(features)

    def newest(self, state: State, features: FeatureMap, /) -> Loaded | None:
        """Return the newest state; None if it is the one that was read or written last."""
        with self._guard:
            if self.is_closed or self._database.in_turn:
                return None
            self._database.require_process()
            self.note()
            self._database.end()  # a view that was interrupted
            if self._database.newest() == self._database.version:
                return None
            if self._changed.count:
                raise self._lost()
            return self._load(features, state, state.examples.codec)

    def _load(
        self, features: FeatureMap | None, old: State | None, codec: ExactCodec | None
    ) -> Loaded:
        # Records of examples that are known are taken from the old state, if it is what is known.
        database, known = self._database, self._state
        is_anew = old is None or old is not known or self._changed.count > 0
        if self._first is not None:
            features = self._given
        try:
            read, seals = database.read(
                lambda reading: self._read(reading, features, None if is_anew else old, codec),
                anew=is_anew,
            )
        except (MalformedError, DamagedRecord) as error:
            raise database.damaged() from error
        loaded = read._replace(known=seals)
        if old is not None:
            _keep_changed(old.notes, self._written.notes, loaded.state.notes)
        return loaded

    def adopt(self, loaded: Loaded, /) -> None:
        """Take over a state that was read; twice is the same as once."""
        state = loaded.state
        if loaded.known is not None:
            self._database.adopt(loaded.known)
            self._first = None
            self._written = _Written(
                _shared_objects(state),
                _ImageMark.of(state),
                loaded.notes,
                frozenset(state.labels),
            )
        self._features, self._positions = loaded.header, loaded.positions
        self._next_position = int(loaded.positions.max(initial=-1)) + 1
        self._rows = state.examples.digests.view(np.int64).copy()
        self._rows[~state.examples.stored] = 0
        self._state, self._changed, self._recorded, self._failure = state, _Changed(), None, None
        self._log_start = 0

    def _read(
        self,
        reading: Reading,
        features: FeatureMap | None,
        old: State | None,
        codec: ExactCodec | None,
    ) -> Loaded:
        values = reading.keyed("parts")
        about = _checked_about(_decoded(values.pop(ABOUT, b"")))
        notes = _decoded(values.pop(NOTES, b""))
        found = found_features(self._database.file, about.get("features"), features)
        columns = self._columns(reading, about, old)
        shared: dict[str, NDArray[Any]] = {}
        for name in engine.SHARED:
            shared |= decode_arrays(values[name]) if name in values else {}
        separators = {
            int(key): decode_arrays(value) for key, value in reading.keyed("separators").items()
        }
        images = _images_of(reading.keyed("images"), shared, _image_dtype(about, shared))
        check_codec(self._database.file, about["state"], codec)
        packed = engine.gathered(about["state"], notes, columns, separators, images, shared)
        state = engine.unpacked(*packed, codec)
        expect_rows_of(found, state)
        kept = {key: about.get(key) for key in header(found)}
        return Loaded(found, state, kept, columns.positions, json.dumps(notes))

    def _columns(self, reading: Reading, about: dict[str, Any], old: State | None) -> Columns:
        end, width, dtype = about["end"], about["width"], np.dtype(about["dtype"])
        records = reading.examples(end)
        if end * width * dtype.itemsize > 2 * self._database.size + SPARE:
            raise MalformedError("rows")
        columns = _known_columns(old if reading.since else None, self._positions, end, width, dtype)
        known = np.where(columns.stored, columns.digests, 0)
        labels = [json.dumps(each) for each in about["state"]["labels"]]
        for record in records:
            is_known = 0 <= record.region < len(labels)
            if record.id is not None and not (is_known and labels[record.region] == record.label):
                raise MalformedError("label")
        _put(columns, records)
        places = np.flatnonzero(columns.stored & (columns.digests != known))
        rows, digests = columns.rows, columns.digests
        words = rows.view(f"u{dtype.itemsize}")

        def put(place: int, row: bytes) -> None:
            rows[place] = np.frombuffer(row, dtype)
            if kernels.digest(words[place]) != digests[place]:
                raise MalformedError("digest")

        reading.rows(places, width * dtype.itemsize, put)
        rows[~columns.stored] = 0
        return columns


def _longer(array: NDArray[Any], end: int) -> NDArray[Any]:
    longer = np.zeros(max(end, 2 * len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def _keep_changed(mine: dict[str, Any], before: str, notes: dict[str, Any]) -> None:
    # Put the notes that were changed here, and are not committed, among those that were read.
    known = json.loads(before)
    for key in [key for key in {**known, **mine} if plain_note(mine.get(key)) != known.get(key)]:
        if key in mine:
            notes[key] = mine[key]
        else:
            notes.pop(key, None)


def _shared_objects(state: State) -> dict[str, tuple[Any, ...]]:
    # The arrays of each shared part: they are replaced, not changed in place, except for `far`.
    moments, geometry, far = state.frame.moments, state.frame.geometry, state.separators.far
    return {
        "sums": (moments.shift, moments.counts, moments.sums, moments.squares),
        "scatter": (moments.scatter,),
        "metric": (geometry.origin, geometry.K, geometry.precision),
        "hats": tuple(state.examples.expansion),
        "far": (far,),
        "memory": (state.examples.codec,),
    }


def _decoded(value: bytes | str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise MalformedError("JSON") from None


def _checked_about(about: Any) -> dict[str, Any]:
    if not isinstance(about, dict) or not {"end", "width", "dtype", "state"} <= set(about):
        raise MalformedError("about")
    if not isinstance(about["state"], dict) or not isinstance(about["state"].get("labels"), list):
        raise MalformedError("labels")
    if about["dtype"] not in ("float32", "float64", "uint8"):
        raise MalformedError("dtype")
    if any(type(about[name]) is not int or about[name] < 0 for name in ("end", "width")):
        raise MalformedError("about")
    return about


def _known_columns(
    old: State | None, positions: Ints, end: int, width: int, dtype: np.dtype[Any]
) -> Columns:
    # Columns for `end` places, with what is known of them.
    columns = Columns(
        [""] * end,
        {},
        np.zeros((end, width), dtype=dtype),
        np.zeros(end, dtype=np.int64),
        np.zeros(end, dtype=np.int64),
        np.zeros(end, dtype=np.uint64),
        np.zeros(end, dtype=bool),
        np.ones(end),
        np.zeros(end),
        np.zeros(end, dtype=np.int64),
    )
    if old is None or (old.examples.given.shape[1], old.examples.given.dtype) != (width, dtype):
        return columns
    examples, n = old.examples, min(end, old.examples.end)
    columns.ids[:n] = old.ids[:n]
    columns.rows[:n], columns.regions[:n] = examples.given[:n], examples.regions[:n]
    columns.positions[:n] = positions[:n]
    columns.digests[:n], columns.stored[:n] = examples.digests[:n], examples.stored[:n]
    columns.weights[:n], columns.times[:n] = examples.weights[:n], examples.times[:n]
    columns.serials[:n] = examples.serials[:n]
    for id, labels in old.corrected.items():
        columns.corrected[old.place_of[id]] = labels
    free = np.flatnonzero(~columns.stored[:n]).tolist()
    _put(columns, [ExampleRecord.free(place) for place in free])
    return columns


def _put(columns: Columns, records: Sequence[ExampleRecord]) -> None:
    if not records:
        return
    listed, ids, _, regions, positions, weights, times, serials, digests, corrected = zip(
        *records, strict=True
    )
    places = np.array(listed, dtype=np.int64)
    columns.stored[places] = [each is not None for each in ids]
    columns.regions[places], columns.positions[places] = regions, positions
    columns.weights[places], columns.times[places] = weights, times
    columns.serials[places] = serials
    columns.digests[places] = np.array(digests, dtype=np.int64).view(np.uint64)
    for place, id, labels in zip(listed, ids, corrected, strict=True):
        columns.ids[place] = "" if id is None else _id(id)
        columns.corrected.pop(place, None)
        if labels is not None:
            columns.corrected[place] = _labels(labels)


def _id(text: str) -> Any:
    is_number = text.isascii() and text.isdigit() and (text[0] != "0" or text == "0")
    return int(text) if is_number and len(text) < 20 else _decoded(text)


def _labels(text: str) -> tuple[Any, ...]:
    labels = _decoded(text)
    if not isinstance(labels, list):
        raise MalformedError("corrected")
    return tuple(labels)


def _image_dtype(about: dict[str, Any], shared: dict[str, NDArray[Any]]) -> np.dtype[Any]:
    state = about["state"]
    memory = state.get("memory") if isinstance(state, dict) else None
    name = memory.get("dtype") if isinstance(memory, dict) else about["dtype"]
    if "far.V" in shared:
        name = "float64"
    if name not in ("float32", "float64"):
        raise MalformedError("memory")
    return np.dtype(name)


def _images_of(
    values: dict[Key, bytes], shared: dict[str, NDArray[Any]], dtype: np.dtype[Any]
) -> tuple[Floats, Ints]:
    width = len(shared.get("origin", ()))
    if any(len(value) != width * dtype.itemsize for value in values.values()):
        raise MalformedError("images")
    images = np.zeros((len(values), width), dtype=dtype)
    for n, value in enumerate(values.values()):
        images[n] = np.frombuffer(value, dtype)
    return images, np.array(list(values), dtype=np.int64)


def _is_worth_logging(delta: Delta) -> bool:
    certificate = delta.certificate
    is_edit = delta.relabelled is not None or delta.settings is not None
    forgets = delta.added is None and len(delta.removed) > 0
    return bool(is_edit or forgets or certificate.moved or certificate.misfits)


def _entry(state: State, delta: Delta | None, action: str, *, log_ids: bool = False) -> LogEntry:
    id: Id | None = None
    certificate: Certificate = engine.NOTHING_MOVED if delta is None else delta.certificate
    details: dict[str, Any] = {}
    if delta is not None:
        moved = [list(pair) for pair in certificate.moved[:MOST_NAMED]]
        details = {
            "moved": moved,
            "moved_in_all": len(certificate.moved),
            "checked": certificate.checked,
            "misfits": len(certificate.misfits),
            "cleared": len(certificate.cleared),
            "forgotten": len(certificate.forgotten),
        }
        if log_ids:
            details["forgotten_ids"] = list(certificate.forgotten)
        if delta.refresh is not None:
            details["refresh_seconds"] = round(delta.refresh.seconds, 3)
        if delta.added is not None:
            action, id = action or "teach", delta.added
        elif delta.relabelled is not None:
            action, id = action or "correct", state.ids[delta.relabelled[0]]
        elif delta.settings is not None:
            action = action or "keep"
        else:
            action = action or ("forget" if len(delta.removed) else "settle")
    return LogEntry(
        time.time(), action, None if id is None else json.dumps(id), json.dumps(details)
    )
