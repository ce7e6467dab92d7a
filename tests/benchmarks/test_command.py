"""`python -m benchmarks`: what it prints and writes, and how it says no."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks import commands, engine
from benchmarks.parts import choose_parts
from minout.results import read
from minout.streams import digits, pick_per_class

runner = CliRunner()
ROOT = Path(__file__).parents[2]


@pytest.fixture
def cheap(monkeypatch):
    few = pick_per_class(digits(), 8, np.random.default_rng(0))
    monkeypatch.setattr(commands.streams, "load", lambda _: few)
    monkeypatch.setattr(engine, "settings_for", lambda _: engine.TESTING)


def test_tables_are_markdown_when_piped_and_rows_are_written(cheap, tmp_path):
    out = tmp_path / "rows.jsonl"
    words = ["engine", "--only", "forget,3", "--out", str(out)]
    result = runner.invoke(commands.app, words)
    assert result.exit_code == 0, result.output
    assert "80 to learn from" in result.output
    assert "smaller" in result.output
    assert "| shuffled | 40 " in result.output
    assert "6. Forgetting" in result.output
    assert "Goals" not in result.output
    assert [row.figure for row in read(out)] == ["engine growth"] * 2 + ["engine forget"]


def test_goals_are_judged_at_full_size_only(cheap, monkeypatch):
    monkeypatch.setattr(engine, "FULL", engine.TESTING)
    result = runner.invoke(commands.app, ["engine", "--only", "forget"])
    assert result.exit_code == 0, result.output
    assert "smaller" not in result.output
    assert "Goals and measured values" in result.output


def test_rows_that_are_there_stay_until_there_are_new_ones(cheap, monkeypatch, tmp_path):
    out = tmp_path / "rows.jsonl"
    out.write_text("old\n")

    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "run", broken)
    runner.invoke(commands.app, ["engine", "--out", str(out)])
    assert out.read_text() == "old\n"


@pytest.mark.parametrize("name", ["engine", "classifier", "tables", "store", "paper"])
def test_every_command_explains_itself(name):
    result = runner.invoke(commands.app, [name, "--help"])
    assert result.exit_code == 0
    assert "Example: python -m benchmarks" in result.output


def test_paper_prints_both_sides_and_their_ratio(monkeypatch):
    few = pick_per_class(digits(), 4, np.random.default_rng(0))
    few = few._replace(test_rows=few.test_rows[:20], test_labels=few.test_labels[:20])
    monkeypatch.setattr(commands.streams, "load", lambda _: few)
    result = runner.invoke(commands.app, ["paper", "--per-class", "1", "--stored", "5"])
    assert result.exit_code == 0, result.output
    assert "10 examples: learner" in result.output
    assert "same weights to the last bit: yes" in result.output
    assert "one more at 5 stored" in result.output


def test_the_package_does_not_import_the_benchmarks():
    for file in (ROOT / "src").rglob("*.py"):
        assert not re.search(r"^\s*(import|from) benchmarks\b", file.read_text(), re.M), file


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["engine", "--only", "speed"], "There is no part 'speed'"),
        (["engine", "--only", "growth", "--data", "/nowhere"], "/nowhere"),
        (
            ["engine", "--only", "growth", "--out", "/proc/rows"],
            "Rows could not be written to /proc/rows",
        ),
        (["classifier", "--only", "speed"], "There is no part 'speed'"),
        (["tables", "--only", "speed"], "There is no part 'speed'; the parts are messy, csv."),
        (["paper", "--data", "/nowhere"], "/nowhere"),
        (["paper", "--stored", "100000"], "so ask for 1 to 3980"),
        (["paper", "--per-class", "-1"], "-1"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_1(words, sentence, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", *words])
    with pytest.raises(SystemExit) as ended:
        commands.main()
    assert ended.value.code == 1
    error = capsys.readouterr().err
    assert sentence in error
    assert len(error.strip().splitlines()) == 1


def test_the_benchmarks_are_a_module_that_python_runs():
    command = [sys.executable, "-m", "benchmarks", "paper", "--per-class", "-1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")


def test_the_sizes_of_a_part_can_be_pinned():
    settings = replace(engine.TESTING, medium=2)
    (found,) = engine.run(digits(), choose_parts(engine.PARTS, ["forget"]), settings)
    assert found.rows[0].settings["medium"] == 2
