"""How every kernel is compiled: without the interpreter's lock, kept on disk where that works."""

import os
import pickle
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

F = TypeVar("F", bound=Callable[..., Any])

NOTICE_AFTER = 2.0
"""Seconds of compilation after which one line on standard error says what takes so long."""

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
    """Prints one line, once per process, if compiling kernels takes long.

    Numba reports the beginning and end of each compilation, and of its many passes; code that is
    loaded from the cache is not reported. All this happens under numba's lock.
    """

    def __init__(self) -> None:
        self.is_silent = False
        self._kernel: Any = None
        self._began = self._spent = 0.0
        self._is_printed = False

    def on_start(self, event: Any) -> None:
        """Note that a kernel is being compiled, or look at the clock."""
        if self._kernel is None and event.kind == "numba:compile":
            self._begin(event.data["dispatcher"])
        elif self._kernel is not None and not self._is_printed and self._seconds() > NOTICE_AFTER:
            self._is_printed = True
            if not self.is_silent:
                self._print()

    def on_end(self, event: Any) -> None:
        """Add up the time of a kernel."""
        if event.kind == "numba:compile" and event.data["dispatcher"] is self._kernel:
            self._spent, self._kernel = self._seconds(), None

    def _begin(self, kernel: Any) -> None:
        if any(kernel is each for each in kernels):
            self._kernel, self._began = kernel, time.monotonic()

    def _seconds(self) -> float:
        return self._spent + time.monotonic() - self._began

    def _print(self) -> None:
        kept = " (kept for later runs)" if self._kernel.stats.cache_path else ""
        if sys.stderr is not None:
            with suppress(OSError, ValueError):  # closed
                print(
                    f"minout: compiling for this machine{kept}; this takes some seconds …",
                    file=sys.stderr,
                    flush=True,
                )


notice = _Notice()
for kind in ("numba:compile", "numba:run_pass"):
    event.register(kind, notice)  # type: ignore[no-untyped-call]

if hasattr(os, "register_at_fork"):
    # A child that is forked while another thread compiles would wait for that thread for ever.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
