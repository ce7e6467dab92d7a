"""What people do by mistake: one sentence each, and what was there before is there still."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from minout import Learner
from minout.cli import app as cli

pytestmark = pytest.mark.usefixtures("little_is_chosen")

COMMANDS = [
    "learn",
    "predict",
    "score",
    "what_if",
    "explain",
    "correct",
    "update",
    "forget",
    "suspects",
    "labels",
    "list",
    "audit",
    "info",
    "export",
    "import",
]
NEED_A_MODEL = [
    ["predict", "MODEL", "DATA"],
    ["score", "MODEL", "DATA"],
    ["what_if", "MODEL", "DATA"],
    ["explain", "MODEL", "DATA", "--row", "1"],
    ["correct", "MODEL", "b1", "barolo"],
    ["update", "MODEL", "b1", "1,2"],
    ["forget", "MODEL", "b1"],
    ["suspects", "MODEL"],
    ["labels", "MODEL"],
    ["list", "MODEL"],
    ["audit", "MODEL"],
    ["info", "MODEL"],
    ["export", "MODEL", "out"],
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name):
    result = CliRunner().invoke(cli.app, [name, "--help"])
    assert result.exit_code == 0
    assert f"Example: minout {name} " in result.output
    assert "--json" in result.output


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("learn", "one separator, a linear function, for each pair of labels"),
        ("learn", "A misfit is a stored example on the wrong side"),
        ("learn", "random_fourier (scale the columns"),
        ("predict", "scores are all 0 or less. This is no outlier detector"),
        ("suspects", "The margin of an example is its value"),
        ("suspects", "Correctly labelled examples are listed too"),
        ("suspects", "the probability that its label is wrong"),
        ("info", "C is the inverse strength"),
        ("explain", "A separator is the linear function"),
        ("explain", "The margin is its value at the row"),
        ("forget", "they are taught again with the next"),
        ("what_if", "how many separators would move"),
        ("suspects", "Slack is the sum"),
        ("info", "A misfit is a stored example"),
        ("predict", "the smallest margin of the row"),
    ],
)
def test_words_are_explained_where_they_matter(name, words):
    said = CliRunner().invoke(cli.app, [name, "--help"], env={"COLUMNS": "200"}).output
    assert words in " ".join(said.replace("│", " ").split())


def test_the_exit_codes_are_documented():
    said = CliRunner().invoke(cli.app, ["--help"]).output
    for code in ("0 for", "1 for", "2 for", "130"):
        assert code in " ".join(said.split())


@pytest.fixture(params=["nothing", "a file", "something else", "an empty folder"])
def no_model(request, tmp_path):
    path = tmp_path / "m"
    if request.param == "a file":
        path.write_text("mine")
    elif request.param != "nothing":
        path.mkdir()
    if request.param == "something else":
        (path / "letter.txt").write_text("mine")
    return path


@pytest.mark.parametrize("words", NEED_A_MODEL, ids=lambda words: words[0])
def test_where_there_is_no_model_one_sentence_says_so(refused, no_model, wine, tmp_path, words):
    there = sorted(tmp_path.rglob("*"))
    names = {"MODEL": no_model, "DATA": wine}
    said = refused(*(names.get(word, word) for word in words))
    assert str(no_model) in said
    assert sorted(tmp_path.rglob("*")) == there


@pytest.mark.parametrize(
    "words", [["learn", "MODEL", "DATA", "--label=kind"], ["import", "FILE", "MODEL"]]
)
def test_nothing_is_learned_into_what_is_no_models_folder(
    tmp_path, run, refused, wines, wine, words
):
    run("export", wines, tmp_path / "wines.minout")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "letter.txt").write_text("mine")
    for model, sentence in (("file", "is a file"), ("folder", "holds files, but no model")):
        names = {"MODEL": tmp_path / model, "DATA": wine, "FILE": tmp_path / "wines.minout"}
        assert sentence in refused(*(names.get(word, word) for word in words))
    assert (tmp_path / "file").read_text() == "mine"
    assert [each.name for each in (tmp_path / "folder").iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([["a", "sort"], [1, "cat"]], "has no column 'kind'; its columns are: a, sort."),
        ([], "is empty"),
        ([["a", "kind"]], "has a header, but no rows"),
        ([["a", "kind"], [1, "cat"], [2]], "line 3: there is 1 field, but the header has 2"),
        ([["a", "kind"], [1, "cat"], ["a", "kind"]], "line 3: this is the header again"),
        ([["a", "kind"], [1, "cat"], ["\0", "dog"]], "line 3: column 'a' holds a NUL byte"),
        ([["a", "kind"], [1, "cat"], [2, ""]], "line 3: the label is empty"),
        ([["a", "a", "kind"], [1, 2, "cat"]], "has two columns 'a'"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_and_line(tmp_path, refused, write_csv, rows, sentence):
    file = write_csv("data.csv", rows)
    said = refused("learn", tmp_path / "m", file, "--label", "kind")
    assert sentence in said
    assert str(file) in said
    assert not (tmp_path / "m").exists()
    if "line 3" in sentence:
        assert said.endswith("Nothing has been taught; --skip-bad FILE skips such rows.")


def test_the_label_must_be_known(tmp_path, refused, run, write_csv, wine):
    assert "Name the label column of" in refused("learn", tmp_path / "m", wine)
    np.savez(tmp_path / "bare.npz", X=np.eye(2))
    assert "row 1: it has no label" in refused("learn", tmp_path / "m", tmp_path / "bare.npz")
    assert not (tmp_path / "m").exists()
    run(
        "learn",
        tmp_path / "m",
        write_csv("1.csv", [["a", "kind"], [1, "x"], [2, "y"]]),
        "--label",
        "kind",
    )
    other = write_csv("2.csv", [["a", "sort"], [1, "x"]])
    for command in ("learn", "score", "what_if"):
        said = refused(command, tmp_path / "m", other)
        assert said == (
            f"{other} has no column 'kind', from which this model takes its labels; "
            "name another one with --label."
        )
    result = CliRunner().invoke(cli.app, ["what_if", str(tmp_path / "m"), str(other)])
    assert result.stdout == ""
    assert "line,id,label" in run("predict", tmp_path / "m", other)
    run("score", tmp_path / "m", other, "--label", "sort")


def test_the_ids_column_must_be_there_once_it_was(tmp_path, refused, wines, write_csv, wine_rows):
    file = write_csv("no_ids.csv", [row[:14] for row in wine_rows])
    said = refused("learn", wines, file)
    assert said == (
        f"{file} has no column 'bottle', from which this model takes its ids; "
        "name another one with --id."
    )


def test_an_id_twice_in_one_file_is_refused_where_it_stands(tmp_path, refused, write_csv):
    file = write_csv("twice.csv", [["a", "kind", "n"], [1, "cat", 7], [1, "cat", 7], [2, "cat", 7]])
    said = refused("learn", tmp_path / "m", file, "--label", "kind", "--id", "n")
    assert "line 4: Example '7' is stored with another row" in said


def test_a_models_column_that_is_missing_is_named(refused, wines, write_csv, wine_rows):
    file = write_csv("less.csv", [row[1:] for row in wine_rows])
    for command in ("learn", "predict", "score", "what_if"):
        said = refused(command, wines, file)
        assert f"{file} has no column 'alcohol', which this model was taught with" in said


def test_labels_of_two_types_are_refused(tmp_path, refused):
    lines = '{"a": 1, "kind": 1}\n{"a": 2, "kind": "cat"}\n'
    (tmp_path / "two.jsonl").write_text(lines)
    said = refused("learn", tmp_path / "m", tmp_path / "two.jsonl", "--label", "kind")
    assert "two.jsonl, line 2: The label 'cat' is of another type than before" in said
    words = ["learn", str(tmp_path / "m"), "-", "--label", "kind", "--json"]
    result = CliRunner().invoke(cli.app, words, input=lines)
    assert "standard input, line 2: The label 'cat' is of another type than before" in result.stderr
    told = json.loads(result.stdout)
    assert (result.exit_code, told["skipped"], told["classes"]) == (0, 1, 1)


def test_a_column_that_is_not_a_number_can_be_ignored(tmp_path, run_json, run, write_csv):
    file = write_csv("text.csv", [["a", "city", "kind"], [1, "Rome", "x"], [2, "Bonn", "y"]])
    told = run_json("learn", tmp_path / "m", file, "--label", "kind", "--ignore", "city")
    assert told["taught"] == 2
    assert run_json("info", tmp_path / "m")["columns"] == ["a"]
    run("predict", tmp_path / "m", file)


def test_a_damaged_model_is_one_sentence(refused, wines, wine):
    file = wines / "model.sqlite"
    file.write_bytes(file.read_bytes()[:-10_000])
    before = file.read_bytes()
    for words in (["predict", wines, wine], ["learn", wines, wine], ["info", wines]):
        assert str(file) in refused(*words)
    assert file.read_bytes() == before


NOTES = {
    "files": [
        3,
        [],
        {"label": 3},
        {"columns": "abc"},
        {"columns": [None]},
        {"image_shape": [0, 9]},
    ],
    "classifier": [3, [1], "x", {"names": 3}, {"names": [3]}],
}


@pytest.mark.parametrize("key", NOTES)
def test_a_file_whose_notes_are_not_ours_is_not_imported(tmp_path, refused, key):
    learner = Learner()
    learner.teach_many([[0.0], [1.0]], ["a", "b"])
    for note in NOTES[key]:
        learner.notes.clear()
        learner.notes[key] = note
        learner.save(tmp_path / "f.minout")
        told = refused("import", tmp_path / "f.minout", tmp_path / "new")
        assert told.startswith(f"The model's note {key!r} was not written by minout; remove it")
        assert not (tmp_path / "new").exists()


def test_a_damaged_file_is_not_imported(tmp_path, refused):
    learner = Learner()
    learner.teach_many([[0.0], [1.0]], ["a", "b"])
    learner.save(tmp_path / "f.minout")
    whole = (tmp_path / "f.minout").read_bytes()
    for content in (b"", whole[:-1], whole[:500], whole + b"x", b"x" + whole):
        (tmp_path / "f.minout").write_bytes(content)
        told = refused("import", tmp_path / "f.minout", tmp_path / "new")
        assert told.rstrip().endswith("is not a minout model, or it was truncated or changed.")
        assert not (tmp_path / "new").exists()


def test_the_last_column_is_shown_when_the_label_is_not_named(tmp_path, write_csv, refused):
    names = [f"c{n}" for n in range(30)]
    file = write_csv("wide.csv", [[*names, "kind"], [*range(30), "cat"]])
    said = refused("learn", tmp_path / "m", file)
    assert said.endswith("c19 and 11 more, the last of which is 'kind'.")
    assert refused("learn", tmp_path / "m", file, "--id", "c3").endswith(" which is 'kind'.")


def test_a_memory_that_is_none_is_refused_in_the_words_of_the_option(tmp_path, refused, wine):
    assert refused("learn", tmp_path / "m", wine, "--label", "kind", "--memory", "uint4x") == (
        "--memory is auto, uint8, uint4 or uint2, not 'uint4x'."
    )
    assert not (tmp_path / "m").exists()
