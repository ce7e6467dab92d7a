"""How every kernel is compiled: without the interpreter's lock, kept on disk where that works."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function on its first call; cache it on disk where a folder can be written."""
    try:
        kernel = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no place for its cache
        kernel = njit(nogil=True)(function)
    return cast(F, kernel)


def compiled_in_any_order(function: F) -> F:
    """Compile a function whose sums may be added in any order: for bounds with slack only."""
    loose = {"reassoc", "contract", "nsz"}
    try:
        kernel = njit(cache=True, nogil=True, fastmath=loose)(function)
    except RuntimeError:  # numba found no place for its cache
        kernel = njit(nogil=True, fastmath=loose)(function)
    return cast(F, kernel)
