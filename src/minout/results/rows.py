"""One measured run as a row that knows where it came from; rows as JSON lines on disk."""

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from minout._version import __version__
from minout.errors import MissingDataError
from minout.store import write_whole


@dataclass(frozen=True)
class Row:
    """Is one run: what was measured (`values`: numbers, words, lists of them), and from what.

    `settings` holds the knobs of the run by name; `commit` is "unknown" outside a checkout.
    """

    figure: str
    settings: Mapping[str, Any]
    seed: int
    values: Mapping[str, Any]
    version: str
    commit: str


def row(figure: str, settings: Mapping[str, Any], seed: int, values: Mapping[str, Any]) -> Row:
    """Stamps what a run measured with the version and the commit that made it."""
    # Through JSON and back, so that a row is the same before and after a visit to the disk.
    settings, values = json.loads(json.dumps([dict(settings), dict(values)], allow_nan=False))
    return Row(figure, settings, seed, values, __version__, _commit())


def write(rows: Iterable[Row], path: Path) -> None:
    """Writes one JSON object per line; the file is there whole or not at all."""
    text = "".join(json.dumps(asdict(each), allow_nan=False) + "\n" for each in rows)
    write_whole(path, text.encode(), "Rows")


def read(path: Path) -> list[Row]:
    """Reads the rows that `write` wrote."""
    try:
        return [Row(**json.loads(line)) for line in path.read_text().splitlines()]
    except (OSError, ValueError, TypeError) as error:
        raise MissingDataError(f"{path} does not hold rows that minout wrote: {error}.") from error


@cache
def _commit() -> str:
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
