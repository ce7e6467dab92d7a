"""Detect drift: report when fewer examples are predicted correctly before they are taught."""

from collections import Counter, deque
from collections.abc import Mapping
from itertools import islice
from math import log, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from minout._typing import Label
from minout.errors import InvalidInputError

RECENT = 1_000
"""`DriftMonitor.share` is that of so many examples; also the longest window that is compared."""
WINDOWS = {100: 6.0, 300: 6.0, RECENT: 5.0}
"""How many of the latest examples are compared with those before them, and the number of standard
deviations that a fall must have. It is high because many comparisons are made."""
BLOCK, PRIOR_BLOCKS = min(WINDOWS), 10
"""The usual size of falls is estimated from blocks of so many examples, as if so many blocks had
had falls of the expected size before: see `_usual_fall`."""
COMPARISONS = 10
"""A window of n examples is compared each time that n divided by this have been added."""
LEAST, LEAST_DROP = 50, 0.02
"""Labels with fewer examples before the window are left out; a smaller drop is not reported."""
MORE_LABELS = 1.1
"""The comparison starts anew when the number of labels has grown by this factor."""

Counts = Counter[tuple[Label, bool]]
"""The number of examples by label and by whether they were predicted correctly."""


class Drift(NamedTuple):
    """A significant fall of the share of examples predicted correctly before they were taught.

    Attributes
    ----------
    before : float
        The share to expect among the latest examples if each label had kept its earlier share; from
        0 to 1.
    now : float
        The share among the latest examples.
    rows : int
        The number of these latest examples, without those of labels that are too new to compare.
    label : int or str
        The label that lost most: expected minus actual number of correct predictions.
    """

    before: float
    now: float
    rows: int
    label: Label


class DriftMonitor:
    """A monitor of the share of examples that are predicted correctly before they are taught.

    This share is the prequential accuracy; `StepReport.was_right` is the answer for one example.
    The last 100, 300 and 1,000 examples (the windows) are compared with all those before them,
    label by label, so that a change in the proportions of the labels, or a stream in label order,
    is not reported. A label is compared if it has at least 50 examples before the window. A fall is
    reported if it is significant (5 to 6 standard deviations, more if the share varied much before)
    and at least 2 percentage points. After a report, and when the number of labels has grown by
    more than a tenth, the comparison starts anew, without the examples until then.

    Where labels overlap strongly, a model mostly predicts the more frequent one. If proportions
    change in bursts, the share of each label falls and rises with them, and such a fall may be
    reported too.

    Examples
    --------
    >>> monitor = DriftMonitor()
    >>> for number in range(2000):
    ...     drift = monitor.update("even" if number % 2 == 0 else "odd", number % 20 != 0)
    >>> drift is None, monitor.share
    (True, 0.95)
    >>> for number in range(100):
    ...     drift = monitor.update("even", number % 2 == 0)
    ...     if drift:
    ...         print(f"{drift.label}: {drift.before:.0%}, now {drift.now:.0%}")
    even: 92%, now 69%
    """

    def __init__(self) -> None:
        self._labels: dict[Label, None] = {}  # a set in the order of arrival
        self._recent: deque[tuple[Label, bool]] = deque(maxlen=RECENT)
        self._restart()

    def _restart(self) -> None:
        """Start the comparison anew, without the examples so far."""
        self._most_labels = len(self._labels) * MORE_LABELS
        self._rows = 0
        self._falls: list[float] = []  # of the latest blocks, in standard deviations, squared
        self._blocks, self._sum = 0, 0.0  # of the blocks before these
        self._totals: Counts = Counter()

    @property
    def share(self) -> float | None:
        """The share predicted correctly of the last 1,000 examples; None before the first."""
        right = sum(right for _, right in self._recent)
        return right / len(self._recent) if self._recent else None

    def update(self, label: Label, was_right: bool | None) -> Drift | None:
        """Count one example.

        Parameters
        ----------
        label : int or str
        was_right : bool or None
            Whether the model predicted this label before the example was taught, as in
            `StepReport.was_right`. None is not counted.

        Returns
        -------
        Drift or None
            The fall of the share, if this example makes it significant.
        """
        label = _checked_label(label)
        if label not in self._labels:
            self._labels[label] = None
            if len(self._labels) > self._most_labels:
                self._restart()
        if was_right is None:
            return None
        self._totals[label, bool(was_right)] += 1
        self._recent.append((label, bool(was_right)))
        self._rows += 1
        for width in WINDOWS:
            if self._rows % (width // COMPARISONS) == 0:
                drift = self._compare(width)
                if drift is not None:
                    self._restart()
                    return drift
        return None

    def to_json(self) -> dict[str, Any]:
        """Return the state of the monitor as values that JSON can hold; see `from_json`."""
        totals, number = self._totals, {label: i for i, label in enumerate(self._labels)}
        return {
            "labels": list(self._labels),
            "most_labels": self._most_labels,
            "falls": self._falls,
            "earlier_falls": [self._blocks, self._sum],
            "totals": [[totals[each, False], totals[each, True]] for each in self._labels],
            "recent": [[number[label], int(right)] for label, right in self._recent],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return a monitor from what `to_json` returned; it goes on as the other one would."""
        monitor = cls()
        try:
            labels = [_checked_label(each) for each in values["labels"]]
            monitor._labels, monitor._most_labels = dict.fromkeys(labels), values["most_labels"]
            monitor._falls = list(values["falls"])
            monitor._blocks, monitor._sum = values["earlier_falls"]
            for label, (wrong, right) in zip(labels, values["totals"], strict=True):
                monitor._totals[label, False], monitor._totals[label, True] = wrong, right
            monitor._rows = monitor._totals.total()
            monitor._recent.extend((labels[n], bool(right)) for n, right in values["recent"])
        except (LookupError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"The values of a drift monitor are damaged ({error!r}); start a new one."
            ) from error
        return monitor

    def _compare(self, width: int) -> Drift | None:
        """Compare the last `width` examples with those before them, label by label."""
        start = len(self._recent) - min(width, self._rows)
        window, totals = Counter(islice(self._recent, start, None)), self._totals
        rows = wrong = 0
        expected = variance = usual = 0.0  # numbers of wrong examples
        most: tuple[float, Label] | None = None
        for label in self._labels:
            wrong_now = window[label, False]
            n = wrong_now + window[label, True]
            earlier = totals[label, False] - wrong_now
            N = earlier + totals[label, True] - window[label, True]
            if n == 0 or N < LEAST:
                continue
            q = (earlier + 1) / (N + 2)
            rows += n
            wrong += wrong_now
            usual += n * earlier / N
            expected += n * q
            variance += n * q * (1 - q) * (1 + n / N)
            excess = wrong_now - n * earlier / N
            if most is None or excess > most[0]:
                most = excess, label
        if most is None or 2 * rows < width:
            return None
        fall = _deviations(wrong, expected, variance)
        if width == BLOCK and self._rows % BLOCK == 0:
            self._falls.append(fall**2)
            if len(self._falls) > RECENT // BLOCK:  # this block is older than every window
                self._sum += self._falls.pop(0)
                self._blocks += 1
        if wrong - usual < LEAST_DROP * rows or fall < self._usual_fall() * WINDOWS[width]:
            return None
        return Drift(1 - usual / rows, 1 - wrong / rows, rows, most[1])

    def _usual_fall(self) -> float:
        """Return the usual size of falls so far, in standard deviations, but at least 1.

        It is 1 if examples are independent: half of the blocks then have a fall, and the mean of
        the squares over all blocks is 1/2. It is more where labels overlap and their proportions
        change in bursts, because the share of each label changes with them.
        """
        blocks = PRIOR_BLOCKS + self._blocks
        return sqrt(max(1.0, (PRIOR_BLOCKS + 2 * self._sum) / blocks))


def _deviations(count: int, mean: float, variance: float) -> float:
    """Return by how many standard deviations a count is above its mean; 0 if it is below.

    It is the square root of the deviance of a Poisson variable: right for rare events, too, where a
    normal approximation would give 6 for 2 of 100 with a mean of 0.1.
    """
    scale = variance / mean
    k, rate = (count - 0.5) / scale, mean / scale
    return sqrt(2 * (k * log(k / rate) - k + rate)) if k > rate else 0.0


def _checked_label(label: Any) -> Label:
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, bool) or not isinstance(label, int | str):
        raise InvalidInputError(f"A label is an int or a str, not {label!r}.")
    return label
