"""Open a file that a user named."""

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from minout.errors import MissingDataError, MissingExtraError, system_reason


def open_text(path: Path, source: str) -> TextIO:
    """Open a text file; bytes that are not UTF-8 are kept, so that their line can be named."""
    try:
        return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
    except OSError as error:
        raise unreadable(source, error) from None


def unreadable(source: str, error: OSError) -> MissingDataError:
    """Return the error for a file that could not be read."""
    return MissingDataError(f"{source} could not be read: {system_reason(error)}.")


def fraction_of(path: Path, read_so_far: Callable[[], int]) -> Callable[[], float | None]:
    """Return a function that returns the fraction of a file that has been read."""
    size = os.stat(path).st_size
    return lambda: min(1.0, read_so_far() / size) if size else None


def import_optional(module: str, extra: str, who: str) -> Any:
    """Import an optional library; the error says what needs it and how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f'{who}: pip install "minout[{extra}]".') from error
