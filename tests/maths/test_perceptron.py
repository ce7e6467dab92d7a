"""The ordinary network against its paper formula in dull loops, and against finite differences."""

import math

import numpy as np
import pytest

from minout.maths import perceptron
from minout.maths.perceptron import Perceptron


def eighths(rng, *shape):
    return rng.integers(-8, 9, shape) / 8


def drawn(seed, sizes=(5, 4, 3)):
    rng = np.random.default_rng(seed)
    d, h, m = sizes
    net = Perceptron(eighths(rng, d, h), eighths(rng, h), eighths(rng, h, m), eighths(rng, m))
    x = eighths(rng, d)
    x[rng.integers(d)] = 0.0
    return net, x, int(rng.integers(m))


def oracle(net, x, y):
    """Forward and backward, one number at a time: logits, probabilities, loss, gradients."""
    W1, b1, W2, b2 = (array.tolist() for array in net)
    d, h, m = len(W1), len(b1), len(b2)
    before = [b1[j] + sum(x[i] * W1[i][j] for i in range(d)) for j in range(h)]
    hidden = [max(a, 0.0) for a in before]
    scores = [b2[c] + sum(hidden[j] * W2[j][c] for j in range(h)) for c in range(m)]
    total = sum(math.exp(score) for score in scores)
    shares = [math.exp(score) / total for score in scores]
    at_output = [shares[c] - (1.0 if c == y else 0.0) for c in range(m)]
    at_hidden = [
        sum(W2[j][c] * at_output[c] for c in range(m)) if before[j] > 0 else 0.0 for j in range(h)
    ]
    slopes = Perceptron(
        np.array([[x[i] * at_hidden[j] for j in range(h)] for i in range(d)]),
        np.array(at_hidden),
        np.array([[hidden[j] * at_output[c] for c in range(m)] for j in range(h)]),
        np.array(at_output),
    )
    return scores, shares, -math.log(shares[y]), slopes


def assert_close(mine, theirs):
    for name, a, b in zip(Perceptron._fields, mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("seed", range(20))
def test_everything_equals_the_oracle(seed):
    net, x, y = drawn(seed)
    scores, shares, loss, slopes = oracle(net, x.tolist(), y)
    assert perceptron.logits(net, x).tolist() == scores  # eighths: equal means equal
    np.testing.assert_allclose(perceptron.probabilities(net, x), shares, rtol=1e-12)
    assert perceptron.loss(net, x, y) == pytest.approx(loss, rel=1e-12)
    assert_close(perceptron.gradients(net, x, y), slopes)


@pytest.mark.parametrize("seed", range(5))
def test_gradients_equal_central_differences(seed):
    rng = np.random.default_rng(seed)
    net = perceptron.initial((6, 5, 4), rng)
    x, y, tiny = rng.normal(size=6), int(rng.integers(4)), 1e-6
    for weights, slopes in zip(net, perceptron.gradients(net, x, y), strict=True):
        for at in np.ndindex(weights.shape):
            kept = weights[at]
            weights[at] = kept + tiny
            above = perceptron.loss(net, x, y)
            weights[at] = kept - tiny
            below = perceptron.loss(net, x, y)
            weights[at] = kept
            assert slopes[at] == pytest.approx((above - below) / (2 * tiny), abs=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_a_step_is_the_gradient_times_the_rate(seed):
    net, x, y = drawn(seed)
    slopes = perceptron.gradients(net, x, y)
    expected = [w - 0.25 * slope for w, slope in zip(net, slopes, strict=True)]
    held, seen = tuple(net), x.copy()
    perceptron.sgd_step(net, x, y, 0.25)
    assert_close(net, expected)
    assert all(w is kept for w, kept in zip(net, held, strict=True))  # in place
    assert np.array_equal(x, seen)


def test_a_step_lowers_the_loss_of_its_example():
    rng = np.random.default_rng(0)
    net, x = perceptron.initial((20, 16, 10), rng), rng.uniform(size=20)
    before = perceptron.loss(net, x, 3)
    perceptron.sgd_step(net, x, 3, 0.01)
    assert perceptron.loss(net, x, 3) < before


def test_many_rows_are_scored_as_each_alone():
    rng = np.random.default_rng(1)
    net, _, _ = drawn(1)
    rows = eighths(rng, 2, 7, 5)
    together = perceptron.logits(net, rows)
    assert together.shape == (2, 7, 3)
    for at in np.ndindex(2, 7):
        assert np.array_equal(together[at], perceptron.logits(net, rows[at]))
        assert perceptron.predictions(net, rows)[at] == np.argmax(together[at])
    np.testing.assert_allclose(perceptron.probabilities(net, rows).sum(axis=-1), 1.0)


def test_hopeless_example_has_a_finite_loss():
    net = Perceptron(np.ones((1, 1)), np.zeros(1), np.array([[1.0, -1.0]]), np.zeros(2))
    assert perceptron.loss(net, np.array([1000.0]), 1) == 2000.0
    assert perceptron.probabilities(net, np.array([1000.0])).tolist() == [1.0, 0.0]


def test_equal_scores_go_to_the_lowest_label():
    net = Perceptron(np.zeros((2, 2)), np.zeros(2), np.zeros((2, 3)), np.zeros(3))
    assert perceptron.predictions(net, np.zeros((1, 2))).tolist() == [0]


def test_initial_weights_are_as_he_drew_them_and_follow_the_seed():
    net = perceptron.initial((784, 128, 10), np.random.default_rng(5))
    again = perceptron.initial((784, 128, 10), np.random.default_rng(5))
    assert [w.shape for w in net] == [(784, 128), (128,), (128, 10), (10,)]
    assert all(np.array_equal(a, b) for a, b in zip(net, again, strict=True))
    assert net.W1.std() == pytest.approx(math.sqrt(2 / 784), rel=0.02)
    assert net.W2.std() == pytest.approx(math.sqrt(2 / 128), rel=0.1)
    assert not net.b1.any()
    assert not net.b2.any()
