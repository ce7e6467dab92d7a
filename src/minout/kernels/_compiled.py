"""How every kernel is compiled: without the interpreter's lock, kept on disk where that works."""

import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

F = TypeVar("F", bound=Callable[..., Any])

kernels: list[Any] = []
"""Every kernel, in the order of definition."""


def compiled(function: F) -> F:
    """Compile a function on its first call; cache it on disk where a folder can be written.

    Sums are added in the order written. This has to be said: otherwise a function that is compiled
    because one of those below calls it would be compiled as that one is.
    """
    return cast(F, _cached(function, fastmath=False))


def compiled_in_any_order(function: F) -> F:
    """Compile a function whose sums may be added in any order: for bounds with a tolerance only."""
    return cast(F, _cached(function, fastmath={"reassoc", "contract", "nsz"}))


def inlined(function: F) -> F:
    """Compile a function as a part of the one kernel that calls it.

    Numba optimises the code of a `compiled` function again in each kernel above it. For a function
    with one caller this is wasted.
    """
    return cast(F, njit(inline="always", nogil=True)(function))


def _cached(function: Callable[..., Any], **options: Any) -> Any:
    try:
        kernel = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # numba found no place for its cache
        kernel = njit(nogil=True, **options)(function)
    kernels.append(kernel)
    index = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if index is not None:
        index._load_index = _empty_if_unreadable(index._load_index)
    return kernel


def _empty_if_unreadable(load: Callable[[], dict[Any, Any]]) -> Callable[[], dict[Any, Any]]:
    # Numba reads all of an index before it compares the source. An index that an earlier version of
    # minout wrote may name a class that is gone; numba would raise an error instead of compiling.
    def load_index() -> dict[Any, Any]:
        try:
            return load()
        except (AttributeError, EOFError, ImportError, IndexError, pickle.UnpicklingError):
            return {}

    return load_index


class _Notice(event.Listener):
    """Prints one line, once per process, when the first kernel is compiled.

    Numba does not report code that is loaded from the cache.
    """

    def __init__(self) -> None:
        self.is_silent = False

    def on_start(self, event: Any) -> None:
        """Say that a kernel is being compiled."""
        compiling = event.data["dispatcher"]
        if self.is_silent or not any(compiling is each for each in kernels):
            return
        self.is_silent = True
        kept = " (kept for later runs)" if compiling.stats.cache_path else ""
        if sys.stderr is not None:
            with suppress(OSError, ValueError):  # closed
                print(
                    f"minout: compiling for this machine{kept}; this takes some seconds …",
                    file=sys.stderr,
                    flush=True,
                )

    def on_end(self, event: Any) -> None:
        """Do nothing."""


notice = _Notice()
event.register("numba:compile", notice)  # type: ignore[no-untyped-call]

if hasattr(os, "register_at_fork"):
    # A child that is forked while another thread compiles would wait for that thread for ever.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
