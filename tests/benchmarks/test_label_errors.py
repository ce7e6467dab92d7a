"""The part `labels` of the engine's benchmark: what is planted, and goals that can be missed."""

import numpy as np
import pytest

from benchmarks.engine import TESTING, label_errors
from benchmarks.engine.inputs import Inputs
from benchmarks.parts import no_progress
from minout.streams import digits, pick_per_class
from oracle.parts import expect_survives, expect_whole, measured_of


@pytest.fixture(scope="module")
def rows():
    data = pick_per_class(digits(), 8, np.random.default_rng(0))
    return label_errors.measure(Inputs(data, TESTING), no_progress)


def test_the_part_gives_rows_tables_and_goals(rows, tmp_path):
    measured = measured_of("labels", rows)
    expect_whole(measured)
    expect_survives(measured.rows, tmp_path / "rows.jsonl")


def test_every_share_is_planted(rows):
    assert [row.planted for row in rows] == [0, 2, 2, 9, 9, 36, 36]
    assert all(row.ours.right <= min(row.ours.named, row.planted) for row in rows)
    assert len(label_errors.tables(rows)[0].lines) == 7


def test_nearest_labels_are_planted_in_pairs():
    X = np.array([[0.0], [0.1], [1.0], [1.1], [9.0], [9.1]])
    y = np.array([0, 0, 1, 1, 2, 2])
    found = label_errors.plant(X, y, 1.0, label_errors.PAIRS, np.random.default_rng(0))
    assert found.tolist() == [1, 1, 0, 0, 1, 1]


def test_goals_can_be_missed(rows):
    assert label_errors.goals(rows)[0].met
    worse = [row._replace(ours=row.ours._replace(estimate=9.0), low=99) for row in rows]
    assert not label_errors.goals(worse)[0].met
    assert not label_errors.goals(worse)[1].met
