"""The part `window` of the engine's benchmark: its data, its pairs of rows, and its goals."""

import numpy as np
import pytest

from benchmarks.engine import TESTING, window
from benchmarks.engine.inputs import Inputs
from benchmarks.parts import no_progress
from oracle.parts import expect_survives, expect_whole, measured_of


@pytest.fixture(scope="module")
def rows():
    def in_this_process(function, *arguments, progress):
        return function(*arguments, progress)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window, "in_fresh_process", in_this_process)
        return window.measure(Inputs(None, TESTING), no_progress)


def test_the_part_gives_rows_tables_and_goals(rows, tmp_path):
    measured = measured_of("window", rows)
    expect_whole(measured)
    expect_survives(measured.rows, tmp_path / "rows.jsonl")


def of_kind(rows, kind):
    return [row for row in rows if isinstance(row, kind)]


def test_both_learners_are_taught_the_same_and_one_forgets(rows):
    costs = of_kind(rows, window.WindowRow)
    assert [(row.data, row.keeps_all, row.left) for row in costs] == [
        (data, keeps_all, left)
        for data in ("separable", "overlapping")
        for keeps_all, left in ((True, 100), (False, 60))
    ]
    for row in costs:
        assert (row.stored, row.more) == (60, 40)
        assert min(row.seconds, row.cpu_seconds, row.seconds_between) > 0.0
    for whole, kept in (costs[:2], costs[2:]):
        assert kept.file_bytes < whole.file_bytes


def test_a_long_stream_is_measured_three_times(rows):
    long = of_kind(rows, window.ConstantRow)
    assert [(row.data, row.taught, row.stored) for row in long] == [
        (data, taught, 30) for data in ("separable", "overlapping") for taught in (60, 80, 160)
    ]
    assert all(row.file_bytes > 0 for row in long)


@pytest.mark.parametrize(
    ("data", "least", "most"), [("separable", 1, 1), ("overlapping", 0.5, 0.9)]
)
def test_classes_are_as_far_apart_as_they_say(data, least, most):
    stream = window.classes_of(data, 4000, 0)
    means = np.stack([stream.rows[stream.labels == label].mean(axis=0) for label in range(10)])
    nearest = np.square(stream.rows[:, None] - means).sum(axis=2).argmin(axis=1)
    assert least <= (nearest == stream.labels).mean() <= most


def cost(seconds, *, keeps_all):
    numbers = dict.fromkeys(window.WindowRow._fields, 1)
    return window.WindowRow(
        **numbers | {"data": "separable", "keeps_all": keeps_all, "seconds": seconds}
    )


def long_stream(memory=300.0, size=1000):
    first = window.ConstantRow("separable", 10, 20, 300.0, 1000, 10, 0.1)
    return [first, first._replace(resident_mb=memory, file_bytes=size)]


@pytest.mark.parametrize(
    ("seconds", "last", "missed"),
    [
        (3.0, {}, []),
        (3.1, {}, ["1 kept"]),
        (1.0, {"memory": 316.0}, ["memory"]),
        (1.0, {"memory": 284.0}, ["memory"]),
        (1.0, {"memory": None}, ["memory"]),
        (1.0, {"size": 1060}, ["file"]),
    ],
    ids=["met", "slow", "grows", "shrinks", "unknown", "file"],
)
def test_goals_of_a_window(seconds, last, missed):
    pair = [cost(1.0, keeps_all=True), cost(seconds, keeps_all=False)]
    goals = window.goals([*pair, *long_stream(**last)])
    assert len(goals) == 3
    found = [each.goal for each in goals if not each.met]
    assert len(found) == len(missed)
    assert all(word in goal for word, goal in zip(missed, found, strict=True))
