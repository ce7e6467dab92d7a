"""Return freed memory to the operating system."""

import ctypes
import sys


def trim_heap() -> None:
    """Ask the C library to return freed memory; glibc otherwise keeps up to 100 MB here."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
