"""`minout warmup` compiles everything that is used afterwards."""

import os
import subprocess
import sys

import pytest

MINOUT = "from minout.cli import main; main()"
LEARN = """
import tempfile
from pathlib import Path

import numpy as np

from minout import Learner, MinoutClassifier
from minout.features import Identity
from minout.kernels._compiled import kernels
from minout.kernels.warmup import warm_up
from minout.paper import PaperLearner

warm_up(lambda done, total: None)
ready = {kernel: set(kernel.signatures) for kernel in kernels}
rng = np.random.default_rng(0)


def learn(n, d, classes, noise, **settings):
    y = rng.integers(classes, size=n)
    X = np.eye(classes, d)[y] * 4.0 + noise * rng.normal(size=(n, d))
    learner = Learner(**settings)
    learner.teach(X[0], int(y[0]))
    learner.teach_many(X[1:], y[1:].tolist())
    learner.correct(0, int(y[0] + 1) % classes)
    learner.what_if(X[1], int(y[1]))
    learner.forget([3, 4, 5])
    learner.scores(X)
    learner.explain(X[1])
    learner.suspects()
    learner.consolidate()
    assert learner.audit().ok
    with tempfile.TemporaryDirectory() as folder:
        learner.save(Path(folder) / "model")
        learner = Learner.load(Path(folder) / "model")
    learner.teach(X[0], int(y[0]), id="again")
    learner.forget_class(0)
    learner.predict(X)


for features in ("identity", Identity("float32")):
    learn(60, 4, 3, 0.5, features=features)
    learn(400, 3, 2, 4.0, features=features, whiten=True, C=100.0)
for features in ("identity", Identity("float32")):
    learn(150, 520, 2, 0.3, features=features, C=1.0, whiten=False, lda_prior=False)
learn(40, 4, 2, 1.0, features="projection")
learn(40, 64, 2, 1.0, features="scattering")
X = rng.normal(size=(80, 5))
y = rng.integers(3, size=80)
MinoutClassifier().fit(X.astype(np.float32), y).predict(X)
classifier = MinoutClassifier().partial_fit(np.asfortranarray(X), y, classes=[0, 1, 2])
classifier.predict_proba(X[::2])
paper = PaperLearner([0, 1, 2])
for row, label in zip(X[:12], y[:12].tolist(), strict=True):
    paper.teach(row, label)
paper.predict(X)
for kernel in kernels:
    for signature in set(kernel.signatures) - ready[kernel]:
        print("missing:", kernel.__name__, signature)
"""


def run(script, *words):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *words],
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="is about compiled code")
def test_after_a_warmup_nothing_is_compiled_any_more():
    assert run(LEARN).stdout == ""
    again = run(MINOUT, "warmup")
    assert "compiled: 0" in " ".join(again.stdout.split())
    assert again.stderr == ""
