"""How work is divided, by threads, by batches or one by one, changes no bit."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minout import Learner, kernels
from minout.core import pool, settle
from minout.features import Identity
from minout.kernels import whole
from oracle.margin import SETTINGS, everything, model_bits

CASES = [("plain", "float64"), ("all", "float32"), ("auto", "float64")]


@pytest.fixture(autouse=True)
def all_work_is_divided(monkeypatch):
    divide_all_work(monkeypatch.setattr)


def divide_all_work(put):
    """Let small jobs go to threads too."""
    put(settle, "WORTH_THREADS", 0)
    put(whole, "WORTH_DIVIDING", 0)


def walked(kind, dtype, *, examples=90, features=40):
    rng = np.random.default_rng(15)
    labels = rng.integers(0, 5, examples)
    rows = rng.normal(size=(examples, features)) + 0.7 * rng.normal(size=(5, features))[labels]
    learner = Learner(**SETTINGS[kind], features=Identity(dtype))
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        learner.teach(x, y, id=i)
    learner.correct(3, 1)
    learner.forget([10, 11, 12])
    learner.consolidate()
    learner.teach(rows[0] + 1.0, 2)
    return learner


@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_a_plain_loop_in_any_order_gives_the_same_bits_as_threads(kind, dtype, monkeypatch):
    divided = everything(walked(kind, dtype))
    asked = []

    def loop(function, items):
        asked.append(len(items))
        return [function(item) for item in reversed(items)][::-1]

    monkeypatch.setattr(kernels, "in_threads", loop)
    assert everything(walked(kind, dtype)) == divided
    assert max(asked) > 1


ELSEWHERE = """
import sys
sys.path.insert(0, "tests/core")
from test_threads import divide_all_work, fingerprints
if sys.argv[1] == "divided":
    divide_all_work(setattr)
print(*fingerprints())
"""


def fingerprints():
    """Hash the model, and everything, of a learner with all that BLAS is used for."""
    learner = walked("all", "float64", examples=120, features=90)
    found, move = everything(learner)
    del found["times"]  # the clock of another process does not stand still
    parts = model_bits(learner), (found, move)
    return [hashlib.sha256(repr(part).encode()).hexdigest() for part in parts]


@pytest.mark.parametrize("work", ["divided", "usual"])
def test_another_process_with_other_threads_gives_the_same_bits(work):
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "99"}
    if os.environ.get("OMP_NUM_THREADS") == "1":
        threads |= {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "tests"), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, work],
        env=os.environ | threads | {"PYTHONPATH": path},
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    separators, everything = ran.stdout.split()
    assert separators == fingerprints()[0]
    assert everything == fingerprints()[1]


@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_what_small_pools_keep_changes_no_bit(kind, dtype, monkeypatch):
    usual = everything(walked(kind, dtype))
    monkeypatch.setattr(pool, "SMALL_ROOM", 0)
    assert everything(walked(kind, dtype)) == usual


@pytest.mark.parametrize("kind", ["plain", "all", "means"])
def test_large_pools_end_at_the_same_model_as_small_ones(kind, monkeypatch):
    probe = np.random.default_rng(3).normal(size=(40, 40))
    usual = walked(kind, "float64")
    monkeypatch.setattr(pool, "CHEAP", 0)
    other = walked(kind, "float64")
    for each in (usual, other):
        each.consolidate()
        assert each.audit().ok
    assert other.misfits == usual.misfits
    assert other.scores(probe) == pytest.approx(usual.scores(probe), abs=1e-6)
