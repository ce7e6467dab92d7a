"""Sums of the metric grow in blocks between refreshes; the model is the same, to rounding."""

import copy

import numpy as np
import pytest

from minout import Learner
from minout.engine import moments
from minout.engine.moments import RunningMoments
from minout.features import Identity
from oracle.margin import SETTINGS, bits, differs, everything, loaded, parts, saved, stream

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
    found = parts(saved(learner))
    return found["about.scattered"], found.get("sums.scatter.lower", found.get("sums.scatter"))


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


@pytest.mark.parametrize("kind", ["whitened", "all"])
def test_between_refreshes_less_than_a_block_is_missing_from_the_sums(kind):
    learner, sizes, blocks = taught(20, kind), [], 0
    for i in range(20, 140):
        (report,) = teach(learner, i, i + 1)
        known, _ = scattered(learner)
        assert i + 1 - known < BLOCK
        assert learner.inspect().sums.seen >= known
        blocks += report.refresh is None and known not in [0, *sizes]
        sizes.append(known)
    assert blocks > 5


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["whitened", "all"])
def test_sums_in_blocks_give_the_model_of_sums_at_once(kind, dtype, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(moments, "BLOCK", 10**6)
        together = taught(137, kind, dtype)
    learner = taught(137, kind, dtype)
    assert scattered(learner)[0] > scattered(together)[0]
    assert_same_model(learner, together)


@pytest.mark.parametrize("given", [{"kind": "scaled"}, {"kind": "all", "refresh": "manual"}])
def test_where_no_refresh_will_read_a_scatter_there_is_none(given):
    assert scattered(taught(100, **given)) == (0, None)


def test_a_manual_learner_adds_no_blocks_after_consolidation():
    learner = taught(40, refresh="manual")
    learner.consolidate()
    before = scattered(learner)
    teach(learner, 40, 100)
    assert scattered(learner) == before
    assert before[0] == 40


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("at", [60, 63, 64, 67, 71])
def test_saved_inside_a_block_a_learner_goes_on_to_the_same_bits(at, dtype):
    learner = taught(at, dtype=dtype)
    other = loaded(saved(learner))
    for i in range(at, 130):
        assert [r.certificate for r in teach(learner, i, i + 1)] == [
            r.certificate for r in teach(other, i, i + 1)
        ]
        assert differs(saved(learner), saved(other)) == []


def test_many_at_a_time_add_the_same_blocks_as_one_by_one():
    many = Learner(**SETTINGS["all"])
    many.teach_many(ROWS[:50], LABELS[:50].tolist(), list(range(50)))
    many.teach_many(ROWS[50:130], LABELS[50:130].tolist(), list(range(50, 130)))
    assert differs(saved(many), saved(taught(130))) == []


@pytest.mark.parametrize(
    ("place", "stays"), [(3, False), (57, False), (68, True)], ids=["old", "in a block", "late"]
)
def test_a_row_that_is_forgotten_is_in_no_scatter(place, stays, monkeypatch):
    def walk():
        learner = taught(70)
        before = scattered(learner)
        learner.forget(place)
        after = scattered(learner)
        assert any(report.refresh for report in teach(learner, 70, 135))
        return learner, before, after

    learner, before, after = walk()
    assert 57 < before[0] <= 68
    assert after == (before if stays else (0, None))
    with monkeypatch.context() as patch:
        patch.setattr(moments, "BLOCK", 10**6)
        together, _, _ = walk()
    assert_same_model(learner, together)


@pytest.mark.parametrize("place", [3, 57, 68], ids=["old", "in a block", "late"])
def test_a_row_that_is_relabelled_stays_in_the_scatter(place, monkeypatch):
    def walk():
        learner = taught(70)
        before = scattered(learner)
        learner.correct(place, int(LABELS[place] + 1) % 3)
        assert scattered(learner) == before
        assert any(report.refresh for report in teach(learner, 70, 135))
        return learner

    learner = walk()
    with monkeypatch.context() as patch:
        patch.setattr(moments, "BLOCK", 10**6)
        together = walk()
    assert_same_model(learner, together)


@pytest.mark.parametrize("kind", ["whitened", "all"])
def test_a_class_that_begins_with_a_full_block_is_counted(kind):
    learner = taught(70, kind)
    left = BLOCK - (70 - scattered(learner)[0])
    teach(learner, 70, 70 + left - 1)
    report = learner.teach([9.0, 9.0, 9.0], 7, id="new")
    assert report.refresh is None
    assert scattered(learner)[0] == 70 + left
    assert learner.inspect().counts.tolist()[-1] == 1.0


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("name", ["with_scatter", "with_rows"])
def test_a_step_that_is_interrupted_at_a_block_has_changed_nothing(name, error, monkeypatch):
    learner = taught(70)
    teach(learner, 70, 70 + BLOCK - (70 - scattered(learner)[0]) - 1)
    twin, before, count = copy.deepcopy(learner), everything(learner), len(learner)
    real = getattr(RunningMoments, name)

    def interrupted(*args):
        real(*args)
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(RunningMoments, name, interrupted)
        with pytest.raises(error):
            teach(learner, count, count + 1)
        assert everything(learner) == before
        with pytest.raises(error):
            learner.teach_many(ROWS[count:90], LABELS[count:90].tolist(), list(range(count, 90)))
    assert everything(learner) == before
    teach(learner, count, 100)
    teach(twin, count, 100)
    assert everything(learner) == everything(twin)


def test_the_scatter_of_blocks_is_that_of_all_rows():
    rng = np.random.default_rng(0)
    for d in (1, 2, 5, 8):
        X = rng.integers(-8, 9, (30, d)) / 8  # so that sums are exact
        sums = RunningMoments.about(X[0], exact=True).seen_to(30)
        sums = sums.with_scatter(X, np.ones(30), np.arange(30), np.arange(30))
        assert sums.scatter is not None
        assert bits(sums.scatter) == bits((X - X[0]).T @ (X - X[0]))
