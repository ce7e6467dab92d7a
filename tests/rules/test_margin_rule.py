"""The settings of the margin rule: what may be chosen, what is pinned, what is refused."""

import itertools

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.rules import MarginRule, Shape
from minout.rules.choice import PRICES, SHAPES


def test_with_nothing_pinned_everything_may_be_chosen():
    assert MarginRule().shapes() == SHAPES
    assert MarginRule().prices() == PRICES


@pytest.mark.parametrize("pins", [*itertools.product([True, False, "auto"], repeat=3)])
def test_every_shape_that_may_be_chosen_respects_the_pins(pins):
    columns, metric, prior = pins
    shapes = MarginRule(columns=columns, metric=metric, prior=prior).shapes()
    assert shapes
    assert len(set(shapes)) == len(shapes)
    for shape in shapes:
        assert all(pin in ("auto", value) for pin, value in zip(pins, shape, strict=True))
    if "auto" not in pins:
        assert shapes == (Shape(columns, metric, prior),)


def test_the_plainest_shape_and_the_lowest_price_come_first():
    sizes = [sum(shape) for shape in MarginRule().shapes() if shape.metric or not shape.prior]
    assert sizes == sorted(sizes)
    assert list(MarginRule().prices()) == sorted(MarginRule().prices())


@pytest.mark.parametrize("price", [1, 0.5, np.float32(0.5), np.int64(2)])
def test_a_pinned_price_is_the_only_one(price):
    assert MarginRule(price=price).prices() == (float(price),)
    assert type(MarginRule(price=price).prices()[0]) is float


@pytest.mark.parametrize("metric", [np.True_, True])
def test_a_pin_from_numpy_is_a_pin(metric):
    assert all(shape.metric is True for shape in MarginRule(metric=metric).shapes())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"price": 0.0}, "`price` must be a positive number"),
        ({"price": -1.0}, "`price` must be a positive number"),
        ({"price": float("nan")}, "`price` must be a positive number"),
        ({"price": float("inf")}, "`price` must be a positive number"),
        ({"price": True}, "`price` must be a positive number"),
        ({"price": "cheap"}, "`price` must be a positive number"),
        ({"price": None}, "`price` must be a positive number"),
        ({"price": [0.1]}, "`price` must be a positive number"),
        ({"metric": "yes"}, "`metric` is True, False"),
        ({"metric": None}, "`metric` is True, False"),
        ({"prior": 1}, "`prior` is True, False"),
        ({"columns": 0.0}, "`columns` is True, False"),
        ({"refresh": "never"}, "`refresh` is "),
        ({"refresh": True}, "`refresh` is "),
    ],
)
def test_settings_that_mean_nothing_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(InvalidInputError, match=rf"^{sentence}.*\.$"):
        MarginRule(**settings)


def test_a_rule_cannot_be_changed_afterwards():
    with pytest.raises(AttributeError):
        MarginRule().price = 0.5
