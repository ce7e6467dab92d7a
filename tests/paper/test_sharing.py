"""The line from "nothing shared" to "everything shared", and the network at its end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.paper import TableLearner, sharing
from minout.paper.sharing import Network, by_nearest, by_row, for_all, softmax, softmax_step
from oracle.eighths import drawn
from oracle.loss import network_by_hand, slope_by_differences, softmax_cross_entropy


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.booleans())
def test_teaching_in_one_group_changes_nothing_in_another(seed, rehearse):
    rng = np.random.default_rng(seed)
    group = by_nearest(drawn(rng, 3, 2))
    learner = TableLearner(group, 3, rehearse=rehearse, learning_rate=0.5, max_steps=20)
    probes = drawn(rng, 30, 2)
    groups = np.array([group(x) for x in probes])
    for x, y in zip(drawn(rng, 12, 2), rng.integers(0, 3, 12).tolist(), strict=True):
        predicted = learner.predict(probes)
        before = {key: theta.tobytes() for key, theta in learner._table.items()}
        learner.teach(x, y)
        for key in before.keys() - {group(x)}:
            assert learner._table[key].tobytes() == before[key]
        elsewhere = groups != group(x)
        assert (learner.predict(probes)[elsewhere] == predicted[elsewhere]).all()


@given(st.integers(0, 2**32))
def test_the_nearest_prototype_is_the_group(seed):
    rng = np.random.default_rng(seed)
    prototypes, x = drawn(rng, 4, 3), drawn(rng, 3)
    distances = [sum((a - b) ** 2 for a, b in zip(p, x, strict=True)) for p in prototypes]
    assert by_nearest(prototypes)(x) == int(np.argmin(distances))


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.booleans())
def test_a_table_by_row_forgets_nothing_and_generalises_nothing(seed, rehearse):
    rng = np.random.default_rng(seed)
    rows = np.unique(drawn(rng, 20, 3), axis=0)
    labels = rng.integers(0, 4, len(rows))
    learner = TableLearner(by_row, 4, rehearse=rehearse, learning_rate=1.0)
    for x, y in zip(rows, labels.tolist(), strict=True):
        report = learner.teach(x, y)
        assert (report.at_risk, report.rehearsed, report.reached_max_steps) == (0, 0, False)
    assert learner.predict(rows).tolist() == labels.tolist()
    assert learner.predict(rows + 0.0625).tolist() == [0] * len(rows)


@pytest.mark.parametrize("rehearse", [True, False])
def test_a_report_counts_the_group_and_who_of_it_was_rehearsed(rehearse):
    learner = TableLearner(by_nearest(np.array([[-1.0], [1.0]])), 2, rehearse=rehearse)
    told = [learner.teach(np.array([x]), y) for x, y in ((-1, 0), (1, 0), (-2, 1), (-0.5, 0))]
    assert [report.at_risk for report in told] == [0, 0, 1, 2]
    assert [report.rehearsed for report in told] == ([0, 0, 1, 2] if rehearse else [0] * 4)
    again = learner.teach(np.array([-0.5]), 0)
    assert (again.steps, again.rehearsed) == (0, 0)  # it fits already


def test_the_losses_of_the_rehearsed_are_added_and_the_cap_is_reported():
    rows, labels = drawn(np.random.default_rng(3), 3, 2), [0, 1, 1]
    learner = TableLearner(for_all, 2, learning_rate=0.25, max_steps=1)
    theta = np.zeros((2, 3))
    for n in range(3):
        assert learner.teach(rows[n], labels[n]).reached_max_steps
        softmax_step(theta, rows[: n + 1], np.eye(2)[labels[: n + 1]], 0.25)
    assert (learner._table[0] == theta).all()


def test_an_example_is_trained_until_its_loss_is_small():
    learner, x = TableLearner(for_all, 2), np.array([0.5, -0.5])
    learner.teach(x, 1)
    assert 0.09 < -np.log(softmax(learner._table[0], x)[1]) < 0.1


@pytest.mark.parametrize(
    ("x", "y"), [([1.0, float("nan")], 0), ([1.0, 2.0], 2), ([1.0, 2.0, 3.0], 0)]
)
def test_a_bad_example_is_refused_and_changes_nothing(x, y):
    learner = TableLearner(for_all, 2)
    learner.teach(np.array([1.0, 2.0]), 1)
    before = learner._table[0].tobytes()
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$"):
        learner.teach(np.array(x), y)
    assert learner._table[0].tobytes() == before


@given(st.integers(0, 2**32))
def test_a_softmax_step_goes_down_the_slope(seed):
    rng = np.random.default_rng(seed)
    theta, x, label = drawn(rng, 3, 3), drawn(rng, 2), int(rng.integers(3))
    moved = theta.copy()
    softmax_step(moved, x[None], np.eye(3)[[label]], 0.25)
    for at in np.ndindex(theta.shape):

        def cost(value, at=at):
            changed = theta.copy()
            changed[at] = value
            return softmax_cross_entropy(changed.tolist(), x.tolist(), label)

        assert theta[at] - moved[at] == pytest.approx(
            0.25 * slope_by_differences(cost, theta[at]), abs=1e-8
        )


@pytest.mark.parametrize("seed", range(10))
def test_the_network_equals_its_formula_and_a_step_is_its_gradient_times_the_rate(seed):
    rng = np.random.default_rng(seed)
    net = Network(drawn(rng, 5, 4), drawn(rng, 4), drawn(rng, 4, 3), drawn(rng, 3))
    x, y = drawn(rng, 5), int(rng.integers(3))
    x[rng.integers(5)] = 0.0
    scores, cost, slopes = network_by_hand(net, x.tolist(), y)
    assert sharing.logits(net, x).tolist() == scores
    assert sharing.predictions(net, x) == int(np.argmax(scores))
    assert sharing.loss(net, x, y) == pytest.approx(cost, rel=1e-12)
    expected = [w - 0.25 * slope for w, slope in zip(net, slopes, strict=True)]
    sharing.sgd_step(net, x, y, 0.25)
    for mine, theirs in zip(net, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)
