"""The appendix's network: 784 → 128 → 10 with ReLU, a softmax loss and plain SGD.

Throughout, `x` is one example (d,), `y` its label, d → h → m the sizes; all floats are float64.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints


class Network(NamedTuple):
    """The weights of two layers: W1 (d, h), b1 (h,), W2 (h, m), b2 (m,)."""

    W1: Floats
    b1: Floats
    W2: Floats
    b2: Floats


def initial_network(sizes: tuple[int, int, int], rng: np.random.Generator) -> Network:
    """Draw weights ~ N(0, 2 / inputs of the layer), as He proposed for ReLU; biases are 0."""
    d, h, m = sizes
    W1 = rng.normal(0.0, np.sqrt(2 / d), (d, h))
    return Network(W1, np.zeros(h), rng.normal(0.0, np.sqrt(2 / h), (h, m)), np.zeros(m))


def logits(net: Network, x: Floats) -> Floats:
    """Return the logits: (..., d) → (..., m)."""
    return np.maximum(x @ net.W1 + net.b1, 0.0) @ net.W2 + net.b2


def predictions(net: Network, x: Floats) -> Ints:
    """Return the most probable class, ties to the lowest: (..., d) → (...)."""
    return np.asarray(np.argmax(logits(net, x), axis=-1))


def loss(net: Network, x: Floats, y: int) -> float:
    """Return -log of the probability of `y`, also where that is too small to store."""
    scores = logits(net, x)
    top = scores.max()
    return float(top + np.log(np.exp(scores - top).sum()) - scores[y])


def sgd_step(net: Network, x: Floats, y: int, learning_rate: float) -> None:
    """Move the weights in place by -learning_rate times the gradient of the loss at one example.

    An input that is 0 neither adds to the hidden layer nor moves its row of W1, so only the others
    are fetched: four in five pixels of MNIST are 0, and the step takes half as long.
    """
    seen = np.flatnonzero(x)
    lit, rows = x[seen], net.W1[seen]
    hidden = np.maximum(lit @ rows + net.b1, 0.0)
    scores = hidden @ net.W2 + net.b2
    at_output = np.exp(scores - scores.max())
    at_output /= at_output.sum()
    at_output[y] -= 1.0
    at_hidden = net.W2 @ at_output * (hidden > 0)
    net.W1[seen] = rows - np.multiply.outer(lit, learning_rate * at_hidden)
    net.W2[...] -= np.multiply.outer(hidden, learning_rate * at_output)
    net.b1[...] -= learning_rate * at_hidden
    net.b2[...] -= learning_rate * at_output
