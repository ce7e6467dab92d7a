"""What changes without a row: scatter, means and priors; `core/test_expected.py` has the rest."""

import numpy as np
import pytest

from minout import maths
from minout.maths import Geometry


def drawn(seed, rows=9, d=3):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    return rng.normal(size=(rows, d)), rng.choice([0.5, 1.0, 3.0], rows), A @ A.T + np.eye(d)


def scatter(X, weights):
    U = X - np.average(X, axis=0, weights=weights)
    return U.T @ (weights[:, None] * U)


def test_without_a_row_the_scatter_and_the_mean_are_those_of_the_others():
    X, weights, P = drawn(0)
    total, mean = weights.sum(), np.average(X, axis=0, weights=weights)
    K, U = np.linalg.inv(P + 0.3 * scatter(X, weights)), X - mean
    leverage = np.einsum("ni,ij,nj->n", U, K, U)
    removed = maths.removal(weights, total, total, leverage, np.full(len(X), 0.3))
    for i, (u, gain, rho) in enumerate(zip(U, removed.gain, removed.rho, strict=True)):
        rest = np.arange(len(X)) != i
        again = np.linalg.inv(P + 0.3 * scatter(X[rest], weights[rest]))
        assert K + gain * np.outer(K @ u, K @ u) == pytest.approx(again, rel=1e-9)
        others = np.average(X[rest], axis=0, weights=weights[rest])
        assert mean - rho * u == pytest.approx(others, rel=1e-9)


def test_a_row_that_is_all_of_its_label_moves_nothing():
    assert maths.moved(np.array([2.0, 1.0, 2.0 - 1e-12]), 2.0).tolist() == [0.0, 1.0, 0.0]
    one = np.ones(1)
    assert [each.item() for each in maths.removal(one, 1.0, 1.0, one, one)] == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("strength", [1.0, 3.0])
def test_a_prior_without_rows_is_the_discriminant_of_the_means_without_them(strength):
    X, _, P = drawn(1, rows=5)
    (x, partner, r, q, label), K, (rho, pi, t) = X, np.linalg.inv(P), (0.3, 0.2, 0.1)
    u = x - label
    gain = t / (1.0 - t * u @ K @ u)
    removed = maths.Removal(*(np.array([each]) for each in (1.0, t, rho, gain)))
    gram = (X @ K @ X.T)[None]
    found = maths.prior_left_out(gram, removed, np.array([pi]), strength)
    again = Geometry(np.zeros(3), np.linalg.inv(P - t * np.outer(u, u)), None)
    wanted = maths.prior(again, r - rho * (x - r), q - pi * (partner - q))
    y = np.random.default_rng(2).normal(size=(6, 3))
    values = found.coef @ X @ K @ y.T + found.b
    assert values[0] == pytest.approx(strength * (y @ wanted.w + wanted.b), rel=1e-9)
    same = np.broadcast_to(gram[:, 2:3, 2:3], gram.shape)  # five times the same point
    none = maths.prior_left_out(same, removed, np.zeros(1), strength)
    assert (none.coef == 0.0).all()
    assert none.scale == none.b == 0.0


def test_an_inverse_whose_diagonal_is_lost_in_rounding_is_taken_as_it_is_meant():
    products, ridge = np.zeros((3, 3)), np.full(3, 1e-12)
    products[0, 1] = products[1, 0] = 1e-10  # has an eigenvalue below 0
    assert np.linalg.eigvalsh(maths.inverse(products, ridge)).max() == pytest.approx(1e12)
    _, _, P = drawn(3)
    assert maths.inverse(P, ridge) == pytest.approx(np.linalg.inv(P), rel=1e-9)
    assert maths.inverse(np.empty((0, 0)), np.empty(0)).shape == (0, 0)
