"""How much is shared: Θ(x) as a table by row, a table by group, and one θ for all.

Here f^θ is a linear softmax classifier, θ its (classes, features + 1) weights. G decides who
shares a θ; it is fixed before the first example and never changes, so learning x disturbs exactly
the stored examples of x's own group.
"""

from collections.abc import Callable, Hashable

import numpy as np

from minout._typing import Floats

Group = Callable[[Floats], Hashable]


def by_row(x: Floats) -> Hashable:
    """Return G(x) = x: a θ for every row, nothing shared.  # eq. (2)"""
    return x.tobytes()


def by_nearest(prototypes: Floats) -> Group:
    """Return G(x): the nearest of some fixed rows (g, d), ties to the first.  # eq. (3)

    ‖x - p‖² = ‖x‖² - 2 x·p + ‖p‖², and ‖x‖² is the same for all.
    """
    squares = (prototypes**2).sum(axis=1)

    def group(x: Floats) -> Hashable:
        return int((squares - 2.0 * (prototypes @ x)).argmin())

    return group


def for_all(x: Floats) -> Hashable:
    """Return G(x) = 0: one θ for all inputs, everything shared, as in a usual network."""
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
