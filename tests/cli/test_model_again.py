"""Rows that come again: from another kind of file, and with a label that was corrected since."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_iris

from minout import Learner
from minout.cli.teaching import Teaching

pytestmark = pytest.mark.usefixtures("little_is_chosen")


@pytest.fixture
def irises(tmp_path, write_csv):
    """The same flowers, numbered, in four kinds of file."""
    X, y = load_iris(return_X_y=True)
    columns = {**{f"c{i}": X[:, i] for i in range(4)}, "kind": y, "no": np.arange(150)}
    pq.write_table(pa.table(columns), tmp_path / "iris.parquet")
    rows = [[*x, kind, no] for no, (x, kind) in enumerate(zip(X.tolist(), y.tolist(), strict=True))]
    write_csv("iris.csv", [list(columns), *rows])
    lines = (json.dumps(dict(zip(columns, row, strict=True))) for row in rows)
    (tmp_path / "iris.jsonl").write_text("\n".join(lines))
    np.savez(tmp_path / "iris.npz", X=X, kind=y, no=np.arange(150))
    return [tmp_path / f"iris.{suffix}" for suffix in ("parquet", "csv", "jsonl", "npz")]


@pytest.mark.parametrize("first", range(4))
def test_an_id_means_one_example_whatever_file_it_comes_from(tmp_path, run_json, irises, first):
    model = tmp_path / "m"
    run_json("learn", model, irises[first], "--label", "kind", "--id", "no")
    for file in irises:
        told = run_json("learn", model, file)
        assert (told["taught"], told["known"], told["examples"]) == (0, 150, 150)
    assert run_json("explain", model, irises[2], "--id", "7")["id"] == "7"
    assert run_json("explain", model, "--id", "7")["id"] == "7"
    assert str(run_json("correct", model, "7", "2")["from"]) == "0"
    assert run_json("forget", model, "7")["examples"] == 149


@pytest.mark.parametrize("first", range(4))
def test_a_file_without_ids_is_refused_by_a_model_that_has_them(
    tmp_path, run, refused, irises, write_csv, first, on_disk
):
    model = tmp_path / "m"
    run("learn", model, irises[first], "--label", "kind", "--id", "no")
    before = on_disk(model)
    X, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "bare.npz", X=X, kind=y)
    rows = [[*x, kind] for x, kind in zip(X.tolist(), y.tolist(), strict=True)]
    bare = write_csv("bare.csv", [["c0", "c1", "c2", "c3", "kind"], *rows])
    told = refused("learn", model, tmp_path / "bare.npz")
    assert told.endswith(
        "bare.npz has no array 'no', from which this model takes its ids; "
        "name another one with --id."
    )
    assert "has no column 'no', from which" in refused("learn", model, bare)
    assert on_disk(model) == before


def test_predict_and_what_if_give_ids_as_strings(tmp_path, run, irises):
    run("learn", tmp_path / "m", irises[0], "--label", "kind", "--id", "no")
    for command in ("predict", "what_if"):
        said = [run(command, tmp_path / "m", file, "--json").splitlines()[7] for file in irises]
        assert [json.loads(line)["id"] for line in said] == ["7"] * 4


def test_ids_that_are_numbers_are_known_too(tmp_path, run, run_json, irises):
    learner = Learner()
    learner.teach_many(*load_iris(return_X_y=True))  # numbered from 0 on, as in the files
    learner.save(tmp_path / "f")
    run("import", tmp_path / "f", tmp_path / "m")
    for file in irises:
        told = run_json("learn", tmp_path / "m", file, "--label", "kind", "--id", "no")
        assert (told["taught"], told["known"]) == (0, 150)


def test_a_file_whose_labels_were_corrected_can_be_learned_again(
    run, run_json, wines, wine, on_disk
):
    run("correct", wines, "b0", "port", "--new-label")
    run("correct", wines, "b1", "port")
    run("correct", wines, "b1", "grignolino")
    run("correct", wines, "b2", "port")
    run("correct", wines, "b2", "barolo")
    before = on_disk(wines)
    told = run_json("learn", wines, wine)
    assert (told["taught"], told["known"], told["corrected"]) == (0, 178, 2)
    said = run("learn", wines, wine)
    assert said.startswith("Nothing new: 178 were known already, of which 2 were corrected since.")
    assert on_disk(wines) == before


@pytest.mark.parametrize(("column", "value", "what"), [(0, "99", "row"), (13, "port", "label")])
def test_a_corrected_row_with_other_numbers_or_a_third_label_is_refused(
    run, refused, write_csv, wines, wine_rows, column, value, what
):
    run("correct", wines, "b0", "grignolino")
    changed = [list(row) for row in wine_rows]
    changed[1][column] = value
    said = refused("learn", wines, write_csv("changed.csv", changed))
    assert f"line 2: Example 'b0' is stored with another {what}; " in said


def test_of_what_is_forgotten_no_note_stays(run, wines, on_disk):
    for id in ("b0", "b1", "b60"):
        run("correct", wines, id, "port", "--new-label")
    assert Learner.open(wines, read_only=True).corrected == {
        "b0": ("barolo",),
        "b1": ("barolo",),
        "b60": ("grignolino",),
    }
    run("forget", wines, "b1")
    assert not any(b'"b1"' in each for each in on_disk(wines).values())
    run("forget", wines, "--class", "barolo")
    assert not any(b"barolo" in each for each in on_disk(wines).values())
    assert Learner.open(wines, read_only=True).corrected == {"b60": ("grignolino",)}
    run("forget", wines, "--class", "port")
    assert Learner.open(wines, read_only=True).corrected == {}


def test_a_forgotten_row_comes_back_with_its_file(run, run_json, wines, wine):
    run("correct", wines, "b0", "port", "--new-label")
    run("forget", wines, "b0")
    told = run_json("learn", wines, wine)
    assert (told["taught"], told["known"], told["corrected"]) == (1, 177, 0)
    assert Learner.open(wines, read_only=True).example("b0")[1] == "barolo"


def test_what_was_not_consolidated_is_told_so(tmp_path, run, write_csv, wine_rows):
    words = ["--label", "kind", "--id", "bottle", "--no-consolidate"]
    said = run("learn", tmp_path / "m", write_csv("some.csv", wine_rows[:60]), *words)
    assert "; not consolidated." in said
    said = run("learn", tmp_path / "m", write_csv("more.csv", wine_rows[:64]))
    assert said.startswith("Taught 4 examples (59 were known already), ")
    assert "; consolidated. Of the last" in said


def test_speed_counts_what_was_taught(wines):
    teaching = Teaching(Learner.open(wines, read_only=True))
    teaching.taught, teaching.known, teaching.seconds = 10, 170, 2.0
    assert "Taught 10 examples (170 were known already), 5 per second;" in teaching.summary()
