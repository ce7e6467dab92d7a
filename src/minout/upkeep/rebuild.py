"""Rebuild a damaged model from the examples that are intact."""

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock

from minout import engine
from minout._typing import Id
from minout.codecs import Codec, ExactCodec, codec_of
from minout.engine import Examples, Settings, State, Widths
from minout.engine.examples import LARGEST_WEIGHT, LEAST_WEIGHT
from minout.errors import MinoutError, MissingDataError, UnwritableError, system_reason
from minout.features import FeatureMap, Identity, UnknownMap
from minout.inputs import LARGEST
from minout.model_file import header
from minout.model_store import FolderStore
from minout.steps import separable
from minout.store import DamagedRecord, decode_arrays
from minout.store.connection import WAIT, log_size
from minout.store.schema import DATABASE, QUEUE, LogEntry
from minout.upkeep.health import check, nothing
from minout.upkeep.intact import Example, Intact, Progress

MARK = "damaged"


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
        The ids of these, as far as they can be read; an id may be damaged itself.
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

    The new model is consolidated, and checked before it replaces the damaged one. The damaged
    database is kept beside it, as model.sqlite.damaged. A sound model is left as it is. Other
    processes that use the model have to open it again.

    Parameters
    ----------
    folder, features, memory, progress
        As in `check`.

    Returns
    -------
    Repair
        What was wrong, and what was lost.

    Raises
    ------
    MissingDataError
        If nothing can be rescued; the files are left as they are.
    """
    folder = Path(folder)
    health = check(folder, features=features, memory=memory, progress=progress)
    if health.ok:
        return Repair((), health.rows, 0, (), (), None)
    with FileLock(folder / QUEUE, timeout=WAIT):  # no other process may begin to write
        found = Intact(folder, progress, keep_rows=True)
        used = {each.id: each for each in found.examples if _is_usable(each, found.examples[0])}
        if not used:
            raise MissingDataError(
                f"Nothing in {folder / DATABASE} can be rescued; it is left as it is."
            )
        parts = _Parts(found)
        try:
            own = None if memory is None else codec_of(memory)
            state = _rebuilt(list(used.values()), parts, own)
        except (engine.MalformedError, DamagedRecord):
            raise MissingDataError(
                f"The rows in {folder / DATABASE} are codes, and their codec cannot be read; the "
                "model is left as it is."
            ) from None
        kept = _replace(folder, state, parts.header, found.log, memory)
    unusable = [each.id for each in found.examples if each.id not in used]
    return Repair(
        (*health.problems, *(health.audit.differences if health.audit else ())),
        len(used),
        found.lost + len(unusable),
        (*found.lost_ids, *unusable),
        tuple(parts.lost),
        kept,
    )


class _Parts:
    """What cannot be computed again from examples, and which of it was `lost`."""

    def __init__(self, found: Intact) -> None:
        about, notes = found.facts("about") or {}, found.facts("notes")
        summary = about.get("state")
        self.summary = summary if isinstance(summary, dict) else {}
        self.settings, self.notes, self.header = Settings(), notes or {}, header(Identity())
        self.memory = found.parts.get("memory")
        self.lost = []
        try:
            self.settings = Settings(**self.summary["settings"])
        except (KeyError, TypeError, MinoutError):
            self.lost.append("settings")
        if "features" in about:
            self.header["features"] = about["features"]
        else:
            self.lost.append("feature map")
        if notes is None:
            self.lost.append("notes")


_DTYPES = {8: "float64", 4: "float32", 1: "uint8"}
"""The dtype of stored rows, by the bytes of a number; codes are uint8."""


def _is_usable(example: Example, first: Example) -> bool:
    # Whether one model can have both; numbers that no learner takes are those of a forger.
    if (type(example.label), example.size) != (type(first.label), first.size):
        return False
    row = np.frombuffer(example.row, _DTYPES[example.size])
    is_small = np.isnan(row) | (np.abs(row.astype(np.float64)) <= LARGEST)
    is_alike = len(example.row) == len(first.row) and bool(is_small.all())
    return is_alike and LEAST_WEIGHT <= example.record.weight <= LARGEST_WEIGHT


def _rebuilt(used: list[Example], parts: _Parts, own: ExactCodec | None) -> State:
    # A consolidated state; raise MalformedError if rows are codes and their codec is lost.
    n, dtype, summary, codec = len(used), _DTYPES[used[0].size], parts.summary, None
    rows = np.array([np.frombuffer(each.row, dtype) for each in used])
    width = rows.shape[1]
    if dtype == "uint8":
        arrays = {} if parts.memory is None else decode_arrays(parts.memory)
        codec = engine.coded_with(summary, arrays, own)
        if codec is None:
            raise engine.MalformedError("memory")
        width, dtype = codec.width or 0, summary["memory"]["dtype"]
    examples = Examples.of(
        rows,
        np.zeros(n, dtype=np.int64),
        np.array([each.record.digest for each in used], dtype=np.int64).view(np.uint64),
        np.ones(n, dtype=bool),
        weights=np.array([each.record.weight for each in used]),
        times=np.array([each.record.time for each in used]),
        serials=np.arange(n),
        codec=codec,
        dtype=dtype,
    )
    ids, labels = [each.id for each in used], [each.label for each in used]
    known = summary.get("widths", [width])
    widths = Widths(known[0] if isinstance(known, list) and known else None, width)
    state = separable(lambda: engine.rebuilt(parts.settings, examples, ids, labels, widths))
    state.corrected = {each.id: each.corrected for each in used if each.corrected}
    state.notes = parts.notes
    following = summary.get("next_id")
    numbers = [each + 1 for each in ids if isinstance(each, int)]
    state.next_id = following if type(following) is int else max([0, *numbers])
    return state


def _replace(
    folder: Path,
    state: State,
    described: dict[str, Any],
    log: list[LogEntry],
    memory: Codec | None,
) -> Path:
    # Write the new database, check it, and put it in the place of the damaged one.
    workshop = folder / f".repair-{secrets.token_hex(8)}"
    try:
        store = FolderStore(workshop)
        store.write(state, described, log, "repair")
        store.close(state)
        health = check(workshop, features=UnknownMap(), memory=memory)
        if not health.ok:
            raise MissingDataError(f"{folder} cannot be repaired; it is left as it is.")
        return _swap(folder, workshop / DATABASE)
    except OSError as error:
        raise UnwritableError(
            f"The repaired model could not be written to {folder}: {system_reason(error)}."
        ) from error
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _swap(folder: Path, new: Path) -> Path:
    file, log, number = folder / DATABASE, folder / f"{DATABASE}-wal", 1
    kept = folder / f"{DATABASE}.{MARK}"
    while kept.exists():
        number += 1
        kept = folder / f"{DATABASE}.{MARK}-{number}"
    shutil.copy2(file, kept)
    if log_size(file):
        shutil.copy2(log, f"{kept}-wal")
    new.chmod(file.stat().st_mode & 0o777)
    # SQLite must never apply the write-ahead log of the damaged file to the new one.
    log.unlink(missing_ok=True)
    (folder / f"{DATABASE}-shm").unlink(missing_ok=True)
    new.replace(file)
    return kept


def damaged_files(folder: Path) -> list[Path]:
    """Return the damaged files that repairs have kept in a folder; they may hold forgotten rows."""
    return sorted(folder.glob(f"{DATABASE}.{MARK}*"))
