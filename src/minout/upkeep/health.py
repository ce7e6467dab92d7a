"""Check everything that a model's folder holds, and read its log of changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from minout.codecs import Codec
from minout.engine import Audit
from minout.errors import InvalidInputError, MinoutError
from minout.features import FeatureMap
from minout.learner import Learner
from minout.store import Database, prepare_folder
from minout.store.log import Entry
from minout.upkeep.intact import Intact, Progress


class Health(NamedTuple):
    """The result of `check`.

    Attributes
    ----------
    problems : tuple of str
        One sentence for each thing that is wrong with the database.
    records : int
        The number of records whose checksums were compared.
    rows : int
        The number of rows whose digests (hashes) were compared.
    audit : Audit or None
        What `Learner.audit` found; None if the model could not be loaded, or has never been taught.
    """

    problems: tuple[str, ...]
    records: int
    rows: int
    audit: Audit | None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems and (self.audit is None or self.audit.ok)


def nothing(_: float) -> None:
    """Show no progress."""


def check(
    folder: str | Path,
    *,
    features: str | FeatureMap | Callable[[Any], Any] | None = None,
    memory: Codec | None = None,
    progress: Progress = nothing,
) -> Health:
    """Check a model: the database file, every checksum, every row, and every margin.

    The model is then loaded and audited (`Learner.audit`). Nothing is changed, and other processes
    may change the model meanwhile.

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
    Health
        Its `ok` is True if nothing is wrong.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with Learner.open(folder) as learner:
    ...     report = learner.teach([1.0, 0.0], "cat", id="a")
    >>> check(folder).ok
    True
    """
    folder = Path(folder)
    prepare_folder(folder, create=False)
    found = Intact(folder, progress)
    problems, audit = found.problems, None
    if not problems:
        try:
            with Learner.open(folder, read_only=True, features=features, memory=memory) as learner:
                audit = learner.audit() if len(learner) else None
        except InvalidInputError:  # the user must pass the feature map or the codec
            raise
        except MinoutError as error:
            problems.append(f"The model cannot be loaded: {error}")
    return Health(tuple(problems), found.records, len(found.examples), audit)


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
    """
    folder = Path(folder)
    prepare_folder(folder, create=False)
    database = Database(folder, read_only=True)
    try:
        return database.log(after)
    finally:
        database.close()
