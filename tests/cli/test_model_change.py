"""`minout correct`, `forget`, `suspects`, `audit`, `info`, `export` and `import`."""

import json
import signal

import pytest
from typer.testing import CliRunner

from minout import Learner
from minout.cli import app as cli
from minout.cli import inspect_model
from minout.store import write_archive

pytestmark = pytest.mark.usefixtures("little_is_chosen")


def kept(folder) -> Learner:
    return Learner.open(folder, read_only=True)


def test_a_corrected_model_equals_one_that_was_taught_rightly(
    tmp_path, run, run_json, write_csv, wines, wine_rows, numbers
):
    wrong = [list(row) for row in wine_rows]
    wrong[20][13] = "grignolino"
    run("learn", tmp_path / "m", write_csv("wrong.csv", wrong), "--label", "kind", "--id", "bottle")
    suspects = [json.loads(line) for line in run("suspects", tmp_path / "m", "--json").splitlines()]
    assert suspects[0]["id"] == "b19"
    assert suspects[0]["suggested_label"] == "barolo"
    assert len(suspects) <= 10
    told = run_json("correct", tmp_path / "m", "b19", "barolo")
    assert told["moved"]
    assert (told["from"], told["to"]) == ("grignolino", "barolo")
    assert told["examples"] == 178
    assert (kept(tmp_path / "m").scores(numbers) == kept(wines).scores(numbers)).all()


def test_a_correction_says_from_what_to_what(run, run_json, wines, on_disk):
    said = run("correct", wines, "b0", "port", "--new-label")
    assert said.startswith("label:             barolo → port (new label)\n")
    before = on_disk(wines)
    told = run_json("correct", wines, "b0", "port")
    assert (told["from"], told["to"], told["changed"]) == ("port", "port", False)
    assert "port → port (nothing changed)\n" in run("correct", wines, "b0", "port")
    assert on_disk(wines) == before
    assert "port → barolo\n" in run("correct", wines, "b0", "barolo")
    told = run_json("correct", wines, "b0", "sherry", "--new-label")
    assert (told["is_new_label"], told["changed"]) == (True, True)
    assert run_json("correct", wines, "b0", "grignolino")["is_new_label"] is False


def test_a_forgotten_misfit_is_not_said_to_be_fitted_now(run, run_json, wines):
    run("correct", wines, "b0", "grignolino")
    assert kept(wines).misfits == ["b0"]
    told = run_json("forget", wines, "b0")
    assert (told["cleared"], told["all_misfits"]) == ([], [])


def test_a_model_that_forgot_equals_one_that_never_knew(
    tmp_path, run, run_json, write_csv, wines, wine_rows, numbers
):
    rest = [row for row in wine_rows if row[14] not in ("b3", "b70")]
    run("learn", tmp_path / "m", write_csv("rest.csv", rest), "--label", "kind", "--id", "bottle")
    told = run_json("forget", wines, "b3", "b70")
    assert told["examples"] == 176
    assert (kept(tmp_path / "m").scores(numbers) == kept(wines).scores(numbers)).all()
    assert "examples:          175" in run("forget", wines, "b4", "--no-consolidate")


def test_a_class_is_forgotten_by_its_label(run_json, refused, wines):
    told = run_json("forget", wines, "--class", "barolo")
    assert told["examples"] == 178 - 59
    assert kept(wines).classes.tolist() == ["barbera, sweet", "grignolino"]
    assert "No example has the label 'barolo'" in refused("forget", wines, "--class", "barolo")
    result = CliRunner().invoke(cli.app, ["forget", str(wines), "b70", "--class", "grignolino"])
    assert result.exit_code == 2
    assert CliRunner().invoke(cli.app, ["forget", str(wines)]).exit_code == 2


def test_misfits_are_told_as_of_after_consolidating(run_json, wines):
    told = run_json("correct", wines, "b20", "grignolino")
    assert told["all_misfits"] == kept(wines).misfits
    assert set(told["misfits"]) <= set(told["all_misfits"])


def test_everything_can_be_forgotten_and_taught_again(run, run_json, refused, tmp_path, write_csv):
    file = write_csv("two.csv", [["a", "kind"], [1, "cat"], [2, "dog"]])
    run("learn", tmp_path / "m", file, "--label", "kind")
    assert run_json("forget", tmp_path / "m", "0", "1")["examples"] == 0
    for command in ("predict", "score"):
        assert refused(command, tmp_path / "m", file) == (
            "This model has no examples, so there is nothing to predict; teach it some first."
        )
    assert "least above 0:     none" in run("audit", tmp_path / "m")
    assert run_json("info", tmp_path / "m")["classes"] == {}
    assert run_json("info", tmp_path / "m")["expected_accuracy"] is None
    assert "classes:      none" in run("info", tmp_path / "m")
    assert run_json("learn", tmp_path / "m", file)["examples"] == 2


def test_a_word_means_the_string_before_the_number(tmp_path, run, refused):
    learner = Learner()  # only in Python can a model have both
    for i, (kind, id) in enumerate([(1, 7), (2, "7"), (1, 8)]):
        learner.teach([i], kind, id=id)
    learner.save(tmp_path / "f")
    run("import", tmp_path / "f", tmp_path / "m")
    run("forget", tmp_path / "m", "7")
    assert kept(tmp_path / "m").ids == [7, 8]
    run("correct", tmp_path / "m", "8", "2", "--new-label")
    assert kept(tmp_path / "m").example(8)[1] == 2
    run("forget", tmp_path / "m", "7")
    assert kept(tmp_path / "m").ids == [8]
    for word in ("07", "7.0", "x", "٧"):
        assert (
            refused("forget", tmp_path / "m", word)
            == f"There is no example {word!r} in this model."
        )
    assert "is of another type" in refused("correct", tmp_path / "m", "8", "cat")


def test_refused_changes_change_nothing(refused, wines, on_disk):
    before = on_disk(wines)
    assert "There is no example 'b999'" in refused("correct", wines, "b999", "barolo")
    assert "There is no example 'b999'" in refused("forget", wines, "b1", "b999")
    assert "named twice" in refused("forget", wines, "b1", "b1")
    assert on_disk(wines) == before


def test_suspects_print_a_table(run, wines):
    lines = run("suspects", wines, "-n", "3").splitlines()
    assert lines[0] == "id,label,probability,suggested_label,slack"
    assert len(lines) == 4


def test_audit_says_what_it_found_by_its_exit_code(run, run_json, wines, monkeypatch):
    assert "everything agrees" in run("audit", wines)
    told = run_json("audit", wines)
    assert (told["ok"], told["examples"], told["differences"]) == (True, 178, [])
    real = inspect_model.load_model(wines).audit()._replace(differences=("The index is wrong.",))
    monkeypatch.setattr(Learner, "audit", lambda _: real)
    result = CliRunner().invoke(cli.app, ["audit", str(wines)])
    assert result.exit_code == 1
    assert "The index is wrong." in result.stdout
    result = CliRunner().invoke(cli.app, ["audit", str(wines), "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["ok"] is False


def test_info_tells_what_the_model_holds(run, run_json, wines, wine_rows):
    told = run_json("info", wines)
    assert told["examples"] == 178
    assert told["classes"] == {"barbera, sweet": 48, "barolo": 59, "grignolino": 71}
    assert told["columns"] == wine_rows[0][:13]
    assert (told["label"], told["id"], told["image_shape"]) == ("kind", "bottle", None)
    assert told["chosen"] == kept(wines).choice._asdict()
    assert told["bytes"] == (wines / "model.sqlite").stat().st_size
    expected = kept(wines).expected_accuracy()
    assert told["expected_accuracy"] == {
        **expected._asdict(),
        "per_class": {label: each._asdict() for label, each in expected.per_class.items()},
    }
    printed = run("info", wines)
    assert f"accuracy:     {expected.accuracy:.1%} expected on new rows (95%" in printed
    assert f"barolo: {expected.per_class['barolo'].accuracy:.1%}" in printed
    assert "barolo (59)" in printed
    assert "alcohol, malic_acid" in printed


def test_an_exported_model_is_imported_as_it_was(tmp_path, run, run_json, wines, numbers, wine):
    told = run_json("export", wines, tmp_path / "one.file")
    assert (told["examples"], told["classes"]) == (178, 3)
    assert "178 examples of 3 classes" in run("import", tmp_path / "one.file", tmp_path / "again")
    assert (kept(tmp_path / "again").scores(numbers) == kept(wines).scores(numbers)).all()
    assert run("predict", tmp_path / "again", wine) == run("predict", wines, wine)


def test_export_and_import_do_not_write_over_what_is_there(tmp_path, run, refused, wines):
    (tmp_path / "mine").write_text("mine")
    assert "There is already a" in refused("export", wines, tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "mine"
    assert "There is already a" in refused("export", wines, tmp_path, "--force")
    run("export", wines, tmp_path / "mine", "--force")
    assert "There is already a model in" in refused("import", tmp_path / "mine", wines)


@pytest.mark.parametrize(
    ("start", "put_in"), [(0, b""), (500, b""), (0, b"text"), (200, b"x")], ids=str
)
def test_a_damaged_or_foreign_file_is_not_imported(tmp_path, run, refused, wines, start, put_in):
    run("export", wines, tmp_path / "f")
    whole = (tmp_path / "f").read_bytes()
    rest = whole[201:] if start == 200 else b""
    (tmp_path / "f").write_bytes(whole[:start] + put_in + rest)
    assert str(tmp_path / "f") in refused("import", tmp_path / "f", tmp_path / "m")
    assert not (tmp_path / "m").exists()
    refused("import", tmp_path / "nowhere", tmp_path / "m")


def test_very_many_digits_are_no_id_and_no_unicode_is_no_label(refused, wines):
    assert "There is no example '1111" in refused("forget", wines, "1" * 5000)
    assert "'\\udce9' is not UTF-8" in refused("correct", wines, "b1", "\udce9")


def test_a_sealed_file_whose_parts_are_missing_is_not_imported(
    tmp_path, run, refused, wines, on_disk
):
    about = {"format": "minout model", "version": 2}
    foreign = {**about, "features": {"fingerprint": "x", "name": "identity"}}
    write_archive(tmp_path / "f", about, {}, "The model")
    assert "truncated or changed" in refused("import", tmp_path / "f", tmp_path / "m")
    old = tmp_path / "old"  # a folder from before there was a database
    old.mkdir()
    write_archive(old / "model.minout", foreign, {}, "The model")
    for words in (["info"], ["forget", "b1"], ["suspects"]):
        assert "truncated or changed" in refused(words[0], old, *words[1:])
    write_archive(old / "model.minout", {**about, "version": 1}, {}, "The model")
    assert "truncated or changed" in refused("info", old)
    assert list(on_disk(old)) == ["model.minout"]


def test_a_model_that_was_not_consolidated_can_be(tmp_path, run, run_json, refused, wine, exported):
    words = ["--label", "kind", "--id", "bottle"]
    run("learn", tmp_path / "later", wine, *words, "--no-consolidate")
    run("learn", tmp_path / "at once", wine, *words)
    later, at_once = tmp_path / "later", tmp_path / "at once"
    assert exported(later) != exported(at_once)
    told = run_json("consolidate", tmp_path / "later")
    assert told["examples"] == 178
    assert told["chosen"] == kept(tmp_path / "later").choice._asdict()
    assert exported(later) == exported(at_once)
    assert "misfits in all" in run("consolidate", tmp_path / "later")
    assert exported(later) == exported(at_once)
    run("forget", tmp_path / "later", *kept(tmp_path / "later").ids)
    assert refused("consolidate", tmp_path / "later").startswith("This model has no examples")


def test_learning_nothing_new_consolidates_a_model_that_is_not(
    tmp_path, run, run_json, wine, on_disk, exported
):
    words = ["--label", "kind", "--id", "bottle"]
    run("learn", tmp_path / "m", wine, *words, "--no-consolidate")
    before = on_disk(tmp_path / "m")
    assert run_json("info", tmp_path / "m")["consolidated"] is False
    assert "The model is as it was" in run("learn", tmp_path / "m", wine, "--no-consolidate")
    assert on_disk(tmp_path / "m") == before
    assert "The model is now consolidated" in run("learn", tmp_path / "m", wine)
    assert "consolidated: yes" in run("info", tmp_path / "m")
    assert "The model is as it was" in run("learn", tmp_path / "m", wine)
    run("learn", tmp_path / "at once", wine, *words)
    assert exported(tmp_path / "m") == exported(tmp_path / "at once")


def test_a_stopped_consolidation_leaves_the_model_as_it_was(monkeypatch, wines, on_disk):
    before = on_disk(wines)

    def stopped(self):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Learner, "consolidate", stopped)
    result = CliRunner().invoke(cli.app, ["consolidate", str(wines)])
    assert result.exit_code == 130
    assert "the model is as it was" in result.stderr
    assert on_disk(wines) == before


def test_a_correction_made_in_python_does_not_stop_the_file_from_being_learned_again(
    run_json, wines, wine
):
    with Learner.open(wines) as learner:
        learner.correct("b0", "port")
    told = run_json("learn", wines, wine)
    assert (told["taught"], told["known"], told["corrected"]) == (0, 178, 1)
    assert kept(wines).example("b0")[1] == "port"
