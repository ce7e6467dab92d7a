"""`minout audit`, `repair`, `compact`, `backup`, `log` and `forget --log-ids`."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from minout import DriftMonitor, Learner
from minout.cli import app as cli
from minout.cli import upkeep
from minout.upkeep import Entry, Repair

MAIN = "from minout.cli import main; main()"
COMMANDS = ["repair", "compact", "backup", "log"]


@pytest.fixture
def model(tmp_path):
    """A model of six examples in a database."""
    with Learner.open(tmp_path / "pets") as learner:
        rows = [[0.0, 1.0], [1.0, 0.0], [0.1, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.2]]
        learner.teach_many(rows, ["cat", "dog"] * 3, list("abcdef"))
    return tmp_path / "pets"


def damage(model):
    connection = sqlite3.connect(model / "model.sqlite", isolation_level=None)
    connection.execute("UPDATE examples SET label = '\"dog\"' WHERE place = 2")
    connection.close()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name):
    result = CliRunner().invoke(cli.app, [name, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert "Example: minout" in result.output
    assert f"minout {name} " in result.output
    assert "--json" in result.output


@pytest.mark.parametrize("words", [["repair"], ["compact"], ["backup", "COPY"], ["log"]])
def test_a_missing_model_is_one_sentence(refused, tmp_path, words):
    name, *rest = words
    said = refused(name, tmp_path / "no", *(tmp_path / each for each in rest))
    assert said == f"There is no model {tmp_path / 'no'}; `minout learn` creates one."
    assert not (tmp_path / "no").exists()


def test_an_audit_counts_records_and_margins(run, run_json, model):
    assert "everything agrees" in run("audit", model)
    told = run_json("audit", model)
    assert (told["ok"], told["examples"], told["problems"]) == (True, 6, [])
    assert told["records"] > 6


def test_an_audit_of_a_damaged_model_says_what_is_wrong_and_fails(model):
    damage(model)
    result = CliRunner().invoke(cli.app, ["audit", str(model)])
    assert result.exit_code == 1
    assert "something does not agree" in result.stdout
    assert "records of examples cannot be read" in result.stdout
    result = CliRunner().invoke(cli.app, ["audit", str(model), "--json"])
    assert (result.exit_code, json.loads(result.stdout)["ok"]) == (1, False)


def test_a_repair_says_what_it_did_and_what_was_lost(run, model):
    damage(model)
    said = run("repair", model)
    assert "was built again from 5 examples and consolidated." in said
    assert "1 example could not be rescued: 'c'." in said
    assert f"The damaged file is kept as {model / 'model.sqlite.damaged'}." in said
    assert "rows that were forgotten" in said
    assert run("repair", model) == f"{model} is sound: nothing to repair. It holds 5 examples.\n"
    assert "everything agrees" in run("audit", model)


def test_a_repair_prints_json(run_json, model):
    assert run_json("repair", model)["was_sound"] is True
    damage(model)
    told = run_json("repair", model)
    assert (told["was_sound"], told["examples"], told["lost"]) == (False, 5, 1)
    assert (told["lost_ids"], told["kept"]) == (["c"], str(model / "model.sqlite.damaged"))


def test_compacting_reports_sizes_and_damaged_files(run, run_json, model):
    told = run_json("compact", model)
    assert (told["examples"], told["damaged_files"]) == (6, [])
    assert told["bytes"] == (model / "model.sqlite").stat().st_size
    assert re.fullmatch(
        r".* holds 6 examples in [\d,]+ bytes \([\d,]+ before\)\.\n", run("compact", model)
    )
    damage(model)
    run("repair", model)
    assert run_json("compact", model)["damaged_files"] == [str(model / "model.sqlite.damaged")]


def test_compacting_drops_the_monitor_if_it_names_a_label_that_is_gone(run, model):
    monitor = DriftMonitor()
    monitor.update("cat", True)
    with Learner.open(model) as learner:
        learner.notes["drift"] = monitor.to_json()
    run("compact", model)
    assert "drift" in Learner.open(model, read_only=True).notes
    with Learner.open(model) as learner:
        learner.forget_class("cat")
    run("compact", model)
    assert "drift" not in Learner.open(model, read_only=True).notes
    assert all(b'"cat"' not in each.read_bytes() for each in model.iterdir())


def test_a_backup_says_where_it_is(run, run_json, refused, model, tmp_path):
    copy = tmp_path / "copy"
    assert run("backup", model, copy) == f"{copy} is a copy of {model}, with 6 examples.\n"
    assert refused("backup", model, copy) == f"There is already a {copy}; name a new folder."
    assert run_json("backup", model, tmp_path / "b") == {"to": str(tmp_path / "b"), "examples": 6}


def test_the_log_has_a_line_for_each_entry(run, model):
    with Learner.open(model) as learner:
        learner.correct("f", "cat")
        learner.forget("b", log_ids=True)
    lines = run("log", model).splitlines()
    when = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d "
    assert re.match(when + r"teach 'b': moved cat\|dog; 2 margins checked", lines[0])
    assert re.match(when + "correct 'f'", lines[-2])
    assert re.match(when + "forget: .*1 example forgotten; namely 'b'", lines[-1])
    assert run("log", model, "-n", "1").splitlines() == lines[-1:]
    assert run("log", model, "-n", "0") == ""


def test_the_log_prints_json(run, model):
    lines = [json.loads(line) for line in run("log", model, "--json").splitlines()]
    assert lines[0]["action"] == "teach"
    assert lines[0]["moved"] == [["cat", "dog"]]
    assert [each["number"] for each in lines] == list(range(1, len(lines) + 1))


def test_the_log_follows_until_ctrl_c(model):
    words = [sys.executable, "-c", MAIN, "log", str(model), "--follow", "-n", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, **pipes, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process:
        assert process.stdout.readline()  # the last entry so far
        with Learner.open(model) as learner:
            learner.correct("f", "cat")
        assert "correct 'f'" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 130


@pytest.mark.parametrize("words", [["info"], ["log"], ["suspects"]])
def test_a_damaged_model_leads_to_the_repair(refused, model, words):
    (model / "model.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    assert f"`minout repair {model}` rebuilds" in refused(*words, model)


def test_an_audit_names_the_repair_only_if_something_is_wrong(model):
    assert "minout repair" not in CliRunner().invoke(cli.app, ["audit", str(model)]).stdout
    damage(model)
    said = CliRunner().invoke(cli.app, ["audit", str(model)]).stdout
    assert f"`minout repair {model}` rebuilds" in said


def test_a_repair_lists_twenty_problems_and_counts_the_others(monkeypatch, run, model, tmp_path):
    problems = tuple(f"Problem {n}." for n in range(50))
    lost = tuple(f"r{n}" for n in range(1000))
    done = Repair(problems, 6, 3000, lost, (), tmp_path / "old")
    monkeypatch.setattr(upkeep, "make_repair", lambda *_, **__: done)
    lines = run("repair", model).splitlines()
    assert lines[:20] == list(problems[:20])
    assert lines[20] == "30 more problems (--json lists all)."
    assert "3,000 examples could not be rescued: 'r0', " in lines[-2]
    assert "and 2,990 more." in lines[-2]
    assert lines[-1].startswith("The damaged file is kept as")


def test_a_line_of_the_log_has_its_labels_in_one_order_and_names_a_refresh():
    moved = (("dog", "cat"), (None, "ant"), ("cat", "bee"))
    entry = Entry(1, 0.0, "teach", "b", moved, 3, {"refresh_seconds": 0.004})
    said = upkeep.entry_line(entry)
    assert said.endswith("moved (forgotten)|ant, bee|cat, cat|dog; refresh in 0.004 s")
