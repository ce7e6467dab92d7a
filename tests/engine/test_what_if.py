"""Which examples a move can disturb, against a full scan of every neuron and every example."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import InvalidInputError, Learner, maths
from minout.engine import WhatIf
from oracle.eighths import arrays
from oracle.margin import SETTINGS, STRAIGHT, everything, margins_by_label, stream

KINDS = {
    "plain": SETTINGS["plain"],
    "loose": SETTINGS["loose"],
    "lda": SETTINGS["lda"] | {"C": 5.0},
    "manual": SETTINGS["means"] | {"refresh": "manual"},
    "auto": STRAIGHT,
}


class Scan:
    """A learner's units as they are, and all stored examples divided by one neuron."""

    def __init__(self, learner):
        view = learner.inspect()
        self.labels = sorted(view.labels)
        self.ids = learner.ids
        self.rows = [learner.example(example)[0] for example in self.ids]
        margins = [
            [margins_by_label(view, row, unit) if len(self.labels) > 1 else {} for row in self.rows]
            for unit in self.labels
        ]
        self.others = {
            unit: [other for other in self.labels if other != unit] for unit in self.labels
        }
        self.a = {
            unit: np.array([[each[other][0] for other in self.others[unit]] for each in of_unit])
            for unit, of_unit in zip(self.labels, margins, strict=True)
        }
        errors = [error for unit in margins for each in unit for _, error in each.values()]
        close = np.concatenate([np.abs(a).ravel() for a in self.a.values()])
        self.clear = bool((close > np.array(errors)).all()) if errors else True

    def sets(self, unit, neuron):
        masks = maths.partition(self.a[unit] <= 0.0, self.others[unit].index(neuron))
        return [tuple(np.array(self.ids, dtype=object)[mask]) for mask in masks]

    def unclipped(self, unit):
        a = self.a[unit].reshape(len(self.ids), -1)
        return {i for i, row in zip(self.ids, a, strict=True) if (row > 0.0).all()}


def streams(seed, examples=40):
    rows, labels = stream(seed, examples=examples, classes=4, features=2, apart=0.6)
    return [(x, int(y)) for x, y in zip(rows, labels, strict=True)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_what_if_and_partition_are_what_a_full_scan_finds(kind, seed):
    learner, compared, refreshed = Learner(**KINDS[kind]), 0, 0
    for n, (x, y) in enumerate(streams(seed)):
        if n == 0:
            learner.teach(x, y)
            continue
        scan, before = Scan(learner), everything(learner)
        said = learner.what_if(x, y)
        assert everything(learner) == before
        report = learner.teach(x, y)
        refreshed += report.refresh is not None
        if not scan.clear:
            continue
        for (unit, neuron), ids in said.neurons.items():
            if y in scan.labels:
                s1, s2, _ = scan.sets(unit, neuron)
                assert set(ids) == set(s1) | set(s2)
                assert list(ids) == [i for i in scan.ids if i in set(ids)]
            else:
                assert neuron == y
                assert set(ids) == scan.unclipped(unit)
            compared += 1
        moved = {frozenset(pair) for pair in report.certificate.moved}
        told = {frozenset(neuron) for neuron in said.neurons}
        assert said.refresh or moved <= told
        assert said.refresh or report.refresh is None
        if y in scan.labels and not said.refresh:
            assert moved == told
        if not moved:
            with pytest.raises(InvalidInputError, match="no last move"):
                learner.partition()
            continue
        sets = learner.partition()
        existed = {pair for pair in moved if pair <= set(scan.labels)}
        assert {frozenset(neuron) for neuron in sets} == existed
        assert len(sets) == 2 * len(existed)
        for (unit, neuron), found in sets.items():
            assert [set(each) for each in found] == [set(each) for each in scan.sets(unit, neuron)]
            compared += 1
    assert compared > 40
    assert (refreshed == 0) == (kind == "manual")


@pytest.mark.parametrize("kind", ["plain", "loose"])
def test_no_example_outside_of_the_sets_changes_its_output(kind):
    learner, compared, kept, together = Learner(**KINDS[kind]), 0, 0, 0
    for x, y in streams(3, examples=80):
        if len(learner) < 2:
            learner.teach(x, y)
            continue
        ids = learner.ids
        rows = np.array([learner.example(example)[0] for example in ids])
        outputs, predicted = learner.outputs(rows), learner.predict(rows)
        names, said = learner.classes.tolist(), learner.what_if(x, y)
        report = learner.teach(x, y)
        if report.refresh is not None or said.refresh or y not in names:
            continue
        at_risk = {unit: set(said.interfered) for unit in names}
        for (unit, _), each in said.neurons.items():
            assert set(each) <= set(said.interfered)
            if unit != y:  # one neuron of this unit moves
                at_risk[unit] = set(each)
        together += len(said.neurons) > 2
        after, now = learner.outputs(rows), learner.predict(rows)
        moved = bool(report.certificate.moved)
        for i, example in enumerate(ids):
            for c, unit in enumerate(names):
                if example not in at_risk[unit]:
                    assert after[i, c] == outputs[i, c]
                    compared += moved
            if example not in said.interfered and outputs[i].max() > 0.0:
                assert now[i] == predicted[i]
                kept += moved
    assert compared > 100
    assert kept > 10
    assert together > 5


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_neurons_that_move_together_disturb_what_they_clip_together(seed):
    rng, together = np.random.default_rng(seed), 0
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
