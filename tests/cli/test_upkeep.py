"""`minout info`, `audit`, `consolidate`, `copy` and `warmup`: the upkeep of a model."""

import json
import re
import sqlite3

import pytest

from minout import Learner
from minout.cli.inspection import entry_line
from minout.upkeep import Entry
from tests.cli.conftest import invoke


@pytest.fixture
def model(tmp_path):
    """A model of six examples."""
    with Learner.open(tmp_path / "pets") as learner:
        rows = [[0.0, 1.0], [1.0, 0.0], [0.1, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.2]]
        learner.teach_many(rows, ["cat", "dog"] * 3, list("abcdef"))
    return tmp_path / "pets"


def damage(model):
    connection = sqlite3.connect(model / "model.sqlite", isolation_level=None)
    connection.execute("UPDATE examples SET label = '\"dog\"' WHERE place = 2")
    connection.close()


@pytest.mark.parametrize(
    "words",
    [
        ["info"],
        ["info", "--log"],
        ["audit"],
        ["consolidate"],
        ["copy", "COPY"],
        ["list"],
        ["forget", "a"],
    ],
)
def test_a_missing_model_is_one_sentence(refused, tmp_path, words):
    name, *rest = words
    target = [tmp_path / each if each == "COPY" else each for each in rest]
    assert "no" in refused(name, tmp_path / "none", *target)
    assert not (tmp_path / "none").exists()
    assert not (tmp_path / "COPY").exists()


def test_info_tells_what_a_model_holds(run, run_json, wines, table):
    told = run_json("info", wines)
    assert told["examples"] == 178
    assert told["classes"] == {"barbera, sweet": 48, "barolo": 59, "grignolino": 71}
    assert (told["label"], told["id"], told["keep"]) == ("kind", "bottle", "all")
    assert told["consolidated"] is True
    assert told["bytes"] > 10_000
    shown = run("info", wines)
    assert "barolo: 59" in shown
    assert len(re.findall("Misfits", shown)) <= 1
    assert "\ncity: category" in run("info", table)


def test_the_log_has_a_line_for_each_entry(run, rows_of, model):
    with Learner.open(model) as learner:
        learner.forget("a")
    entries = rows_of("info", model, "--log")
    lines = run("info", model, "--log").splitlines()
    assert len(lines) == len(entries) > 1
    assert entries[-1]["action"] == "forget"
    assert run("info", model, "--log", "-n", "1").splitlines() == lines[-1:]


def test_a_line_of_the_log_has_its_labels_in_one_order():
    entry = Entry(1, 0.0, "teach", "b", (("dog", "cat"), (None, "a")), 9, {"checked": 7000})
    assert entry_line(entry)[20:] == (
        "teach 'b': moved (forgotten)|a, cat|dog and 7 more; checked 7e+03"
    )


def test_an_audit_of_a_sound_model_says_so(run, run_json, model):
    told = run_json("audit", model)
    assert (told["ok"], told["examples"], told["problems"]) == (True, 6, [])
    assert told["records"] > 6
    assert "yes" in run("audit", model)


def test_a_damaged_model_fails_its_audit_and_is_repaired_into_a_new_folder(
    run, run_json, refused, model, tmp_path
):
    damage(model)
    result = invoke("audit", model)
    assert result.exit_code == 1
    assert "--repair" in result.stdout
    result = invoke("audit", model, "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["ok"]) == (1, False)
    assert told["problems"]
    told = run_json("audit", model, "--repair", tmp_path / "repaired")
    assert (told["examples"], told["lost_ids"]) == (5, ["c"])
    assert run_json("audit", tmp_path / "repaired")["ok"]
    assert Learner.open(tmp_path / "repaired", read_only=True).ids == list("abdef")
    assert "already" in refused("audit", model, "--repair", tmp_path / "repaired")


def test_consolidating_makes_the_model_of_its_set(run_json, run, model):
    assert run_json("info", model)["consolidated"] is False
    told = run_json("consolidate", model)
    assert told["examples"] == 6
    assert run_json("info", model)["consolidated"] is True
    assert "holds 6 examples, consolidated" in run("consolidate", model)


def test_compacting_leaves_no_word_of_a_forgotten_example(tmp_path, write_csv, run):
    rows = [
        ["x", "c", "kind", "key"],
        *([i, "rs"[i % 2], "ab"[i % 3 == 0], f"k{i}"] for i in range(30)),
    ]
    rows[6][1:3] = "SECRETNAME", "SECRETLABEL"
    model = tmp_path / "m"
    run("learn", model, write_csv("d.csv", rows), "--label", "kind", "--id", "key")
    run("forget", model, "k5")
    run("consolidate", model, "--compact")
    files = [each.read_bytes() for each in model.iterdir()]
    assert not any(b"SECRET" in each for each in files)


def test_a_model_is_copied_to_a_folder_to_a_file_and_back(
    run, run_json, refused, wines, tmp_path, saved
):
    backup, file, back = (tmp_path / name for name in ("backup", "wines.minout", "back"))
    assert run("copy", wines, backup) == f"{backup} is a copy of {wines}, with 178 examples.\n"
    assert run_json("copy", wines, file) == {"to": str(file), "examples": 178}
    run("copy", file, back)
    assert saved(wines) == saved(backup) == saved(back) == file.read_bytes()
    for target in (backup, file):
        assert "There is already a" in refused("copy", wines, target)
    assert "copy files with cp" in refused("copy", file, tmp_path / "other.minout")


def test_a_warmup_says_where_kernels_are(run, run_json, refused, monkeypatch):
    from minout.kernels import warmup

    monkeypatch.setattr(warmup, "warm_up", lambda report: report(1, 2) or warmup.WarmUp(3, 0))
    assert run("warmup").startswith("3 kernels were compiled before: ")
    assert run_json("warmup")["ready"] == 3
    monkeypatch.setattr(warmup, "cache_folder", lambda: None)
    assert "set NUMBA_CACHE_DIR" in refused("warmup")
