"""Teaches any learner a stream of tasks and fills in the accuracy matrix."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.metrics import accuracy
from minout.streams import Stream


class Teachable(Protocol):
    """Is anything that learns one example at a time and predicts."""

    def teach(self, x: Floats, y: int) -> object:
        """Learns one row x (d,) under the label y."""
        ...

    def predict(self, X: Floats) -> NDArray[Any]:
        """Gives a label for each row of X (n, d)."""
        ...


def task_matrix(
    learner: Teachable,
    stream: Stream,
    tests: list[tuple[Floats, Ints]],
    *,
    tick: Callable[[], None] = lambda: None,
) -> Floats:
    """Gives R[i, j], the accuracy on tests[j] after task i; the tasks must come one by one."""
    if len(stream.rows) == 0:
        raise InvalidInputError("The stream is empty; there is nothing to learn.")
    starts = np.append(0, np.flatnonzero(np.diff(stream.tasks)) + 1)
    if stream.tasks[starts].tolist() != list(range(len(tests))):
        raise InvalidInputError(
            f"The stream's tasks come as {stream.tasks[starts].tolist()}; "
            f"they must come one after the other, with a test set for each, not {len(tests)}."
        )
    R = np.empty((len(tests), len(tests)))
    ends = np.append(starts[1:], len(stream.tasks))
    for task, (start, end) in enumerate(zip(starts, ends, strict=True)):
        for x, y in zip(stream.rows[start:end], stream.labels[start:end].tolist(), strict=True):
            learner.teach(x, y)
            tick()
        R[task] = [accuracy(learner.predict(rows), labels) for rows, labels in tests]
    return R
