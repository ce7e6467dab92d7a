"""The time of a forgotten example leaves no trace: neither in what is kept nor in what is saved."""

import numpy as np
import pytest

from minout import Learner
from oracle.margin import differs, saved

DAY = 86_400.0


def rows_of(n):
    return np.random.default_rng(0).integers(-8, 9, (n, 3)) / 8.0


def taught(keep, n=40):
    learner = Learner(keep=keep, C=5.0, whiten=False, lda_prior=False, regions=1, expand=None)
    for i, row in enumerate(rows_of(n)):
        learner.teach(row, "ab"[i % 2], id=f"{i}", at=i * DAY)
    return learner


@pytest.mark.parametrize("keep", ["all", 60, {"per_label": 30}, "3600d"], ids=str)
def test_a_forgotten_example_of_the_far_future_leaves_no_time_behind(keep):
    plain, other = taught(keep), taught(keep)
    other.teach([0.5, 0.5, 0.5], "a", id="later", at=3_000 * DAY)
    other.forget("later")
    for learner in (plain, other):
        learner.teach([0.25, 0.5, 0.0], "b", id="last", at=41 * DAY)
    assert plain.ids == other.ids
    for learner in (plain, other):
        learner.consolidate()
    assert differs(saved(plain), saved(other)) == []


def test_a_forgotten_example_no_longer_counts_as_the_latest():
    learner = taught("30d", 20)
    learner.teach([0.0, 1.0, 0.0], "a", id="later", at=45 * DAY)
    assert learner.ids == [*(f"{i}" for i in range(15, 20)), "later"]
    learner.teach([1.0, 1.0, 0.0], "a", id="early", at=16 * DAY)
    learner.forget("later")
    learner.teach([1.0, 1.0, 1.0], "b", id="earlier", at=-10 * DAY)
    assert "earlier" in learner
    learner.teach([1.0, 0.0, 1.0], "b", id="now", at=20.5 * DAY)
    assert "earlier" not in learner
    learner.forget(learner.ids)
    learner.teach([1.0, 0.0, 1.0], "b", id="first", at=-1000 * DAY)
    assert learner.ids == ["first"]


def test_a_row_that_is_updated_keeps_its_time_as_the_latest():
    learner = taught("30d", 20)
    learner.update("19", [0.125, 0.25, 0.5])
    report = learner.teach([1.0, 0.0, 1.0], "b", id="old", at=-12 * DAY)
    assert "old" not in learner
    assert report.certificate.forgotten == ("old",)
