"""From a CSV file to a model: what is measured is what happens."""

import numpy as np
import pytest

from minout.bench.front.files import csv_speed


@pytest.mark.parametrize("columns", [3, 40])
def test_every_row_is_read_and_learned(columns):
    told = csv_speed(columns, 120, apart=3.0, rng=np.random.default_rng(1))
    assert (told.columns, told.rows) == (columns, 120)
    assert told.megabytes > 120 * columns * 2 / 1e6
    assert min(told.read_per_second, told.learned_per_second) > 0
    assert told.consolidate_seconds > 0
    assert told.save_seconds > 0


def test_classes_that_are_closer_leave_more_exceptions():
    near, far = (csv_speed(3, 120, apart=apart).exceptions for apart in (1.0, 30.0))
    assert near > far
