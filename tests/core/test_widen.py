"""New columns, in which what is stored has 0: no margin changes, and the result is exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import LONG
from minout import Identity, InvalidInputError, Learner
from oracle.margin import SETTINGS, differs, everything, saved

KINDS = {
    **SETTINGS,
    "regions": {**SETTINGS["lda"], "regions": 2},
    "hats": {**SETTINGS["all"], "expand": 5},
    "far": {**SETTINGS["lda"], "near_classes": 1},
    "window": {**SETTINGS["all"], "keep": 15},
}


def late_columns(rng, examples, *, features=4, labels=3):
    """Return rows, labels, and for each row how many columns were known when it came.

    Each column but the first is 0 until some moment.
    """
    known = np.sort(rng.integers(1, features + 1, examples))
    known[-1] = features
    y = rng.integers(labels, size=examples)
    rows = rng.integers(-8, 9, (examples, features)) / 8 + 0.75 * np.eye(labels, features)[y]
    rows[np.arange(features) >= known[:, None]] = 0.0
    return rows, y.tolist(), known.tolist()


def teach_as_columns_come(learner, rows, y, known):
    width = known[0]
    for n, (row, label, count) in enumerate(zip(rows, y, known, strict=True)):
        if count > width:
            learner.widen(count - width)
            width = count
        learner.teach(row[:width], label, id=n, at=float(n))
        if n % 7 == 3:
            learner.forget(n - 1)
    return learner


@settings(max_examples=200 if LONG else 10)
@given(st.sampled_from([*KINDS]), st.sampled_from(["float64", "float32"]), st.integers(0, 10**6))
def test_columns_that_come_later_are_as_good_as_columns_from_the_start(kind, dtype, seed):
    rows, y, known = late_columns(np.random.default_rng(seed), 25)
    wide, late = (Learner(**KINDS[kind], features=Identity(dtype)) for _ in range(2))
    teach_as_columns_come(wide, rows, y, [4] * len(y))
    teach_as_columns_come(late, rows, y, known)
    assert late.audit().ok
    for each in (wide, late):
        each.consolidate()
    assert differs(saved(wide), saved(late)) == []


@pytest.mark.parametrize("kind", ["scaled", "auto", "regions", "hats", "far", "window"])
def test_no_margin_changes_and_the_stream_goes_on(kind):
    rng = np.random.default_rng(8)
    rows, y, _ = late_columns(rng, 60, features=3)
    learner = Learner(**KINDS[kind])
    for n, (row, label) in enumerate(zip(rows, y, strict=True)):
        learner.teach(row, label, id=n, at=float(n))
    scores, misfits = learner.scores(rows), learner.misfits
    learner.widen(2)
    wide = np.hstack([rows, np.zeros((60, 2))])
    assert np.array_equal(learner.scores(wide), scores)
    assert learner.misfits == misfits
    assert learner.audit().ok
    for n, label in enumerate(y):
        learner.teach([*rows[n], 0.0, float(label == 2)], label, id=100 + n, at=60.0 + n)
    assert learner.audit().ok
    assert len(learner.example(159)[0]) == len(learner.example(learner.ids[0])[0]) == 5


def test_a_folder_keeps_the_new_columns(tmp_path):
    rows, y, known = late_columns(np.random.default_rng(9), 30)
    twin = teach_as_columns_come(Learner(), rows, y, known)
    with Learner.open(tmp_path / "model") as stored:
        reader = None
        for n, (row, label, count) in enumerate(zip(rows, y, known, strict=True)):
            if n and count > known[n - 1]:
                reader = reader or Learner.open(tmp_path / "model", read_only=True)
                stored.widen(count - known[n - 1])
            stored.teach(row[:count], label, id=n, at=float(n))
            if n % 7 == 3:
                stored.forget(n - 1)
    assert reader.reload()
    assert differs(saved(reader), saved(twin)) == []


def bad(learner, n):
    before = everything(learner) if len(learner) else None
    with pytest.raises(InvalidInputError) as error:
        learner.widen(n)
    assert before is None or everything(learner) == before
    return str(error.value)


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True, None])
def test_what_is_no_number_of_columns_is_refused(n):
    learner = Learner()
    learner.teach([1.0, 2.0], "a")
    assert bad(learner, n) == f"n is a whole number from 1, not {n!r}."


def test_only_rows_as_they_were_given_get_columns():
    assert "Nothing has been taught yet" in bad(Learner(), 1)
    for settings_ in ({"memory": "uint8"}, {"features": "projection"}):
        learner = Learner(**settings_)
        learner.teach([1.0, 2.0], "a")
        assert "a feature map or a codec" in bad(learner, 1)
