"""A recorded stream, to run in a process of its own: prints the digest of each file it saves."""

import hashlib
import tempfile
from pathlib import Path

import numpy as np

from minout import Learner, steps
from minout.features import Identity

FULL = {"whiten": True, "lda_prior": True, "standardize": True, "C": 5.0}
STRAIGHT = FULL | {"regions": 1, "expand": None}
CASES = {  # settings, classes, columns, rows, dtype
    "far": (STRAIGHT | {"near_classes": 2}, 8, 20, 320, "float64"),
    "single": (STRAIGHT | {"near_classes": 2}, 8, 20, 320, "float32"),
    "wide": (STRAIGHT, 3, 200, 90, "float64"),
    "regions": (FULL | {"regions": 2, "expand": 3}, 3, 6, 180, "float64"),
    "chosen": ({}, 3, 12, 120, "float32"),
}


def saved(learner):
    """Return the digest of the learner's file."""
    with tempfile.TemporaryDirectory() as folder:
        learner.save(Path(folder) / "model")
        return hashlib.sha256((Path(folder) / "model").read_bytes()).hexdigest()


def main():
    """Teach, correct, forget, teach more and consolidate; print what is saved then."""
    steps.clock = lambda: 1_700_000_000.0
    for name, (settings, classes, d, n, dtype) in CASES.items():
        rng = np.random.default_rng(7)
        y = rng.integers(classes, size=n)
        X = (rng.normal(size=(n, d)) + rng.normal(size=(classes, d))[y]).astype(dtype)
        labels, ids = y.tolist(), [f"e{i}" for i in range(n)]
        learner = Learner(features=Identity(dtype), **settings)
        learner.teach_many(X[: n // 2], labels[: n // 2], ids[: n // 2])
        for i in range(0, 12, 4):
            learner.correct(ids[i], (labels[i] + 1) % classes)
        learner.forget(ids[1:30:7])
        learner.teach_many(X[n // 2 :], labels[n // 2 :], ids[n // 2 :])
        print(name, "taught", saved(learner))
        learner.consolidate()
        print(name, "consolidated", saved(learner))


if __name__ == "__main__":
    main()
