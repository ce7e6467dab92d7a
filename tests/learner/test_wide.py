"""Very wide rows: a metric, whose size is the square of their length, is not chosen for them."""

import numpy as np

from minout import Learner, MarginRule
from minout.learner._margin import WIDE


def taught(columns):
    learner, rng = Learner(), np.random.default_rng(0)
    for i in range(12):
        learner.teach(rng.normal(size=columns) + (i % 2), i % 2)
    return learner


def test_a_metric_is_not_tried_for_very_wide_rows():
    assert any(shape.metric for shape in taught(20)._margin._shapes())
    wide = taught(WIDE + 1)
    assert not any(shape.metric for shape in wide._margin._shapes())
    assert len(wide._margin._shapes()) > 1
    wide.consolidate()
    assert not wide.choice.shape.metric


def test_a_metric_that_is_pinned_is_kept():
    learner = Learner(rule=MarginRule(metric=True))
    learner.teach(np.zeros(WIDE + 1), "a")
    assert all(shape.metric for shape in learner._margin._shapes())
