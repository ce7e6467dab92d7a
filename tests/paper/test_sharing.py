"""The line from "nothing shared" to "everything shared", and what each point forgets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.maths.sharing import by_nearest, by_row, for_all, softmax, softmax_step
from minout.paper import TableLearner
from oracle.eighths import drawn
from oracle.recording import stream


def tables(learner):
    """Copies what a learner keeps for each group."""
    return {
        key: (theta.tobytes(), [(row.tobytes(), label) for row, label in learner._stored[key]])
        for key, theta in learner._table.items()
    }


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.booleans())
def test_teaching_in_one_group_changes_nothing_in_another(seed, rehearse):
    rng = np.random.default_rng(seed)
    group = by_nearest(drawn(rng, 3, 2))
    learner = TableLearner(group, 3, rehearse=rehearse, learning_rate=0.5, max_steps=20)
    probes = drawn(rng, 30, 2)
    groups = np.array([group(x) for x in probes])
    for x, y in zip(drawn(rng, 12, 2), rng.integers(0, 3, 12).tolist(), strict=True):
        before, predicted = tables(learner), learner.predict(probes)
        learner.teach(x, y)
        after = tables(learner)
        for key in before.keys() - {group(x)}:
            assert after[key] == before[key]
        elsewhere = groups != group(x)
        assert (learner.predict(probes)[elsewhere] == predicted[elsewhere]).all()


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.booleans())
def test_a_table_by_row_forgets_nothing(seed, rehearse):
    rng = np.random.default_rng(seed)
    rows = np.unique(drawn(rng, 20, 3), axis=0)
    labels = rng.integers(0, 4, len(rows))
    learner = TableLearner(by_row, 4, rehearse=rehearse, learning_rate=1.0)
    for x, y in zip(rows, labels.tolist(), strict=True):
        report = learner.teach(x, y)
        assert (report.at_risk, report.rehearsed, report.reached_max_steps) == (0, 0, False)
    assert learner.predict(rows).tolist() == labels.tolist()
    assert learner.predict(rows + 0.0625).tolist() == [0] * len(rows)  # and generalises nothing


def test_one_theta_for_all_forgets_what_is_not_rehearsed():
    rows, labels = stream(1, examples=60)
    accuracies = {}
    for rehearse in (True, False):
        learner = TableLearner(for_all, 3, rehearse=rehearse)
        for x, y in zip(rows, labels.tolist(), strict=True):
            learner.teach(x, y)
        accuracies[rehearse] = np.mean(learner.predict(rows) == labels)
    assert accuracies[False] < accuracies[True]


@pytest.mark.parametrize("rehearse", [True, False])
def test_a_report_counts_the_group_and_whom_of_it_was_rehearsed(rehearse):
    learner = TableLearner(by_nearest(np.array([[-1.0], [1.0]])), 2, rehearse=rehearse)
    told = [learner.teach(np.array([x]), y) for x, y in ((-1, 0), (1, 0), (-2, 1), (-0.5, 0))]
    assert [report.at_risk for report in told] == [0, 0, 1, 2]
    assert [report.rehearsed for report in told] == ([0, 0, 1, 2] if rehearse else [0] * 4)


def test_nobody_is_rehearsed_if_no_step_is_taken():
    learner = TableLearner(for_all, 2)
    first, again = (learner.teach(np.array([1.0]), 1) for _ in range(2))
    assert first.steps > 0
    assert (again.steps, again.at_risk, again.rehearsed) == (0, 1, 0)


def test_the_losses_of_the_rehearsed_are_added_up():
    rows, labels = drawn(np.random.default_rng(3), 3, 2), [0, 1, 1]
    learner = TableLearner(for_all, 2, learning_rate=0.25, max_steps=1)
    theta = np.zeros((2, 3))
    for n in range(3):
        learner.teach(rows[n], labels[n])
        softmax_step(theta, rows[: n + 1], np.eye(2)[labels[: n + 1]], 0.25)
    assert (learner._table[0] == theta).all()


def test_an_example_is_trained_until_its_loss_is_small():
    learner = TableLearner(for_all, 2)
    x = np.array([0.5, -0.5])
    learner.teach(x, 1)
    assert 0.09 < -np.log(softmax(learner._table[0], x)[1]) < 0.1


def test_a_cap_is_reported_only_if_the_example_was_not_learned():
    def told(max_steps):
        learner = TableLearner(for_all, 2, learning_rate=0.5, max_steps=max_steps)
        return learner.teach(np.array([1.0]), 1)

    needed = next(steps for steps in range(1, 100) if learned_after(steps))
    assert needed > 2
    assert told(needed - 1)[::3] == (needed - 1, True)
    assert told(needed + 1)[::3] == told(needed)[::3] == (needed, False)


def learned_after(steps):
    theta = np.zeros((2, 2))
    for _ in range(steps):
        softmax_step(theta, np.array([[1.0]]), np.eye(2)[[1]], 0.5)
    return -np.log(softmax(theta, np.array([1.0]))[1]) < 0.1


def test_a_group_never_taught_gets_the_first_class():
    learner = TableLearner(by_row, 3)
    assert learner.predict(np.zeros((2, 1))).tolist() == [0, 0]
    assert learner.predict(np.zeros((0, 1))).tolist() == []


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.0, float("nan")], 0),
        ([1.0, float("inf")], 0),
        ([1.0, 2.0], 2),
        ([1.0, 2.0], -1),
        ([1.0, 2.0], float("nan")),
        ([1.0, 2.0], 0.5),
        ([1.0, 2.0, 3.0], 0),
        ([1.0], 0),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(x, y):
    learner = TableLearner(for_all, 2)
    learner.teach(np.array([1.0, 2.0]), 1)
    before = tables(learner)
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$"):
        learner.teach(np.array(x), y)
    assert tables(learner) == before


def test_a_caller_may_reuse_its_row():
    x = np.array([1.0, -1.0])
    learner, untouched = TableLearner(for_all, 2), TableLearner(for_all, 2)
    learner.teach(x, 1)
    x[:] = 5.0
    untouched.teach(np.array([1.0, -1.0]), 1)
    for each in (learner, untouched):
        each.teach(np.array([0.5, 0.5]), 0)
    assert tables(learner) == tables(untouched)


@pytest.mark.parametrize(
    "same", [np.array([[1, 0]]), np.array([[1.0, -0.0]]), np.array([[1.0, 0.0]], np.float32)]
)
def test_equal_numbers_are_one_row_whatever_their_bytes(same):
    learner = TableLearner(by_row, 2)
    learner.teach(np.array([1.0, 0.0]), 1)
    assert learner.predict(same).tolist() == [1]
