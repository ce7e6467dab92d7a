"""Where a learner keeps its state: in RAM, and also in a file if it was opened there."""

import os
import threading
import weakref
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from minout import core, store
from minout.codecs import Codec, OwnCodec, codec_of
from minout.core import Executor, Settings, State, StepReport
from minout.errors import InvalidInputError, MissingDataError
from minout.features import FeatureMap, UnknownMap, named
from minout.inputs import checked_kinds
from minout.steps import Change, separable
from minout.store import Durability
from minout.views import Views

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K", bound="Kept")
TRIES = 2
"""So often a long change is computed, or caught up with, without the lock; then with it."""


def in_turn(method: Callable[Concatenate[K, P], R]) -> Callable[Concatenate[K, P], R]:
    """Run a method as the block of a `turn`.

    Unlike a `with` statement, an interruption between the turn and its block ends the turn, too.
    """

    @wraps(method)
    def within(self: K, /, *args: P.args, **kwargs: P.kwargs) -> R:
        turn = self._turn()
        try:
            next(turn)
            result = method(self, *args, **kwargs)
            next(turn, None)
            return result
        finally:
            turn.close()  # if it was not completed, everything is taken back

    return within


class Kept(Views):
    """One state that is replaced as a whole, and the file that follows it, if there is one.

    Whoever reads takes the state once and never waits. Whoever changes the model does so in `turn`:
    its thread works on a next state, which the others see when it is complete and committed.
    """

    @abstractmethod
    def __init__(self, **parameters: Any) -> None:
        """Begin with a model that has been taught nothing."""

    def _start(self, state: State, notes: dict[str, Any]) -> None:
        self._committed = self._next = state
        self._notes = notes
        self._mutex, self._thread = threading.RLock(), 0  # the thread that is in `turn`
        self._file: store.File | None = None
        self._entries: list[store.Entry] = []
        _alive.add(self)

    @property
    def _state(self) -> State:
        return self._next if self._is_in_turn else self._committed

    @in_turn
    def _change_each(
        self, items: Callable[[State], list[Any]], step: Callable[..., Change[StepReport]]
    ) -> list[StepReport]:
        return self._each(step, items(self._state))

    def _each(
        self, step: Callable[..., Change[StepReport]], items: Sequence[tuple[Any, ...]]
    ) -> list[StepReport]:
        reports = []
        for row, item in enumerate(items):
            try:
                reports.append(self._accept(step(self._next, *item)))
            except InvalidInputError as error:
                error.row = row
                raise
        return reports

    def _change(self, step: Callable[[State], Change[R]], *, is_long: bool = False) -> R:
        for _ in range(TRIES if is_long and not self._is_in_turn else 0):
            before = self._newest()  # which others may change meanwhile
            change = step(before)
            for _ in range(TRIES):
                latest = self._newest()
                change, before = _on_top(change, before, latest), latest
            if self._change_from(before, change):
                return change.result
        return self._change_now(step)

    @property
    def _is_in_turn(self) -> bool:
        return self._thread == threading.get_ident()

    @in_turn
    def _newest(self) -> State:
        return self._state

    @in_turn
    def _change_now(self, step: Callable[[State], Change[R]]) -> R:
        return self._accept(step(self._state))

    @in_turn
    def _change_from(self, before: State, change: Change[Any]) -> bool:
        # Accept a change of a state, on top of what others did since, unless that cannot be.
        change = _on_top(change, before, self._state)
        if change.state is not None:
            self._accept(change)
        return change.state is not None

    def _accept(self, change: Change[R]) -> R:
        # Continue with the state that a step returned; call it in `turn`.
        if change.state is not None:
            self._next = change.state
            if self._file is not None and change.is_worth_logging:
                self._entries.append(store.entry_of(change))
        return change.result

    @property
    def settings(self) -> Settings:
        """The settings as passed to the constructor: values or "auto"; and the blocks."""
        return self._state.settings

    @property
    def features(self) -> FeatureMap:
        """The fixed map that turns examples into rows."""
        features: FeatureMap = self._state.schema.features
        return features

    @property
    def memory(self) -> Codec | None:
        """The codec of the stored rows; None if they are stored as they are."""
        codec = self._state.examples.codec
        return codec.codec if isinstance(codec, OwnCodec) else codec

    @property
    def is_read_only(self) -> bool:
        """Whether the file of this learner was opened only to read it; see `open`."""
        return self._file is not None and self._file.read_only

    @property
    def notes(self) -> dict[str, Any]:
        """A dictionary for your own use, saved with the learner."""
        return self._notes

    def save(self, file: str | Path) -> None:
        """Write the learner to a file, as a model that `load` and `open` read.

        Parameters
        ----------
        file : str or Path
            The file to write. An existing file is replaced only when the new one is complete.
        """
        store.save(Path(file), self._state, self._encoded_notes())

    @classmethod
    def load(
        cls,
        file: str | Path,
        features: str | FeatureMap | Callable[[Any], Any] | None = None,
        memory: Codec | None = None,
    ) -> Self:
        """Read a learner from a file into RAM; later changes are not written to the file.

        Parameters
        ----------
        file : str or Path
        features : FeatureMap or callable, optional
        memory : Codec, optional
            The feature map and the codec, if they are your own: these are not saved. One with
            another fingerprint is an error.

        Returns
        -------
        Learner
            A learner with the same examples, separators and predictions. What it is taught later
            may differ in the last digits from what the saved one would make of it, until the next
            `consolidate()`.
        """
        mapped = None if features is None else named(features)
        codec = None if memory is None else codec_of(memory)
        learner = cls.__new__(cls)
        learner._start(*store.load(Path(file), mapped, codec))
        return learner

    @classmethod
    def open(
        cls,
        file: str | Path,
        *,
        durability: Durability = "normal",
        read_only: bool = False,
        features: str | FeatureMap | Callable[[Any], Any] | None = None,
        memory: str | Codec | None = None,
        on_wait: Callable[[float], None] | None = None,
        column_kinds: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> Self:
        """Open the model in a file; each call that changes it is committed before it returns.

        The file is an SQLite database. If it does not exist, a new model is made. Other processes
        may use the same file at the same time: a call that changes the model waits until no other
        process is changing it, and then begins with what the others committed.

        Parameters
        ----------
        file : str or Path
            The file; by custom its name ends in ".minout".
        durability : {"normal", "full"}, default="normal"
            With "normal", nothing that was committed is lost if a process is killed; a power cut
            may lose the last changes, but damages nothing. With "full", it loses none; each call
            takes some milliseconds longer.
        read_only : bool, default=False
            Open the model only to read it, which needs no permission to write; `reload` reads what
            other processes have committed since.
        features, memory : as in the constructor, optional
            For an existing model they are needed only if they are your own.
        on_wait : callable, optional
            Called repeatedly while a call waits for another process, with the seconds waited so
            far. An error that it raises ends the wait, and nothing has changed.
        column_kinds, **settings
            As in the constructor. For an existing model they must equal its present settings
            (`set_keep` changes `keep`), or be left out.

        Returns
        -------
        Learner
            The learner; in a `with` statement it is closed at the end.

        Examples
        --------
        >>> import tempfile
        >>> from minout import Learner
        >>> file = tempfile.mkdtemp() + "/pets.minout"
        >>> with Learner.open(file) as learner:
        ...     report = learner.teach([1.0, 0.0], "cat", id="a")
        >>> Learner.open(file, read_only=True).ids
        ['a']
        """
        unknown = features if isinstance(features, UnknownMap) else None
        new = cls(
            features="identity" if features is None or unknown else features,
            memory="auto" if memory is None else memory,
            column_kinds=column_kinds,
            **settings,
        )
        opened = store.File(Path(file), durability=durability, read_only=read_only, on_wait=on_wait)
        try:
            if opened.is_new and read_only:
                raise MissingDataError(
                    f"{file} holds no model. If it is a copy, the file {opened.path.name}-wal "
                    "belongs to it: copy a model with `minout copy`."
                )
            if not opened.create(new._state, new._encoded_notes()):
                given = unknown if unknown or features is None else new.features
                codec = None if memory is None else new._state.examples.codec
                wanted = {name: getattr(new.settings, name) for name in settings}
                new._start(*opened.load(given, codec))
                store.expect_settings(opened.path, new.settings, wanted)
                new._require_kinds(opened.path, column_kinds)
        except BaseException:
            opened.close()
            raise
        new._file = opened
        return new

    def store_in(self, file: str | Path, *, durability: Durability = "normal") -> None:
        """Keep this learner in a file from now on, as if it had been opened there; see `open`.

        Parameters
        ----------
        file : str or Path
            The file; it must not exist.
        durability : {"normal", "full"}, default="normal"
            See `open`.
        """
        self._refuse_in_turn("store_in")
        with self._mutex:
            if self._file is not None:
                raise InvalidInputError(f"This learner is kept in {self._file.path} already.")
            opened = store.File(Path(file), durability=durability)
            try:
                if not opened.create(self._state, self._encoded_notes()):
                    raise InvalidInputError(
                        f"{file} exists already; open it, or name another file."
                    )
            except BaseException:
                opened.close()
                raise
            self._file = opened

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Make several changes as one, in a `with` statement.

        No other process and no other thread can change the model meanwhile. The block begins with
        the newest committed state. All its changes, and `notes`, are committed in one transaction
        at its end. If it raises an error, or is interrupted, none of them is kept.

        Returns
        -------
        context manager
            For a `with` statement. Its value is whether other processes have changed the model
            since this learner last read or changed it.
        """
        yield from self._turn()

    def _turn(self) -> Generator[bool, None, None]:
        with self._mutex:
            before, is_outermost, entries = self._state, not self._thread, len(self._entries)
            is_newer, file = False, self._file if is_outermost else None
            notes_before = dict(self._notes)
            try:
                self._next, self._thread = before, threading.get_ident()
                if file is not None:
                    is_newer = self._begin(file)
                    before, notes_before = self._next, dict(self._notes)
                yield is_newer
                if file is not None:
                    notes = self._encoded_notes()
                    if self._next is not before or notes != file.notes:
                        file.commit(before, self._next, notes, self._entries)
                    file.abandon()
            except BaseException:
                self._next = before
                self._notes.clear()
                self._notes.update(notes_before)
                del self._entries[entries:]
                if file is not None:
                    file.abandon()
                raise
            finally:
                if is_outermost:
                    self._committed, self._entries, self._thread = self._next, [], 0

    def compact(self, executor: Executor | None = None) -> bool:
        """Consolidate, and leave no trace of forgotten examples in the file; see `open`.

        The database is written anew, which temporarily takes about as much space again on the
        disk. Labels that the model no longer has are removed from the log of changes. `notes` stay
        as they are.

        Parameters
        ----------
        executor : Executor, optional
            See `consolidate`.

        Returns
        -------
        bool
            Whether nothing is left. False if another process was reading the file at that moment:
            what it may still see is removed when it has closed the file, or by another `compact`.
        """
        self._refuse_in_turn("compact")
        if self._state.widths.row is not None:
            self.consolidate(executor)
        with self._mutex:
            return self._file is None or self._file.compact()

    def close(self) -> None:
        """Commit `notes` if they have changed, and release the file; see `open`.

        The learner can still be read, but not changed.
        """
        with self._mutex:
            file = self._file
            if file is None or file.is_closed or file.is_forked:
                return
            try:
                if not file.read_only and file.notes != self._encoded_notes():
                    with self.turn():
                        pass
            finally:
                file.close()

    def reload(self) -> bool:
        """Read what other processes have committed to the file; see `open`.

        Returns
        -------
        bool
            Whether there was something new.
        """
        with self._mutex:
            file = self._file
            if file is None or file.is_closed or self._thread or not file.has_news(self._committed):
                return False
            self._take_over(file)
            self._committed = self._next
            return True

    def __enter__(self) -> Self:
        """Return the learner."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the learner."""
        self.close()

    def reading(self) -> AbstractContextManager[object]:
        """Block changes by other threads, so that several calls see the same state.

        Returns
        -------
        context manager
        """
        return self._mutex

    def __getstate__(self) -> dict[str, Any]:
        """Return plain values: the bytes of a file, as `save` writes it.

        Used by pickle, copy and skops. Unlike in `save`, a feature map that is the user's own
        function is included, and so is the user's own codec. A copy is in RAM.
        """
        state = self._state
        own: dict[str, Any] = {}
        if not store.is_described(self.features):
            own["features"] = self.features
        if isinstance(state.examples.codec, OwnCodec):
            own["memory"] = self.memory
        return {**own, "model": store.to_bytes(state, self._encoded_notes())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the learner from the result of `__getstate__`."""
        codec = codec_of(state["memory"]) if "memory" in state else None
        self._start(*store.from_bytes(state["model"], state.get("features"), codec))

    def _refuse_in_turn(self, name: str) -> None:
        if self._is_in_turn:
            raise InvalidInputError(f"`{name}` cannot be a part of `turn`; call it afterwards.")

    def _begin(self, file: store.File) -> bool:
        # Take the file's write lock; return whether other processes have changed the state.
        is_newer = file.begin(self._committed)
        if is_newer:
            self._take_over(file)
        return is_newer

    def _take_over(self, file: store.File) -> None:
        # Continue with what other processes committed. The dictionary of notes is the same object.
        own = self._encoded_notes() != file.notes
        self._next, notes = file.reload(self._committed)
        if not own:
            self._notes.clear()
            self._notes.update(notes)

    def _encoded_notes(self) -> str:
        return store.encode_notes(self._notes)

    def _require_kinds(self, file: Path, wanted: Mapping[str, str] | None) -> None:
        has = self._state.schema.column_kinds
        if wanted is not None and checked_kinds(wanted) != has:
            raise InvalidInputError(
                f"The model in {file} was made with column_kinds={has or None!r}, not "
                f"{wanted!r}; pass the same, or leave it out."
            )


def _on_top(change: Change[Any], before: State, latest: State) -> Change[Any]:
    # A change of one state as a change of a later one; without a state if that cannot be.
    state = change.state
    if state is None or latest is before:
        return change
    encoders = {id(each.schema.encoder) for each in (state, before, latest)}
    if len(encoders) > 1 or not core.can_catch_up(before, latest):
        return change._replace(state=None)
    return change._replace(state=separable(lambda: core.caught_up(state, before, latest)))


def _renew_locks() -> None:
    # After a fork no thread of the parent exists that could release a lock.
    for learner in _alive:
        learner._mutex, learner._thread, learner._entries = threading.RLock(), 0, []


_alive: "weakref.WeakSet[Kept]" = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
