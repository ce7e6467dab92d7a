"""How much is shared: Θ(x) as a table by row, by group, or one θ for all; the 784-128-10 network.

y = f^Θ(x)(x), eq. (1). In a table f^θ is a linear softmax classifier, θ its (classes, features + 1)
weights. G decides who shares a θ; it is "pre-defined so that the parameter sharing relationships
between examples are fixed", so learning x disturbs exactly the stored examples of x's own group.
"""

from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.paper.data import checked_rows

Group = Callable[[Floats], Hashable]


def by_row(x: Floats) -> Hashable:
    """Return G(x) = x: Θ(x) = T[x], a θ for every row, nothing shared.  # eq. (2)"""
    return x.tobytes()


def by_nearest(prototypes: Floats) -> Group:
    """Return G(x), the nearest of some fixed rows (g, d), ties to the first: T[G(x)].  # eq. (3)"""
    squares = (prototypes**2).sum(axis=1)  # ‖x - p‖² is ‖x‖², the same for all, - 2 x·p + ‖p‖²

    def group(x: Floats) -> Hashable:
        return int((squares - 2.0 * (prototypes @ x)).argmin())

    return group


def for_all(x: Floats) -> Hashable:
    """Return G(x) = 0: Θ(x) = θ^C for all inputs, "the conventional neural network"."""
    del x
    return 0


def softmax(theta: Floats, x: Floats) -> Floats:
    """Return f^θ(x), the probability of each class: theta (c, d + 1), x (..., d) → (..., c)."""
    z = x @ theta[:, :-1].T + theta[:, -1]
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def softmax_step(theta: Floats, rows: Floats, classes: Floats, learning_rate: float) -> None:
    """Take one gradient step of the summed cross-entropy, in place; classes (n, c) is 0 or 1."""
    slope = softmax(theta, rows) - classes
    theta[:, :-1] -= learning_rate * (slope.T @ rows)
    theta[:, -1] -= learning_rate * slope.sum(axis=0)


class TableReport(NamedTuple):
    """The steps, the stored examples of the same group (`at_risk`), and how many were rehearsed."""

    steps: int
    at_risk: int
    rehearsed: int
    reached_max_steps: bool


class TableLearner:
    """The table T[G(x)] of the paper: a linear classifier θ for each group of inputs.

    A new example trains the θ of its group until its own loss is small, with the losses of the
    group's stored examples added. Examples of other groups cannot be disturbed. An input of a group
    that was never taught gets the first class.

    Parameters
    ----------
    group : callable
        G: returns the group of a row, such as `by_row`, ``by_nearest(prototypes)`` or `for_all`.
    classes : int
        The number of classes; labels are 0 … classes - 1.
    rehearse : bool, default=True
        Whether the group's stored examples are rehearsed.
    learning_rate, stop_loss, max_steps : float, float and int
        As in `GradientRule`.
    """

    def __init__(
        self,
        group: Group,
        classes: int,
        *,
        rehearse: bool = True,
        learning_rate: float = 0.01,
        stop_loss: float = 0.1,
        max_steps: int = 1_000,
    ) -> None:
        self.group, self.classes, self.rehearse = group, classes, rehearse
        self.learning_rate, self.stop_loss, self.max_steps = learning_rate, stop_loss, max_steps
        self._table: dict[Hashable, Floats] = {}
        self._stored: dict[Hashable, list[tuple[Floats, int]]] = {}
        self._features: int | None = None

    def teach(self, x: Floats, y: int) -> TableReport:
        """Learn one row x (d,) under the label y, 0 … classes - 1."""
        if y not in range(self.classes):
            raise InvalidInputError(f"A label is one of 0 to {self.classes - 1}, not {y!r}.")
        x = checked_rows([x], self._features)[0]
        key = self.group(x)
        theta = self._table.get(key, np.zeros((self.classes, len(x) + 1))).copy()
        stored = self._stored.get(key, [])
        examples = [*(stored if self.rehearse else []), (x, int(y))]
        rows = np.array([row for row, _ in examples])
        targets = np.eye(self.classes)[[label for _, label in examples]]
        with np.errstate(all="ignore"):  # a loss may be infinite; then θ moves on
            steps, fits = self._train(theta, rows, targets)
        if not np.isfinite(theta).all():
            raise InvalidInputError("The steps overflowed; take a smaller learning rate.")
        self._features = len(x)
        self._table[key], self._stored[key] = theta, [*stored, examples[-1]]
        return TableReport(steps, len(stored), (len(examples) - 1) * (steps > 0), not fits)

    def predict(self, X: Floats) -> Ints:
        """Return the most probable class for each row of X (n, d)."""
        rows = checked_rows(X, self._features)
        thetas = [self._table.get(self.group(x)) for x in rows]
        return np.array(
            [0 if t is None else softmax(t, x).argmax() for t, x in zip(thetas, rows, strict=True)]
        )

    def _train(self, theta: Floats, rows: Floats, targets: Floats) -> tuple[int, bool]:
        """Train θ in place; return the number of steps and whether the last row fits."""
        for steps in range(self.max_steps + 1):
            if -np.log(softmax(theta, rows[-1]) @ targets[-1]) < self.stop_loss:
                return steps, True
            if steps < self.max_steps:
                softmax_step(theta, rows, targets, self.learning_rate)
        return self.max_steps, False


class Network(NamedTuple):
    """The appendix's network, ReLU, then softmax: W1 (d, h), b1 (h,), W2 (h, m), b2 (m,)."""

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

    Only inputs that are not 0 are fetched: four in five pixels of MNIST are 0.
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
