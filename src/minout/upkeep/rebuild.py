"""Rebuild a damaged model from the examples that are intact."""

import json
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from minout import engine
from minout._typing import Floats, Id
from minout.codecs import Codec, ExactCodec, codec_of
from minout.engine import Examples, Settings, State, Widths
from minout.engine.examples import LARGEST_WEIGHT, LEAST_WEIGHT
from minout.errors import MinoutError, MissingDataError, UnwritableError, system_reason
from minout.features import FeatureMap, Identity
from minout.inputs import LARGEST, LATEST
from minout.model_file import header
from minout.model_store import FolderStore
from minout.store.database import POLL, WAIT
from minout.store.schema import DATABASE, QUEUE, ExampleRecord
from minout.teaching import separable
from minout.upkeep.health import check, nothing, require_database
from minout.upkeep.salvage import Progress, Row, Salvaged, names_of, salvage

WORKSHOP = ".repair-"
"""The prefix of the temporary folder in which the new database is written."""
MARK = "damaged"
MOST_NAMED = 1_000
"""At most so many lost ids are named."""


class Repair(NamedTuple):
    """The result of `repair`.

    Attributes
    ----------
    problems : tuple of str
        What was wrong, one sentence each; empty if there was nothing to repair.
    examples : int
        The number of examples in the model.
    lost : int
        The number of examples that could not be rescued, as far as it is known.
    lost_ids : tuple of id
        The ids of these, 1,000 at most, as far as they can be read; an id may be damaged itself.
    lost_parts : tuple of str
        What else was lost: "settings", "feature map", "notes".
    kept : Path or None
        Where the damaged file is now; it may still hold rows that were forgotten.
    """

    problems: tuple[str, ...]
    examples: int
    lost: int
    lost_ids: tuple[Id, ...]
    lost_parts: tuple[str, ...]
    kept: Path | None

    @property
    def was_sound(self) -> bool:
        """Whether there was nothing to repair."""
        return not self.problems


def repair(
    folder: str | Path,
    *,
    features: str | FeatureMap | Callable[[Any], Any] | None = None,
    memory: Codec | None = None,
    progress: Progress = nothing,
) -> Repair:
    """Rebuild a damaged model from the examples whose record and row are intact.

    The new model is consolidated and checked before it replaces the damaged one. The damaged
    database is kept beside it, as model.sqlite.damaged. A sound model is left as it is. Other
    processes that use the model have to open it again.

    Parameters
    ----------
    folder : str or Path
        The model's folder.
    features : FeatureMap or callable, optional
        The feature map, if it is a function of your own.
    memory : Codec, optional
        The codec, if it is your own.
    progress : callable, optional
        Called with the fraction of the records that has been read.

    Returns
    -------
    Repair
        What was wrong, and what was lost.

    Raises
    ------
    MissingDataError
        If nothing can be rescued; the files are left as they are.
    """
    folder = require_database(folder)
    health = check(folder, features=features, memory=memory, progress=progress)
    if health.ok:
        return Repair((), 0 if health.audit is None else health.audit.examples, 0, (), (), None)
    with _alone(folder):
        found = salvage(folder, keep_rows=True, progress=progress)
        rebuilt = _Rebuilt(folder, found, None if memory is None else codec_of(memory))
        kept = _replace(folder, rebuilt, found)
    differences = () if health.audit is None else health.audit.differences
    lost_ids = names_of(iter(rebuilt.lost))
    return Repair(
        (*health.problems, *differences),
        len(rebuilt.state.place_of),
        len(rebuilt.lost),
        tuple(lost_ids[:MOST_NAMED]),
        tuple(rebuilt.lost_parts),
        kept,
    )


class _Rebuilt:
    """A consolidated state of the rescued examples, its feature map, and what was lost."""

    def __init__(self, folder: Path, found: Salvaged, own: ExactCodec | None) -> None:
        self.lost_parts: list[str] = []
        about, records = found.about, found.stored
        if not records and (about is None or found.damaged):
            raise MissingDataError(
                f"Nothing in {folder / DATABASE} can be rescued; it is left as it is."
            )
        summary: dict[str, Any] = {} if about is None else about["state"]
        settings = self._settings(summary)
        kind = _kind(folder, found, records, own, fills=settings.missing == "mean")
        usable = _usable(found, records, kind)
        self.lost = [*found.damaged.values(), *(each for each in records if each not in usable)]
        used = list(usable)
        self.header = self._header(about, kind.dtype)
        widths = _widths(summary, kind.width, about)
        self.state = self._state(found, used, settings, widths, kind)
        self._restore(found, summary, used)

    def _settings(self, summary: dict[str, Any]) -> Settings:
        try:
            return Settings(**summary["settings"])
        except (KeyError, TypeError, MinoutError):
            self.lost_parts.append("settings")
            return Settings()

    def _header(self, about: dict[str, Any] | None, dtype: str) -> dict[str, Any]:
        plain = header(Identity(dtype=dtype))
        if about is not None and isinstance(about.get("features"), dict):
            return {**plain, "features": about["features"]}
        self.lost_parts.append("feature map")
        return plain

    def _state(
        self,
        found: Salvaged,
        used: list[ExampleRecord],
        settings: Settings,
        widths: Widths,
        kind: "_RowKind",
    ) -> State:
        n = len(used)
        if widths.row is None:
            return State(settings, 0, np.dtype(kind.dtype), kind.codec)
        rows = np.empty((n, kind.entries), dtype=kind.stored)
        for place, record in enumerate(used):
            rows[place] = np.frombuffer(found.rows.pop(record.place).value, kind.stored)
        digests = np.array([each.digest for each in used], dtype=np.int64).view(np.uint64)
        examples = Examples.of(
            rows,
            np.zeros(n, dtype=np.int64),
            digests,
            np.ones(n, dtype=bool),
            weights=np.array([each.weight for each in used], dtype=np.float64),
            times=np.array([each.time for each in used], dtype=np.float64),
            serials=np.arange(n),
            codec=kind.codec,
            dtype=kind.dtype,
        )
        ids = [json.loads(each.id or "") for each in used]
        labels = [json.loads(each.label or "") for each in used]
        return separable(lambda: engine.rebuilt(settings, examples, ids, labels, widths))

    def _restore(self, found: Salvaged, summary: dict[str, Any], used: list[ExampleRecord]) -> None:
        state = self.state
        for record in used:
            if record.corrected is not None:
                state.corrected[json.loads(record.id or "")] = tuple(json.loads(record.corrected))
        if found.notes is None:
            self.lost_parts.append("notes")
        else:
            state.notes = found.notes
        numbers = [each for each in state.place_of if isinstance(each, int)]
        state.next_id = max([-1, *numbers]) + 1
        following = summary.get("next_id")
        if type(following) is int and 0 <= following < 2**62:
            state.next_id = following


class _RowKind(NamedTuple):
    """The kind of all rows: their width and dtype, how they are stored, and with which codec."""

    width: int
    dtype: str
    stored: str
    codec: ExactCodec | None
    fills: bool

    @property
    def entries(self) -> int:
        """The number of stored numbers, or of bytes of a code."""
        return self.width if self.codec is None else self.codec.bytes_per_row

    def is_usable(self, row: Row) -> bool:
        """Return whether a learner of such rows could have been taught one."""
        if row.dtype != self.stored:
            return False
        stored: NDArray[Any] = np.frombuffer(row.value, self.stored)
        if len(stored) != self.entries:
            return False
        if self.codec is not None:
            stored = self.codec.decode(stored[None], self.dtype)[0]
        if self.fills:
            stored = np.nan_to_num(stored, nan=0.0, posinf=np.inf, neginf=-np.inf)
        return _is_within(stored)


def _kind(
    folder: Path,
    found: Salvaged,
    records: list[ExampleRecord],
    own: ExactCodec | None,
    *,
    fills: bool,
) -> _RowKind:
    # As stated, or that of the first row.
    if found.about is None:
        value, dtype = found.rows[records[0].place]
        width = len(value) // np.dtype(dtype).itemsize
    else:
        width, dtype = found.about["width"], found.about["dtype"]
    if dtype != "uint8":
        return _RowKind(width, dtype, dtype, None, fills)
    summary = {} if found.about is None else found.about["state"]
    try:
        codec = engine.coded_with(summary, found.memory or {}, own)
    except engine.MalformedError:
        codec = None
    if codec is None:
        raise MissingDataError(
            f"The rows in {folder / DATABASE} are codes, and their codec cannot be read; the model "
            "is left as it is."
        )
    return _RowKind(codec.width or 0, summary["memory"]["dtype"], dtype, codec, fills=False)


def _widths(summary: dict[str, Any], width: int, about: dict[str, Any] | None) -> Widths:
    widths = summary.get("widths")
    is_pair = isinstance(widths, list) and len(widths) == 2
    if about is None or not is_pair or widths[1] not in (None, width):  # type: ignore[index]
        return Widths(width, width)
    return Widths(*widths)  # type: ignore[misc]


def _usable(
    found: Salvaged, records: list[ExampleRecord], kind: _RowKind
) -> dict[ExampleRecord, None]:
    # Those that a learner could have been taught; a file may be forged. Each id once.
    used: dict[ExampleRecord, None] = {}
    seen: set[str | None] = set()
    types: set[type] = set()
    for record in records:
        label = json.loads(record.label or "")
        fits = record.id not in seen and types <= {type(label)}
        fits = fits and LEAST_WEIGHT <= record.weight <= LARGEST_WEIGHT
        fits = fits and abs(record.time) <= LATEST
        if fits and kind.is_usable(found.rows[record.place]):
            used[record] = None
            seen.add(record.id)
            types.add(type(label))
    return used


def _is_within(row: Floats) -> bool:
    return float(row.min()) >= -LARGEST and float(row.max()) <= LARGEST


# Files


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    # Wait until no other process writes, and let none begin to.
    try:
        with FileLock(folder / QUEUE, thread_local=False).acquire(WAIT, poll_interval=POLL):
            _wait_for_writer(folder / DATABASE)
            yield
    except Timeout:
        raise UnwritableError(
            f"Another process has been changing {folder} for more than {WAIT:.0f} s; "
            "try again later."
        ) from None


def _wait_for_writer(file: Path) -> None:
    if not file.stat().st_size:  # SQLite would delete the write-ahead log
        return
    until = time.monotonic() + WAIT
    connection = sqlite3.connect(file, isolation_level=None, timeout=POLL)
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except UnicodeDecodeError:
                return  # so damaged that no process can write
            except sqlite3.DatabaseError as error:
                is_busy = error.sqlite_errorname.startswith("SQLITE_BUSY")
                if not is_busy or time.monotonic() > until:
                    return
    finally:
        connection.close()


def _replace(folder: Path, rebuilt: _Rebuilt, found: Salvaged) -> Path:
    # Write the new database, check it, and put it in the place of the damaged one.
    for leftover in folder.glob(f"{WORKSHOP}*"):  # of a repair that was killed
        shutil.rmtree(leftover, ignore_errors=True)
    workshop = folder / f"{WORKSHOP}{secrets.token_hex(8)}"
    try:
        store = FolderStore(workshop)
        store.write(rebuilt.state, rebuilt.header, found.log, "repair")
        store.database.compact()
        store.close(rebuilt.state)
        _check(workshop, rebuilt.state)
        return _swap(folder, workshop / DATABASE)
    except OSError as error:
        raise UnwritableError(
            f"The repaired model could not be written to {folder}: {system_reason(error)}."
        ) from error
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _check(workshop: Path, state: State) -> None:
    wrong = salvage(workshop, keep_rows=False, progress=nothing).problems
    wrong = wrong or (list(engine.audit(state).differences) if len(state.place_of) else [])
    if wrong:
        raise MissingDataError(f"The model cannot be repaired: {wrong[0]}")


def _swap(folder: Path, new: Path) -> Path:
    file = folder / DATABASE
    kept = _free_name(folder)
    for ending in ("", "-wal"):
        source = folder / f"{DATABASE}{ending}"
        if source.exists() and (source.stat().st_size or not ending):
            _link(source, kept.with_name(f"{kept.name}{ending}"))
    new.chmod(file.stat().st_mode & 0o777)
    # SQLite must never apply the write-ahead log of the damaged file to the new one.
    for ending in ("-wal", "-shm"):
        (folder / f"{DATABASE}{ending}").unlink(missing_ok=True)
    new.replace(file)
    return kept


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copy2(source, target)


def _free_name(folder: Path) -> Path:
    number, name = 1, f"{DATABASE}.{MARK}"
    while any((folder / f"{name}{ending}").exists() for ending in ("", "-wal")):
        number += 1
        name = f"{DATABASE}.{MARK}-{number}"
    return folder / name


def damaged_files(folder: Path) -> list[Path]:
    """Return the damaged files that repairs have kept in a folder; they may hold forgotten rows."""
    with suppress(OSError):
        return sorted(folder.glob(f"{DATABASE}.{MARK}*"))
    return []
