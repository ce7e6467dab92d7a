"""The ordinary network at the other end of the line: one θ for all (ReLU, softmax, plain SGD).

Throughout, `x` is one example (d,), `y` its label, d → h → m the sizes; all floats are float64.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints


class Perceptron(NamedTuple):
    """The weights of two layers: W1 (d, h), b1 (h,), W2 (h, m), b2 (m,)."""

    W1: Floats
    b1: Floats
    W2: Floats
    b2: Floats


def initial(sizes: tuple[int, int, int], rng: np.random.Generator) -> Perceptron:
    """Draw weights ~ N(0, 2 / inputs of the layer), as He proposed for ReLU; biases are 0."""
    d, h, m = sizes
    return Perceptron(
        W1=rng.normal(0.0, np.sqrt(2 / d), (d, h)),
        b1=np.zeros(h),
        W2=rng.normal(0.0, np.sqrt(2 / h), (h, m)),
        b2=np.zeros(m),
    )


def logits(net: Perceptron, x: Floats) -> Floats:
    """Return the logits: (..., d) → (..., m)."""
    return np.maximum(x @ net.W1 + net.b1, 0.0) @ net.W2 + net.b2


def probabilities(net: Perceptron, x: Floats) -> Floats:
    """Return the probability of each class by softmax: (..., d) → (..., m)."""
    return _softmax(logits(net, x))


def predictions(net: Perceptron, x: Floats) -> Ints:
    """Return the most probable class, ties to the lowest: (..., d) → (...)."""
    winners: Ints = np.argmax(logits(net, x), axis=-1)
    return winners


def loss(net: Perceptron, x: Floats, y: int) -> float:
    """Return -log of the probability of `y`, also where that is too small to store."""
    scores = logits(net, x)
    top = scores.max()
    return float(top + np.log(np.exp(scores - top).sum()) - scores[y])


def gradients(net: Perceptron, x: Floats, y: int) -> Perceptron:
    """Return the gradient of the loss with respect to every weight, as a network."""
    hidden = np.maximum(x @ net.W1 + net.b1, 0.0)
    at_output, at_hidden = _errors(net, hidden, y)
    return Perceptron(
        W1=np.outer(x, at_hidden), b1=at_hidden, W2=np.outer(hidden, at_output), b2=at_output
    )


def sgd_step(net: Perceptron, x: Floats, y: int, learning_rate: float) -> None:
    """Move the weights in place by -learning_rate times the gradient at one example.

    An input that is 0 neither adds to the hidden layer nor moves its row of W1, so only the others
    are fetched: four in five pixels of MNIST are 0, and the step takes half as long.
    """
    seen = np.flatnonzero(x)
    lit, rows = x[seen], net.W1[seen]
    hidden = np.maximum(lit @ rows + net.b1, 0.0)
    at_output, at_hidden = _errors(net, hidden, y)
    at_output *= learning_rate
    at_hidden *= learning_rate
    rows -= np.multiply.outer(lit, at_hidden)
    net.W1[seen] = rows
    net.W2[...] -= np.multiply.outer(hidden, at_output)
    net.b1[...] -= at_hidden
    net.b2[...] -= at_output


def _errors(net: Perceptron, hidden: Floats, y: int) -> tuple[Floats, Floats]:
    """Return the gradients with respect to the logits and the hidden values before the ReLU."""
    at_output = _softmax(hidden @ net.W2 + net.b2)
    at_output[y] -= 1.0
    at_hidden = net.W2 @ at_output
    at_hidden *= hidden > 0
    return at_output, at_hidden


def _softmax(scores: Floats) -> Floats:
    shares: Floats = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares
