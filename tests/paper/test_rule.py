"""The gradient rule: settings that make sense, the paper's loss, and its gradient steps."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import maths
from minout.errors import InvalidInputError
from minout.paper import GradientRule
from oracle.eighths import drawn
from oracle.loss import cross_entropy

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "settings",
    [
        *({"neurons": value} for value in (0, -1, 2.5, NAN, INF, "3", None)),
        *({"max_steps": value} for value in (0, -5, 2.5, NAN, "3", None)),
        *({"learning_rate": value} for value in (0, 0.0, -0.1, NAN, INF, -INF, "0.1", None)),
        *({"initial_scale": value} for value in (0.0, -1.0, NAN, INF, "1", None)),
        *({"stop_loss": value} for value in (0.0, -0.1, NAN, INF, "1", None)),
        *({"reduction": value} for value in ("", "median", None, 1)),
        *({"clip": value} for value in ("", "soft", None, 0)),
    ],
    ids=repr,
)
def test_a_senseless_setting_is_refused_by_name(settings):
    with pytest.raises(InvalidInputError) as caught:
        GradientRule(**settings)
    message = str(caught.value)
    assert f"`{next(iter(settings))}`" in message
    assert message.endswith(".")
    assert "\n" not in message


def test_settings_cannot_be_changed_afterwards():
    with pytest.raises(dataclasses.FrozenInstanceError):
        GradientRule().neurons = 3


@pytest.mark.parametrize(("clip", "threshold"), [("hard", 0.0), ("sigmoid", np.log(1 / 9))])
def test_threshold_is_that_of_the_clip(clip, threshold):
    assert GradientRule(clip=clip).threshold == pytest.approx(threshold, rel=1e-15)


@given(st.floats(-30, 30), st.booleans())
def test_loss_equals_the_oracle_and_the_formula(least, positive):
    ours = GradientRule().loss(least, positive)
    assert ours == pytest.approx(cross_entropy(least, positive), rel=1e-13, abs=1e-15)
    formula = float(maths.cross_entropy(np.float64(least), np.bool_(positive)))
    assert ours == pytest.approx(formula, rel=1e-15)


@pytest.mark.parametrize("least", [-1e300, -1000.0, 1000.0, 1e300])
@pytest.mark.parametrize("positive", [True, False])
def test_loss_of_a_huge_number_is_finite(least, positive):
    assert GradientRule().loss(least, positive) == max(-least if positive else least, 0.0)


@pytest.mark.parametrize("rehearsed", [0, 1, 3])
@pytest.mark.parametrize(("reduction", "together"), [("sum", None), ("mean", 1.0)])
def test_rehearsed_rows_weigh_1_each_or_1_together(reduction, together, rehearsed):
    rule = GradientRule(learning_rate=0.25, reduction=reduction)
    a, targets = np.zeros((2, 5)), np.ones(4, dtype=bool)
    step = rule.gradient_step(a, np.arange(rehearsed), targets)
    each = 1.0 if together is None or not rehearsed else together / rehearsed
    expected = [np.rint(0.125 * each * 2**24) / 2**24] * rehearsed + [0.125]
    assert step.rows.tolist() == [*range(rehearsed), 3]
    assert step.winners.tolist() == [0] * (rehearsed + 1)
    assert step.steps.tolist() == expected
    assert step.moved.tolist() == [0]


def test_initial_weights_come_from_the_generator_alone():
    rule = GradientRule(neurons=3, initial_scale=0.5)
    first, second = (rule.initial(2, 4, np.random.default_rng(7)) for _ in range(2))
    expected = maths.initial_layer(2, 3, 4, 0.5, np.random.default_rng(7))
    for layer in (first, second):
        assert (layer.W == expected.W).all()
        assert (layer.b == 0.0).all()


def test_a_gradient_step_does_not_touch_what_it_is_given():
    a = drawn(np.random.default_rng(0), 3, 4)
    before, chosen, targets = a.copy(), np.array([0, 2]), np.array([True, False, True, False])
    GradientRule().gradient_step(a, chosen, targets)
    assert (a == before).all()
    assert chosen.tolist() == [0, 2]
    assert targets.tolist() == [True, False, True, False]
