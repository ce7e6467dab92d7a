"""A learner for every point between "nothing shared" and "everything shared"."""

from collections.abc import Hashable

import numpy as np

from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.maths.sharing import Group, softmax, softmax_step


class TableLearner:
    """Is the table T[G(x)] of the paper: a linear classifier θ for each group of inputs.

    `group` is G: `by_row`, `by_nearest(prototypes)` or `for_all`. A new example trains its
    group's θ until its own loss is below `stop_loss`, with the group's stored examples rehearsed
    beside it if `rehearse`: nobody else can be disturbed. An input of a group that was never
    taught gets the first class.

    >>> from minout.maths.sharing import for_all
    >>> learner = TableLearner(for_all, classes=2)
    >>> learner.teach(np.array([1.0, 0.0]), 1)
    0
    >>> learner.predict(np.array([[1.0, 0.0]])).tolist()
    [1]
    """

    def __init__(
        self,
        group: Group,
        classes: int,
        *,
        rehearse: bool = True,
        learning_rate: float = 0.1,
        stop_loss: float = 0.1,
        max_steps: int = 1_000,
    ) -> None:
        self.group = group
        self.classes = classes
        self.rehearse = rehearse
        self.learning_rate = learning_rate
        self.stop_loss = stop_loss
        self.max_steps = max_steps
        self.caps = 0
        """Counts the examples that were not learned within `max_steps`."""
        self._table: dict[Hashable, Floats] = {}
        self._stored: dict[Hashable, list[tuple[Floats, int]]] = {}

    def teach(self, x: Floats, y: int) -> int:
        """Learns one row x (d,) under the label y, 0 … classes - 1; counts whom it rehearsed."""
        if not 0 <= y < self.classes or not np.isfinite(x).all():
            raise InvalidInputError(
                f"Pass finite numbers and a label from 0 to {self.classes - 1}, not {y}."
            )
        key = self.group(x)
        theta = self._table.get(key, np.zeros((self.classes, len(x) + 1)))
        stored = self._stored.get(key, [])
        rehearsed = stored if self.rehearse else []
        rows = np.array([row for row, _ in rehearsed] + [x])
        targets = np.eye(self.classes)[[label for _, label in rehearsed] + [y]]
        weights = np.full(len(rows), 1.0 / max(len(rehearsed), 1))
        weights[-1] = 1.0
        self._train(theta, rows, targets, weights, y)
        self._table[key] = theta
        self._stored[key] = [*stored, (x.copy(), y)]
        return len(rehearsed)

    def predict(self, X: Floats) -> Ints:
        """Gives the most probable class for each row of X (n, d)."""
        return np.array([self._predict_one(x) for x in X], dtype=np.int64)

    def _train(self, theta: Floats, rows: Floats, targets: Floats, weights: Floats, y: int) -> None:
        for _ in range(self.max_steps):
            if -np.log(softmax(theta, rows[-1])[y]) < self.stop_loss:
                return
            softmax_step(theta, rows, targets, weights, self.learning_rate)
        self.caps += 1

    def _predict_one(self, x: Floats) -> int:
        theta = self._table.get(self.group(x))
        return 0 if theta is None else int(softmax(theta, x).argmax())
