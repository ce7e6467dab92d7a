"""The demo: its files, both sides of the stream, its story and its picture."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from typer.testing import CliRunner

from minout import results, streams
from minout.cli import app as cli
from minout.cli import demo as command
from minout.demo import edits, figure, sgd
from minout.demo.data import make_data, write_files
from minout.demo.experiment import Examples, run_demo
from minout.demo.settings import TESTING
from minout.errors import UnwritableError
from minout.learner import Learner
from minout.streams.files import read

N = 120


@pytest.fixture(scope="module")
def made():
    return make_data(TESTING)


@pytest.fixture(scope="module")
def lesson(made, tmp_path_factory):
    files = write_files(made, tmp_path_factory.mktemp("files"))
    parts = []
    for file in files:
        with read(file, label="digit", id="scan") as reader:
            parts.append(list(reader))
    return Examples(*parts)


@pytest.fixture(scope="module")
def learner():
    return Learner()


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def done(learner, lesson, made, told):
    return run_demo(learner, lesson, made.wrong_labels, TESTING, lambda *each: told.append(each))


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the command prints, and where everything is."""
    out = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "SETTINGS", TESTING)
        result = CliRunner().invoke(cli.app, ["demo", "--out", str(out)])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout, out


def test_the_file_is_in_label_order_and_some_labels_are_wrong(made):
    assert made.labels == sorted(made.labels)
    wrong = [i for i in range(N) if made.labels[i] != made.true_labels[i]]
    assert {made.ids[i]: made.true_labels[i] for i in wrong} == made.wrong_labels
    assert len(wrong) == TESTING.wrong
    assert len(set(made.ids)) == N


def test_what_is_held_out_is_what_the_digits_hold_out(made):
    data = streams.digits()
    assert (made.test_pixels == data.test_rows * 16).all()
    assert made.test_labels == data.test_labels.astype(str).tolist()


def test_the_files_are_read_as_they_were_made(made, lesson):
    examples, tests = lesson
    assert [each.id for each in examples] == made.ids
    assert [each.label for each in examples] == made.labels
    assert (np.array([each.row for each in examples]) == made.pixels).all()
    assert (np.array([each.row for each in tests]) == made.test_pixels).all()
    assert [each.label for each in tests] == made.test_labels


def test_ours_is_a_learner_that_was_taught_the_file(done, lesson):
    twin, rows = Learner(), np.array([each.row for each in lesson.examples])
    tests = np.array([each.row for each in lesson.tests])
    labels = np.array([each.label for each in lesson.examples])
    ours = done.rows[0].values
    for i, example in enumerate(lesson.examples):
        twin.teach(example.row, example.label)
        if i % 17 == 0 or i == N - 1:
            seen = np.mean(twin.predict(rows[: i + 1]) == labels[: i + 1])
            assert ours["taught"][i] == seen
    held_out = np.mean(twin.predict(tests) == [each.label for each in lesson.tests])
    assert (done.ends["minout"].taught, done.ends["minout"].held_out) == (seen, held_out)
    twin.consolidate()
    assert done.ends["consolidated"].taught == np.mean(twin.predict(rows) == labels)


@pytest.mark.parametrize("name", ["sgd", "sgd-shuffled"])
def test_the_other_side_is_scikit_learn_s_sgd_on_the_same_stream(done, lesson, name):
    rows = np.array([each.row for each in lesson.examples])
    tests = np.array([each.row for each in lesson.tests])
    labels = np.array([each.label for each in lesson.examples])
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread[spread == 0.0] = 1.0
    order = np.arange(N)
    if name == "sgd-shuffled":
        order = np.random.default_rng(TESTING.seed).permutation(N)
    theirs = SGDClassifier(alpha=TESTING.alpha, random_state=TESTING.seed)
    for i in order:
        theirs.partial_fit((rows[[i]] - mean) / spread, labels[[i]], classes=np.unique(labels))
    assert done.ends[name].taught == np.mean(theirs.predict((rows - mean) / spread) == labels)
    held_out = np.mean(
        theirs.predict((tests - mean) / spread) == [each.label for each in lesson.tests]
    )
    assert done.ends[name].held_out == held_out


def test_in_label_order_ours_knows_what_it_was_taught_and_sgd_does_not(done):
    ours, theirs, _ = (row.values["taught"] for row in done.rows)
    assert min(ours) > 1.0 - 2 * TESTING.wrong / N
    assert theirs[-1] < 0.8


def test_everything_is_told_on_the_way(done, told):
    taught = [each for each in told if each[0].startswith("digit")]
    assert [each[1] for each in taught] == list(range(1, N + 1))
    assert taught[0][0] == "digit 0"
    assert taught[-1][3] == {name: done.ends[name] for name in ("minout", "sgd")}
    assert told[2 * N - 1][:3] == ("shuffled", N, N)


def test_the_wrong_labels_are_found_corrected_and_stay_corrected(done, learner, made):
    assert {each.id for each in done.found.wrong} <= set(made.wrong_labels)
    assert len(done.found.wrong) > 0
    assert done.found.by_chance == pytest.approx(TESTING.wrong**2 / N)
    for each in done.found.wrong:
        if each.id in learner:
            assert learner.example(each.id)[1] == made.wrong_labels[each.id]


def test_what_is_forgotten_is_as_if_it_had_never_been_taught(done, learner):
    assert done.forgotten.id not in learner
    assert done.forgotten.is_as_if_never_taught
    assert done.audit.examples == N - 1
    assert done.audit.ok


def test_a_learner_that_knows_more_than_the_examples_is_not_as_if_never_taught(lesson):
    learner = Learner()
    for example in lesson.examples:
        learner.teach(example.row, example.label, id=example.id)
    learner.teach(lesson.tests[0].row, lesson.tests[0].label, id="one too many")
    rows = np.array([each.row for each in lesson.tests])
    assert not edits.forget(learner, lesson.examples, rows).is_as_if_never_taught


def test_the_example_to_look_at_is_the_first_that_is_wrong(done, learner, lesson):
    right = [
        learner.predict(each.row[None])[0] == each.label for each in lesson.tests[: done.examined]
    ]
    assert right == [True] * (done.examined - 1) + [False]


def test_the_choice_of_alpha_does_not_look_at_the_test_rows(monkeypatch):
    data = streams.pick_per_class(streams.digits(), 12, np.random.default_rng(0))
    monkeypatch.setattr(streams, "digits", lambda: data)
    chosen = sgd.held_out_accuracy(0.01, 0, in_label_order=False)
    blind = data._replace(test_rows=data.test_rows * 0, test_labels=data.test_labels * 0)
    monkeypatch.setattr(streams, "digits", lambda: blind)
    assert sgd.held_out_accuracy(0.01, 0, in_label_order=False) == chosen
    assert chosen > sgd.held_out_accuracy(0.01, 0, in_label_order=True)


def test_the_picture_is_drawn_from_rows_that_were_on_the_disk(done, tmp_path):
    results.write(done.rows, tmp_path / "demo.jsonl")
    again = results.read(tmp_path / "demo.jsonl")
    assert again == done.rows
    drawn = figure.draw(again)
    drawn.draw_without_rendering()
    _, taught, held_out = drawn.axes
    for axes, part in ((taught, "taught"), (held_out, "held_out")):
        assert [len(line.get_ydata()) for line in axes.lines] == [N] * 3
        assert (
            axes.lines[-1].get_ydata().tolist()
            == (100 * np.array(done.rows[0].values[part])).tolist()
        )
        ends = [text.get_text() for text in axes.texts if "." in text.get_text()]
        wanted = [f"{100 * row.values[part][-1]:.1f}" for row in done.rows]
        assert sorted(ends) == sorted(wanted)
    assert "3 of 120 labels are wrong" in taught.get_title(loc="left")


def test_a_row_knows_when_each_label_came_and_what_it_looks_like(done, made):
    values = done.rows[0].values
    assert values["labels"] == list("0123456789")
    assert values["turns"] == [made.labels.index(label) for label in values["labels"]]
    fives = made.pixels[[label == "5" for label in made.labels]]
    assert values["looks"][5] == fives.mean(axis=0).tolist()
    assert sum(values["held_out_shares"]) == pytest.approx(1.0)


def test_the_command_writes_files_a_model_and_a_picture(shown):
    printed, out = shown
    assert (out / "demo.png").read_bytes().startswith(b"\x89PNG")
    with (out / "digits.csv").open() as file:
        assert len(list(csv.reader(file))) == N + 1
    for word in ("SGD, shuffled", "wrong label", "Forgotten:", "everything agrees", "demo.png"):
        assert word in printed


def test_what_it_says_to_try_next_can_be_tried(shown):
    printed, _ = shown
    tries = [line.split() for line in printed.splitlines() if line.startswith("  minout ")]
    assert [words[1] for words in tries] == ["score", "explain", "suspects"]
    for words in tries:
        result = CliRunner().invoke(cli.app, words[1:])
        assert result.exit_code == 0, (words, result.output, result.exception)


def test_a_second_demo_makes_the_model_anew(shown, monkeypatch):
    _, out = shown
    before = (out / "model" / "model.sqlite").read_bytes()
    monkeypatch.setattr(command, "SETTINGS", replace(TESTING, wrong=2))
    result = CliRunner().invoke(cli.app, ["demo", "--out", str(out)])
    assert result.exit_code == 0, (result.output, result.exception)
    assert (out / "model" / "model.sqlite").read_bytes() != before


def test_a_folder_that_cannot_be_written_is_refused_at_once():
    result = CliRunner().invoke(cli.app, ["demo", "--out", "/proc/nowhere"])
    assert isinstance(result.exception, UnwritableError)
