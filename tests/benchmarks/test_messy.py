"""The benchmark of tables as they are runs, small, and measures what it says."""

import json

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from benchmarks import csv_process, messy
from benchmarks.messy import compare, mixed_csv
from benchmarks.messy.data import TABLES, split_table
from benchmarks.parts import choose_parts
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
    with threadpool_limits(1, "openmp"):  # threads that wait for each other on a busy machine
        (found,) = messy.run(choose_parts(messy.PARTS, ["messy"]), messy.TESTING)
    assert [row.values["model"] for row in found.rows] == list(compare.MODELS)
    assert all(row.values["accuracy"] > 0.85 for row in found.rows)
    assert "breast cancer" in markdown(found.tables[0])
    assert "points" in found.goals[0].measured


def test_a_mixed_file_has_every_kind_of_column_and_values_that_come_late():
    frame = mixed_csv.mixed_table(4_000, "mixed", np.random.default_rng(0))
    assert frame.shape == (4_000, 31)
    numbers = frame.select_dtypes("number")
    assert numbers.shape[1] == 15
    assert numbers.isna().to_numpy().mean() == pytest.approx(0.1, abs=0.01)
    assert numbers.std().max() > 1e5 * numbers.std().min()
    words = frame.filter(like="category")
    assert words.nunique().tolist() == [10] * 10
    first = [(words[name] == "value 9").to_numpy().argmax() for name in words]
    assert sum(each >= 3_200 for each in first) == 4
    assert frame["customer"].is_unique
    assert pd.to_datetime(frame["born"]).nunique() > 300
    assert pd.to_datetime(frame["seen"]).nunique() > 3_900
    assert set(frame["paid"]) == {"true", "false"}
    assert set(frame["called"]) == {"yes", "no"}
    assert frame["kind"].nunique() == 3


def test_the_label_of_a_mixed_file_depends_on_its_columns():
    frame = mixed_csv.mixed_table(4_000, "mixed", np.random.default_rng(0))
    paid = (frame["paid"] == "true").groupby(frame["kind"]).mean()
    assert paid["high"] - paid["low"] > 0.5
    by_label = frame.groupby("kind")["number 0"].mean()
    assert np.ptp(by_label) > 0.3 * frame["number 0"].std()


def test_every_way_through_a_file_gives_a_row_of_all_its_rows(monkeypatch, capsys):
    def at_once(*words):
        csv_process.main(*map(str, words))
        return json.loads(capsys.readouterr().out)

    monkeypatch.setattr(mixed_csv, "run_alone", at_once)
    (found,) = messy.run(choose_parts(messy.PARTS, ["csv"]), messy.TESTING)
    assert [row.values["way"] for row in found.rows] == list(mixed_csv.WAYS)
    assert [row.values["rows"] for row in found.rows] == [120] * 4
    assert all(row.values["seconds"] > 0.0 for row in found.rows)
    assert found.rows[0].values["columns"] == 30
    assert "120 × 30 columns" in found.tables[0].title
    assert "minout learn --no-consolidate" in markdown(found.tables[0])


def test_a_file_is_read_by_a_process_of_its_own(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("a,kind\n1,x\n2,y\n")
    said = mixed_csv.run_alone("reader", file)
    assert said["rows"] == 2
    assert said["peak_mb"] is None or said["peak_mb"] > 5


def test_a_process_that_fails_says_why(tmp_path):
    with pytest.raises(ChildProcessError, match=r"There is no file .*nothing\.csv"):
        mixed_csv.run_alone("reader", tmp_path / "nothing.csv")
