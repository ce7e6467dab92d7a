"""Random Fourier features: the formula, the kernel that they stand for, and their settings."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.features import RandomFourier


def rows(count, width, seed=0):
    return np.random.default_rng(seed).normal(size=(count, width))


def test_rows_equal_the_formula():
    X = rows(9, 5)
    rng = np.random.default_rng(3)
    frequencies, shifts = rng.standard_normal((5, 40)) / 1.5, rng.uniform(0, 2 * np.pi, 40)
    expected = np.sqrt(2 / 40) * np.cos(X @ frequencies + shifts)
    made = RandomFourier(40, bandwidth=1.5, seed=3).transform(X)
    np.testing.assert_allclose(made, expected, atol=1e-7)


@pytest.mark.parametrize("bandwidth", [0.5, 2.0, 8.0])
def test_inner_products_come_near_the_gaussian_kernel(bandwidth):
    X = rows(12, 4)
    made = RandomFourier(20_000, bandwidth=bandwidth).transform(X).astype(float)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    # An inner product is a mean over 20,000 draws: its standard deviation is below 0.01.
    np.testing.assert_allclose(made @ made.T, np.exp(-squares / (2 * bandwidth**2)), atol=0.04)


def test_the_default_bandwidth_is_the_root_of_half_the_width():
    X = rows(3, 18)
    assert (RandomFourier().transform(X) == RandomFourier(bandwidth=3.0).transform(X)).all()


def test_draws_are_the_same_on_every_machine():
    made = RandomFourier(3, bandwidth=1.0, seed=11).transform([[1.0, -2.0]])
    np.testing.assert_allclose(made[0], [0.0599779, -0.7610907, -0.3059095], atol=1e-6)


def test_another_seed_gives_other_rows():
    X = rows(2, 3)
    assert (RandomFourier(seed=1).transform(X) != RandomFourier(seed=2).transform(X)).any()


def test_rows_of_another_width_have_draws_of_their_own():
    features = RandomFourier(6)
    narrow = features.transform(rows(2, 3))
    assert features.transform(rows(2, 4)).shape == (2, 6)
    assert (features.transform(rows(2, 3)) == narrow).all()


def test_numbers_that_cannot_be_multiplied_are_refused():
    with pytest.raises(InvalidInputError, match="beyond 1e\\+100"):
        RandomFourier().transform([[1e101, 0.0]])


WRONG = {
    "no features": {"features": 0},
    "half a feature": {"features": 0.5},
    "no bandwidth": {"bandwidth": 0.0},
    "a bandwidth beyond floats": {"bandwidth": 10**400},
    "a bandwidth below 0": {"bandwidth": -1.0},
    "an endless bandwidth": {"bandwidth": float("inf")},
    "NaN": {"bandwidth": float("nan")},
    "a word": {"bandwidth": "wide"},
    "truth for a number": {"bandwidth": True},
    "a seed below 0": {"seed": -1},
    "None for a seed": {"seed": None},
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG)
def test_a_setting_that_means_nothing_is_refused_by_its_name(options):
    with pytest.raises(InvalidInputError, match=f"{next(iter(options))} is .*\\.$"):
        RandomFourier(**options)
