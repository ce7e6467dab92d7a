"""Very wide rows: a metric, whose size is the square of their length, is not chosen for them."""

import numpy as np
import pytest

from minout import Learner
from minout.engine import frame
from minout.engine.frame import WIDEST_METRIC


@pytest.fixture
def tried(monkeypatch):
    """Collect the shapes that each choice is made from."""
    found, choose = [], frame.choose

    def recorded(table, options, stored):
        found.append(options.shapes)
        return choose(table, options, stored)

    monkeypatch.setattr(frame, "choose", recorded)
    return found


def taught(features, **settings):
    learner, rng = Learner(**settings), np.random.default_rng(0)
    for i in range(12):
        learner.teach(rng.normal(size=features) + (i % 2), i % 2)
    return learner


def test_a_metric_is_tried_for_rows_of_moderate_width(tried):
    taught(20)
    assert tried
    assert all(any(shape.whiten for shape in shapes) for shapes in tried)


def test_a_metric_is_not_tried_for_very_wide_rows(tried):
    wide = taught(WIDEST_METRIC + 1)
    wide.consolidate()
    assert len(tried) > 1
    assert not any(shape.whiten for shapes in tried for shape in shapes)
    assert all(len(shapes) > 1 for shapes in tried)
    assert not wide.choice.whiten


def test_a_metric_that_is_pinned_is_kept(tried, monkeypatch):
    monkeypatch.setattr(frame, "WIDEST_METRIC", 20)
    learner = taught(21, whiten=True)
    assert tried
    assert all(shape.whiten for shapes in tried for shape in shapes)
    assert learner.choice.whiten
