"""How every kernel is compiled: without the interpreter's lock, kept on disk where that works."""

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function on its first call; cache it on disk where a folder can be written."""
    try:
        kernel = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no place for its cache
        kernel = njit(nogil=True)(function)
    return cast(F, kernel)


def compiled_in_any_order(function: F) -> F:
    """Compile a function whose sums may be added in any order: for bounds with a tolerance only."""
    loose = {"reassoc", "contract", "nsz"}
    try:
        kernel = njit(cache=True, nogil=True, fastmath=loose)(function)
    except RuntimeError:  # numba found no place for its cache
        kernel = njit(nogil=True, fastmath=loose)(function)
    return cast(F, kernel)


if hasattr(os, "register_at_fork"):
    # A child that is forked while another thread compiles would wait for that thread for ever.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
