"""Where the state of a learner is kept: in RAM only, or also in a folder, change by change.

A *turn* is the time during which this process holds the folder's write lock: from the first change
to the commit. To *record* a change is to remember its Delta while it is applied; to *note* it is to
list the keys of the database records that must be written for it. A *group commit* writes the
changes of several calls in one transaction. To *adopt* a state is to continue with it. `notes` are
the user's dictionary.
"""

import copy
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from minout.codecs import ExactCodec
from minout.engine import Delta, MalformedError, Settings, State
from minout.errors import InvalidInputError, MinoutError, MissingDataError, UnwritableError
from minout.features import FeatureMap
from minout.model_changes import Recorder, Written
from minout.model_file import encode_notes, header, plain_note
from minout.model_reading import Expected, Loaded, SparseError, read_state
from minout.store import DamagedRecord, Database
from minout.store.database import OnWait
from minout.store.folder import prepare_folder, remove_if_empty
from minout.store.reading import Reading
from minout.store.schema import Changes, LogEntry

Durability = Literal["example", "batch"]

BATCH_CHANGES, BATCH_SECONDS = 1_000, 0.5
"""A group commit is due after so many changes, or so many seconds after the first of them."""


class Store:
    """Where a learner keeps its state: here in RAM only, so the methods do nothing.

    A learner calls `begin` before a change, `record` while it is applied, `note` afterwards, and
    `end`. Ctrl-C may interrupt each of them: a change that was recorded but not noted is noted by
    the next call, and a state that was read has no effect before `adopt`.
    """

    def begin(self, _state: State, _features: FeatureMap, /) -> Loaded | None:
        """Take the write lock; return the newest state if another process changed it."""
        return None

    def adopt(self, loaded: Loaded, /) -> None:
        """Continue with a state that was read; idempotent."""

    def record(
        self, state: State, delta: Delta | None, action: str = "", /, *, log_ids: bool = False
    ) -> None:
        """Remember the change that is being applied; None if the whole state is new.

        With `log_ids` the log keeps the ids of the examples that the change forgets.
        """

    def note(self) -> None:
        """List the database records that the last recorded change concerns."""

    def end(self, _state: State, /) -> None:
        """Commit all noted changes: now, or later in a group commit."""

    def flush(self, _state: State, /) -> None:
        """Commit all noted changes, and return when they are on the disk."""

    def newest(self, _state: State, _features: FeatureMap, /) -> Loaded | None:
        """Return the newest committed state; None if it is the one that this store knows."""
        return None

    def close(self, _state: State, /) -> None:
        """Commit all noted changes, and release the files."""

    def abandon(self) -> None:
        """Release the files without a commit."""

    def compact(self, _state: State, /) -> None:
        """Remove all traces of deleted records from the files."""


class _LostError(UnwritableError):
    """Changes could not be committed, and cannot be any more."""


class FolderStore(Store):
    """A store that keeps the state of a learner in a folder.

    Parameters
    ----------
    folder : Path
        The folder.
    durability : {"example", "batch"}
        Whether each call commits its changes, or group commits do.
    read_only : bool, default=False
        Only read; the folder must exist. Otherwise a missing folder is made, and `close` removes it
        again if nothing was written.
    on_wait : callable, optional
        Called while another process holds the write lock: see `Database`.
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
        self._place = Path(os.path.abspath(folder))  # the program may change its directory
        made = prepare_folder(folder, create=not read_only)
        self._made_folder = None if made is None else Path(os.path.abspath(made))
        self._database = Database(self._place, read_only=read_only, on_wait=on_wait)
        self._records = Recorder()
        self._recorded: tuple[State, Delta | None, str, bool] | None = None
        self._state: State | None = None
        self._first: State | None = None
        self._given: FeatureMap | None = None
        self._wanted: dict[str, Any] = {}
        self._features: dict[str, Any] = {}
        self._failure: MinoutError | None = None
        self._writing: tuple[int, Changes, Written] | None = None
        self.is_closed = False

    @property
    def database(self) -> Database:
        """The database."""
        return self._database

    @property
    def is_new(self) -> bool:
        """Whether no state has ever been written."""
        return self._database.newest() == 0

    def has_new_notes_only(self, state: State) -> bool:
        """Return whether there are notes to commit, and nothing else."""
        is_usable = not self.read_only and not self.is_closed and self._database.is_mine
        if not is_usable or self._records.changed.count or self._recorded is not None:
            return False
        return encode_notes(state.notes) != self._records.written.notes

    def commit_due(self) -> bool:
        """Return whether a group commit is due."""
        changed = self._records.changed
        if self.is_closed or not changed.count:
            return False
        waited = time.monotonic() - changed.since
        return changed.count >= BATCH_CHANGES or waited >= BATCH_SECONDS

    # Changes

    def begin(self, state: State, features: FeatureMap, /) -> Loaded | None:
        """Take the write lock; return the newest state if another process changed it."""
        self._require_writable()
        self.note()
        if self._failure is not None:
            self.flush(state)
        self._records.begin_call()
        if self._database.in_turn or not self._database.begin():
            return None
        if self._records.changed.count:
            raise self._lost()
        return self._load(features, state, state.examples.codec)

    def record(
        self, state: State, delta: Delta | None, action: str = "", /, *, log_ids: bool = False
    ) -> None:
        """Remember the change that is being applied; None if the whole state is new.

        With `log_ids` the log keeps the ids of the examples that the change forgets.
        """
        self._recorded = state, delta, action, log_ids

    def note(self) -> None:
        """List the database records that the last recorded change concerns.

        If it is interrupted, it is called again: idempotent, except for entries of the log.
        """
        self._settle()
        if self._recorded is None:
            return
        state, delta, action, log_ids = self._recorded
        all_new = delta is None or state is not self._state
        self._records.note(state, delta, action, all_new=all_new, log_ids=log_ids)
        self._state = state
        self._recorded = None

    def end(self, state: State, /) -> None:
        """Commit all noted changes: at once, or only if a group commit is due."""
        self.note()
        if self.durability == "example":
            self.flush(state)
        else:
            self.commit_if_due(state)

    def commit_if_due(self, state: State, *, is_due: bool = False) -> None:
        """Commit all noted changes if a group commit is due; if there are none, end the turn.

        If the commit fails, the next change tries again and reports the failure.
        """
        self.note()
        if self.commit_due() or (is_due and self._records.changed.count):
            try:
                self.flush(state)
            except MinoutError as error:
                self._failure, self._records.changed.since = error, time.monotonic()
        else:
            self.leave()

    def leave(self) -> None:
        """End the turn, unless changes wait for a group commit."""
        if not self.is_closed and not self._records.changed.count and self._recorded is None:
            self._database.end()

    def flush(self, state: State, /) -> None:
        """Commit all noted changes, and return when they are on the disk."""
        if self.read_only or self.is_closed:
            return
        self.note()
        notes = encode_notes(state.notes)
        if not self._records.changed.count and notes == self._records.written.notes:
            failure, self._failure = self._failure, None
            self._database.end()
            if isinstance(failure, _LostError):  # it was found in the background
                raise failure
            return
        if not self._database.in_turn and self._database.begin():
            raise self._lost()
        # The records to write; `_settle` finds out whether they were committed.
        changes, after = self._records.changes(state, notes, self._features)
        self._writing = self._database.version + 1, changes, after
        self._database.commit(changes)
        self._settle()

    def _settle(self) -> None:
        # Find out whether the last commit succeeded, even if it was interrupted.
        if self._writing is None:
            return
        number, changes, after = self._writing
        if self._database.settle() == number:
            self._first = self._failure = None
            self._records.committed(changes, after)
        self._writing = None

    def _lost(self) -> "_LostError":
        # Drop all noted changes, and return the error; the next call reads the newest state.
        self._database.end()
        self._state = self._failure = None
        self._records.forget_changes()
        return _LostError(
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
            loaded = Loaded(features, first, self._features, self._records.positions, "{}")
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
        if self.read_only or not self._has_no_state():
            self._database.close()
            return
        self._database.remove()
        if self._made_folder is not None:
            remove_if_empty(self._place, self._made_folder)

    def _has_no_state(self) -> bool:
        try:
            return self.is_new
        except MissingDataError:  # it is damaged
            return False

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
            raise UnwritableError(
                f"{self.folder} was opened to be read only; open it without `read_only`."
            )
        self._database.require_process()

    def write(
        self, state: State, described: dict[str, Any], log: Sequence[LogEntry], action: str
    ) -> None:
        """Write a whole new state, and earlier entries of the log.

        `described` is the `header` of its feature map.
        """
        self._features = described
        self._records.changed.log.extend(log)
        self.record(state, None, action)
        self.flush(state)

    def compact(self, state: State) -> None:
        """Write the database anew, so that nothing deleted is left in any file."""
        self._require_writable()
        self.flush(state)
        had = [label for labels in state.corrected.values() for label in labels]
        self._database.compact({json.dumps(each) for each in (*state.labels, *had)})

    # Reading

    def load(self, features: FeatureMap | None, codec: ExactCodec | None) -> Loaded:
        """Read the newest state; a feature map or codec that is given must match it."""
        return self._load(features, None, codec)

    def start(
        self,
        first: State,
        features: FeatureMap,
        *,
        is_given: bool,
        settings: dict[str, Any] | None = None,
    ) -> None:
        """Begin a new model with an empty state, and the feature map that the user gave, if any."""
        self._first, self._given = copy.copy(first), features if is_given else None
        self._wanted = settings or {}
        self._features = header(features)

    def newest(self, state: State, features: FeatureMap, /) -> Loaded | None:
        """Return the newest committed state; None if it is the one that this store knows."""
        if self.is_closed or self._database.in_turn:
            return None
        self._database.require_process()
        self.note()
        self._database.end()  # a read transaction that was interrupted
        if self._database.newest() == self._database.version:
            return None
        if self._records.changed.count:
            raise self._lost()
        return self._load(features, state, state.examples.codec)

    def _load(
        self, features: FeatureMap | None, old: State | None, codec: ExactCodec | None
    ) -> Loaded:
        # Examples that have not changed are taken from the old state, if it is the known one.
        database, known, changed = self._database, self._state, self._records.changed
        is_anew = old is None or old is not known or changed.count > 0 or changed.everything
        if self._first is not None:
            features = self._given
        expected = Expected(features, codec, None if is_anew else old, self._records.positions)

        def read_it(reading: Reading) -> Loaded:
            return read_state(reading, database.file, expected)

        try:
            try:
                read, seals = database.read(read_it, anew=is_anew)
            except SparseError:
                read, seals = database.read(read_it, anew=True)
        except (MalformedError, DamagedRecord) as error:
            raise database.damaged() from error
        loaded = read._replace(known=seals)
        if self._first is not None:  # another process was the first to write
            expect_settings(self.folder, loaded.state.settings, self._wanted)
        if old is not None:
            _keep_changed(old.notes, self._records.written.notes, loaded.state.notes)
        return loaded

    def adopt(self, loaded: Loaded, /) -> None:
        """Continue with a state that was read; idempotent."""
        state = loaded.state
        written = None
        if loaded.known is not None:
            self._database.adopt(loaded.known)
            self._first, written = None, Written.of(state, loaded.notes)
        self._features = loaded.header
        self._records.adopt(state, loaded.positions, written, is_renumbered=loaded.is_renumbered)
        self._state, self._recorded, self._failure = state, None, None


def expect_settings(folder: Path, settings: Settings, wanted: dict[str, Any]) -> None:
    """Raise InvalidInputError unless a model has the settings that the user named."""
    for name, value in wanted.items():
        has = getattr(settings, name)
        if value != has:
            raise InvalidInputError(
                f"The model in {folder} was made with {name}={has!r}, not {value!r}; "
                f"leave `{name}` out."
            )


def _keep_changed(mine: dict[str, Any], before: str, notes: dict[str, Any]) -> None:
    # Put notes that were changed in this process, and not committed, into those that were read.
    known = json.loads(before)
    for key in [key for key in {**known, **mine} if plain_note(mine.get(key)) != known.get(key)]:
        if key in mine:
            notes[key] = mine[key]
        else:
            notes.pop(key, None)
