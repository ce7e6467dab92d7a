"""How every kernel is compiled: without the interpreter's lock, kept on disk where that works."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compiles a function on its first call; where no folder can be written, for this run only."""
    try:
        kernel = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no place for its cache
        kernel = njit(nogil=True)(function)
    return cast(F, kernel)
