"""`minout info`, `audit`, `consolidate` and `copy`: the upkeep of a model."""

import json
import re
import sqlite3

import pytest

from minout import Learner
from oracle.margin import saved
from tests.cli.conftest import invoke


@pytest.fixture
def model(tmp_path):
    """A model of six examples."""
    with Learner.open(tmp_path / "pets.minout") as learner:
        rows = [[0.0, 1.0], [1.0, 0.0], [0.1, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.2]]
        learner.teach_many(rows, ["cat", "dog"] * 3, list("abcdef"))
    return tmp_path / "pets.minout"


def damage(model):
    connection = sqlite3.connect(model, isolation_level=None)
    connection.execute("UPDATE examples SET label = '\"dog\"' WHERE id = 'c'")
    connection.close()


@pytest.mark.parametrize(
    "words", ["info", "info --log", "audit", "consolidate", "copy COPY", "list", "forget a"]
)
def test_a_missing_model_is_one_sentence(refused, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    name, *rest = words.split()
    assert "no" in refused(name, tmp_path / "none", *rest)
    assert not list(tmp_path.iterdir())


def test_info_tells_what_a_model_holds(run, run_json, wines, table):
    told = run_json("info", wines)
    assert told["examples"] == 178
    assert told["classes"] == {"barbera, sweet": 48, "barolo": 59, "grignolino": 71}
    assert (told["label"], told["id"], told["keep"]) == ("kind", "bottle", "all")
    assert told["consolidated"] is True
    assert told["bytes"] > 10_000
    shown = run("info", wines)
    assert "barolo: 59" in shown
    assert "misfits: " in shown
    assert re.search(r"\ncity: +category", run("info", table))


def test_the_log_has_a_line_for_each_entry(run, rows_of, model):
    with Learner.open(model) as learner:
        learner.forget("a")
    entries = rows_of("info", model, "--log")
    header, *lines = run("info", model, "--log").splitlines()
    assert header == "time,action,id,moved,details"
    assert len(lines) == len(entries) > 1
    assert entries[-1]["action"] == "forget"
    assert ",teach,b,1 (cat|dog),checked: 2" in lines[0].replace('"', "")
    assert run("info", model, "--log", "-n", "1").splitlines()[1:] == lines[-1:]


def test_an_audit_of_a_sound_model_says_so(run, run_json, model):
    told = run_json("audit", model)
    assert (told["ok"], told["examples"], told["problems"]) == (True, 6, [])
    assert "ok:  " in run("audit", model)


def test_a_damaged_model_fails_its_audit_and_is_repaired_into_a_new_file(
    run, run_json, refused, model, tmp_path
):
    damage(model)
    result = invoke("audit", model)
    assert result.exit_code == 1
    assert "--repair" in result.stderr
    assert "problems: 1 (" in result.stdout
    result = invoke("audit", model, "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["ok"]) == (1, False)
    assert told["problems"]
    told = run_json("audit", model, "--repair", tmp_path / "repaired")
    assert (told["examples"], told["lost_ids"]) == (5, ["c"])
    assert run_json("audit", tmp_path / "repaired")["ok"]
    assert Learner.open(tmp_path / "repaired", read_only=True).ids == list("abdef")
    assert "already" in refused("audit", model, "--repair", tmp_path / "repaired")


def test_consolidating_makes_the_model_of_its_set(run_json, model):
    assert run_json("info", model)["consolidated"] is False
    told = run_json("consolidate", model)
    assert told["examples"] == 6
    assert run_json("info", model)["consolidated"] is True


def test_compacting_leaves_no_word_of_a_forgotten_example(tmp_path, write_csv, run):
    rows = [
        ["x", "c", "kind", "key"],
        *([i, "rs"[i % 2], "ab"[i % 3 == 0], f"k{i}"] for i in range(30)),
    ]
    rows[6][1:3] = "SECRETNAME", "SECRETLABEL"
    model = tmp_path / "m.minout"
    run("learn", model, write_csv("d.csv", rows), "--label", "kind", "--id", "key")
    run("forget", model, "k5")
    run("consolidate", model, "--compact")
    files = [each.read_bytes() for each in tmp_path.glob("m.minout*")]
    assert files
    assert not any(b"SECRET" in each for each in files)


def test_a_copy_is_the_model_in_another_file_and_replaces_none(
    run_json, refused, wines, tmp_path, saved
):
    backup = tmp_path / "backup.minout"
    assert run_json("copy", wines, backup) == {"to": str(backup), "examples": 178}
    assert saved(wines) == saved(backup)
    assert "There is already a" in refused("copy", wines, backup)


@pytest.mark.parametrize("words", [[], ["--compact"]])
def test_consolidated_in_several_processes_a_model_is_the_same_file(run, model, words):
    with Learner.load(model) as twin:
        twin.consolidate()
    told = json.loads(run("consolidate", model, "--workers", 2, "--json", *words))
    assert told["examples"] == 6
    with Learner.load(model) as learner:
        assert saved(learner) == saved(twin)


def test_where_to_consolidate_is_one_place(refused, model):
    assert refused("consolidate", model, "--workers", 2, "--ray", "auto") == (
        "Pass --workers or --ray, not both."
    )
    pytest.importorskip("ray", reason="Ray cannot be imported here")
    assert "No Ray answers at 127.0.0.1:1 " in refused("consolidate", model, "--ray", "127.0.0.1:1")
    with Learner.load(model) as learner:
        assert not learner.is_consolidated
