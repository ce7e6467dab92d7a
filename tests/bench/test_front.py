"""`minout bench classifier`: every part runs, small, and says what it measured."""

import numpy as np
import pytest

from minout.bench import front
from minout.bench.engine import markdown
from minout.bench.front import sensible, sets, start
from minout.errors import InvalidInputError

SMALL = front.Settings(sets=("iris", "one column"), seeds=(0,), calls=20, imports=1, csv_rows=60)


def test_every_part_gives_rows_tables_and_claims():
    found = list(front.run(front.PARTS, SMALL))
    assert [each.name for each in found] == ["overhead", "start", "files", "tables"]
    for each in found:
        assert each.rows
        for table in each.tables:
            assert table.title in markdown(table)
    rows = found[-1].rows
    assert [row.values["table"] for row in rows] == ["iris", "one column"]
    assert all(row.values["ours"] > 0.8 for row in rows)
    assert all(0.0 <= row.values["gap"] <= 1.0 for row in rows)


def test_parts_are_picked_by_name():
    assert [part.name for part in front.chosen_parts(["files"])] == ["files"]
    assert len(front.chosen_parts([])) == 4
    with pytest.raises(InvalidInputError, match="There is no part 'speed'"):
        front.chosen_parts(["speed"])


@pytest.mark.parametrize("name", ["mixed units", "20 classes", "wine"])
def test_tables_are_split_by_class_and_in_label_order(name):
    made = sets.split(name, 3)
    assert (np.diff(made.labels) >= 0).all()
    assert set(made.labels) == set(made.test_labels)
    again = sets.split(name, 3)
    assert np.array_equal(made.rows, again.rows)


def test_the_gap_is_what_was_promised_less_what_came_true():
    shares = np.array([[0.95, 0.05], [0.92, 0.08], [0.4, 0.6], [0.35, 0.65]])
    assert sensible._gap(shares, np.array([0, 0, 1, 0])) == pytest.approx((0.13 + 0.25) / 4)
    assert sensible._surprise(shares[:1], np.array([1])) == pytest.approx(-np.log(0.05))


def test_rows_drawn_from_promises_follow_them():
    shares = np.tile([0.2, 0.5, 0.3], (20_000, 1))
    drawn = sensible._drawn(shares, np.random.default_rng(0))
    assert np.bincount(drawn) / 20_000 == pytest.approx([0.2, 0.5, 0.3], abs=0.02)


def test_a_default_install_is_counted_without_extras():
    needed = start._needed("minout")
    assert {"minout", "numpy", "numba", "llvmlite", "scikit-learn"} <= needed
    assert not {"matplotlib", "mlxtend", "pandas", "pyarrow"} & needed
    assert start._size("numpy") > 10_000_000
