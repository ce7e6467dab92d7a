"""What people read: counts in the right number, and no control characters on the terminal."""

import json
from functools import partial

import pytest
from rich.console import Console
from typer.testing import CliRunner

from minout import Learner
from minout.cli import app as cli
from minout.cli import output

ESC = "\x1b[31mred\x07"
SHOWN = "\\x1b[31mred\\x07"


@pytest.fixture
def one(run, write_csv, tmp_path):
    """A model of one example."""
    file = write_csv("one.csv", [["a", "kind"], [1, "x"]])
    return tmp_path / "m", run("learn", tmp_path / "m", file, "--label", "kind")


def test_one_example_of_one_class_is_told_so(run, one, tmp_path):
    model, told = one
    assert told.startswith("Taught 1 example, ")
    assert "The model holds 1 example of 1 class; misfits: 0" in told
    assert run("export", model, tmp_path / "f.minout").startswith("1 example of 1 class is now in")


def test_what_was_known_is_counted_in_the_right_number(run, one, write_csv, tmp_path):
    file = write_csv("two.csv", [["a", "kind", "n"], [1, "x", "p"], [2, "y", "q"]])
    model = tmp_path / "two"
    run("learn", model, file, "--label", "kind", "--id", "n")
    run("correct", model, "q", "x")
    assert "2 were known already, of which 1 was corrected since" in run("learn", model, file)


@pytest.fixture
def coloured(write_csv, run, tmp_path):
    """A model whose labels and ids hold escape sequences, and its file."""
    rows = [["a", "kind", "n"], [1, ESC, f"{ESC}1"], [2, "y", "q"], [3, "y", f"{ESC}2"]]
    file = write_csv("c.csv", rows)
    run("learn", tmp_path / "c", file, "--label", "kind", "--id", "n")
    return tmp_path / "c", file


@pytest.mark.parametrize(
    "words",
    [
        ["info", "MODEL"],
        ["explain", "MODEL", "DATA", "--row", "1", "-n", "0"],
        ["correct", "MODEL", f"{ESC}2", ESC],
    ],
    ids=["info", "explain", "correct"],
)
def test_facts_show_control_characters_escaped(run, coloured, words):
    told = run(*(dict(zip(("MODEL", "DATA"), coloured, strict=True)).get(w, w) for w in words))
    assert SHOWN in told
    assert "\x1b" not in told


@pytest.mark.parametrize("name", ["suspects", "predict", "score"])
def test_tables_on_a_terminal_show_control_characters_escaped(run, coloured, name, monkeypatch):
    model, file = coloured
    words = [name, model] if name == "suspects" else [name, model, file]
    piped = run(*words)
    assert ESC in piped  # exact
    monkeypatch.setattr(
        output, "Console", partial(Console, force_terminal=True, color_system=None, width=200)
    )
    drawn = run(*words)
    assert SHOWN in drawn
    assert "\x07" not in drawn
    assert "\x1b[31mred" not in drawn


def test_json_is_exact(run_json, coloured):
    model, _ = coloured
    assert ESC in run_json("info", model)["classes"]
    assert json.loads(json.dumps(ESC)) == ESC


def test_errors_and_notes_show_control_characters_escaped(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.argv", ["minout", "info", str(tmp_path / ESC)])
    with pytest.raises(SystemExit):
        cli.main()
    told = capsys.readouterr().err
    assert SHOWN in told
    assert "\x07" not in told
    odd = tmp_path / "odd.csv"
    odd.write_text(f"a,{ESC},kind\n1,2,x\n")
    note = CliRunner().invoke(cli.app, ["learn", str(tmp_path / "o"), str(odd), "--label=kind"])
    assert SHOWN in note.stderr
    assert "\x07" not in note.stderr


@pytest.mark.parametrize("ending", [".csv", ".TSV", ".txt", ".json", ".jsonl", ".parquet", ".png"])
def test_a_model_is_not_written_under_the_ending_of_another_format(
    refused, wines, tmp_path, ending
):
    said = refused("export", wines, tmp_path / f"x{ending}")
    assert "has the ending of another format" in said
    assert said.endswith(f"so name it {tmp_path / 'x.minout'}.")
    assert not (tmp_path / f"x{ending}").exists()


@pytest.mark.parametrize("name", ["x.minout", "x.npz", "x", "wines.v2"])
def test_a_model_is_written_under_its_own_endings(run, wines, tmp_path, name):
    run("export", wines, tmp_path / name)
    assert len(Learner.load(tmp_path / name)) == 178


def test_export_does_not_make_folders(refused, wines, tmp_path):
    assert "there is no folder" in refused("export", wines, tmp_path / "nowhere" / "x.minout")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_truth_value_is_no_number_in_any_file(refused, run, write_csv, tmp_path, value):
    csv = write_csv("t.csv", [["a", "kind"], [1, "x"], [value.title(), "y"]])
    lines = tmp_path / "t.jsonl"
    lines.write_text(f'{{"a": 1, "kind": "x"}}\n{{"a": {value}, "kind": "y"}}\n')
    numbers = ("--label", "kind", "--features", "random_fourier")  # not a table
    assert "which is not a number" in refused("learn", tmp_path / "1", csv, *numbers)
    said = refused("learn", tmp_path / "2", lines, *numbers)
    assert f"line 2: column 'a' holds {value}, which is not a number;" in said
