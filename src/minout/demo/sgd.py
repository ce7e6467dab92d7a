"""The baseline of the demo: scikit-learn's SGDClassifier, one row at a time."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout import streams
from minout._typing import Floats
from minout.metrics import accuracy


class Sgd:
    """SGDClassifier, which has to know all labels in advance.

    It needs standardised columns: see `standardised`.
    """

    def __init__(self, labels: Iterable[str], alpha: float, seed: int) -> None:
        from sklearn.linear_model import SGDClassifier

        self._labels = sorted(set(labels))
        self._classifier = SGDClassifier(alpha=alpha, random_state=seed)

    def teach(self, x: Floats, y: str) -> None:
        """Take one step for one row x (d,)."""
        self._classifier.partial_fit(x[None], [y], classes=self._labels)

    def predict(self, X: Floats) -> NDArray[Any]:
        """Return a label for each row of X (n, d)."""
        return np.asarray(self._classifier.predict(X))


def standardised(rows: Floats, *others: Floats) -> tuple[Floats, ...]:
    """Return rows (n, d) with mean 0 and deviation 1 in each column, and others scaled likewise.

    In a stream, means and deviations are not known in advance; SGD gets them as an advantage.
    """
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(rows)
    return tuple(np.asarray(scaler.transform(each)) for each in (rows, *others))


def held_out_accuracy(alpha: float, seed: int, *, in_label_order: bool) -> float:
    """Teach a random four fifths of the training rows and return the accuracy on the last fifth.

    Test rows are not used: this is how `alpha` was chosen, see `settings.py`.
    """
    mixed, numbers, _ = streams.shuffled(streams.digits(), np.random.default_rng(seed))
    labels = numbers.astype(str)
    cut = 4 * len(mixed) // 5
    rows, held_out = standardised(mixed[:cut], mixed[cut:])
    order = np.argsort(labels[:cut], kind="stable") if in_label_order else np.arange(cut)
    sgd = Sgd(labels.tolist(), alpha, seed)
    for place in order.tolist():
        sgd.teach(rows[place], str(labels[place]))
    return accuracy(sgd.predict(held_out), labels[cut:])
