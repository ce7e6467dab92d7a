"""Which examples a move can disturb, in cases beside those of test_region_theorem.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import InvalidInputError, Learner
from minout.core import WhatIf
from oracle.eighths import arrays
from oracle.margin import SETTINGS, stream

KINDS = {
    "plain": SETTINGS["plain"],
    "loose": SETTINGS["loose"],
    "lda": SETTINGS["lda"] | {"C": 5.0},
}


def streams(seed, examples=40):
    rows, labels = stream(seed, examples=examples, classes=4, features=2, apart=0.6)
    return [(x, int(y)) for x, y in zip(rows, labels, strict=True)]


def test_neurons_that_move_together_disturb_what_they_clip_together():
    rng, together = np.random.default_rng(1), 0
    means = 0.7 * rng.normal(size=(5, 2))
    learner = Learner(**KINDS["plain"] | {"C": 5.0, "refresh": "manual"})
    labels = rng.integers(5, size=120).tolist()
    for y in labels:
        x = means[y] + rng.normal(size=2)
        if not len(learner) or y not in learner.classes or len(learner.classes) < 2:
            learner.teach(x, y)
            continue
        ids, rows = learner.ids, np.array([learner.example(i)[0] for i in learner.ids])
        before, said = learner.outputs(rows), learner.what_if(x, y)
        learner.teach(x, y)
        changed = (learner.outputs(rows) != before).any(axis=1)
        assert {ids[i] for i in np.flatnonzero(changed)} <= set(said.interfered)
        alone = {i for each in said.neurons.values() for i in each}
        together += len(set(said.interfered) - alone)
    assert together > 0


@pytest.mark.parametrize("near_classes", ["all", 2])
def test_what_if_names_what_moves_after_support_vectors_were_forgotten(near_classes):
    rng, compared = np.random.default_rng(2), 0
    means = 3.0 * rng.normal(size=(4, 2))
    learner = Learner(**KINDS["lda"], near_classes=near_classes)
    labels = rng.integers(4, size=40)
    learner.teach_many(means[labels] + rng.normal(size=(40, 2)), labels.tolist())
    for turn in range(40):
        used = {i for each in learner.inspect().separators.values() for i in each.ids}
        if used and turn % 2 == 0 and len(learner) > 12:
            learner.forget(sorted(used)[:6])
        y = int(rng.integers(4))
        x = means[y] + 2.0 * rng.normal(size=2)
        if y not in learner.classes:
            continue
        said = learner.what_if(x, y)
        report = learner.teach(x, y)
        if not said.refresh:
            moved = {frozenset(pair) for pair in report.certificate.moved}
            assert moved == {frozenset(neuron) for neuron in said.neurons}
            compared += 1
    assert compared > 20


def test_every_example_that_changes_sides_was_at_risk():
    compared, changes = 0, 0

    @settings(max_examples=25)
    @given(st.lists(st.tuples(arrays(2, lowest=-6, highest=6), st.integers(0, 2)), max_size=14))
    def holds(examples):
        nonlocal compared, changes
        learner = Learner(**KINDS["loose"])
        for x, y in examples:
            said = learner.what_if(x, y)
            before = set() if not len(learner) else set(learner.misfits)
            ids = set(learner.ids)
            report = learner.teach(x, y)
            if report.refresh is None and not said.refresh:
                changed = (set(learner.misfits) ^ before) & ids
                equal = {i for i in ids if learner.example(i)[0].tolist() == x.tolist()}
                assert changed - equal <= set(said.interfered)
                compared += 1
                changes += len(changed - equal)

    holds()
    assert compared > 50
    assert changes > 5


@pytest.mark.parametrize("call", ["forget", "correct", "consolidate"])
def test_after_removing_or_relabelling_there_is_no_last_move(call):
    learner = Learner(**KINDS["plain"])
    for i, (x, y) in enumerate(streams(5, examples=12)):
        learner.teach(x, y, id=i)
    args = {"forget": (3,), "correct": (3, 9), "consolidate": ()}[call]
    getattr(learner, call)(*args)
    with pytest.raises(InvalidInputError, match="no last move"):
        learner.partition()


@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_what_if_takes_a_stored_example_with_its_own_weight(weight):
    learner = Learner()
    learner.teach_many([[0.0], [1.0], [3.0]], ["a", "a", "b"], ids=["x", "y", "z"])
    learner.teach([2.0], "a", id="heavy", weight=weight)
    assert learner.what_if([2.0], "a", id="heavy") == WhatIf.nothing()
    assert learner.what_if([2.0], "a", id="heavy", weight=weight) == WhatIf.nothing()
    with pytest.raises(InvalidInputError, match="stored with another weight"):
        learner.what_if([2.0], "a", id="heavy", weight=weight + 1.0)
    with pytest.raises(InvalidInputError, match="A weight is a number"):
        learner.what_if([2.0], "a", id="new", weight="much")
