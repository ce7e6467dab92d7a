"""The drift monitor: silent while every label's share is as before, and quick when it falls."""

import json
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from minout import Drift, DriftMonitor, InvalidInputError

ROWS = 20_000


def first_alarm(labels, right, monitor=None):
    """Return the number of updates until the first alarm, and the alarm; None if there is none."""
    monitor = DriftMonitor() if monitor is None else monitor
    for number, (label, each) in enumerate(zip(labels, right, strict=True), 1):
        drift = monitor.update(label, each)
        if drift is not None:
            return number, drift
    return None


class Oracle:
    """The definition: all examples in one list, and every window counted anew."""

    def __init__(self):
        self.labels, self.most, self.rows, self.falls = [], 0.0, [], []

    def update(self, label, was_right):
        if label not in self.labels:
            self.labels.append(label)
            if len(self.labels) > self.most:
                self.most, self.rows, self.falls = 1.1 * len(self.labels), [], []
        if was_right is None:
            return None
        self.rows.append((label, was_right))
        for width, deviations in ((100, 6.0), (300, 6.0), (1000, 5.0)):
            if len(self.rows) % (width / 10) == 0:
                found = self.compare(self.rows[:-width], self.rows[-width:], deviations)
                if found and found.rows >= width / 2:
                    self.most, self.rows, self.falls = 1.1 * len(self.labels), [], []
                    return found
        return None

    def compare(self, before, now, deviations):
        sums = np.zeros(5)
        fell = {}
        for label in dict.fromkeys(each for each, _ in now):
            old = [not right for each, right in before if each == label]
            new = [not right for each, right in now if each == label]
            if len(old) < 50:
                continue
            n, q = len(new), (sum(old) + 1) / (len(old) + 2)
            fell[label] = sum(new) - n * np.mean(old)
            sums += n, sum(new), n * np.mean(old), n * q, n * q * (1 - q) * (1 + n / len(old))
        n, wrong, usual, mean, variance = sums
        if not fell or 2 * n < len(now):
            return None
        k, rate = (wrong - 0.5) * mean / variance, mean**2 / variance
        fall = 2 * (k * math.log(k / rate) - k + rate) if k > rate else 0.0
        if len(now) == 100 and len(self.rows) % 100 == 0:
            self.falls.append(fall)
        old = [1.0] * 10 + [2 * each for each in self.falls[:-10]]
        if wrong - usual < 0.02 * n or fall < deviations**2 * max(1.0, np.mean(old)):
            return None
        return Drift(1 - usual / n, 1 - wrong / n, n, max(fell, key=fell.get))


@st.composite
def streams(draw):
    """Pieces of a stream, each with its own share and its own number of labels."""
    sizes = st.tuples(st.sampled_from([40, 150, 700]), st.sampled_from([0.0, 0.6, 0.95, 1.0]))
    pieces = draw(st.lists(st.tuples(sizes, st.integers(1, 4)), min_size=2, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    rows = []
    for (size, share), count in pieces:
        labels = rng.integers(count, size=size).tolist()
        rows += zip(labels, (rng.random(size) < share).tolist(), strict=True)
    return [(label, None if rng.random() < 0.02 else right) for label, right in rows]


FALL = [(i % 2, True) for i in range(700)] + [(i % 2, i % 4 > 1) for i in range(150)]


@settings(deadline=None, max_examples=40)
@given(streams())
@example(FALL)
def test_the_monitor_says_what_counting_everything_anew_says(stream):
    monitor, oracle = DriftMonitor(), Oracle()
    for label, right in stream:
        ours, theirs = monitor.update(label, right), oracle.update(label, right)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours == pytest.approx(theirs)


@settings(deadline=None, max_examples=25)
@given(streams(), st.integers(0, 2000))
def test_a_monitor_read_from_json_gives_the_same_answers(stream, cut):
    first = DriftMonitor()
    for each in stream[:cut]:
        first.update(*each)
    second = DriftMonitor.from_json(json.loads(json.dumps(first.to_json())))
    assert second.share == first.share
    for each in stream[cut:]:
        assert second.update(*each) == first.update(*each)
    assert second.to_json() == first.to_json()


@pytest.mark.parametrize(
    "broken",
    [
        {"labels": None},
        {"labels": [0.5]},
        {"totals": [[1, 2]]},
        {"recent": [[0, 1], [9, 0]]},
        {"recent": 7},
        {"falls": None},
    ],
)
def test_values_that_are_no_monitor_are_refused(broken):
    monitor = DriftMonitor()
    monitor.update(np.int64(3), np.True_)
    monitor.update("b", False)
    values = json.loads(json.dumps(monitor.to_json()))
    assert DriftMonitor.from_json(values).to_json() == values
    with pytest.raises(InvalidInputError, match="drift monitor"):
        DriftMonitor.from_json(values | broken)


def test_share_is_that_of_the_last_thousand_known_answers_also_after_an_alarm():
    monitor, drifts = DriftMonitor(), []
    assert monitor.share is None
    right = (np.arange(2500) % 10 > 0) & (np.arange(2500) < 2200)
    for number, each in enumerate(right.tolist(), 1):
        drifts.append(monitor.update("a", each))
        monitor.update("a", None)
        assert monitor.share == pytest.approx(right[max(number - 1000, 0) : number].mean())
    assert sum(each is not None for each in drifts) == 1


SHARES = [0.999, 0.5, 0.95, 0.7, 0.3]


def mixed(rng):
    return rng.integers(5, size=ROWS)


def in_order(rng):
    return np.sort(rng.integers(5, size=ROWS))


def other_proportions(rng):
    """The hard labels are rare in the first half and frequent in the second."""
    first = rng.choice(5, size=ROWS // 2, p=[0.6, 0.05, 0.25, 0.05, 0.05])
    return np.append(first, rng.choice(5, size=ROWS // 2, p=[0.05, 0.3, 0.05, 0.3, 0.3]))


def bursts(rng):
    return np.repeat(rng.integers(5, size=ROWS // 50), 50)


@pytest.mark.parametrize("stream", [mixed, in_order, other_proportions, bursts])
def test_the_order_and_the_proportions_of_labels_raise_no_alarm(stream):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        labels = stream(rng)
        right = rng.random(ROWS) < np.array(SHARES)[labels]
        assert first_alarm(labels.tolist(), right.tolist()) is None


@pytest.mark.parametrize(
    ("before", "after", "within"),
    [(0.99, 0.5, 60), (0.95, 0.5, 80), (0.9, 0.7, 400), (0.7, 0.3, 150), (0.95, 0.89, 2400)],
)
def test_a_fall_is_reported_soon_and_once(before, after, within):
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=10_000).tolist()
    right = (rng.random(10_000) < np.repeat([before, after], 5000)).tolist()
    monitor = DriftMonitor()
    number, drift = first_alarm(labels, right, monitor)
    assert 5000 < number <= 5000 + within
    assert drift.before == pytest.approx(before, abs=0.02)
    assert first_alarm(labels[number:], right[number:], monitor) is None
