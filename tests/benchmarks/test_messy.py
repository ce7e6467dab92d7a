"""The benchmark of tables as they are runs, small, and measures what it says."""

import numpy as np
import pytest

from benchmarks import messy
from benchmarks.messy import compare
from benchmarks.messy.data import TABLES, split_table
from benchmarks.tables import markdown


def test_every_table_has_words_and_numbers_and_a_fifth_is_missing():
    for name in TABLES:
        data = split_table(name, 0, 300)
        kinds = {str(dtype) for dtype in data.rows.dtypes}
        assert "float64" in kinds
        assert kinds & {"object", "str"}
        assert data.rows.isna().to_numpy().mean() == pytest.approx(0.2, abs=0.03)
        assert (np.diff(data.labels) >= 0).all()


def test_it_gives_a_row_per_model_a_table_and_a_goal(monkeypatch):
    monkeypatch.setattr(
        compare, "in_fresh_process", lambda call, *arguments, progress: call(*arguments, progress)
    )
    (found,) = messy.run(messy.PARTS, messy.TESTING)
    assert [row.values["model"] for row in found.rows] == list(compare.MODELS)
    assert all(row.values["accuracy"] > 0.85 for row in found.rows)
    assert "breast cancer" in markdown(found.tables[0])
    assert "points" in found.goals[0].measured
