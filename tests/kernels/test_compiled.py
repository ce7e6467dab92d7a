"""Kernels work also where nothing can be kept on disk, or something else was kept."""

import os
import subprocess
import sys

import numpy as np
import pytest

from minout.kernels import _compiled


@pytest.fixture
def no_cache(monkeypatch):
    """Leave no place where a kernel can be kept."""
    njit = _compiled.njit

    def nowhere(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(_compiled, "njit", nowhere)


@pytest.mark.usefixtures("no_cache")
def test_a_kernel_without_a_place_for_its_cache_is_compiled_all_the_same():
    assert _compiled.compiled(lambda x: x + 1)(2) == 3


def ordered_sum(x):
    total = 0.0
    for value in x:
        total += value
    return total


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="is about compiled code")
@pytest.mark.usefixtures("no_cache")
def test_sums_are_added_in_order_also_if_compiled_for_a_kernel_that_may_add_in_any_order():
    inner = _compiled.compiled(ordered_sum)
    outer = _compiled.compiled_in_any_order(lambda x: inner(x) + inner(x[1:]))
    assert outer(np.ones(3)) == 5.0
    (code,) = inner.inspect_llvm().values()
    assert "fadd double" in code
    assert "reassoc" not in code


MODULE = """
from typing import NamedTuple
from minout.kernels._compiled import compiled, compiled_in_any_order

class {name}(NamedTuple):
    value: float

@compiled
def twice(given):
    return 2.0 * given.value

@compiled_in_any_order
def thrice(given):
    return 3.0 * given.value

print(twice({name}(2.0)), thrice({name}(2.0)))
"""


@pytest.mark.skipif(not os.environ.get("MINOUT_LONG"), reason="compiles for half a minute")
def test_a_cache_that_names_a_class_that_is_gone_is_replaced(tmp_path):
    # As after an update of minout: numba's index of a kernel holds the types of its arguments.
    for name in ("Before", "Now", "Now"):
        (tmp_path / "kernel.py").write_text(MODULE.format(name=name))
        done = subprocess.run(
            [sys.executable, "-B", "-c", "import kernel"],
            cwd=tmp_path,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.returncode) == ("4.0 6.0\n", 0), done.stderr
    assert len(list(tmp_path.rglob("*.nbi"))) == 2
