"""Results of runs, with settings, seed, version and commit; stored as JSON lines."""

import json
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from minout._version import __version__
from minout.errors import MissingDataError, UnwritableError, system_reason
from minout.store import atomic_write


@dataclass(frozen=True)
class Row:
    """One run: its settings and what was measured.

    Attributes
    ----------
    figure : str
        The figure or table that the run belongs to.
    settings : mapping
        The settings of the run, by name.
    seed : int
        The seed of the run.
    values : mapping
        What was measured: numbers, strings, and lists of them, by name.
    version, commit : str
        The version of minout, and the commit; "unknown" outside a git checkout.
    """

    figure: str
    settings: Mapping[str, Any]
    seed: int
    values: Mapping[str, Any]
    version: str
    commit: str


def row(figure: str, settings: Mapping[str, Any], seed: int, values: Mapping[str, Any]) -> Row:
    """Return a row with the version and the commit of this installation."""
    # Through JSON and back, so that a row equals what is read back from the disk.
    settings, values = json.loads(json.dumps([dict(settings), dict(values)], allow_nan=False))
    return Row(figure, settings, seed, values, __version__, _commit())


def write(rows: Iterable[Row], path: Path) -> None:
    """Write one JSON object per line, atomically; make the folder if it is missing."""
    with suppress(OSError):  # the write below raises the error
        path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(asdict(each), allow_nan=False) + "\n" for each in rows)
    atomic_write(path, text.encode(), "Rows")


def read(path: Path) -> list[Row]:
    """Read the rows that `write` wrote."""
    try:
        return [Row(**json.loads(line)) for line in path.read_text().splitlines()]
    except (OSError, ValueError, TypeError) as error:
        raise MissingDataError(f"{path} does not hold rows that minout wrote: {error}.") from error


def writable(folder: Path) -> None:
    """Make a folder for rows and pictures; raise an error if it cannot be written to.

    Parameters
    ----------
    folder : Path
        The folder; missing parents are made too.

    Raises
    ------
    UnwritableError
        If the folder cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UnwritableError(
            f"Nothing can be written to {folder}: {system_reason(error)}. Choose another --out."
        ) from error


@cache
def _commit() -> str:
    """Return the commit of the checkout that this file is tracked in."""
    here = Path(__file__).parent
    try:
        tracked = subprocess.run(
            ["git", "ls-files", "--error-unmatch", __file__],
            cwd=here,
            capture_output=True,
            check=False,
        )
        if tracked.returncode != 0:
            return "unknown"
        told = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            cwd=here,
            capture_output=True,
            check=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return told.stdout.strip()
