"""Piecewise-linear columns of a learner: thresholds and bumps, renewed with the frame."""

import numpy as np
import pytest

from minout import InvalidInputError, Learner
from minout.features import Identity
from oracle.margin import everything, loaded, model_bits, saved

PLAIN = {"C": 5.0, "whiten": False, "lda_prior": False, "standardize": False, "regions": 1}


def bump(n=80, seed=0):
    """Draw rows of two columns whose label says whether the first is near 0."""
    rows = np.random.default_rng(seed).uniform(-3.0, 3.0, (n, 2))
    return rows.tolist(), np.where(np.abs(rows[:, 0]) < 1.0, "in", "out").tolist()


def taught(rows, labels, **changes):
    learner = Learner(**(PLAIN | {"expand": 3} | changes))
    learner.teach_many(rows, labels)
    return learner


def test_hats_follow_a_bump_that_no_straight_line_follows():
    rows, labels = bump()
    new, wanted = bump(400, seed=1)
    for consolidated in (False, True):
        straight, bent = taught(rows, labels, expand=None), taught(rows, labels)
        if consolidated:
            straight.consolidate()
            bent.consolidate()
        assert (bent.predict(new) == wanted).mean() > 0.9
        assert (straight.predict(new) == wanted).mean() < 0.75
        assert bent.audit().ok


def test_the_choice_finds_that_hats_pay_and_where_they_do_not():
    rows, labels = bump(200)
    learner = taught(rows, labels, expand="auto")
    learner.consolidate()
    assert learner.choice.hats > 0
    learner = taught(rows, [str(row[0] > row[1]) for row in rows], expand="auto")
    learner.consolidate()
    assert learner.choice.hats == 0


def test_users_see_their_own_columns():
    rows, labels = bump()
    learner = taught(rows, labels)
    learner.consolidate()
    row, label = learner.example(5)
    assert (row.tolist(), label) == (rows[5], labels[5])
    assert learner.expanded(rows).shape == (80, 8)
    x = np.array([0.3, -0.2])
    found = learner.explain(x)
    assert found.separator.shape == (2,)
    parts = found.prior + found.bias + sum(each.weight for each in found.supports)
    assert parts == pytest.approx(found.margin)
    step = 1e-6
    for j in range(2):
        there = x.copy()
        there[j] += step
        rise = learner.explain(there).margin - found.margin
        assert found.separator[j] == pytest.approx(rise / step, abs=1e-4)
    weights, bias, _ = learner.separator(found.label, found.runner_up)
    assert weights @ learner.expanded([x])[0] + bias == pytest.approx(found.margin)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_saved_learner_goes_on_with_the_same_bits(dtype):
    rows, labels = bump()
    learner = Learner(**PLAIN, expand=3, features=Identity(dtype))
    learner.teach_many(rows, labels)
    twin = loaded(saved(learner))
    for each in (learner, twin):
        each.teach([0.5, 0.5], "in")
        each.consolidate()
    assert saved(twin) == saved(learner)


def test_after_consolidating_hats_do_not_depend_on_the_order():
    rows, labels = bump(60)
    found = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(60).tolist()
        learner = taught([rows[i] for i in order], [labels[i] for i in order])
        learner.consolidate()
        found.add(str(model_bits(learner)))
    assert len(found) == 1


def test_knots_are_renewed_with_the_frame_and_not_between():
    rows, labels = bump()
    learner = taught(rows[:32], labels[:32])  # a refresh is at 32
    before = learner.expanded(rows)
    learner.teach([2.9, 0.0], "out")
    assert learner.expanded(rows).tobytes() == before.tobytes()
    learner.consolidate()
    assert learner.expanded(rows).tobytes() != before.tobytes()


def test_after_everything_is_forgotten_columns_are_as_they_were_given():
    rows, labels = bump()
    learner = taught(rows, labels)
    learner.forget(learner.ids)
    assert learner.audit().ok
    learner.teach([1.0, 2.0], "a")
    assert learner.expanded([[1.0, 2.0]]).tolist() == [[1.0, 2.0]]
    learner.teach_many(rows, labels)
    assert learner.audit().ok
    assert learner.expanded(rows[:1]).shape == (1, 8)


def test_constant_and_two_valued_columns_are_left_as_they_are():
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.ones(40), rng.integers(0, 2, 40), rng.normal(size=40)])
    labels = ["a" if row[1] else "b" for row in rows]
    learner = taught(rows.tolist(), labels, expand=9)
    assert learner.expanded(rows).shape[1] == 3 + 9
    assert learner.audit().ok
    constant = taught(np.ones((20, 2)).tolist(), ["a", "b"] * 10, expand=9)
    constant.consolidate()
    assert constant.audit().ok
    assert constant.expanded([[1.0, 1.0]]).tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("expand", [0, -1, 1.5, "three", True, 2**40])
def test_a_number_of_knots_that_makes_no_sense_is_one_sentence(expand):
    with pytest.raises(InvalidInputError, match="`expand` must be a whole number"):
        Learner(expand=expand)


def test_a_batch_that_is_refused_leaves_the_columns_as_they_were():
    rows, labels = bump()
    learner = taught(rows[:20], labels[:20])
    start = everything(learner)
    with pytest.raises(InvalidInputError):
        learner.teach_many([*rows[20:], [np.inf, 0.0]], [*labels[20:], "in"])
    assert everything(learner) == start


def test_a_correction_that_empties_a_region_and_renews_the_hats_keeps_all_labels():
    rng = np.random.default_rng(0)
    learner = Learner(near_classes=1, expand=3)
    learner.teach([9.0, 9.0], "c", id="c")
    for _ in range(20):
        learner.teach(rng.normal(size=2), "a")
        learner.teach(rng.normal(size=2) + 3.0, "b")
    learner.correct("c", "d")
    assert learner.audit().ok
    assert [learner.example(each)[1] for each in ("c", 0, 1)] == ["d", "a", "b"]


def test_a_correction_that_ends_regions_and_hats_keeps_all_labels():
    rng = np.random.default_rng(5)
    places = [(-2.0, -1.0)] * 60 + [(1.0, 0.5)] * 27 + [(0.0, 0.0)] * 9
    learner = Learner()
    learner.teach_many(0.2 * rng.normal(size=(96, 2)) + np.array(places), ["A"] * 87 + ["B"] * 9)
    learner.consolidate()
    reports = [learner.correct(i, "B") for i in range(60, 87)]
    assert any(report.refresh for report in reports)
    assert learner.audit().ok
    labels = [learner.example(i)[1] for i in range(96)]
    assert labels == ["A"] * 60 + ["B"] * 36


def test_tiny_rows_with_whitening_and_hats_bring_no_warning():
    rows = np.random.default_rng(0).normal(size=(4, 3)) * 1e-38
    learner = Learner(features=Identity("float32"), whiten=True, expand=9)
    for i, row in enumerate(rows):
        learner.teach(row, i % 2)
    assert learner.audit().ok
