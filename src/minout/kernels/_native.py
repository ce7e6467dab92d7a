"""The compiled kernels, built for the widest instruction set that this machine has.

They are built three times from the same source and compute the same bits. MINOUT_KERNELS names
another build: "_avx512", "_avx2" or "_baseline".
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

from minout.kernels import _baseline

BUILDS = ("_avx512", "_avx2", "_baseline")

if TYPE_CHECKING:
    native = _baseline
else:
    build = os.environ.get("MINOUT_KERNELS") or next(each for each in BUILDS if _baseline.has(each))
    if build not in BUILDS or not _baseline.has(build):
        usable = ", ".join(each for each in BUILDS if _baseline.has(each))
        raise ImportError(f"MINOUT_KERNELS is {build}; this machine can use {usable}.")
    native = import_module(f"minout.kernels.{build}")
