"""Many labels at once: `labels`, `correct FILE`, `list`, `update` and `forget --ids-from`."""

import csv
import io
import json

import numpy as np
import pytest

from minout import Learner
from minout.cli import edit


def kept(folder):
    return Learner.open(folder, read_only=True)


def lines(text):
    return list(csv.DictReader(io.StringIO(text)))


def _nearest_to_mean(Z, places):
    return places[np.argsort(np.square(Z[places] - Z[places].mean(axis=0)).sum(axis=1))]


@pytest.fixture
def wrong(tmp_path, run, write_csv, wine_rows, numbers):
    """A model of the wines with five wrong labels, and these: {id: right label}.

    They are of wines that are typical of their kinds.
    """
    rows, right = [list(row) for row in wine_rows], {}
    Z = numbers / numbers.std(axis=0)
    kinds = np.array([row[13] for row in rows[1:]])
    typical = [
        int(place) + 1
        for kind, count in (("barolo", 2), ("grignolino", 1), ("barbera, sweet", 2))
        for place in _nearest_to_mean(Z, np.flatnonzero(kinds == kind))[:count]
    ]
    for i in typical:
        right[rows[i][14]] = rows[i][13]
        rows[i][13] = "grignolino" if rows[i][13] != "grignolino" else "barolo"
    run("learn", tmp_path / "m", write_csv("wrong.csv", rows), "--label", "kind", "--id", "bottle")
    return tmp_path / "m", right


def test_edited_labels_make_the_model_that_was_taught_rightly(
    little_is_chosen, tmp_path, run, run_json, wrong, wines, numbers
):
    model, right = wrong
    file = tmp_path / "labels.csv"
    run("labels", model, "-o", file)
    rows = lines(file.read_text())
    assert len(rows) == 178
    for row in rows:
        row["label"] = right.get(row["id"], row["label"])
    with file.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    told = run_json("correct", model, file)
    assert {each["id"]: each["to"] for each in told["corrected"]} == right
    assert (told["unchanged"], told["examples"]) == (173, 178)
    assert (kept(model).scores(numbers) == kept(wines).scores(numbers)).all()
    assert "labels corrected:  0\nlabels unchanged:  178\n" in run("correct", model, file)
    after = {row["id"]: row["corrected_from"] for row in lines(run("labels", model))}
    assert {each for each, label in after.items() if label} == set(right)


def test_likely_suspects_are_the_wrong_labels(run, wrong):
    model, right = wrong
    found = [json.loads(line) for line in run("suspects", model, "--likely", "--json").splitlines()]
    assert {each["id"]: each["suggested_label"] for each in found[:5]} == right
    assert len(found) <= 6
    assert all(0.5 <= each["probability"] <= 1.0 for each in found)
    probabilities = {row["id"]: float(row["probability"]) for row in lines(run("labels", model))}
    likely = {each for each, p in probabilities.items() if p >= 0.5}
    assert likely == {each["id"] for each in found}


def test_the_estimate_is_told_in_a_sentence_and_in_info(wrong, run, run_json):
    model, _ = wrong
    errors = run_json("info", model)["label_errors"]
    assert errors["low"] <= 5 <= errors["high"]
    assert errors["likely"] in (5, 6)
    assert sum(each["examples"] for each in errors["per_class"].values()) == 178
    said = run("info", model)
    assert f"wrong labels: about {errors['wrong']:.0f} (95% interval: " in said
    assert "of the examples are on the wrong side of a separator. Usual is" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,label\nb0,barolo\nb999,barolo\n", "line 3: column 'id': there is no example 'b999'"),
        ("id,label\nb0,barolo\nb0,barolo\n", "line 3: column 'id': 'b0' is in an earlier line"),
        ("id,label\nb0,\n", "line 2: column 'label' is empty"),
        ("id,label\nb0,barolo,7\n", "line 2: there are 3 fields, but the header has 2"),
        ("id,kind\nb0,barolo\n", "needs one column 'label'; its columns are: id, kind"),
        ("id,label\nb0,grignolino\nb1,barollo\n", "column 'label': no example has the label"),
        ("", "needs one column 'id'"),
    ],
    ids=["unknown", "twice", "empty", "ragged", "column", "typing error", "nothing"],
)
def test_a_file_with_an_error_changes_nothing(tmp_path, refused, wines, on_disk, text, words):
    before, file = on_disk(wines), tmp_path / "fixes.csv"
    file.write_text(text)
    sentence = refused("correct", wines, file)
    assert words in sentence
    assert str(file) in sentence
    assert on_disk(wines) == before


def test_a_typing_error_makes_no_class(run, refused, wines):
    assert "Add --new-label to make a new one" in refused("correct", wines, "b0", "barollo")
    assert "There is no file b0" in refused("correct", wines, "b0")
    assert kept(wines).classes.tolist() == ["barbera, sweet", "barolo", "grignolino"]
    run("correct", wines, "b0", "barollo", "--new-label")
    assert "barollo" in kept(wines).classes.tolist()


def test_a_list_has_weights_times_and_misfits(run, refused, wrong):
    model, _ = wrong
    rows = lines(run("list", model))
    assert [row["id"] for row in rows] == kept(model).ids
    assert {row["weight"] for row in rows} == {"1.0"}
    assert all(row["time"].endswith("+00:00") for row in rows)
    misfits = [row["id"] for row in lines(run("list", model, "--misfits"))]
    assert misfits == kept(model).misfits
    assert len(misfits) > 0
    some = [
        json.loads(each)
        for each in run("list", model, "--label", "barolo", "-n", 3, "--json").splitlines()
    ]
    assert [each["label"] for each in some] == ["barolo"] * 3
    assert "No example has the label 'port'" in refused("list", model, "--label", "port")


def test_ids_of_a_file_are_forgotten_together(tmp_path, run_json, refused, wines, on_disk):
    (tmp_path / "some.csv").write_text("bottle,id\n1,b3\n2,b4\n")
    assert run_json("forget", wines, "--ids-from", tmp_path / "some.csv")["examples"] == 176
    (tmp_path / "some.txt").write_text("b5\n\nb6\n")
    assert run_json("forget", wines, "--ids-from", tmp_path / "some.txt")["examples"] == 174
    before = on_disk(wines)
    (tmp_path / "some.txt").write_text("b7\nb3\n")
    sentence = refused("forget", wines, "--ids-from", tmp_path / "some.txt")
    assert "some.txt, line 2: column 'id': there is no example 'b3'" in sentence
    assert on_disk(wines) == before


def test_old_examples_are_forgotten(tmp_path, run_json, refused, monkeypatch):
    with Learner.open(tmp_path / "m") as learner:
        for i in range(10):
            learner.teach([float(i), 1.0], i % 2, id=i, at=1_000_000.0 + 3_600 * i)
    monkeypatch.setattr(edit, "clock", lambda: 1_000_000.0 + 3_600 * 10)
    assert run_json("forget", tmp_path / "m", "--older-than", "4.5h")["examples"] == 4
    assert kept(tmp_path / "m").ids == [6, 7, 8, 9]
    assert run_json("forget", tmp_path / "m", "--older-than", "1d")["examples"] == 4
    assert "must be a time such as 30d" in refused("forget", tmp_path / "m", "--older-than", "x")


def test_a_label_is_forgotten_with_its_examples(run_json, wines):
    assert run_json("forget", wines, "--label", "barolo")["examples"] == 178 - 59


def test_updated_features_make_the_model_that_was_taught_them(
    tmp_path, run, run_json, refused, write_csv, wines, wine_rows, numbers, exported
):
    new = [round(1.01 * each, 3) for each in numbers[17].tolist()]
    rows = [row for row in wine_rows if row[14] != "b17"] + [[*new, "barolo", "b17"]]
    run("learn", tmp_path / "m", write_csv("new.csv", rows), "--label", "kind", "--id", "bottle")
    by_name = dict(zip(wine_rows[0], new, strict=False))
    assert run_json("update", wines, "b17", json.dumps(by_name))["changed"] is True
    assert kept(wines).example("b17")[0].tolist() == new
    assert (kept(tmp_path / "m").scores(numbers) == kept(wines).scores(numbers)).all()
    before = exported(wines)
    assert "changed:           no\n" in run("update", wines, "b17", ",".join(map(str, new)))
    for row, words in [
        ("1,2", "ROW has 2 numbers, but this model has 13 columns"),
        (
            json.dumps({**by_name, "x": 1}),
            "ROW: this model has no column 'x'; its columns",
        ),
        (json.dumps({**by_name, "ash": 1e200}), "The column 'ash' must be a number"),
        ("one", "ROW must be a JSON object or numbers separated by commas, not 'one'"),
    ]:
        assert words in refused("update", wines, "b17", row)
    assert "There is no example 'b999'" in refused("update", wines, "b999", "1,2")
    assert exported(wines) == before


def test_equal_rows_with_different_labels_are_listed(tmp_path, run, write_csv, wine_rows):
    rows = [*wine_rows, [*wine_rows[5][:13], "grignolino", "copy"]]
    run("learn", tmp_path / "m", write_csv("two.csv", rows), "--label", "kind", "--id", "bottle")
    (pair,) = lines(run("suspects", tmp_path / "m", "--duplicates"))
    assert (pair["id"], pair["other_id"], pair["distance"]) == ("b4", "copy", "0.0")
