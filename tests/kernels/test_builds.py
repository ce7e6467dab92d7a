"""Every build of the kernels that this machine can run computes the same bits."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from minout import kernels
from minout.kernels import _baseline
from oracle import stream

OTHERS = [name for name in ("_avx2", "_avx512") if _baseline.has(name)]


def by_alpha(build, rng, n):
    """Solves for α, and again from there."""
    X, signs = rng.normal(size=(n, 9)), rng.choice([-1.0, 1.0], n)
    G = signs[:, None] * signs * (X @ X.T + 1.0)
    r, alpha, factor = rng.normal(size=n) + 1.0, np.zeros(n), kernels.empty_factor(n)
    before = build.newton(G, r, 0.1, alpha, factor)
    first = alpha.copy()
    return before, first, build.newton(G, r - 0.2, 0.1, alpha, factor), alpha, np.tril(factor.L)


def by_w(build, rng, n):
    """Solves for w, with a factor that is made and then followed."""
    d = n // 3
    X, A = rng.normal(size=(n, d)).astype("f4"), rng.normal(size=(d + 1, d + 1))
    signs, P = np.sign(X[:, 0]) * rng.choice([1.0, 0.5], n), A @ A.T + np.eye(d + 1)
    u, sums, alpha = np.zeros(d + 1), kernels.no_sums(n, d + 1), np.zeros(n)
    residuals = []
    for less in (0.0, 0.1):
        r = np.ones(n)
        r[::9] -= less
        rows = kernels.Rows(X, np.arange(n), rng.normal(size=d), signs, r)
        residuals.append(build.newton_primal(rows, P, 0.1, u, sums, alpha))
    return residuals, u, alpha, sums.U, sums.q


def by_pairs(build, rng, n):
    """Solves all pairs of three regions, of which one has few rows."""
    Z, others, unread = rng.normal(size=(n, 5)), rng.normal(size=(7, 5)), np.empty((0, 0))
    start = np.array([0, 2, n // 2, n])
    regions = kernels.Divided(np.arange(n), start, np.arange(3), np.ones(n))
    inside, outside = rng.normal(size=(3, n)), rng.normal(size=(3, 7))
    priors = kernels.ClassPriors(inside, outside, *rng.normal(size=(2, 3, 3)))
    found = np.empty((2, 7, 3))
    products = kernels.Products(Z, others, unread, unread)
    return build.pair_scores(products, regions, priors, np.array([1.0, 0.1]), found), found


def by_products(build, rng, n):
    """Multiplies matrices, and a part of them."""
    A, B, out = rng.normal(size=(n, n + 1)), rng.normal(size=(n + 1, n + 2)), np.zeros((n, n + 2))
    build.multiply(A, B, out, 0, n)
    few = np.zeros((3, n + 2))
    build.multiply(A[:3], B, few, 0, n)
    assert np.array_equal(few, out[:3])
    assert out == pytest.approx(A @ B * (np.arange(n + 2) < n))
    return (out,)


def by_centres(build, rng, n):
    """Finds clusters, and the nearest centre of each row."""
    Z, out, found = rng.normal(size=(n, 11)), np.zeros((4, 11)), np.zeros(n, dtype=np.int64)
    count = build.centres(Z, rng.random(n), out)
    build.nearest(Z, out[:count], found)
    return count, out, found


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("run", [by_alpha, by_w, by_pairs, by_products, by_centres])
def test_a_build_for_more_instructions_computes_the_same_bits(run, name):
    build = import_module(f"minout.kernels.{name}")
    for n in (6, 17, 33, 64, 127):
        found, wanted = (run(each, np.random.default_rng(n), n) for each in (build, _baseline))
        for a, b in zip(found, wanted, strict=True):
            assert np.array_equal(a, b, equal_nan=True)


@pytest.mark.skipif(not shutil.which("objdump"), reason="needs objdump, which shows instructions")
@pytest.mark.parametrize("name", ["_baseline", *OTHERS])
def test_a_build_adds_and_multiplies_in_separate_instructions(name):
    file = import_module(f"minout.kernels.{name}").__file__
    command = ["objdump", "--disassemble", "--no-show-raw-insn", file]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert found.count("mulsd") > 100
    assert re.findall(r"vfn?m(?:add|sub)\w*", found) == []


MACHINES = {
    "Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "plain NumPy": {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"},
}
if "_avx2" in OTHERS:
    MACHINES |= {
        "baseline": {"MINOUT_KERNELS": "_baseline"},
        "avx2": {"MINOUT_KERNELS": "_avx2"},
        "Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    }
if "_avx512" in OTHERS:
    MACHINES |= {
        "avx512": {"MINOUT_KERNELS": "_avx512"},
        "SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
    }


@cache
def recorded(**variables):
    """Return what the recorded stream saves in a process with these variables."""
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-m", "oracle.stream"]
    done = subprocess.run(
        command,
        env=os.environ | one | variables,
        cwd=Path(stream.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", MACHINES)
def test_a_stream_saves_the_same_files_on_every_kind_of_machine(name):
    found, wanted = recorded(**MACHINES[name]), recorded()
    assert len(wanted) == 2 * len(stream.CASES)
    assert found == wanted
