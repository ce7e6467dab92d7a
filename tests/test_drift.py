"""The drift monitor: silent while every label's share is as before, and quick when it falls."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
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


def drawn(rng, labels, share):
    """Draw whether each example is right; `share` is that of each label."""
    return (rng.random(len(labels)) < np.asarray(share)[labels]).tolist()


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


@settings(deadline=None, max_examples=40)
@given(streams())
def test_the_monitor_says_what_counting_everything_anew_says(stream):
    monitor, oracle = DriftMonitor(), Oracle()
    for label, right in stream:
        ours, theirs = monitor.update(label, right), oracle.update(label, right)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours == pytest.approx(theirs)


def test_a_fall_that_the_oracle_reports_is_among_the_streams():
    stream = [(i % 2, True) for i in range(700)] + [(i % 2, i % 4 > 1) for i in range(150)]
    oracle = Oracle()
    assert sum(oracle.update(*each) is not None for each in stream) == 1


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


def test_labels_may_be_text_or_numbers_also_numpys():
    monitor = DriftMonitor()
    monitor.update(np.int64(3), np.True_)
    monitor.update(4, False)
    assert json.loads(json.dumps(monitor.to_json()))["labels"] == [3, 4]
    with pytest.raises(InvalidInputError, match=r"A label is an int or a str, not 1\.5\."):
        monitor.update(1.5, True)
    assert monitor.share == 0.5


@pytest.mark.parametrize(
    "broken",
    [
        {"labels": None},
        {"labels": [0.5]},
        {"compared": [[0, 1, 2]]},
        {"compared": [[0, 5, 0]]},
        {"compared": [[7, 1, 1]]},
        {"recent_right": "0"},
        {"recent_right": "0x"},
        {"recent_labels": [0, -9]},
        {"most_labels": "many"},
        {"earlier_falls": [float("inf"), 0.0]},
        {"earlier_falls": [-9, 0.0]},
        {"earlier_falls": [1, float("nan")]},
        {"falls": [-1.0]},
    ],
    ids="-".join,
)
def test_values_that_are_no_monitor_are_refused(broken):
    monitor = DriftMonitor()
    for each in [("a", None), ("b", None), ("a", True), ("b", False)]:
        monitor.update(*each)
    values = monitor.to_json()
    assert DriftMonitor.from_json(values).to_json() == values
    with pytest.raises(InvalidInputError, match="drift monitor"):
        DriftMonitor.from_json(values | broken)
    with pytest.raises(InvalidInputError, match="drift monitor"):
        DriftMonitor.from_json([])


def test_share_is_that_of_the_last_thousand_known_answers():
    monitor = DriftMonitor()
    assert monitor.share is None
    monitor.update("a", None)
    assert monitor.share is None
    right = (np.random.default_rng(0).random(2500) < 0.7).tolist()
    for number, each in enumerate(right, 1):
        monitor.update("a", each)
        monitor.update("a", None)
        last = right[max(number - 1000, 0) : number]
        assert monitor.share == pytest.approx(sum(last) / len(last))


def test_share_goes_on_after_an_alarm():
    monitor = DriftMonitor()
    alarm = first_alarm([0, 1] * 1000, [True] * 1500 + [False] * 500, monitor)
    assert alarm is not None
    wrong = alarm[0] - 1500
    assert monitor.share == (1000 - wrong) / 1000


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("count", [2, 20])
def test_a_constant_share_raises_no_alarm(share, count):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        labels = rng.integers(count, size=ROWS)
        assert first_alarm(labels.tolist(), drawn(rng, labels, [share] * count)) is None


SHARES = [0.999, 0.5, 0.95, 0.7, 0.3]


def in_order(rng):
    return np.sort(rng.integers(5, size=ROWS))


def other_proportions(rng):
    """The hard labels are rare in the first half and frequent in the second."""
    first = rng.choice(5, size=ROWS // 2, p=[0.6, 0.05, 0.25, 0.05, 0.05])
    return np.append(first, rng.choice(5, size=ROWS // 2, p=[0.05, 0.3, 0.05, 0.3, 0.3]))


def bursts(rng):
    return np.repeat(rng.integers(5, size=ROWS // 50), 50)


@pytest.mark.parametrize("stream", [in_order, other_proportions, bursts])
def test_the_order_and_the_proportions_of_labels_raise_no_alarm(stream):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        labels = stream(rng)
        assert first_alarm(labels.tolist(), drawn(rng, labels, SHARES)) is None


def test_a_rising_share_raises_no_alarm():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=ROWS)
    rising = 0.3 + 0.65 * (1 - np.exp(-np.arange(ROWS) / 2000))
    assert first_alarm(labels.tolist(), (rng.random(ROWS) < rising).tolist()) is None


@pytest.mark.parametrize(
    ("before", "after", "within"),
    [(0.99, 0.5, 60), (0.95, 0.5, 80), (0.9, 0.7, 400), (0.7, 0.3, 150), (0.95, 0.89, 2400)],
)
def test_a_fall_is_reported_soon_and_once(before, after, within):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        labels = rng.integers(4, size=10_000)
        shares = np.where(np.arange(10_000) < 5000, before, after)
        right = (rng.random(10_000) < shares).tolist()
        monitor = DriftMonitor()
        number, drift = first_alarm(labels.tolist(), right, monitor)
        assert 5000 < number <= 5000 + within
        assert drift.before == pytest.approx(before, abs=0.02)
        assert drift.before - drift.now >= 0.02
        assert drift.rows in (100, 300, 1000)
        assert first_alarm(labels[number:].tolist(), right[number:], monitor) is None


def test_the_label_that_fell_is_named():
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=6000)
    right = np.array(drawn(rng, labels, [0.9] * 5)) & ~((labels == 3) & (np.arange(6000) > 4000))
    number, drift = first_alarm(labels.tolist(), right.tolist())
    assert drift.label == 3
    assert number < 4000 + 300


def test_a_fall_of_less_than_two_points_is_not_reported():
    right = [True] * 50_000 + [number % 60 > 0 for number in range(50_000)]
    assert first_alarm([0, 1] * 50_000, right) is None
    right = [True] * 50_000 + [number % 30 > 0 for number in range(50_000)]
    assert first_alarm([0, 1] * 50_000, right) is not None


def test_labels_with_few_earlier_examples_are_left_out():
    def stream(earlier):
        labels = [0, 1] * 500 + [2] * earlier + [0, 1] * 500 + [2] * 100
        return first_alarm(labels, [True] * (len(labels) - 100) + [False] * 100)

    assert stream(49) is None
    assert stream(50)[1].label == 2


def test_examples_of_the_only_label_are_not_compared_with_later_ones():
    labels = ["a"] * 2000 + ["b"] * 2000 + ["a"] * 2000
    right = [True] * 4000 + [number % 2 == 0 for number in range(2000)]
    assert first_alarm(labels, right) is None


def test_a_share_that_falls_as_labels_are_added_is_not_reported():
    rng = np.random.default_rng(0)
    labels = np.concatenate([rng.integers(count, size=1000) for count in range(2, 12)])
    count = np.repeat(np.arange(2, 12), 1000)
    right = rng.random(len(labels)) < 1.2 / np.sqrt(count)
    assert first_alarm(labels.tolist(), right.tolist()) is None
