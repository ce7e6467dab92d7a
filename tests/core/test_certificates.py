"""What a certificate says of a step: each thing once, and nothing that is not so."""

from collections import Counter

import numpy as np
import pytest

from minout import Learner
from oracle.margin import SETTINGS, stream

ROWS, LABELS = stream(5, examples=60, features=2, apart=0.2)
NAMES = ["abc"[y] for y in LABELS.tolist()]
PLAIN = SETTINGS["plain"]


def taught(count=60, **settings):
    learner = Learner(**settings)
    learner.teach_many(ROWS[:count], NAMES[:count])
    return learner


def test_consolidate_names_the_misfits_that_came_and_went():
    learner = taught(**SETTINGS["all"] | {"C": 0.1}, refresh="manual")
    before = learner.misfits
    found, after = learner.consolidate().certificate, learner.misfits
    assert list(found.misfits) == [each for each in after if each not in before]
    assert list(found.cleared) == [each for each in before if each not in after]
    assert found.misfits
    assert found.cleared
    again = learner.consolidate().certificate
    assert (again.misfits, again.cleared) == ((), ())


def test_consolidate_names_no_misfit_that_stays_when_columns_get_another_order():
    learner = Learner(**PLAIN)
    rows = [{"b": x, "a": y} for x, y in ROWS.tolist()]
    learner.teach_many(rows, NAMES)
    learner.teach_many([row | {"aa": "x"} for row in rows[:5]], NAMES[:5])
    before = learner.misfits
    assert before
    found, after = learner.consolidate().certificate, learner.misfits
    assert set(found.misfits) == set(after) - set(before)
    assert set(found.cleared) == set(before) - set(after)


@pytest.mark.parametrize("kind", ["scaled", "all"])
def test_a_column_that_differs_in_the_last_bit_only_is_constant(kind):
    rows = np.column_stack([ROWS, np.where(np.arange(60) % 2, 0.1 + 0.2, 0.3)])
    same = np.column_stack([ROWS, np.full(60, 0.3)])
    learner, other = Learner(**SETTINGS[kind]), Learner(**SETTINGS[kind])
    learner.teach_many(rows, NAMES)
    other.teach_many(same, NAMES)
    for each in (learner, other):
        each.consolidate()
        assert each.audit().ok
    assert learner.scores(rows) == pytest.approx(other.scores(same), abs=1e-6)
    assert learner.misfits == other.misfits


def test_an_update_names_no_example_as_misfit_and_as_cleared():
    learner, stayed = taught(**SETTINGS["loose"]), 0
    for example in learner.misfits:
        before = set(learner.misfits)
        found = learner.update(example, learner.example(example)[0] + 1e-3).certificate
        after = set(learner.misfits)
        assert (set(found.misfits), set(found.cleared)) == (after - before, before - after)
        stayed += example in before & after
    assert stayed > 5


@pytest.mark.parametrize("kind", ["plain", "loose", "all"])
def test_a_correction_checks_the_margins_of_each_separator_once(kind):
    learner, moved = taught(20, **SETTINGS[kind], refresh="manual"), 0
    for example in learner.ids:
        found = learner.correct(example, "abca"["abc".index(learner.example(example)[1]) + 1])
        sizes = Counter(learner.example(each)[1] for each in learner.ids)
        pairs = found.certificate.moved
        assert found.certificate.checked == sum(sizes[a] + sizes[b] for a, b in pairs)
        moved += len(pairs)
    assert moved > 20


@pytest.mark.parametrize("keep", [12, {"per_label": 4}, "11s"], ids=["number", "label", "time"])
def test_the_least_margin_is_finite_when_an_example_falls_out_and_nothing_moves(keep):
    rows, labels = stream(6, examples=90, features=2, apart=4.0)
    learner, quiet = Learner(**PLAIN, keep=keep), 0
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        known = len(learner.classes) > 1 and y in learner.classes
        found = learner.teach(x, y, at=float(i)).certificate
        if known and found.forgotten and not found.moved:
            assert np.isfinite(found.least_margin)
            quiet += 1
    assert quiet > 10


def test_a_correction_that_empties_a_label_moves_no_separator_that_is_left():
    learner = Learner(**PLAIN)
    learner.teach_many([[0.0, 0.0], [5.0, 0.0], [-5.0, 0.0]], ["a", "b", "c"])
    before = learner.separator("a", "b").weights.tobytes()
    assert learner.correct(2, "a").certificate.moved == ()
    assert learner.classes.tolist() == ["a", "b"]
    assert learner.separator("a", "b").weights.tobytes() == before
