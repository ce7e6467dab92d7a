"""How many work at a time, and what BLAS is allowed, changes no bit."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minout import Learner, kernels
from minout.features import Identity
from minout.learner import _reference, _settle
from minout.rules import MarginRule
from oracle.margin import differs, snapshot

RULES = {
    "plain": MarginRule(price=0.01, metric=False, prior=False, columns=False),
    "lda": MarginRule(price=0.1, metric=True, prior=True, columns=True),
    "auto": MarginRule(),
}


@pytest.fixture(autouse=True)
def all_work_is_divided(monkeypatch):
    """Makes small jobs go to threads too."""
    monkeypatch.setattr(_settle, "WORTH_DIVIDING", 0)
    monkeypatch.setattr(_reference, "WORTH_DIVIDING", 5)


def walked(rule, dtype, *, examples=90, features=40):
    rng = np.random.default_rng(15)
    labels = rng.integers(0, 5, examples)
    rows = rng.normal(size=(examples, features)) + 0.7 * rng.normal(size=(5, features))[labels]
    learner = Learner(rule=RULES[rule], features=Identity(dtype))
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        learner.teach(x, y, id=i)
    learner.correct(3, 1)
    learner.forget([10, 11, 12])
    learner.consolidate()
    learner.teach(rows[0] + 1.0, 2)
    return learner


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_plain_loop_gives_the_same_bits_as_threads(rule, dtype, monkeypatch):
    divided = snapshot(walked(rule, dtype))
    asked = []

    def loop(function, items):
        asked.append(len(items))
        return [function(item) for item in items]

    monkeypatch.setattr(kernels, "in_threads", loop)
    assert differs(snapshot(walked(rule, dtype)), divided) == []
    assert max(asked) > 1


@pytest.mark.parametrize("rule", ["plain", "auto"])
def test_work_done_in_any_order_gives_the_same_bits(rule, monkeypatch):
    divided = snapshot(walked(rule, "float64"))

    def backwards(function, items):
        return [function(item) for item in reversed(items)][::-1]

    monkeypatch.setattr(kernels, "in_threads", backwards)
    assert differs(snapshot(walked(rule, "float64")), divided) == []


ELSEWHERE = """
import hashlib, sys
sys.path.insert(0, "tests/learner")
from test_margin_threads import fingerprint
print(fingerprint())
"""


def fingerprint():
    """Hashes the bits of a learner with all that BLAS is used for."""
    margin = walked("lda", "float64", examples=220, features=150)._margin
    return hashlib.sha256(margin.W.tobytes() + margin.b.tobytes()).hexdigest()


def test_another_process_with_other_threads_gives_the_same_bits():
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "99"}
    if os.environ.get("OMP_NUM_THREADS") == "1":
        threads |= {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "tests"), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        env=os.environ | threads | {"PYTHONPATH": path},
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == fingerprint()
