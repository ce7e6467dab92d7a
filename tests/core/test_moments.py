"""Sums of the metric grow in blocks between refreshes; the model is the same, to rounding."""

import numpy as np
import pytest

from minout import Learner
from minout.core import moments
from minout.features import Identity
from oracle.margin import SETTINGS, bits, stream

BLOCK = 8
ROWS, LABELS = stream(5, examples=140, features=3, apart=0.6)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Shrink the blocks."""
    monkeypatch.setattr(moments, "BLOCK", BLOCK)


def taught(count, kind="all", dtype="float64", **more):
    learner = Learner(**SETTINGS[kind] | more, features=Identity(dtype))
    teach(learner, 0, count)
    return learner


def teach(learner, start, end):
    return [learner.teach(ROWS[i], int(LABELS[i]), id=i) for i in range(start, end)]


def scattered(learner):
    """Return how many places the scatter includes, and its bits."""
    sums = learner.inspect().sums
    return sums.scattered, None if sums.scatter is None else bits(sums.scatter)


def assert_same_model(one, other):
    mine, its = one.inspect(), other.inspect()
    assert mine.choice == its.choice
    np.testing.assert_allclose(mine.origin, its.origin, atol=1e-6)
    np.testing.assert_allclose(mine.K, its.K, rtol=1e-4, atol=1e-6 * np.abs(its.K).max())
    for pair, separator in mine.separators.items():
        np.testing.assert_allclose(separator.w, its.separators[pair].w, rtol=1e-3, atol=1e-4)
    assert set(one.misfits) == set(other.misfits)
    assert one.audit().ok
    assert other.audit().ok


def test_between_refreshes_less_than_a_block_is_missing_from_the_sums():
    learner, sizes, blocks = taught(20), [], 0
    for i in range(20, 140):
        (report,) = teach(learner, i, i + 1)
        known, _ = scattered(learner)
        assert i + 1 - known < BLOCK
        assert learner.inspect().sums.seen >= known
        blocks += report.refresh is None and known not in [0, *sizes]
        sizes.append(known)
    assert blocks > 5


@pytest.mark.parametrize(("kind", "dtype"), [("whitened", "float64"), ("all", "float32")])
def test_sums_in_blocks_give_the_model_of_sums_at_once(kind, dtype, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(moments, "BLOCK", 10**6)
        together = taught(137, kind, dtype)
    learner = taught(137, kind, dtype)
    assert scattered(learner)[0] > scattered(together)[0]
    assert_same_model(learner, together)


@pytest.mark.parametrize(
    ("how", "place"),
    [("forgotten", 3), ("forgotten", 57), ("forgotten", 68), ("relabelled", 57)],
    ids=["old", "in a block", "late", "relabelled"],
)
def test_a_row_that_is_changed_is_in_the_sums_as_it_is_now(how, place, monkeypatch):
    def walk():
        learner = taught(70)
        before = scattered(learner)
        if how == "forgotten":
            learner.forget(place)
        else:
            learner.correct(place, int(LABELS[place] + 1) % 3)
        after = scattered(learner)
        assert any(report.refresh for report in teach(learner, 70, 135))
        return learner, before, after

    learner, before, after = walk()
    assert 57 < before[0] <= 68
    assert after == (before if how == "relabelled" or place == 68 else (0, None))
    with monkeypatch.context() as patch:
        patch.setattr(moments, "BLOCK", 10**6)
        together, _, _ = walk()
    assert_same_model(learner, together)
