"""A learner that can share nothing, everything, or anything in between."""

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.inputs import checked_label, many_rows, one_row
from minout.maths.sharing import Group, softmax, softmax_step
from minout.paper.training import OVERFLOW


class TableReport(NamedTuple):
    """What teaching one example did to a `TableLearner`.

    Attributes
    ----------
    steps : int
        The number of gradient steps.
    at_risk : int
        The number of stored examples of the same group.
    rehearsed : int
        How many of them were rehearsed; 0 if no step was taken.
    reached_max_steps : bool
        Whether training stopped at ``max_steps`` before the example was learned.
    """

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
        G: returns the group of a row, such as `by_row`, ``by_nearest(prototypes)`` or `for_all` of
        `minout.maths.sharing`.
    classes : int
        The number of classes; labels are 0 … classes - 1.
    rehearse : bool, default=True
        Whether the group's stored examples are rehearsed.
    learning_rate : float, default=0.01
        Step size of gradient descent.
    stop_loss : float, default=0.1
        Training stops when the loss of the new example is below this.
    max_steps : int, default=1_000
        Training stops after so many steps in any case.

    Examples
    --------
    >>> from minout.maths.sharing import for_all
    >>> learner = TableLearner(for_all, classes=2)
    >>> report = learner.teach(np.array([1.0, 0.0]), 1)
    >>> learner.predict(np.array([[1.0, 0.0]])).tolist()
    [1]
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
        self.group = group
        self.classes = classes
        self.rehearse = rehearse
        self.learning_rate = learning_rate
        self.stop_loss = stop_loss
        self.max_steps = max_steps
        self._table: dict[Hashable, Floats] = {}
        self._stored: dict[Hashable, list[tuple[Floats, int]]] = {}
        self._features: int | None = None

    def teach(self, x: Floats, y: int) -> TableReport:
        """Learn one row x (d,) under the label y, 0 … classes - 1."""
        if checked_label(y, ()) not in range(self.classes):
            raise InvalidInputError(f"A label is one of 0 to {self.classes - 1}, not {y!r}.")
        x = one_row(x, self._features) + 0.0  # -0.0 is 0.0: equal rows have equal bytes
        key = self.group(x)
        theta = self._table.get(key, np.zeros((self.classes, len(x) + 1))).copy()
        stored = self._stored.get(key, [])
        examples = [*(stored if self.rehearse else []), (x, int(y))]
        rows = np.array([row for row, _ in examples])
        targets = np.eye(self.classes)[[label for _, label in examples]]
        with np.errstate(all="ignore"):  # a loss may be infinite; then θ moves on
            steps, reached_max_steps = self._train(theta, rows, targets)
        if not np.isfinite(theta).all():
            raise InvalidInputError(OVERFLOW)
        self._features = len(x)
        self._table[key] = theta
        self._stored[key] = [*stored, examples[-1]]
        return TableReport(steps, len(stored), (len(examples) - 1) * (steps > 0), reached_max_steps)

    def predict(self, X: Floats) -> Ints:
        """Return the most probable class for each row of X (n, d)."""
        rows = many_rows(X, self._features) + 0.0
        return np.array([self._predict_one(x) for x in rows], dtype=np.int64)

    def _train(self, theta: Floats, rows: Floats, targets: Floats) -> tuple[int, bool]:
        """Train θ in place; return the number of steps and whether the cap was hit."""
        for step in range(self.max_steps + 1):
            if -np.log(softmax(theta, rows[-1]) @ targets[-1]) < self.stop_loss:
                return step, False
            if step < self.max_steps:
                softmax_step(theta, rows, targets, self.learning_rate)
        return self.max_steps, True

    def _predict_one(self, x: Floats) -> int:
        """Return the most probable class of one row."""
        theta = self._table.get(self.group(x))
        return 0 if theta is None else int(softmax(theta, x).argmax())
