"""Wide rows may be told apart by separators whose bias hardly moves."""

import numpy as np
import pytest

from minout import Learner
from minout.core import left_out
from oracle import separators
from oracle.margin import by_label

WIDTH = 400


def drawn(rng, sizes):
    """Draw rows in which few of many columns are not 0, some of them those of the label."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    words = rng.integers(50, WIDTH, (len(labels), 9))
    own = 10 * labels[:, None] + rng.integers(0, 10, (len(labels), 2))
    rows = np.zeros((len(labels), WIDTH))
    np.put_along_axis(rows, np.hstack([words, own]), 1.0, axis=1)
    return rows, labels


def wide(sizes=(50, 6, 6, 6, 6)):
    """Return a learner of rows of which most have one label, in random order."""
    rng = np.random.default_rng(0)
    rows, labels = drawn(rng, sizes)
    order = rng.permutation(len(rows))
    learner = Learner(whiten=False, lda_prior=False)
    learner.teach_many(rows[order], labels[order].tolist())
    return learner, rows[order], labels[order].tolist()


def test_a_label_does_not_win_by_being_frequent(monkeypatch):
    rows, labels = drawn(np.random.default_rng(1), (100,) * 5)
    right = {}
    for free in (False, True):
        if free:
            monkeypatch.setattr("minout.core.choice.WIDE", np.inf)
        learner, *_ = wide()
        learner.consolidate()
        assert learner.choice.free_bias is free
        found = np.array(learner.predict(rows)) == labels
        right[free] = found[labels > 0].mean()
    assert right[False] > right[True] + 0.1


def test_separators_are_those_of_the_oracle():
    learner, rows, labels = wide()
    learner.consolidate()
    choice = learner.choice
    assert not choice.free_bias
    settings = ("standardize", "whiten", "lda_prior", "free_bias", "C")
    wanted = separators.model(rows, labels, **{name: getattr(choice, name) for name in settings})
    for pair, (w, b) in by_label(learner.inspect()).items():
        assert w == pytest.approx(wanted.pairs[pair].w, rel=1e-6, abs=1e-7)
        assert b == pytest.approx(wanted.pairs[pair].b, rel=1e-6, abs=1e-7)
        assert abs(b) < 0.1
    more, labels = drawn(np.random.default_rng(2), (2,) * 6)
    learner.teach_many(more, labels.tolist())
    assert not learner.choice.free_bias
    assert learner.audit().ok


@pytest.mark.parametrize("sizes", [(50, 6, 6, 6, 6), (30, 15)], ids=["skewed", "two labels"])
def test_left_out_scores_are_those_of_models_without_the_example(sizes, monkeypatch):
    learner, rows, labels = wide(sizes)
    learner.consolidate()
    choice = learner.choice
    assert not choice.free_bias
    monkeypatch.setattr("minout.core.frame.choose", lambda *_: choice)
    state = learner._state
    found = left_out.left_out_scores(state, state.examples.places())
    off, is_right = [], []
    for i in range(len(rows)):
        others = np.arange(len(rows)) != i
        twin = Learner(whiten=False, lda_prior=False)
        twin.teach_many(rows[others], [labels[j] for j in np.flatnonzero(others)])
        twin.consolidate()
        wanted = twin.scores(rows[i : i + 1])[0]
        off.append(np.abs(found[i] - wanted).mean())
        is_right.append(wanted.argmax() == labels[i])
    assert np.mean(off) < 0.3 * np.abs(found).mean()  # rows of other labels leave with it, too
    expected = learner.expected_accuracy()
    assert expected.accuracy == pytest.approx(np.mean(is_right), abs=0.04)
    assert choice.sharpness > 1.0
