"""Suspects are in the order of their probabilities; wrong labels are among the first."""

import numpy as np
import pytest

from minout import Learner, engine
from oracle import separators
from oracle.margin import STRAIGHT, everything, stream


@pytest.fixture(autouse=True)
def trusted(monkeypatch):
    """Give estimates for few rows too: what they are is tested here, not where they hold."""
    monkeypatch.setattr(engine.left_out, "ROWS_PER_FEATURE", 0)


def taught(*, wrong=0.0, seed=6, apart=1.0, examples=60, **settings):
    rows, labels = stream(seed, examples=examples, features=3, apart=apart)
    rng = np.random.default_rng(seed)
    bent = rng.random(examples) < wrong
    labels = np.where(bent, (labels + 1) % 3, labels)
    learner = Learner(**settings)
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        learner.teach(x, y, id=f"e{i}")
    return learner, rows, labels, {f"e{i}" for i in np.flatnonzero(bent)}


@pytest.mark.parametrize("lda", [False, True])
@pytest.mark.parametrize("apart", [0.3, 1.0])
def test_slack_is_how_far_the_slow_reference_stays_short(lda, apart):
    pins = {"C": 5.0, "whiten": lda, "lda_prior": lda, "standardize": False}
    learner, rows, labels, _ = taught(**pins, **STRAIGHT, apart=apart)
    learner.consolidate()
    wanted = separators.model(rows, labels.tolist(), **pins)
    slack = {f"e{i}": each for i, each in enumerate(wanted.slack.tolist())}
    found = learner.suspects(100)
    assert {each.id: each.slack for each in found} == pytest.approx(
        {i: each for i, each in slack.items() if each > 1e-9}, rel=1e-6, abs=1e-8
    )
    wrong = [each.probability for each in found]
    assert wrong == sorted(wrong, reverse=True)
    assert all(each.label == labels[int(each.id[1:])] for each in found)


@pytest.mark.parametrize("n", [0, 1, 5, np.int64(2)], ids=["0", "1", "5", "numpy"])
def test_no_more_are_named_than_asked_for_and_they_are_the_first(n):
    learner, *_ = taught(C=5.0, apart=0.3)
    before = everything(learner)
    assert learner.suspects(n) == learner.suspects(99)[:n]
    assert len(learner.suspects(n)) == n
    assert everything(learner) == before


def test_no_example_without_slack_is_suspected():
    learner = Learner(C=500.0)
    for i in range(8):
        learner.teach([10.0 * (i % 2), i / 8], i % 2, id=i)
    learner.consolidate()
    assert all(each.slack > 0.0 for each in learner.suspects(99))
    assert len(learner.suspects(99)) < 8


def test_wrong_labels_are_found_far_more_often_than_by_chance():
    learner, _, _, wrong = taught(wrong=0.05, apart=2.0, examples=200)
    learner.consolidate()
    assert len(wrong) > 5
    first = {each.id for each in learner.suspects(len(wrong))}
    assert len(first & wrong) > 0.7 * len(wrong)


def test_a_corrected_suspect_is_no_longer_one():
    learner, _, _, wrong = taught(C=50.0, wrong=0.05, apart=2.0)
    learner.consolidate()
    first = learner.suspects(1)[0]
    assert first.id in wrong
    learner.correct(first.id, first.suggested_label)
    assert first.id not in {each.id for each in learner.suspects(3)}


def test_forgotten_examples_are_no_longer_suspected():
    learner, *_ = taught(C=5.0, apart=0.3)
    gone = [each.id for each in learner.suspects(5)]
    learner.forget(gone)
    assert not set(gone) & {each.id for each in learner.suspects(99)}
