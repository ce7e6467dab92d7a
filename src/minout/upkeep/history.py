"""Read the log of a model: which change moved which separators, when, and by which example."""

from pathlib import Path
from typing import Any, NamedTuple

from minout._typing import Id, Label
from minout.store.database import Database
from minout.store.log_entries import ReadEntry
from minout.upkeep.health import require_database


class Entry(NamedTuple):
    """One entry of a model's log of changes.

    Attributes
    ----------
    number : int
        Its number; later entries have higher ones.
    time : float
        When the change was made, in seconds since 1970.
    action : str
        "teach", "correct", "forget", "keep" (another window), "settle", "consolidate", "store"
        (`Learner.store_in`), "import" (of a folder of an earlier version) or "repair".
    id : int, str or None
        The example that was taught or corrected; None if there is none, or if it was forgotten.
    moved : tuple of (label, label)
        The separators that moved, 100 at most; None stands for a label that was forgotten.
    moved_in_all : int
        How many separators moved.
    details : dict
        How many margins were `checked`, how many examples became `misfits`, were `cleared`
        (no longer misfits) or `forgotten`; `refresh_seconds` if the change included a refresh
        (scale and separators were computed again); `forgotten_ids` if `forget` was called with
        `log_ids`.
    """

    number: int
    time: float
    action: str
    id: Id | None
    moved: tuple[tuple[Label | None, Label | None], ...]
    moved_in_all: int
    details: dict[str, Any]


def read_log(folder: str | Path, after: int = 0) -> list[Entry]:
    """Return the log of a model, oldest entry first.

    It has one entry for each change that moved a separator, changed the list of misfits, corrected
    or forgot an example, or replaced the whole model; the newest 10,000 are kept. Examples that
    changed nothing else, when they were taught, have no entry.

    Parameters
    ----------
    folder : str or Path
        The model's folder.
    after : int, default=0
        Leave out entries up to this number.

    Returns
    -------
    list of Entry
        The entries.

    Examples
    --------
    >>> import tempfile
    >>> from minout import Learner
    >>> folder = tempfile.mkdtemp()
    >>> with Learner.open(folder) as learner:
    ...     reports = learner.teach_many([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"], ["a", "b"])
    >>> [(each.action, each.id, each.moved) for each in read_log(folder)]
    [('teach', 'b', (('cat', 'dog'),))]
    """
    folder = require_database(folder)
    database = Database(folder, read_only=True)
    try:
        return [_entry(each) for each in database.log(after)]
    finally:
        database.close()


def _entry(entry: ReadEntry) -> Entry:
    details = dict(entry.details)
    moved = tuple((a, b) for a, b in details.pop("moved", []))
    in_all = details.pop("moved_in_all", len(moved))
    return Entry(entry.number, entry.time, entry.action, entry.id, moved, in_all, details)
