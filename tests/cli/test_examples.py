"""`minout list`, `correct` and `forget`: look at stored examples and change them."""

import csv
import io

import pytest

from minout import Learner
from tests.cli.conftest import features, invoke


@pytest.fixture
def wrong(tmp_path, run, wine_rows, write_csv):
    """A model of wines of which five have a wrong label, and their ids."""
    for row in wine_rows[1:51:10]:
        row[13] = "barbera, sweet"
    file = write_csv("wrong.csv", wine_rows)
    run("learn", tmp_path / "wrong", file, "--label", "kind", "--id", "bottle")
    return tmp_path / "wrong", {f"b{i}" for i in range(0, 50, 10)}


def test_a_list_has_a_row_for_each_example(rows_of, wines):
    found, learner = rows_of("list", wines), Learner.open(wines, read_only=True)
    assert [each["id"] for each in found] == learner.ids
    assert [each["label"] for each in found] == [learner.example(id)[1] for id in learner.ids]
    assert {each["weight"] for each in found} == {1.0}
    assert found[0]["time"] == "2023-11-14T22:13:20+00:00"
    assert sum(each["misfit"] for each in found) == len(learner.misfits)


def test_filters_choose_rows(rows_of, run, refused, wines, wrong):
    model, ids = wrong
    assert {each["id"] for each in rows_of("list", model, "--suspects", "-n", "5")} == ids
    misfits = rows_of("list", model, "--misfits")
    assert [each["id"] for each in misfits] == Learner.open(model, read_only=True).misfits
    assert {each["label"] for each in rows_of("list", model, "--of", "barolo")} == {"barolo"}
    assert len(rows_of("list", model, "-n", "3")) == 3
    assert "No example has the label 'merlot'" in refused("list", model, "--of", "merlot")
    few = rows_of("list", model, "--of", "barbera, sweet", "--suspects")
    assert ids <= {each["id"] for each in few}


def test_equal_rows_with_different_labels_are_duplicates(rows_of, run, tmp_path, write_csv):
    rows = [["a", "kind", "key"], *([i, "xy"[i % 2], f"k{i}"] for i in range(10))]
    rows.append([3, "x", "again"])
    run("learn", tmp_path / "m", write_csv("d.csv", rows), "--label", "kind", "--id", "key")
    (pair,) = rows_of("list", tmp_path / "m", "--duplicates")
    assert {pair["id"], pair["other_id"]} == {"k3", "again"}
    assert pair["distance"] == 0.0


def test_an_edited_list_makes_the_model_that_was_taught_rightly(
    tmp_path, run, wines, wrong, wine_rows, saved
):
    model, ids = wrong
    file = tmp_path / "check.csv"
    run("list", model, "--suspects", "-n", "20", "--csv", file)
    rows = list(csv.DictReader(io.StringIO(file.read_text())))
    assert len(rows) == 20
    for row in rows:
        row["new_label"] = "barolo" if row["id"] in ids else ""
    piped = list(csv.DictReader(io.StringIO(run("list", model, "--suspects", "-n", "20"))))
    assert piped[0].keys() == rows[0].keys()
    with file.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    run("correct", model, file)
    mine, right = (Learner.open(each, read_only=True) for each in (model, wines))
    records = features(wine_rows)
    assert (mine.scores(records) == right.scores(records)).all()


def test_one_label_is_corrected(run_json, run, refused, wines):
    told = run_json("correct", wines, "b3", "grignolino")
    assert told["corrected"] == [{"id": "b3", "from": "barolo", "to": "grignolino"}]
    assert run_json("correct", wines, "b3", "grignolino")["unchanged"] == 1
    assert "No example has the label 'grignolinoo'" in refused(
        "correct", wines, "b4", "grignolinoo"
    )
    assert run_json("correct", wines, "b4", "merlot", "--new-label")["new_labels"] == ["merlot"]
    assert "There is no example 'b999'" in refused("correct", wines, "b999", "barolo")
    assert "There is no file fixes.csv" in refused("correct", wines, "fixes.csv")


def test_a_long_correction_is_counted_and_names_five_ids(run, wines, wine_rows, write_csv):
    rows = [["id", "label"], *([row[14], "grignolino"] for row in wine_rows[1:60])]
    told = run("correct", wines, write_csv("fixes.csv", rows)).splitlines()
    assert told[0].split() == ["corrected:", "59"]
    assert told[-6:-4] == ["id,from,to", "b0,barolo,grignolino"]
    assert told[-1] == "b4,barolo,grignolino"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,label\nb1,barolo\nb999,barolo\n", "line 3: there is no example 'b999'"),
        ("id,label\nb1,barolo\nb1,barolo\n", "line 3: the id 'b1' is in an earlier line"),
        ("id,kind\nb1,barolo\n", "has no column 'label'"),
        ("label\nbarolo\n", "has no column 'id'"),
        ("id,label\nb1,merlot\n", "No example has the label 'merlot'"),
        ('id,label\nb1,grignolino\n"b2,barolo\n', "line 3: a quote is opened"),
    ],
)
def test_a_correction_file_with_an_error_changes_nothing(
    tmp_path, refused, wines, saved, text, sentence
):
    before = saved(wines)
    (tmp_path / "fixes.csv").write_text(text)
    assert sentence in refused("correct", wines, tmp_path / "fixes.csv")
    assert saved(wines) == before


def test_forgetting_equals_never_having_learned(
    tmp_path, run, run_json, refused, wines, wine_rows, write_csv, saved
):
    ids = [row[14] for row in wine_rows[1:31]]
    (tmp_path / "ids.txt").write_text("\n".join(ids[:10]))
    assert len(run_json("forget", wines, "--ids-from", tmp_path / "ids.txt")["forgotten"]) == 10
    file = write_csv("ids.csv", [["id", "why"], *([each, "old"] for each in ids[10:20])])
    run("forget", wines, "--ids-from", file)
    told = run("forget", wines, *ids[20:])
    assert "forgotten" in told
    file = write_csv("d.csv", [wine_rows[0], *wine_rows[31:]])
    run("learn", tmp_path / "m", file, "--label", "kind", "--id", "bottle")
    mine, other = (Learner.open(each, read_only=True) for each in (wines, tmp_path / "m"))
    records = features(wine_rows)
    assert (mine.scores(records) == other.scores(records)).all()
    assert "There is no example 'b1'" in refused("forget", wines, "b1")


def test_old_examples_and_labels_are_forgotten(run_json, refused, wines, monkeypatch):
    assert run_json("forget", wines, "--of", "barolo")["examples"] == 119
    assert run_json("forget", wines, "--older-than", "1w")["examples"] == 119
    monkeypatch.setattr("minout.steps.clock", lambda: 1_700_000_000.0 + 8 * 86_400)
    assert run_json("forget", wines, "--older-than", "1w")["examples"] == 0
    assert "--older-than must be a time" in refused("forget", wines, "--older-than", "some")
    assert invoke("forget", wines).exit_code == 2
    assert invoke("forget", wines, "b1", "--of", "barolo").exit_code == 2


def test_a_forgotten_label_leaves_no_word_in_the_notes(run, wines):
    assert "barolo" in str(Learner.open(wines, read_only=True).notes)
    run("forget", wines, "--of", "barolo")
    assert "barolo" not in str(Learner.open(wines, read_only=True).notes)
