"""Check everything that a model's folder holds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from minout.engine import Audit
from minout.errors import InvalidInputError, MinoutError, MissingDataError
from minout.features import FeatureMap
from minout.learner import Learner
from minout.store.folder import prepare_folder
from minout.store.schema import DATABASE
from minout.upkeep.salvage import Progress, Salvaged, salvage


class Health(NamedTuple):
    """The result of `check`.

    Attributes
    ----------
    problems : tuple of str
        One sentence for each thing that is wrong with the database.
    records : int
        The number of records whose checksums were compared.
    rows : int
        The number of rows whose digests were compared.
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


def require_database(folder: str | Path) -> Path:
    """Return the folder of a model that has a database; refuse others."""
    folder = Path(folder)
    prepare_folder(folder, create=False)
    if not (folder / DATABASE).exists():
        raise MissingDataError(
            f"{folder} holds a model of an earlier version; `minout consolidate` brings it up to "
            "date."
        )
    return folder


def check(
    folder: str | Path,
    *,
    features: str | FeatureMap | Callable[[Any], Any] | None = None,
    progress: Progress = nothing,
) -> Health:
    """Check a model: the file, every checksum, every row, and what loading and auditing check.

    Nothing is changed, and other processes may change the model meanwhile.

    Parameters
    ----------
    folder : str or Path
        The model's folder.
    features : FeatureMap or callable, optional
        The feature map, if it is a function of your own.
    progress : callable, optional
        It is called with the fraction of the records that has been read.

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
    folder = require_database(folder)
    found = salvage(folder, keep_rows=False, progress=progress)
    return check_found(folder, found, features)


def check_found(folder: Path, found: Salvaged, features: Any = None) -> Health:
    """Return the health of a model whose records have been read."""
    records, rows = len(found.examples) + sum(found.keyed.values()), len(found.rows)
    problems, audit = list(found.problems), None
    if not problems:
        try:
            audit = _audit(folder, features)
        except InvalidInputError:  # the feature map must be given
            raise
        except MinoutError as error:
            problems.append(f"The model cannot be loaded: {error}")
    return Health(tuple(problems), records, rows, audit)


def _audit(folder: Path, features: Any) -> Audit | None:
    learner = Learner.open(folder, read_only=True, features=features)
    try:
        return learner.audit() if len(learner) else None
    finally:
        learner.close()
