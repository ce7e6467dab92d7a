"""Files and folders of version 1 are imported; the code of that time wrote the fixtures."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from minout import Learner
from minout.errors import MissingDataError
from minout.store import read_archive, write_archive

OLD = Path(__file__).parents[1] / "fixtures" / "version-1"


@pytest.fixture
def pets():
    """A learner that was taught what is in pets.minout, and consolidated."""
    facts = json.loads((OLD / "pets.json").read_text())
    rows, labels = facts["X"], facts["labels"]
    learner = Learner(C=2.5, standardize=True)  # price=0.2, columns=True
    for n in range(30):
        learner.teach(rows[n], labels[n], id=f"animal-{n}", at=0.0)
    for n in range(30, 40):
        learner.teach(rows[n], labels[n], at=0.0)
    learner.correct("animal-4", "eel" if labels[4] != "eel" else "cat")
    learner.forget(["animal-7", 2])
    learner.notes["keeper"] = "Ada"
    learner.consolidate()
    return learner


def test_an_imported_file_equals_a_learner_taught_the_same(pets, tmp_path):
    imported = Learner.load(OLD / "pets.minout")
    assert imported.corrected == pets.corrected
    assert imported.ids == pets.ids
    assert imported.notes == {"keeper": "Ada"}
    assert imported.is_consolidated
    imported.save(tmp_path / "imported")
    pets.save(tmp_path / "fresh")
    assert (tmp_path / "imported").read_bytes() == (tmp_path / "fresh").read_bytes()


def test_an_imported_file_goes_on_like_a_learner_taught_the_same(pets):
    imported = Learner.load(OLD / "pets.minout")
    for row in np.eye(4):
        assert imported.teach(row, "dog", at=1.0) == pets.teach(row, "dog", at=1.0)
    assert imported.audit().ok


def test_a_folder_of_that_time_is_imported(run, run_json, tmp_path):
    shutil.copytree(OLD / "animals", tmp_path / "animals")
    rows = list(csv.DictReader((OLD / "animals.csv").read_text().splitlines()))
    expected = Learner()
    for row in rows:
        values = [float(row["a"]), float(row["b"])]
        expected.teach(values, row["kind"], id=row["name"], at=0.0)
    expected.correct("n3", "cat")
    expected.forget("n8")
    expected.consolidate()
    imported = Learner.load(tmp_path / "animals" / "model.minout")
    expected.notes.update(imported.notes)
    imported.save(tmp_path / "imported")
    expected.save(tmp_path / "fresh")
    assert (tmp_path / "imported").read_bytes() == (tmp_path / "fresh").read_bytes()
    told = run_json("info", tmp_path / "animals")
    assert (told["examples"], told["label"], told["id"]) == (23, "kind", "name")
    assert told["columns"] == ["a", "b"]
    again = run_json("learn", tmp_path / "animals", OLD / "animals.csv")
    assert (again["taught"], again["known"], again["corrected"]) == (1, 23, 1)  # n8 comes back
    run("forget", tmp_path / "animals", "n8")
    run("export", tmp_path / "animals", tmp_path / "exported")
    assert Learner.load(tmp_path / "exported").ids == expected.ids


class Old(NamedTuple):
    """The contents of a file."""

    about: dict[str, Any]
    arrays: dict[str, Any]


def changed_file(tmp_path, change):
    about, arrays = read_archive(OLD / "pets.minout", "minout model", 1)
    change(Old(about, arrays))
    write_archive(tmp_path / "changed", about, arrays, "The model")
    return tmp_path / "changed"


FORGED = {
    "no rule": lambda old: old.about.pop("rule"),
    "price": lambda old: old.about["rule"].update(price=-1.0),
    "metric": lambda old: old.about["rule"].update(metric="yes"),
    "lengths": lambda old: old.about.update(lengths=[4, 5]),
    "notes": lambda old: old.about.update(notes=[]),
    "next_id": lambda old: old.about.update(next_id=-1),
    "corrected": lambda old: old.about["notes"].update(corrected=[["animal-4"]]),
    "type of a label": lambda old: old.about["margin"]["labels"].__setitem__(0, 7),
    "equal labels": lambda old: old.about["margin"]["labels"].__setitem__(0, "cat"),
    "equal ids": lambda old: old.about["margin"]["ids"].__setitem__(0, "animal-1"),
    "few ids": lambda old: old.about["margin"]["ids"].pop(),
    "nan": lambda old: old.arrays["rows"].__setitem__((0, 0), np.nan),
    "row": lambda old: old.arrays["rows"].__setitem__((0, 0), 8.0),
    "digest": lambda old: old.arrays["digest"].__setitem__(0, 8),
    "class": lambda old: old.arrays["class"].__setitem__(0, 3),
    "no rows": lambda old: old.arrays.pop("rows"),
    "rows of text": lambda old: old.arrays.update(rows=np.zeros((40, 4), dtype="S3")),
    "no margin": lambda old: old.about.pop("margin"),
    "margin": lambda old: old.about.update(margin=3),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_file_is_refused(tmp_path, name):
    with pytest.raises(MissingDataError, match="is not a minout model, or it was truncated"):
        Learner.load(changed_file(tmp_path, FORGED[name]))


def test_a_learner_that_was_never_taught_is_imported(tmp_path):
    def untaught(old):
        del old.about["margin"]
        old.about["lengths"] = [None, None]
        old.arrays.clear()

    learner = Learner.load(changed_file(tmp_path, untaught))
    assert (len(learner), learner.settings.C) == (0, 2.5)
    learner.teach([1.0, 2.0], "cat")
