"""`minout learn`: the same model as in Python, again and again, and stopped on the way."""

import json
import signal

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits, load_wine
from typer.testing import CliRunner

from minout import Learner
from minout.cli import app as cli

pytestmark = pytest.mark.usefixtures("little_is_chosen")


def in_python(rows, labels, ids=None) -> Learner:
    learner = Learner(missing="mean")  # as for every table
    for i, (x, y) in enumerate(zip(rows, labels, strict=True)):
        learner.teach(x, y, id=None if ids is None else ids[i])
    return learner


def same(folder, learner: Learner, rows) -> None:
    kept = Learner.open(folder, read_only=True)
    assert kept.ids == learner.ids
    assert kept.classes.tolist() == learner.classes.tolist()
    assert (kept.scores(rows) == learner.scores(rows)).all()


def test_a_file_is_taught_as_in_python_to_the_last_bit(
    tmp_path, run_json, wine, wine_rows, numbers
):
    told = run_json("learn", tmp_path / "m", wine, "--label", "kind", "--id", "bottle")
    learner = in_python(
        numbers, [row[13] for row in wine_rows[1:]], [row[14] for row in wine_rows[1:]]
    )
    learner.consolidate()
    same(tmp_path / "m", learner, numbers)
    assert told["taught"] == told["examples"] == 178
    assert (told["known"], told["classes"], told["consolidated"], told["last"]) == (0, 3, True, 179)
    assert told["misfits"] == len(learner.misfits)
    assert told["expected_accuracy"]["accuracy"] == learner.expected_accuracy().accuracy
    assert told["moved"] > 0


def test_without_consolidation_the_model_is_the_stream(tmp_path, run, wine, wine_rows, numbers):
    run("learn", tmp_path / "m", wine, "--label", "kind", "--id", "bottle", "--no-consolidate")
    labels, ids = ([row[column] for row in wine_rows[1:]] for column in (13, 14))
    same(tmp_path / "m", in_python(numbers, labels, ids), numbers)


def test_many_runs_equal_one_and_remember_label_id_and_columns(
    tmp_path, run, write_csv, wines, wine_rows, numbers
):
    header, rows = wine_rows[0], wine_rows[1:]
    backwards = [line[::-1] for line in [header, *rows[90:]]]
    first, second = write_csv("1.csv", [header, *rows[:90]]), write_csv("2.csv", backwards)
    run("learn", tmp_path / "m", first, "--label", "kind", "--id", "bottle")
    run("learn", tmp_path / "m", second)
    same(tmp_path / "m", Learner.open(wines, read_only=True), numbers)


def test_teaching_known_ids_again_changes_nothing(tmp_path, run_json, run, wines, wine, on_disk):
    before = on_disk(wines)
    told = run_json("learn", wines, wine)
    assert (told["taught"], told["known"], told["moved"]) == (0, 178, 0)
    assert on_disk(wines) == before
    expected, low, high = (
        f"{each:.1%}" for each in Learner.open(wines, read_only=True).expected_accuracy()[:3]
    )
    assert run("learn", wines, wine) == (
        "Nothing new: 178 were known already. "
        "The model is as it was: 178 examples of 3 classes; misfits: 0.\n"
        f"Accuracy: {expected} expected on new rows (95% interval: {low} to {high}).\n"
    )


@pytest.mark.parametrize(("column", "value", "what"), [(0, "99", "row"), (13, "barolo", "label")])
def test_a_known_id_with_another_row_or_label_is_refused(
    refused, write_csv, wines, wine_rows, column, value, what, on_disk
):
    changed = [list(row) for row in wine_rows]
    changed[100][column] = value
    before = on_disk(wines)
    said = refused("learn", wines, write_csv("changed.csv", changed))
    assert f"line 101: Example 'b99' is stored with another {what}; " in said
    assert "To continue after it, add --from-line 102." in said
    assert on_disk(wines) == before


def test_a_bad_row_keeps_what_came_before_and_from_line_goes_on(
    tmp_path, run, refused, write_csv, wine_rows, numbers
):
    spoiled = [list(row) for row in wine_rows]
    spoiled.insert(60, ["1.0"] * 13 + ["", "bad"])
    file = write_csv("spoiled.csv", spoiled)
    first = write_csv("first.csv", spoiled[:30])
    run("learn", tmp_path / "m", first, "--label", "kind", "--id", "bottle")
    said = refused("learn", tmp_path / "m", file)
    assert said.startswith(f"{file}, line 61: the label is empty")
    assert said.endswith("The rows before it are kept. To continue after it, add --from-line 62.")
    assert len(Learner.open(tmp_path / "m", read_only=True)) == 59
    run("learn", tmp_path / "m", file, "--from-line", 62)
    run(
        "learn",
        tmp_path / "whole",
        write_csv("whole.csv", wine_rows),
        "--label",
        "kind",
        "--id",
        "bottle",
    )
    same(tmp_path / "m", Learner.open(tmp_path / "whole", read_only=True), numbers)


def test_examples_that_wait_are_counted_after_learning(tmp_path, run, run_json, write_csv):
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=700)
    rows = rng.normal(size=(700, 4)) + 0.2 * labels[:, None]
    lines = [[*row, f"k{y}"] for row, y in zip(rows.tolist(), labels.tolist(), strict=True)]
    file = write_csv("overlap.csv", [[*"abcd", "kind"], *lines])
    words = ("learn", tmp_path / "m", file, "--label", "kind", "--no-consolidate")
    said = run(*words)
    waiting = len(Learner.open(tmp_path / "m", read_only=True).pending)
    assert waiting > 0
    assert f"; pending: {waiting}; not consolidated." in said
    run("consolidate", tmp_path / "m")
    assert run_json("info", tmp_path / "m")["pending"] == []


def test_a_bad_first_row_leaves_no_folder(tmp_path, refused, write_csv):
    file = write_csv("bad.csv", [["a", "kind"], ["red", ""]])
    said = refused("learn", tmp_path / "m", file, "--label", "kind")
    assert said.endswith(
        "line 2: the label is empty; fill it in, or take the line out. Nothing has been taught; "
        "--skip-bad FILE skips such rows."
    )
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_stopped_in_the_middle_of_an_example_it_keeps_that_one_too(
    tmp_path, monkeypatch, wine, wine_rows, numbers, number, code
):
    real = Learner.teach
    monkeypatch.setattr(
        Learner,
        "teach",
        lambda *args, **more: (
            signal.raise_signal(number) if more["id"] == "b99" else None,
            real(*args, **more),
        )[1],
    )
    before = signal.getsignal(number)
    words = ["learn", str(tmp_path / "m"), str(wine), "--label", "kind", "--id", "bottle", "--json"]
    result = CliRunner().invoke(cli.app, words)
    assert result.exit_code == code
    assert "Continue with --from-line 102." in result.stderr
    told = json.loads(result.stdout)
    assert (told["taught"], told["last"], told["consolidated"]) == (100, 101, False)
    assert signal.getsignal(number) == before
    monkeypatch.undo()
    numbers = numbers[:100]
    labels, ids = ([row[column] for row in wine_rows[1:101]] for column in (13, 14))
    same(tmp_path / "m", in_python(numbers, labels, ids), numbers)


def test_stopped_while_it_consolidates_it_keeps_the_stream(tmp_path, monkeypatch, wine, wine_rows):
    real = Learner.consolidate

    def stopped(learner):
        signal.raise_signal(signal.SIGINT)
        return real(learner)

    monkeypatch.setattr(Learner, "consolidate", stopped)
    words = ["learn", str(tmp_path / "m"), str(wine), "--label", "kind", "--id", "bottle"]
    assert CliRunner().invoke(cli.app, words).exit_code == 130
    assert len(Learner.open(tmp_path / "m", read_only=True)) == 178


def test_what_cannot_be_consolidated_is_kept_as_it_is(tmp_path, monkeypatch, refused, wine):
    def refuse(learner):
        learner.forget("nobody")

    monkeypatch.setattr(Learner, "consolidate", refuse)
    said = refused("learn", tmp_path / "m", wine, "--label", "kind", "--id", "bottle")
    assert said.startswith("Everything taught is kept, but not consolidated: There is no example")
    assert len(Learner.open(tmp_path / "m", read_only=True)) == 178


def test_what_was_taught_before_a_failure_is_kept(tmp_path, monkeypatch, wine):
    real, taught = Learner.teach, []

    def failing(*args, **more):
        if len(taught) == 19:
            raise MemoryError
        taught.append(more["id"])
        return real(*args, **more)

    monkeypatch.setattr(Learner, "teach", failing)
    words = ["learn", str(tmp_path / "m"), str(wine), "--label", "kind", "--id", "bottle"]
    assert isinstance(CliRunner().invoke(cli.app, words).exception, MemoryError)
    assert Learner.open(tmp_path / "m", read_only=True).ids == taught


def test_standard_input_teaches_json_lines(tmp_path, run, run_json, wine_rows, numbers, wines):
    lines = "\n".join(
        json.dumps(dict(zip(wine_rows[0], row, strict=True))) for row in wine_rows[1:]
    )
    told = run_json("learn", tmp_path / "m", "-", "--label", "kind", "--id", "bottle", input=lines)
    assert told["taught"] == 178
    same(tmp_path / "m", Learner.open(wines, read_only=True), numbers)


def test_npz_and_csv_fit_one_model_whatever_they_call_their_labels(
    tmp_path, run, run_json, write_csv
):
    data = load_wine()
    np.savez(tmp_path / "wine.npz", X=data.data[::2], y=data.target[::2], ids=np.arange(89))
    rows = [[*x, y, f"b{i}"] for i, (x, y) in enumerate(zip(data.data, data.target, strict=True))]
    names = [[*map(str, range(13)), "kind", "bottle"]]
    csv_file = write_csv("rest.csv", names + rows[1::2])
    run("learn", tmp_path / "m", tmp_path / "wine.npz")
    told = run_json("learn", tmp_path / "m", csv_file, "--label", "kind", "--id", "bottle")
    assert (told["examples"], told["classes"]) == (178, 3)
    kept = Learner.open(tmp_path / "m", read_only=True)
    assert kept.classes.tolist() == [0, 1, 2]
    assert kept.ids[:89] == [str(number) for number in range(89)]
    run("learn", tmp_path / "other", csv_file, "--label", "kind", "--id", "bottle")
    run("learn", tmp_path / "other", tmp_path / "wine.npz")
    assert Learner.open(tmp_path / "other", read_only=True).classes.tolist() == ["0", "1", "2"]


def test_images_in_folders_are_taught_with_scattering(tmp_path, run, run_json):
    digits = load_digits()
    for i in range(60):
        folder = tmp_path / "images" / f"digit {digits.target[i]}"
        folder.mkdir(parents=True, exist_ok=True)
        pixels = (digits.images[i] * 15).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{i}.png")
    run("learn", tmp_path / "m", tmp_path / "images", "--features", "scattering")
    told = run_json("learn", tmp_path / "m", tmp_path / "images")
    assert (told["taught"], told["known"], told["classes"]) == (0, 60, 10)
    kept = Learner.open(tmp_path / "m", read_only=True)
    assert kept.features.image_shape == (8, 8)
    assert "images/digit 0/0.png" in kept.ids
    assert run_json("score", tmp_path / "m", tmp_path / "images")["accuracy"] == 1.0


def test_a_column_that_is_new_does_not_contradict_stored_examples(
    tmp_path, wines, write_csv, wine_rows, exported
):
    before = exported(wines)
    more = [[*row, extra] for row, extra in zip(wine_rows, ["colour", *["red"] * 178], strict=True)]
    result = CliRunner().invoke(cli.app, ["learn", str(wines), str(write_csv("more.csv", more))])
    assert result.exit_code == 0, result.exception
    assert "Nothing new: 178 were known already." in result.stdout
    assert exported(wines) == before


def test_another_map_than_the_models_is_refused(refused, run, wines, wine):
    said = refused("learn", wines, wine, "--features", "random_fourier")
    assert "This model was made with Identity" in said
    assert "known" in run("learn", wines, wine, "--features", "identity")
    assert 'pass "identity"' in refused("learn", wines, wine, "--features", "magic")


@pytest.mark.parametrize("memory", ["uint8", "uint4"])
def test_a_model_stores_codes_if_it_is_made_so(tmp_path, run, run_json, refused, wine, memory):
    words = [tmp_path / "m", wine, "--label", "kind", "--id", "bottle"]
    run("learn", *words, "--memory", memory)
    assert run_json("info", tmp_path / "m")["memory"] == memory
    kept = Learner.open(tmp_path / "m", read_only=True)
    assert kept.memory.bytes_per_row == len(kept.code(kept.ids[0])) < 8 * 13
    assert "known" in run("learn", *words)
    assert "known" in run("learn", *words, "--memory", memory)
    said = refused("learn", *words, "--memory", "uint2")
    assert f"This model was made with --memory {memory}; --memory is for new models." in said
    said = refused("learn", tmp_path / "n", wine, "--label", "kind", "--memory", "uint3")
    assert said == "--memory is auto, uint8, uint4 or uint2, not 'uint3'."
    assert not (tmp_path / "n").exists()


def test_columns_that_are_no_image_are_not_scattered(tmp_path, refused, wine, write_csv):
    words = ["--label", "kind", "--features", "scattering"]
    assert refused("learn", tmp_path / "m", wine, "--id", "bottle", *words) == (
        f"--features scattering needs square images of at least 8 × 8 pixels, but {wine} has "
        "13 columns; pass such images, or a folder or NPZ of images."
    )
    small = write_csv("small.csv", [["a", "b", "c", "d", "kind"], [1, 2, 3, 4, "x"]])
    assert "has 4 columns" in refused("learn", tmp_path / "m", small, *words)
    assert not (tmp_path / "m").exists()


def test_the_first_time_it_says_what_each_column_is_taken_for(tmp_path, wine, write_csv):
    def aside(*words):
        return CliRunner().invoke(cli.app, ["learn", *map(str, words)]).stderr

    few = write_csv("few.csv", [["a", "n", "kind"], [1, 7, "x"], [2, 8, "y"]])
    assert aside(tmp_path / "1", few, "--label", "kind") == (
        "Columns of numbers: a, n (2); label: kind; id: none, so examples are numbered.\n"
    )
    words = [tmp_path / "2", wine, "--label", "kind", "--id", "bottle"]
    assert aside(*words) == (
        "Columns of numbers: alcohol, malic_acid, ash … proline (13); label: kind; id: bottle.\n"
    )
    assert aside(*words) == ""


def test_one_label_has_no_expected_accuracy(tmp_path, run, run_json, write_csv):
    file = write_csv("one.csv", [["a", "kind"], [1, "x"], [2, "x"]])
    assert len(run("learn", tmp_path / "m", file, "--label", "kind").splitlines()) == 1
    assert run_json("learn", tmp_path / "m", file)["expected_accuracy"] is None
    assert run_json("info", tmp_path / "m")["expected_accuracy"] is None
    printed = run("info", tmp_path / "m")
    assert "accuracy:     none\nper class:    none\n" in printed
