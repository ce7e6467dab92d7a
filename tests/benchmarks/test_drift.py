"""The part `drift` of the engine's benchmark: its streams, its counts, and life without river."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import changing, rivals
from benchmarks.engine import TESTING, drift
from benchmarks.engine.inputs import Inputs
from benchmarks.learners import Pins
from benchmarks.parts import no_progress
from benchmarks.rivals import Online


def drawn(make, count=400, seed=0):
    return make(count, np.random.default_rng(seed))


@pytest.mark.parametrize("make", changing.CHANGING.values(), ids=["flipped", "rotating", "new"])
def test_a_stream_is_that_of_its_seed(make):
    one, same, other = drawn(make), drawn(make), drawn(make, seed=1)
    assert (one.rows == same.rows).all()
    assert (one.labels == same.labels).all()
    assert not np.array_equal(one.rows, other.rows)


def test_labels_are_swapped_half_way():
    rows, labels = drawn(changing.flipped, 4000)
    for label in range(4):
        first, second = (
            rows[part][labels[part] == label].mean(axis=0)
            for part in (slice(2000), slice(2000, None))
        )
        earlier = rows[:2000][labels[:2000] == (label - 1) % 4].mean(axis=0)
        assert np.linalg.norm(second - earlier) < 0.5 < np.linalg.norm(second - first)


def test_classes_rotate_once():
    rows, labels = drawn(changing.rotating, 8000)
    starts, halves = (
        rows[part][labels[part] == 0].mean(axis=0)[:2]
        for part in (slice(0, 400), slice(3900, 4100))
    )
    assert starts == pytest.approx([3, 0], abs=0.8)
    assert halves == pytest.approx([-3, 0], abs=0.8)


def test_there_is_one_more_class_after_each_twentieth():
    labels = drawn(changing.new_classes, 8000).labels
    assert [labels[: 400 * part].max() for part in range(1, 21)] == list(range(20))


def test_label_order_is_sorted_and_stationary_streams_have_their_kind():
    for seed in range(5):
        labels = changing.stationary("label order", 200, np.random.default_rng(seed)).labels
        assert (np.diff(labels) >= 0).all()
    with pytest.raises(ValueError, match="kind"):
        changing.stationary("something else", 200, np.random.default_rng(0))


class Constant:
    def inputs(self, rows):
        return rows

    def predict(self, _x):
        return 1

    def learn(self, _x, _y):
        pass


def test_every_row_is_predicted_before_it_is_taught():
    stream = changing.Stream(np.zeros((4, 2)), np.array([1, 1, 0, 1]))
    right, _ = drift.run_online(Online("", Constant), stream)
    assert right.tolist() == [True, True, False, True]


def test_a_new_label_counts_as_wrong_for_ours():
    rows = np.array([[0.0, 0.0], [9.0, 9.0], [0.1, 0.0], [9.0, 9.1]])
    right, _, alarms = drift.run_ours(changing.Stream(rows, np.array([0, 1, 0, 1])), Pins())
    assert right.tolist() == [False, False, True, True]
    assert alarms == ()


def test_swapped_labels_raise_an_alarm_soon():
    stream = drawn(changing.flipped, 1200)
    _, _, alarms = drift.run_ours(stream, Pins(keep=200))
    assert len(alarms) == 1
    assert 600 < alarms[0] < 700


def test_without_river_its_models_are_left_out_and_the_note_says_so(monkeypatch):
    monkeypatch.setattr(rivals, "has_river", lambda: False)
    few = replace(TESTING, drift_rows=60, drift_tuning=10, drift_streams=1)
    rows = drift.measure(Inputs(None, few), no_progress)
    models = {row.model.split(" (")[0] for row in rows if isinstance(row, drift.DriftRow)}
    assert models == {"ours, all kept", "ours, newest 50 kept", "SGDClassifier"}
    assert "river is not installed" in drift.tables(rows)[0].note


def test_rivers_models_predict_and_learn():
    pytest.importorskip("river", reason="river is an optional extra (benchmarks)")
    stream = drawn(changing.new_classes, 60)
    named = {each.name: each for each in rivals.online_models(np.unique(stream.labels))}
    for name in ("ARFClassifier", "HoeffdingAdaptiveTreeClassifier"):
        for variant in named[name].variants:
            assert drift.run_online(variant, stream)[0].any()
