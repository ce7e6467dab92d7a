"""Piecewise-linear columns of a learner: thresholds and bumps, renewed with the frame."""

import numpy as np
import pytest

from minout import Learner

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


@pytest.mark.parametrize("more", [{}, {"near_classes": 1}], ids=["near", "far"])
def test_one_column_with_hats_is_predicted_in_batches_as_one_by_one(more):
    x = np.linspace(0.0, 1.0, 30)[:, None]
    labels = np.repeat([0, 1, 2], 10)
    learner = Learner(expand=3, **more)
    learner.teach_many(x, labels.tolist())
    learner.consolidate()
    found = learner.predict(x)
    assert found.tolist() == labels.tolist()
    assert found.tolist() == [learner.predict(each[None])[0] for each in x]
