"""`minout bench engine`: what it prints and writes, and how it says no."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from minout.bench import engine
from minout.cli import app as cli
from minout.cli import bench as bench_command
from minout.results import read
from minout.streams import digits, pick_per_class

runner = CliRunner()


@pytest.fixture
def cheap(monkeypatch):
    few = pick_per_class(digits(), 8, np.random.default_rng(0))
    monkeypatch.setattr(bench_command.streams, "load", lambda _: few)
    monkeypatch.setattr(bench_command.bench.engine, "settings_for", lambda _: engine.TESTING)


def test_tables_are_markdown_when_piped_and_rows_are_written(cheap, tmp_path):
    out = tmp_path / "rows.jsonl"
    words = ["bench", "engine", "--only", "forget,3", "--out", str(out)]
    result = runner.invoke(cli.app, words)
    assert result.exit_code == 0, result.output
    assert "80 to learn from" in result.output
    assert "smaller" in result.output
    assert "| shuffled | 40 " in result.output
    assert "6. Forgetting" in result.output
    assert "Asked for" not in result.output
    assert [row.figure for row in read(out)] == ["engine growth"] * 2 + ["engine forget"]


def test_what_was_asked_for_is_judged_at_full_size_only(cheap, monkeypatch):
    monkeypatch.setattr(bench_command.bench.engine, "FULL", engine.TESTING)
    result = runner.invoke(cli.app, ["bench", "engine", "--only", "forget"])
    assert result.exit_code == 0, result.output
    assert "smaller" not in result.output
    assert "Asked for and measured" in result.output


def test_rows_that_are_there_stay_until_there_are_new_ones(cheap, monkeypatch, tmp_path):
    out = tmp_path / "rows.jsonl"
    out.write_text("old\n")

    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_command.bench.engine, "run", broken)
    runner.invoke(cli.app, ["bench", "engine", "--out", str(out)])
    assert out.read_text() == "old\n"


def test_the_command_explains_itself():
    result = runner.invoke(cli.app, ["bench", "engine", "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "speed"], "There is no number 'speed'"),
        (["--only", "growth", "--data", "/nowhere"], "/nowhere"),
        (["--only", "growth", "--out", "/proc/rows"], "Rows could not be written to /proc/rows"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_1(words, sentence):
    command = [sys.executable, "-c", "from minout.cli import main; main()", "bench", "engine"]
    told = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert sentence in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1


def test_the_sizes_of_a_part_can_be_pinned():
    settings = replace(engine.TESTING, medium=2)
    (told,) = engine.run(digits(), engine.chosen_parts(["forget"]), settings)
    assert told.rows[0].settings["medium"] == 2
