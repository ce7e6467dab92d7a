"""`minout predict`, `score`, `what_if` and `explain`: the learner's own answers, row by row."""

import csv
import io
import json
from functools import partial

import numpy as np
import pytest
from PIL import Image
from rich.console import Console
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from minout import Learner, classifier
from minout.cli import app as cli
from minout.cli import output, queries
from minout.streams.files import read

pytestmark = pytest.mark.usefixtures("little_is_chosen")


@pytest.fixture
def learner(wines):
    return Learner.open(wines, read_only=True)


def table(printed):
    return list(csv.DictReader(io.StringIO(printed)))


def objects(printed):
    return [json.loads(line) for line in printed.splitlines()]


@pytest.mark.parametrize("at_a_time", [1, 7, 256])
def test_predictions_are_the_learners_to_the_last_bit(
    run, wines, wine, learner, numbers, monkeypatch, at_a_time
):
    monkeypatch.setattr(queries, "BATCH", at_a_time)
    lines = table(run("predict", wines, wine))
    assert [line["line"] for line in lines] == [str(number) for number in range(2, 180)]
    assert [line["id"] for line in lines] == learner.ids
    assert [line["label"] for line in lines] == learner.predict(numbers).tolist()
    scores = [[float(line[f"score:{each}"]) for each in learner.classes] for line in lines]
    assert scores == learner.scores(numbers).tolist()
    probabilities = [float(line["probability"]) for line in lines]
    assert probabilities == learner.probabilities(numbers).max(axis=1).tolist()


def test_json_says_the_same(run, wines, wine, learner, numbers):
    first = objects(run("predict", wines, wine, "--json"))[0]
    assert (first["line"], first["id"], first["label"]) == (2, "b0", "barolo")
    assert list(first["scores"]) == learner.classes.tolist()
    assert list(first["scores"].values()) == learner.scores(numbers[:1])[0].tolist()


def test_columns_may_be_missing_shuffled_or_too_many(run, wines, wine, write_csv, wine_rows):
    only_features = [row[:13][::-1] for row in wine_rows]
    strange = [["colour", *row] for row in wine_rows]
    said = [
        [line["label"] for line in table(run("predict", wines, file))]
        for file in (wine, write_csv("1.csv", only_features), write_csv("2.csv", strange))
    ]
    assert said[0] == said[1] == said[2]


def test_rows_that_no_class_claims_are_called_unknown(run, wines, wine_rows, write_csv):
    far = [wine_rows[0], [*[0] * 13, "?", "far"], *wine_rows[1:3]]
    file = write_csv("far.csv", far)
    lines = table(run("predict", wines, file, "--unknown", "none, of these"))
    unclaimed = [
        max(float(value) for name, value in line.items() if name.startswith("score:")) <= 0
        for line in lines
    ]
    assert [line["label"] == "none, of these" for line in lines] == unclaimed


def test_standard_input_is_answered_line_by_line(run, wines, wine_rows):
    lines = [json.dumps(dict(zip(wine_rows[0], row, strict=True))) for row in wine_rows[1:4]]
    said = objects(run("predict", wines, "-", "--json", input="\n".join(lines)))
    assert [each["label"] for each in said] == ["barolo"] * 3


def test_a_bad_row_comes_after_the_answers_before_it(wines, wine_rows, write_csv):
    spoiled = [*wine_rows[:6], ["1e200", *wine_rows[6][1:]], *wine_rows[7:10], ["x"]]
    file = write_csv("spoiled.csv", spoiled)
    result = CliRunner().invoke(cli.app, ["predict", str(wines), str(file)])
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 6
    assert "line 7: The column 'alcohol' must be a number, but here it is '1e200'" in str(
        result.exception
    )
    result = CliRunner().invoke(cli.app, ["predict", str(wines), str(file), "--from-line", "8"])
    assert len(result.stdout.splitlines()) == 4
    assert "line 11: there is 1 field" in str(result.exception)
    assert "To continue after it, add --from-line 12." in str(result.exception)


def test_score_counts_what_is_right(run, run_json, wines, wine_rows, write_csv):
    wrong = [list(row) for row in wine_rows]
    for row in wrong[1:6]:
        row[13] = "grignolino"
    wrong[6][13] = "port"
    file = write_csv("wrong.csv", wrong)
    told = run_json("score", wines, file)
    assert (told["examples"], told["right"], told["accuracy"]) == (178, 172, 172 / 178)
    assert told["classes"]["grignolino"] == {"examples": 76, "right": 71}
    assert told["classes"]["port"] == {"examples": 1, "right": 0}
    assert "(all),178,172,96.63%" in run("score", wines, file)


def test_a_file_of_which_no_label_is_known_is_not_scored(refused, wines, wine_rows, write_csv):
    file = write_csv(
        "other.csv", [wine_rows[0], *([*row[:13], "port", "?"] for row in wine_rows[1:])]
    )
    assert refused("score", wines, file) == (
        f"No label in {file} (port) is one of this model's "
        "(barbera, sweet, barolo, grignolino); name another column with --label."
    )


def test_what_if_says_what_teaching_would_touch_and_teaches_nothing(
    run, wines, write_csv, wine_rows, learner, numbers, on_disk
):
    changed = [list(row) for row in wine_rows[:4]]
    changed[1][13], changed[2][13] = "grignolino", "port"
    for row in changed[1:]:
        row[14] += ", new"
    file = write_csv("changed.csv", changed)
    before = on_disk(wines)
    short, long = table(run("what_if", wines, file)), objects(run("what_if", wines, file, "--json"))
    for i, (line, said) in enumerate(zip(short, long, strict=True)):
        asked = learner.what_if(numbers[i], changed[i + 1][13])
        tied = [tuple(each) for each in said["separators"]]
        assert {frozenset(each) for each in tied} == {frozenset(each) for each in asked.neurons}
        assert len({frozenset(each) for each in tied}) == len(tied)
        assert tuple(said["interfered"]) == asked.interfered
        assert said["refresh"] == asked.refresh
        assert (said["pending"], line["pending"]) == (False, "no")
        assert [int(line["separators"]), int(line["interfered"])] == [
            len(tied),
            len(asked.interfered),
        ]
        assert line["refresh"] == ("yes" if asked.refresh else "no")
        assert (line["known"], said["known"]) == ("no", False)
    assert ["barolo", "grignolino"] in long[0]["separators"]
    assert [len(said["separators"]) for said in long[1:]] == [3, 0]
    assert on_disk(wines) == before


def test_what_if_says_that_known_rows_change_nothing(
    run, refused, wines, wine, write_csv, wine_rows
):
    run("correct", wines, "b5", "grignolino")  # the file still has the old label
    lines = table(run("what_if", wines, wine))
    assert [line["id"] for line in lines] == [f"b{i}" for i in range(178)]
    assert {tuple(line.values())[3:] for line in lines} == {("0", "0", "no", "no", "yes")}
    changed = [list(row) for row in wine_rows]
    changed[1][13] = "port"
    file = write_csv("changed.csv", changed)
    for command in ("what_if", "learn"):
        said = refused(command, wines, file)
        assert said.startswith(f"{file}, line 2: Example 'b0' is stored with another label;")


def test_on_a_terminal_numbers_are_rounded_and_stand_in_columns(
    run, wines, wine, learner, numbers, monkeypatch
):
    monkeypatch.setattr(queries, "BATCH", 30)
    piped = run("predict", wines, wine)
    monkeypatch.setattr(output, "Console", partial(Console, force_terminal=True))
    lines = run("predict", wines, wine).splitlines()
    assert lines[0].split()[:5] == ["line", "id", "label", "probability", "score:barbera,"]
    assert len(lines) == len(piped.splitlines()) == 179
    starts = {tuple(line.index(word) for word in ("b", "barolo")) for line in lines[1:60]}
    assert starts == {(lines[0].index("id"), lines[0].index("label"))}
    scores = [f"{each:.4g}" for each in learner.scores(numbers[:1])[0]]
    assert lines[1].split()[-3:] == scores


def test_explain_gives_the_learners_explanation(run, run_json, wines, wine, learner, numbers):
    expected = learner.explain(numbers[2])
    by_row = run_json("explain", wines, wine, "--row", 3)
    assert by_row["where"] == "line 4"
    assert by_row["id"] == "b2"
    assert (by_row["label"], by_row["runner_up"]) == (expected.label, expected.runner_up)
    assert (by_row["margin"], by_row["prior"], by_row["bias"]) == (
        expected.margin,
        expected.prior,
        expected.bias,
    )
    assert [tuple(each.values()) for each in by_row["supports"]] == list(expected.supports)
    assert run_json("explain", wines, wine, "--line", 4) == by_row
    assert run_json("explain", wines, wine, "--id", "b2") == by_row
    stored = run_json("explain", wines, "--id", "b2")
    assert stored["stored_label"] == learner.example("b2")[1]
    assert {**stored, "where": "line 4", "stored_label": None} == by_row
    assert f"stored label: {stored['stored_label']}\n" in run("explain", wines, "--id", "b2")
    printed = run("explain", wines, wine, "--row", 3, "-n", 1)
    assert f"predicted: {expected.label}\n" in printed
    assert len(printed.split("id,label,weight\n")[1].splitlines()) == 1
    less = run_json("explain", wines, wine, "--row", 3, "-n", 1)
    firsts = {name: by_row[name][:1] for name in ("supports", "columns")}
    assert less == {**by_row, **firsts}
    assert len(by_row["supports"]) > 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--row", "179"], "has no row 179"),
        (["--line", "1"], "has no row that starts on line 1"),
        (["--id", "b999"], "has no example 'b999'"),
    ],
)
def test_explain_names_what_it_does_not_find(refused, wines, wine, words, sentence):
    assert sentence in refused("explain", wines, wine, *words)


def test_explain_wants_one_example(wines, wine):
    for words in ([], ["--row", "1", "--line", "2"]):
        result = CliRunner().invoke(cli.app, ["explain", str(wines), str(wine), *words])
        assert result.exit_code == 2
    assert CliRunner().invoke(cli.app, ["explain", str(wines), "--row", "1"]).exit_code == 2


def test_a_model_of_one_class_prints_valid_json(tmp_path, run, write_csv):
    file = write_csv("one.csv", [["a", "kind"], [1, "cat"], [2, "cat"]])
    run("learn", tmp_path / "m", file, "--label", "kind")
    first = objects(run("predict", tmp_path / "m", file, "--json"))[0]
    assert (first["label"], first["probability"], first["scores"]) == ("cat", 1.0, {"cat": None})
    assert "no other label" in run("explain", tmp_path / "m", file, "--row", 1)


@pytest.mark.parametrize("map_name", ["identity", "scattering"])
def test_a_picture_shows_the_image_and_its_supporters(tmp_path, run, monkeypatch, map_name):
    digits = load_digits()
    for i in range(40):
        folder = tmp_path / "images" / str(digits.target[i])
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray((digits.images[i] * 15).astype(np.uint8)).save(folder / f"{i}.png")
    run("learn", tmp_path / "m", tmp_path / "images", "--features", map_name)
    drawn = []
    real = classifier.draw
    monkeypatch.setattr(
        classifier, "draw", lambda *args, **more: drawn.append(more) or real(*args, **more)
    )
    words = ["explain", tmp_path / "m", tmp_path / "images", "--row", 5]
    run(*words, "--picture", tmp_path / "why.png")
    with Image.open(tmp_path / "why.png") as picture:
        assert picture.format == "PNG"
    learner = Learner.open(tmp_path / "m", read_only=True)
    assert list(drawn[0]["image_shape"]) == [8, 8]
    with read(tmp_path / "images") as reader:
        rows = {each.id: each.row for each in reader}
    fifth = rows[list(rows)[4]]
    supports = {support.id for support in learner.explain(fifth).supports}
    assert set(drawn[0]["images"]) == supports
    assert all((image == rows[each]).all() for each, image in drawn[0]["images"].items())


def test_explain_says_what_each_column_contributes(run, run_json, wines, wine, learner, numbers):
    told = run_json("explain", wines, wine, "--row", 3)
    names = run_json("info", wines)["columns"]
    columns = {each["column"]: each for each in told["columns"]}
    assert set(columns) == set(names)
    assert [columns[name]["value"] for name in names] == numbers[2].tolist()
    parts = [each["contribution"] for each in told["columns"]]
    assert [abs(each) for each in parts] == sorted(map(abs, parts), reverse=True)
    assert told["at_mean"] + sum(parts) == pytest.approx(told["margin"], rel=1e-9)
    printed = run("explain", wines, wine, "--row", 3, "-n", 2)
    listed = printed.split("column,value,contribution\n")[1].split("\n\n")[0].splitlines()
    assert [line.split(",")[0] for line in listed] == [
        each["column"] for each in told["columns"][:2]
    ]


def test_a_picture_of_a_table_shows_its_columns(tmp_path, run, wines, wine):
    run("explain", wines, wine, "--row", 3, "--picture", tmp_path / "why.png")
    with Image.open(tmp_path / "why.png") as picture:
        assert picture.format == "PNG"


def test_a_picture_is_refused_where_there_is_neither_image_nor_table(tmp_path, refused):
    with Learner.open(tmp_path / "m") as learner:
        learner.teach([1.0, 2.0, 3.0], "a", id="one")
        learner.teach([1.0, 2.0, 4.0], "b")
    words = ["explain", tmp_path / "m", "--id", "one", "--picture"]
    assert "one of .png, .pdf, .svg, not 'why.doc'" in refused(*words, tmp_path / "why.doc")
    assert refused(*words, tmp_path / "why.png") == (
        "--picture needs an image or column names, but the model's rows are 3 numbers without "
        "names, which is no square image; leave it out."
    )
    assert not (tmp_path / "why.png").exists()
