"""Which records of a model's database a change concerns, and their values when it is committed.

The records (docs/folder.md) are examples by *place* (the number of a stored row), with
a *position* that orders the members of a region; separators by the number of their pair; images
K(x - origin) of candidate support vectors; and parts, which all separators share. To *note* a
change is to list the keys of its records.
"""

import json
import time
from operator import is_not
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import engine
from minout._typing import Id, Ints, Label
from minout.engine import Certificate, Delta, State
from minout.store import encode_arrays
from minout.store.log import MOST_NAMED
from minout.store.schema import Changes, ExampleRecord, Key, LogEntry

ABOUT, NOTES = "about", "notes"


class Changed:
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


class ImageMark(NamedTuple):
    """Identify the images that a state has: their geometry, and how many are in use."""

    geometry: Any
    dtype: Any
    generation: int
    used: int

    @classmethod
    def of(cls, state: State) -> "ImageMark":
        """Return the mark of a state."""
        images = state.frame.images
        return cls(images.geometry, images.dtype, images.generation, images.count)

    def continues(self, before: "ImageMark") -> bool:
        """Return whether all images of an earlier mark are still where they were."""
        is_same = self.geometry is before.geometry and self[1:3] == before[1:3]
        return is_same and before.used <= self.used


class Written(NamedTuple):
    """What the database holds beside examples and separators, to write only what differs.

    `shared` has the arrays of each part, which are compared by identity.
    """

    shared: dict[str, tuple[Any, ...]]
    images: ImageMark | None
    notes: str
    labels: frozenset[Label] = frozenset()

    @classmethod
    def of(cls, state: State, notes: str) -> "Written":
        """Return what the database holds once the whole state is written."""
        return cls(_shared_objects(state), ImageMark.of(state), notes, frozenset(state.labels))


NOTHING_WRITTEN = Written({}, None, "{}")


class Recorder:
    """What the database of a model holds, and what has changed in the state since.

    Keys of records are noted change by change; their values are read from the state when they are
    written. Noting a change is idempotent, except for entries of the log.
    """

    def __init__(self) -> None:
        self.changed, self.written = Changed(), NOTHING_WRITTEN
        self.positions: Ints = np.zeros(0, dtype=np.int64)
        self._next_position = 0
        self._rows: Ints = np.zeros(0, dtype=np.int64)
        self._log_start = 0, 0

    def adopt(
        self,
        state: State,
        positions: Ints,
        written: "Written | None",
        *,
        is_renumbered: bool = False,
    ) -> None:
        """Start from a state that was read; `written` is None if the database is still empty.

        If places have other numbers than in the database, the next commit writes all records.
        """
        if written is not None:
            self.written = written
        self.positions = positions
        self._next_position = int(positions.max(initial=-1)) + 1
        self._rows = state.examples.digests.view(np.int64).copy()
        self._rows[~state.examples.stored] = 0
        self.forget_changes()
        if is_renumbered:
            self._rows[:] = 0
            self.changed.everything = True

    def forget_changes(self) -> None:
        """Drop all noted changes."""
        self.changed, self._log_start = Changed(), (0, 0)

    def committed(self, changes: Changes, written: "Written") -> None:
        """Mark changes as written; idempotent."""
        for record in changes.examples:
            self._rows[record.place] = record.digest if record.id is not None else 0
        self.written = written
        self.forget_changes()

    # Noting

    def begin_call(self) -> None:
        """Remember where the log of a call begins."""
        self._log_start = len(self.changed.log), len(self.changed.forgotten)

    def note(
        self, state: State, delta: Delta | None, action: str, *, all_new: bool, log_ids: bool
    ) -> None:
        """Note the records that a change concerns; with `all_new`, all records."""
        changed = self.changed
        if not changed.count:
            changed.since = time.monotonic()
        changed.count += 1
        changed.everything = changed.everything or all_new
        if delta is not None:
            self._note(state, delta)
            if not log_ids:
                names = delta.certificate.forgotten
                changed.forgotten.extend(json.dumps(each) for each in names)
        if action or (delta is not None and _is_worth_logging(delta)):
            changed.log.append(_entry(state, delta, action, log_ids=log_ids))

    def _note(self, state: State, delta: Delta) -> None:
        changed = self.changed
        if delta.reduced is not None or delta.all_regions is not None:
            changed.all_places = changed.all_pairs = True
        if delta.region_count is not None:  # the undoing of a call that failed
            changed.everything = True
            logged, forgotten = self._log_start
            del changed.log[logged:]
            del changed.forgotten[forgotten:]
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
        # An example joins its region after all other members.
        if place >= len(self.positions):
            self.positions = _longer(self.positions, place + 1)
        self.positions[place] = self._next_position
        self._next_position += 1

    # Writing

    def changes(
        self, state: State, notes: str, features: dict[str, Any]
    ) -> tuple[Changes, Written]:
        """Return the records to write for a state, and what the database holds afterwards.

        `features` is the `header` of its feature map; `notes` are its notes as JSON.
        """
        changed, end = self.changed, state.examples.end
        every_place = changed.everything or changed.all_places
        every_pair = changed.everything or changed.all_pairs
        if every_place:
            self._number_members(state)
        places = range(end) if every_place else [place for place in changed.places if place < end]
        if end > len(self._rows):
            self._rows = _longer(self._rows, end)
        records = [self._example(state, place) for place in places]
        images, mark, all_images = self._images(state)
        parts, shared = self._parts(state, features)
        if notes != self.written.notes or self.written is NOTHING_WRITTEN:
            parts[NOTES] = notes.encode()
        labels = self.written.labels
        if every_pair or changed.forgotten:
            labels = frozenset(state.labels)
        gone = self.written.labels - labels if changed.forgotten else ()
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
            self._separators(state, every_pair=every_pair),
            images,
            parts,
            ["separators"] * every_pair + ["images"] * all_images,
            changed.log,
            changed.forgotten,
            [json.dumps(each) for each in gone],
        )
        return changes, Written(shared, mark, notes, labels)

    def _number_members(self, state: State) -> None:
        self.positions = np.zeros(max(state.examples.end, 1), dtype=np.int64)
        for members in state.regions.members:
            self.positions[members.places] = np.arange(members.count)
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
            int(self.positions[place]),
            float(examples.weights[place]),
            float(examples.times[place]),
            int(examples.serials[place]),
            int(examples.digests[place].view(np.int64)),
            None if had is None else json.dumps(had),
        )

    def _separators(self, state: State, *, every_pair: bool) -> dict[Key, bytes | None]:
        pairs = self.changed.pairs
        if every_pair:
            pairs = set(state.separators.stored(state.regions.order.owner))
        found: dict[Key, bytes | None] = {}
        for pair in sorted(pairs):
            record = engine.separator_record(state, pair)
            found[pair] = None if record is None else encode_arrays(record)
        return found

    def _images(self, state: State) -> tuple[dict[Key, bytes | None], ImageMark, bool]:
        # New images come after the known ones; if the known ones have changed, all are written.
        images = state.frame.images
        before, mark = self.written.images, ImageMark.of(state)
        continues = before is not None and not self.changed.everything and mark.continues(before)
        start = before.used if before is not None and continues else 0
        added, places = images.since(start)
        found: dict[Key, bytes | None] = {
            place: image.tobytes() for place, image in zip(places.tolist(), added, strict=True)
        }
        for place in self.changed.places.keys() - found.keys() if continues else ():
            image = images.at(place)
            found[place] = None if image is None else image.tobytes()
        return found, mark, not continues

    def _parts(
        self, state: State, features: dict[str, Any]
    ) -> tuple[dict[Key, bytes | None], dict[str, tuple[Any, ...]]]:
        examples = state.examples
        about = {
            **features,
            "end": examples.end,
            "width": examples.given.shape[1],
            "dtype": examples.given.dtype.name,
            "state": engine.summary(state),
        }
        parts: dict[Key, bytes | None] = {ABOUT: json.dumps(about).encode()}
        now, changed = _shared_objects(state), self.changed
        for name in engine.SHARED:
            before = self.written.shared.get(name, ())
            is_new = len(before) != len(now[name]) or any(map(is_not, before, now[name]))
            if is_new or changed.everything or (name == "far" and changed.moves_far):
                arrays = engine.shared(state, name)
                parts[name] = encode_arrays(arrays) if arrays else None
        return parts, now


def _longer(array: NDArray[Any], end: int) -> NDArray[Any]:
    longer = np.zeros(max(end, 2 * len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


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
