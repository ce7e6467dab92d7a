"""`minout predict`, `score`, `what-if` and `explain`: what a model says of the rows of a file."""

import csv
import io
import json
import os

import pytest

from minout import Learner
from tests.cli.conftest import PEOPLE, features, invoke, write_images


def test_predictions_are_the_learners(rows_of, run, wines, wine, wine_rows):
    found = rows_of("predict", wines, wine)
    learner = Learner.open(wines, read_only=True)
    records = features(wine_rows)
    assert [each["label"] for each in found] == learner.predict(records).tolist()
    best = learner.probabilities(records).max(axis=1)
    assert [each["probability"] for each in found] == best.tolist()
    assert [list(each["scores"].values()) for each in found] == learner.scores(records).tolist()
    assert [each["id"] for each in found] == learner.ids
    assert [each["line"] for each in found] == list(range(2, 180))
    piped = list(csv.DictReader(io.StringIO(run("predict", wines, wine))))
    assert list(piped[0]) == ["line", "id", "label", "probability"]
    assert [float(each["probability"]) for each in piped] == best.tolist()


def test_a_row_on_no_side_gets_the_unknown_label(rows_of, wines, wine):
    labels = [each["label"] for each in rows_of("predict", wines, wine, "--unknown", "none")]
    assert set(labels) <= {"none", "barolo", "grignolino", "barbera, sweet"}


def test_predictions_need_no_label_and_take_what_is_missing_or_new(
    rows_of, table, refused, write_csv
):
    header, *rows = PEOPLE
    file = write_csv("d.csv", [header[:5], ["", "paris", "?", "", "unheard words"], rows[1][:5]])
    assert [each["line"] for each in rows_of("predict", table, file)] == [2, 3]
    file = write_csv("d.csv", [header[1:5], rows[0][1:5]])
    assert "has no column age, which this model was taught with" in refused("predict", table, file)


def test_a_bad_row_comes_after_the_answers_before_it(table, write_csv):
    header, *rows = PEOPLE
    file = write_csv("d.csv", [header, rows[0], ["1e400", *rows[1][1:]], rows[2]])
    result = invoke("predict", table, file, "--json")
    assert result.exit_code == 1
    assert "line 3: " in str(result.exception)
    assert [json.loads(each)["line"] for each in result.stdout.splitlines()] == [2]
    bad_first = write_csv("e.csv", [header, ["1e400", *rows[1][1:]]])
    assert invoke("predict", table, bad_first).stdout == ""  # not even a header


@pytest.mark.parametrize("name", ["predict", "score", "what-if"])
def test_bad_rows_are_skipped_if_asked(table, write_csv, tmp_path, rows_of, name):
    header, *rows = PEOPLE
    file = write_csv("d.csv", [header, rows[0], [*rows[1], ""], ["1e400", *rows[2][1:6], "k99"]])
    found = rows_of(name, table, file, "--skip-bad", tmp_path / "bad.csv")
    assert len((tmp_path / "bad.csv").read_text().splitlines()) == 3
    if name == "score":
        assert found[-1]["examples"] == 1
    else:
        assert [each["line"] for each in found] == [2]


def test_a_score_counts_rows_by_label_and_what_they_are_taken_for(
    rows_of, run, refused, wines, wine_rows, write_csv
):
    for row in wine_rows[1:6]:
        row[13] = "barbera, sweet"
    file = write_csv("d.csv", wine_rows)
    predicted = [each["label"] for each in rows_of("predict", wines, file)]
    *labels, everything = rows_of("score", wines, file)
    right = sum(p == row[13] for p, row in zip(predicted, wine_rows[1:], strict=True))
    assert (everything["label"], everything["examples"], everything["right"]) == (None, 178, right)
    assert everything["accuracy"] == right / 178
    assert sum(each["examples"] for each in labels) == 178
    sweet = next(each for each in labels if each["label"] == "barbera, sweet")
    assert sweet["predicted_otherwise"]["barolo"] == 5
    assert "barolo: 5" in run("score", wines, file)
    for row in wine_rows[1:]:
        row[13] = "merlot"
    file = write_csv("d.csv", wine_rows)
    assert "is one of this model's" in refused("score", wines, file)


def test_what_if_tells_what_teaching_would_do_and_teaches_nothing(
    rows_of, run, wines, wine_rows, write_csv, saved
):
    before = saved(wines)
    wine_rows[1][14] = "new"
    wine_rows[1][13] = "grignolino"
    file = write_csv("d.csv", wine_rows[:4])
    new, *known = rows_of("what-if", wines, file)
    assert ["barolo", "grignolino"] in new["moved"]
    assert new["interfered"]
    assert not new["known"]
    assert [(each["known"], each["moved"], each["interfered"]) for each in known] == [
        (True, [], [])
    ] * 2
    assert saved(wines) == before
    (row, *_) = csv.DictReader(io.StringIO(run("what-if", wines, file)))
    assert int(row["interfered"]) == len(new["interfered"])


def test_what_if_refuses_what_learn_would_refuse(refused, wines, wine_rows, write_csv):
    wine_rows[2][0] = 99.0
    assert "line 3: Example 'b1' is stored with another row" in refused(
        "what-if", wines, write_csv("d.csv", wine_rows)
    )


def test_an_explanation_adds_up(run_json, run, wines, wine, table, people):
    for model, file in ((wines, wine), (table, people)):
        told = run_json("explain", model, file, "--row", "7")
        total = told["at_mean"] + sum(each["contribution"] for each in told["columns"])
        assert total == pytest.approx(told["margin"])
        weights = sum(each["weight"] for each in told["supports"])
        assert told["prior"] + told["bias"] + told["forgotten"] + weights == pytest.approx(
            told["margin"]
        )
    assert {each["column"] for each in told["columns"]} == set(PEOPLE[0][:5])
    shown = run("explain", wines, wine, "--row", "7", "-n", "2")
    assert "predicted:" in shown
    assert "column,value,contribution" in shown


def test_a_row_is_named_by_its_number_or_its_id_or_is_stored(run_json, refused, wines, wine):
    by_row, by_id = (
        run_json("explain", wines, wine, *words) for words in (("--row", "3"), ("--example", "b2"))
    )
    stored = run_json("explain", wines, "--example", "b2")
    assert by_row == by_id
    assert stored["margin"] == by_row["margin"]
    assert (stored["where"], stored["label"]) == ("stored", "barolo")
    assert "has no row 999" in refused("explain", wines, wine, "--row", "999")
    assert "has no example 'b999'" in refused("explain", wines, wine, "--example", "b999")
    assert "There is no example 'b999'" in refused("explain", wines, "--example", "b999")
    assert invoke("explain", wines, wine).exit_code == 2


def test_an_explanation_is_drawn_for_tables_and_images(run, refused, table, people, tmp_path):
    write_images(tmp_path / "images", (8, 8))
    run("learn", tmp_path / "m", tmp_path / "images")
    for model, file in ((table, people), (tmp_path / "m", tmp_path / "images/dark/1.png")):
        picture = tmp_path / f"{model.name}.png"
        words = ("explain", model, file, "--row", "1", "--picture")
        run(*words, picture)
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert "A picture is one of" in refused(*words, tmp_path / "why.txt")


def test_a_model_without_examples_or_none_at_all_is_one_sentence(
    refused, run, wines, wine, tmp_path
):
    for label in ("barolo", "grignolino", "barbera, sweet"):
        run("forget", wines, "--of", label)
    for name in ("predict", "score", "what-if"):
        assert "has no examples; teach it some first" in refused(name, wines, wine)
        assert "`minout learn` creates one" in refused(name, tmp_path / "none", wine)
    assert not (tmp_path / "none").exists()


@pytest.fixture
def parts(wine_rows, tmp_path):
    """Three Parquet files of wines, and the names of their columns."""
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow cannot be imported here")
    parquet = pytest.importorskip("pyarrow.parquet")
    header, *rows = wine_rows
    for n in range(3):
        table = pyarrow.table({c: [row[i] for row in rows[n::3]] for i, c in enumerate(header)})
        parquet.write_table(table, tmp_path / f"part-{n}.parquet")
    return tmp_path


def test_files_are_predicted_in_processes_as_they_are_alone(run, run_json, rows_of, wines, parts):
    told = run_json("predict", wines, parts / "part-*.parquet", "-o", parts / "out")
    assert told == {"files": 3, "rows": 178, "to": str(parts / "out")}
    assert len(os.listdir(parts / "out")) == 3
    for n in range(3):
        written = (parts / "out" / f"part-{n}.parquet.csv").read_text()
        assert written == run("predict", wines, parts / f"part-{n}.parquet")


def test_of_files_that_cannot_be_predicted_none_is_half_made(refused, wines, parts):
    out, pattern = parts / "out", parts / "part-*.parquet"
    (parts / "part-1.parquet").write_bytes(b"no parquet")
    assert "part-1.parquet is not a Parquet file" in refused("predict", wines, pattern, "-o", out)
    assert {each.name for each in out.iterdir()} <= {"part-0.parquet.csv", "part-2.parquet.csv"}
    (parts / "bad.jsonl").write_text('{"alcohol": 1}\n3\n')
    assert "bad.jsonl" in refused("predict", wines, parts / "bad.jsonl", "-o", parts / "bad")
    assert list((parts / "bad").iterdir()) == []
    (out / "part-0.parquet.csv").write_text("mine")
    assert "There is already a" in refused("predict", wines, pattern, "-o", out)
    assert "There is no file" in refused("predict", wines, parts / "none-*.csv", "-o", out)
    for name in ("a", "b"):
        (parts / name).mkdir()
        (parts / name / "same.csv").write_text("x\n")
    both = refused("predict", wines, parts / "?" / "same.csv", "-o", parts / "new")
    assert "Two files would be written to" in both
    skip = "--skip-bad", parts / "bad.csv"
    assert "--skip-bad is for one file" in refused("predict", wines, pattern, "-o", out, *skip)
    assert "--workers is for several" in refused("predict", wines, skip[1], "--workers", 2)


def test_a_file_whose_name_looks_like_a_pattern_is_found(run, wines, parts):
    (parts / "d[1].parquet").write_bytes((parts / "part-0.parquet").read_bytes())
    run("predict", wines, parts / "d[1].parquet", "-o", parts / "out")
    assert [each.name for each in (parts / "out").iterdir()] == ["d[1].parquet.csv"]
