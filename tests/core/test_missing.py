"""Missing values count as the mean of their column and are marked; nothing depends on the order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import LONG
from minout import Identity, InvalidInputError, Learner
from oracle.margin import SETTINGS, differs, everything, reloaded, saved

KINDS = {
    **SETTINGS,
    "regions": {**SETTINGS["lda"], "regions": 2},
    "hats": {**SETTINGS["all"], "expand": 5},
    "far": {**SETTINGS["lda"], "near_classes": 1},
    "window": {**SETTINGS["all"], "keep": 15},
}


def messy(seed, examples, *, features=4, labels=3, share=0.2):
    """Return rows in columns of different scales, with missing values, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(labels, size=examples)
    rows = rng.integers(-8, 9, (examples, features)) / 8 + np.eye(labels, features)[y]
    rows = rows * 10.0 ** np.arange(features) + 100.0
    rows[rng.random(rows.shape) < share] = np.nan
    return rows, y.tolist()


def taught(rows, y, order=None, **settings):
    learner = Learner(missing="mean", **settings)
    for n in range(len(y)) if order is None else order:
        learner.teach(rows[n], y[n], id=int(n), at=0.0)
    return learner


@settings(max_examples=200 if LONG else 10)
@given(st.sampled_from([*KINDS]), st.sampled_from(["float64", "float32"]), st.integers(0, 10**6))
def test_every_promise_holds_along_a_walk(kind, dtype, seed):
    rng = np.random.default_rng(seed)
    rows, y = messy(seed, 30)
    learner = Learner(missing="mean", **KINDS[kind], features=Identity(dtype))
    for n, (row, label) in enumerate(zip(rows, y, strict=True)):
        learner.teach(row, label, id=n, at=float(n))
        if n % 6 == 4:
            learner.forget(int(rng.choice(learner.ids)))
        if n % 8 == 5:
            learner.correct(int(rng.choice(learner.ids)), int(rng.integers(3)))
        audit = learner.audit()
        assert audit.ok, audit.differences
    assert differs(saved(reloaded(learner)), saved(learner)) == []
    kept = [(learner.example(each), each) for each in learner.ids]
    twin = Learner(missing="mean", **KINDS[kind], features=Identity(dtype))
    for (row, label), each in reversed(kept):
        twin.teach(row, label, id=each, at=float(each))
    for each in (learner, twin):
        each.consolidate()
    assert np.array_equal(learner.scores(rows), twin.scores(rows))
    assert learner.audit().ok


@pytest.mark.parametrize("kind", ["plain", "scaled", "whitened", "lda", "all"])
def test_it_is_the_model_of_filled_and_marked_columns(kind):
    rows, y = messy(3, 60)
    learner = taught(rows, y, **SETTINGS[kind])
    mean, deviation = np.nanmean(rows, axis=0), np.nanstd(rows, axis=0)
    is_missing = np.isnan(rows)
    marked = np.hstack([np.where(is_missing, mean, rows), deviation * is_missing])
    plain = Learner(**SETTINGS[kind])
    plain.teach_many(marked, y, ids=range(60))
    for each in (learner, plain):
        each.consolidate()
    assert learner.scores(rows) == pytest.approx(plain.scores(marked), rel=1e-6, abs=1e-9)
    assert learner.misfits == plain.misfits


def test_a_row_with_missing_values_is_recognised():
    learner = taught([[1.0, np.nan], [0.0, 1.0]], ["a", "b"])
    before = everything(learner)
    other_bits = np.array([1.0, -np.nan])
    learner.teach(other_bits, "a", id=0)
    assert everything(learner) == before
    with pytest.raises(InvalidInputError, match="another row"):
        learner.teach([1.0, 0.0], "a", id=0)


@pytest.mark.parametrize("kind", ["lda", "hats", "scaled"])
def test_new_columns_and_missing_values_go_together(kind):
    rows, y = messy(8, 40)
    rows[:20, 3] = 0.0
    late = taught(rows[:20, :3], y[:20], **KINDS[kind])
    late.widen(1)
    for n in range(20, 40):
        late.teach(rows[n], y[n], id=n, at=0.0)
    assert late.audit().ok
    early = taught(rows, y, **KINDS[kind])
    for each in (late, early):
        each.consolidate()
    assert differs(saved(late), saved(early)) == []


def test_bad_input_is_one_sentence():
    with pytest.raises(InvalidInputError, match=r"`missing` must be .* not 'median'"):
        Learner(missing="median")
    for other in ({"memory": "uint8"}, {"features": "projection"}):
        with pytest.raises(InvalidInputError, match="stored as they were given"):
            Learner(missing="mean", **other)
    learner = taught(*messy(9, 10))
    before = everything(learner)
    for row, what in (
        ([np.inf, 0.0, 0.0, 0.0], "x holds infinity"),
        ([1e101, np.nan, 0.0, 0.0], "beyond 1e\\+100"),
        ([np.nan] * 3, "3 features"),
    ):
        with pytest.raises(InvalidInputError, match=what):
            learner.teach(row, 0)
        with pytest.raises(InvalidInputError, match=what):
            learner.predict([row])
    assert everything(learner) == before
    with pytest.raises(InvalidInputError, match="NaN or infinity"):
        Learner().teach([np.nan], 0)
