"""Explanations add up, name the examples that bear them, and change nothing."""

import numpy as np
import pytest

from minout import Learner
from oracle.margin import SETTINGS, everything


def taught(kind, seed, classes=4):
    rng = np.random.default_rng(seed)
    learner = Learner(**SETTINGS[kind])
    for i in range(40):
        y = i % classes
        row = (rng.integers(-8, 9, 3) + 5 * np.array([y & 1, y >> 1, 0])) / 8
        learner.teach(row, "abcdefgh"[y], id=f"row {i}")
    return learner, rng


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("tight", [False, True])
def test_an_explanation_adds_up(kind, tight):
    learner, rng = taught(kind, 5)
    if tight:
        learner.consolidate()
    before = everything(learner)
    for x in rng.integers(-16, 17, (5, 3)) / 8:
        check(learner, x)
    assert everything(learner) == before


def check(learner, x):
    found = learner.explain(x)
    assert found.label == learner.predict([x])[0]
    scores = learner.scores([x])[0]
    assert list(found.scores.values()) == scores.tolist()
    assert list(found.scores) == learner.classes.tolist()
    assert found.margin == scores.max()
    parts = [found.prior, found.bias, *(each.weight for each in found.supports)]
    assert sum(parts) == pytest.approx(found.margin, abs=1e-9 * (1.0 + np.abs(parts).sum()))
    parts = [found.at_mean, *found.columns]
    assert sum(parts) == pytest.approx(found.margin, abs=1e-9 * (1.0 + np.abs(parts).sum()))
    assert found.runner_up != found.label
    weights = [abs(each.weight) for each in found.supports]
    assert weights == sorted(weights, reverse=True)
    for each in found.supports:
        assert each.id in learner
        assert each.label in (found.label, found.runner_up)


@pytest.mark.parametrize("expand", [None, 3])
def test_columns_add_up_with_hats_and_missing_values(expand):
    rng = np.random.default_rng(5)
    rows, y = rng.normal(size=(60, 3)), rng.integers(2, size=60)
    rows += y[:, None]
    rows[rng.random(rows.shape) < 0.2] = np.nan
    learner = Learner(missing="mean", **{**SETTINGS["all"], "expand": expand})
    learner.teach_many(rows, y.tolist())
    learner.consolidate()
    for x in (rows[0], np.full(3, np.nan), rows[-1]):
        found = learner.explain(x)
        assert found.columns.shape == (3,)
        assert found.at_mean + found.columns.sum() == pytest.approx(found.margin, rel=1e-9)


def test_a_column_with_its_mean_contributes_nothing():
    learner, _ = taught("plain", 4)
    learner.consolidate()
    mean = np.mean([learner.example(each)[0] for each in learner.ids], axis=0)
    found = learner.explain([mean[0], mean[1] + 1.0, mean[2]])
    assert found.columns[[0, 2]] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found.columns[1] == pytest.approx(found.separator[1])
