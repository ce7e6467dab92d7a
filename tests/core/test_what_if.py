"""Which examples a move can disturb, in cases beside those of test_region_theorem.py."""

from collections import Counter

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


FIELDS = {
    "plain": {},
    "far": {"near_classes": 1},
    "regions": {"regions": 2},
    "window": {"keep": 25},
    "seconds": {"keep": "8s"},
}


@pytest.mark.parametrize("kind", FIELDS)
@pytest.mark.parametrize("pool", [150, 4], ids=["settled", "waiting"])
def test_teaching_does_what_what_if_said_in_all_its_fields(kind, pool, monkeypatch):
    monkeypatch.setattr("minout.core.separators.LARGE_POOL", pool)
    monkeypatch.setattr("minout.core.separators.PENDING_SHARE", 0.5)
    learner, seen = Learner(**KINDS["lda"] | FIELDS[kind]), Counter()
    for n, (x, y) in enumerate(streams(3, examples=90)):
        at = float(n - 40 * (n % 9 == 4))  # some are too old for a window
        said, ids = learner.what_if(x, y, at), set(learner.ids)
        rows = np.array([learner.example(i)[0] for i in ids])
        names = learner.classes.tolist() if ids else []
        before = learner.outputs(rows) if ids else rows
        report = learner.teach(x, y, id=n, at=at)
        certificate, stored = report.certificate, set(learner.ids)
        assert said.is_out == (n not in stored)
        assert said.forgotten == (() if said.is_out else certificate.forgotten)
        assert said.refresh == (report.refresh is not None)
        assert said.refresh or said.pending == certificate.pending
        if ids and learner.classes.tolist() == names:
            changed = (learner.outputs(rows) != before).any(axis=1)
            could = set(said.interfered) | set(said.forgotten)
            assert {i for i, is_changed in zip(ids, changed, strict=True) if is_changed} <= could
            seen["changed"] += changed.sum()
        moved = {frozenset(pair) for pair in certificate.moved}
        if moved and not said.refresh:
            left = set(learner.classes.tolist())  # neurons of a label that is gone are dropped
            assert moved == {frozenset(each) for each in said.neurons if left.issuperset(each)}
        if moved and not said.refresh and not said.forgotten and "near_classes" not in FIELDS[kind]:
            for neuron, (s1, s2, _) in learner.partition().items():
                assert set(said.neurons[neuron]) == {*s1, *s2}
                seen["sets"] += 1
        seen.update(moved=bool(moved), waits=bool(said.pending), refresh=said.refresh)
        seen.update(out=said.is_out, forgotten=bool(said.forgotten))
    assert seen["moved"] > 20
    assert seen["refresh"] > 2
    assert seen["changed"] > 20
    assert seen["sets"] > 20 or kind not in ("plain", "regions")
    assert seen["waits"] > 0 or pool == 150
    assert (seen["forgotten"] > 5) == (kind in ("window", "seconds"))
    assert (seen["out"] > 0) == (kind in ("window", "seconds"))


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
