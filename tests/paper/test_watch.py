"""Every curve against a learner that is asked for its predictions after every example."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.paper import Closed, Conditional, GradientRule, NoRehearsal, PaperLearner
from minout.paper.evaluate import Curves, watch
from minout.streams import Stream
from oracle.recording import stream as drawn_stream
from oracle.snapshot import snapshot

RULE = GradientRule(neurons=3, learning_rate=0.25, max_steps=15)
CLASSES = [5, 3, 8]


def drawn(seed, examples=20):
    """Draws a stream by label and a test set, rows in eighths."""
    rows, labels = drawn_stream(seed, examples=examples + 10, features=5)
    labels = np.array(CLASSES)[labels]
    test = np.arange(examples + 10) % 3 == 0
    tasks = np.zeros((~test).sum(), dtype=np.int64)
    return Stream(rows[~test], labels[~test], tasks), rows[test], labels[test]


def share(right):
    return sum(right) / len(right) if len(right) else float("nan")


def dull(learner, stream, test_rows, test_labels):
    """Measures everything anew after every example; also hands back the reports."""
    table, reports = [], []
    for i, (x, y) in enumerate(zip(stream.rows, stream.labels.tolist(), strict=True)):
        reports.append(learner.teach(x, y))
        train = [p == t for p, t in zip(learner.predict(stream.rows), stream.labels, strict=True)]
        test = [p == t for p, t in zip(learner.predict(test_rows), test_labels, strict=True)]
        known = set(stream.labels[: i + 1].tolist())
        of_known = [r for r, t in zip(test, test_labels.tolist(), strict=True) if t in known]
        table.append([share(train), share(train[: i + 1]), share(test), share(of_known)])
    return np.array(table).T, reports


@pytest.mark.parametrize("policy", [NoRehearsal(), Conditional(), Closed()], ids=repr)
@pytest.mark.parametrize("clip", ["hard", "sigmoid"])
def test_curves_equal_a_dull_measurement_after_every_example(policy, clip):
    rule = GradientRule(neurons=3, learning_rate=0.25, max_steps=15, clip=clip)
    stream, test_rows, test_labels = drawn(4)
    learner, twin = (PaperLearner(CLASSES, rule=rule, policy=policy, seed=6) for _ in range(2))
    curves = watch(learner, stream, test_rows, test_labels)
    accuracies, reports = dull(twin, stream, test_rows, test_labels)
    for name, expected in zip(("train", "seen", "test", "test_seen"), accuracies, strict=True):
        np.testing.assert_allclose(getattr(curves, name), expected, rtol=1e-15, err_msg=name)
    for name, what in [
        ("rehearsed", "mean_rehearsed"),
        ("exact", "mean_exact"),
        ("missed", "mean_missed"),
    ]:
        means = [[getattr(unit, what) for unit in report.units] for report in reports]
        expected = [sum(each) / len(each) if each else np.nan for each in means]
        np.testing.assert_allclose(getattr(curves, name), expected, rtol=1e-14, err_msg=name)
    for name, count in [
        ("neurons_moved", lambda report: sum(len(unit.moved) for unit in report.units)),
        ("steps", lambda report: sum(unit.steps for unit in report.units)),
        ("leaks", lambda report: sum(unit.leaks for unit in report.units)),
        ("caps", lambda report: sum(unit.reached_max_steps for unit in report.units)),
    ]:
        expected = [count(report) for report in reports]
        assert getattr(curves, name).tolist() == expected, name
    assert snapshot(learner) == snapshot(twin)
    assert all(len(curve) == len(stream.rows) for curve in curves)
    assert curves.train[-1] == curves.seen[-1]


def test_every_example_ticks_once():
    stream, test_rows, test_labels = drawn(5)
    learner, ticks = PaperLearner(CLASSES, rule=RULE), []
    watch(learner, stream, test_rows, test_labels, tick=lambda: ticks.append(len(learner)))
    assert ticks == [*range(1, len(stream.rows) + 1)]


def test_without_a_test_set_its_curves_are_nan():
    stream, test_rows, test_labels = drawn(6)
    curves = watch(PaperLearner(CLASSES, rule=RULE), stream, test_rows[:0], test_labels[:0])
    assert np.isnan(curves.test).all()
    assert np.isnan(curves.test_seen).all()
    assert np.isfinite(curves.train).all()


def test_until_a_class_of_the_test_set_is_taught_its_curve_is_nan():
    rows, labels = np.array([[0.0], [1.0]]), np.array([5, 3])
    stream = Stream(rows, labels, np.zeros(2, dtype=np.int64))
    curves = watch(PaperLearner(CLASSES, rule=RULE), stream, rows[1:], labels[1:])
    assert np.isnan(curves.test_seen).tolist() == [True, False]
    assert np.isfinite(curves.test).all()


def test_where_no_unit_took_a_step_there_is_no_mean():
    rows = np.array([[1.0], [1.0]])
    stream = Stream(rows, np.array([5, 5]), np.zeros(2, dtype=np.int64))
    rule = GradientRule(neurons=1, learning_rate=0.5)
    curves = watch(PaperLearner([5, 3], rule=rule), stream, rows, stream.labels)
    assert np.isnan(curves.rehearsed).tolist() == [False, True]
    assert np.isnan(curves.exact).tolist() == np.isnan(curves.missed).tolist() == [False, True]
    for name in ("neurons_moved", "steps", "leaks", "caps"):
        assert getattr(curves, name)[1] == 0
    assert len(Curves._fields) == 11


def test_an_empty_stream_is_refused():
    stream, test_rows, test_labels = drawn(7)
    empty = Stream(*(array[:0] for array in stream))
    learner = PaperLearner(CLASSES, rule=RULE)
    with pytest.raises(InvalidInputError, match=r"^The stream is empty.*\.$"):
        watch(learner, empty, test_rows, test_labels)
    assert len(learner) == 0


def test_a_learner_that_was_taught_before_is_refused_and_left_alone():
    stream, test_rows, test_labels = drawn(8)
    learner = PaperLearner(CLASSES, rule=RULE)
    learner.teach(stream.rows[0], 5)
    before = snapshot(learner)
    with pytest.raises(InvalidInputError, match=r"^This learner was taught before.*\.$"):
        watch(learner, stream, test_rows, test_labels)
    assert snapshot(learner) == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda rows: rows[:, 1:],
        lambda rows: np.where(rows == rows[0, 0], np.nan, rows),
        lambda rows: np.where(rows == rows[0, 0], np.inf, rows),
        lambda rows: rows[0],
    ],
    ids=["too narrow", "NaN", "infinity", "one row"],
)
def test_test_rows_that_cannot_be_predicted_are_refused_before_anything_is_taught(spoil):
    stream, test_rows, test_labels = drawn(9)
    learner = PaperLearner(CLASSES, rule=RULE)
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$"):
        watch(learner, stream, spoil(test_rows), test_labels)
    assert len(learner) == 0


def test_labels_that_do_not_fit_are_refused_before_anything_is_taught():
    rows, labels = drawn_stream(2, examples=4, features=3)
    task = Stream(rows, labels, np.zeros(4, dtype=np.int64))
    learner = PaperLearner(range(3), rule=RULE)
    with pytest.raises(InvalidInputError, match="4 test rows and 3 labels"):
        watch(learner, task, rows, labels[:3])
    with pytest.raises(InvalidInputError, match="was not made for"):
        watch(learner, task._replace(labels=labels + 7), rows, labels)
    assert len(learner) == 0
