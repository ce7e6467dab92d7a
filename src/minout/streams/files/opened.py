"""Opening a file that a user named."""

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from minout.errors import MissingDataError, MissingExtraError


def opened(path: Path, source: str) -> TextIO:
    """Opens a text file; bytes that are not UTF-8 are kept, so that their line can be named."""
    try:
        return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
    except OSError as error:
        raise unreadable(source, error) from None


def unreadable(source: str, error: OSError) -> MissingDataError:
    """Puts into words why a file could not be read."""
    return MissingDataError(f"{source} could not be read: {error.strerror or error}.")


def share_of(path: Path, read_so_far: Callable[[], int]) -> Callable[[], float | None]:
    """Gives a function that says how much of a file has been read."""
    size = os.stat(path).st_size
    return lambda: min(1.0, read_so_far() / size) if size else None


def needed(module: str, extra: str, who: str) -> Any:
    """Imports an optional library, or says who needs it and how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f'{who}: pip install "minout[{extra}]".') from error
