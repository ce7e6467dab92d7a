"""Several processes on one model at once: a live stream, changes by others, and sudden ends."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial

import pytest
from typer.testing import CliRunner

from minout import DriftMonitor, Learner
from minout.cli import app as cli
from minout.cli import learn as learn_command
from minout.errors import MissingDataError
from minout.store import Database

MINOUT = [sys.executable, "-c", "from minout.cli import main; main()"]
PATIENCE = 240.0
"""Seconds after which a test fails that waits for another process."""
NAMED = ("--label", "kind", "--id", "n")
WORDS = ("-", *NAMED, "--no-consolidate", "--json")


def line(n, kind=None):
    kind = kind or ("cat" if n % 7 > 3 else "dog")
    return json.dumps({"n": n, "a": n % 7, "b": n % 3, "kind": kind}) + "\n"


def until(condition):
    """Wait until a condition holds; return its value."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return value


def ids_in(model):
    """The ids that another process sees in a model; none if there is no model yet."""
    try:
        with Learner.open(model, read_only=True) as learner:
            return learner.ids
    except MissingDataError:
        return []


class Live:
    """A command whose standard input stays open."""

    def __init__(self, *words, **options):
        self.process = subprocess.Popen(
            [*MINOUT, *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def write(self, *lines):
        self.process.stdin.write("".join(lines))
        self.process.stdin.flush()

    def end(self, number=None):
        """End its input, or send it a signal; return exit code, output and errors."""
        if number is not None:
            self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=PATIENCE)
        assert "Traceback" not in errors
        return self.process.returncode, output, errors


@pytest.fixture
def live():
    """Starts commands; those that still run at the end are killed."""
    started = []

    def start(*words, **options):
        started.append(Live(*words, **options))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


@pytest.fixture
def model(tmp_path):
    return tmp_path / "m"


@pytest.fixture
def taught(model):
    """A model of 20 examples, made by the command line."""
    result = CliRunner().invoke(
        cli.app, ["learn", str(model), *WORDS], input="".join(map(line, range(20)))
    )
    assert result.exit_code == 0, (result.output, result.exception)
    return model


def names(*numbers):
    return [str(n) for n in numbers]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_live_stream_is_seen_while_it_runs_and_a_signal_ends_it(live, model, run_json, number):
    stream = live("learn", model, *WORDS)
    stream.write(*map(line, range(12)))
    until(lambda: ids_in(model) == names(*range(12)))
    stream.write(line(12))
    until(lambda: ids_in(model) == names(*range(13)))
    assert run_json("info", model)["examples"] == 13
    code, output, errors = stream.end(number)
    assert code == 128 + number
    assert json.loads(output)["taught"] == 13
    assert "Stopped; all of this is kept. Start it again to continue; rows with known" in errors
    assert "--from-line" not in errors
    assert ids_in(model) == names(*range(13))
    assert run_json("audit", model)["ok"]


def test_a_hangup_that_is_ignored_stays_ignored(live, model):
    ignore = partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    stream = live("learn", model, *WORDS, preexec_fn=ignore)
    stream.write(*map(line, range(5)))
    until(lambda: len(ids_in(model)) == 5)
    stream.process.send_signal(signal.SIGHUP)
    stream.write(line(5))
    until(lambda: len(ids_in(model)) == 6)
    assert stream.end()[0] == 0


def test_a_stream_that_was_killed_loses_nothing_that_was_seen(live, model, run, run_json):
    stream = live("learn", model, *WORDS)
    stream.write(*map(line, range(12)))
    until(lambda: len(ids_in(model)) == 12)
    stream.process.kill()
    stream.process.communicate()
    assert ids_in(model) == names(*range(12))
    assert run_json("audit", model)["ok"]
    told = run_json("learn", model, "-", input="".join(map(line, range(20))))
    assert (told["taught"], told["known"], told["examples"]) == (8, 12, 20)


def test_other_commands_change_the_model_while_a_stream_runs(live, taught, run, run_json):
    stream = live("learn", taught, *WORDS)
    stream.write(*map(line, range(20, 25)))
    until(lambda: len(ids_in(taught)) == 25)
    assert run_json("correct", taught, "3", "bird", "--new-label")["examples"] == 25
    run("forget", taught, "4")
    stream.write(*map(line, range(25, 30)), line(3))
    code, output, _ = stream.end()
    told = json.loads(output)
    assert (code, told["taught"], told["corrected"], told["examples"]) == (0, 10, 1, 29)
    learner = Learner.open(taught, read_only=True)
    assert sorted(learner.ids, key=int) == names(*(n for n in range(30) if n != 4))
    assert learner.example("3")[1] == "bird"
    assert learner.audit().ok


def test_two_streams_teach_one_model(live, taught):
    first, second = live("learn", taught, *WORDS), live("learn", taught, *WORDS)
    for n in range(20, 30, 2):
        first.write(line(n))
        second.write(line(n + 1))
        until(lambda n=n: len(ids_in(taught)) == n + 2)
    told = [json.loads(each.end()[1])["taught"] for each in (first, second)]
    assert told == [5, 5]
    learner = Learner.open(taught, read_only=True)
    assert set(learner.ids) == set(names(*range(30)))
    assert learner.audit().ok
    assert len(learner.notes["drift"]["recent_labels"]) == 28  # all but the first of each label


def test_predictions_of_a_stream_use_what_was_learned_since(live, taught):
    stream = live("predict", taught, "-", "--json")

    def ask():
        stream.write(json.dumps({"a": 100, "b": 100}) + "\n")
        return json.loads(stream.process.stdout.readline())

    first = ask()
    assert set(first["scores"]) == {"cat", "dog"}
    with Learner.open(taught) as learner:
        for _ in range(3):
            learner.teach([100.0, 100.0], "bird")
    second = ask()
    assert (second["label"], set(second["scores"])) == ("bird", {"bird", "cat", "dog"})
    assert stream.end()[0] == 0


def test_columns_of_predictions_stay_those_of_the_start(taught, monkeypatch):
    real, asked = Learner.reload, []

    def reload(learner):
        with Learner.open(taught) as other:
            if asked:
                other.forget_class("cat")
                other.teach([100.0, 100.0], "bird")
        asked.append(real(learner))

    monkeypatch.setattr(Learner, "reload", reload)
    row = json.dumps({"a": 100, "b": 100}) + "\n"
    result = CliRunner().invoke(cli.app, ["predict", str(taught), "-"], input=row * 2)
    head, first, second = (each.split(",") for each in result.stdout.splitlines())
    assert head[4:] == ["score:cat", "score:dog"]
    assert len(first) == len(second) == len(head)
    assert asked == [False, True]
    assert second[2] == "bird"
    assert (second[4], bool(first[4]), bool(second[5])) == ("", True, True)


def test_a_command_that_waits_says_so(live, taught):
    with Learner.open(taught) as learner:
        with learner.turn():
            other = live("forget", taught, "0")
            said = other.process.stderr.readline()
        assert said == f"Waiting for another process to finish its change of {taught} …\n"
        assert other.end()[0] == 0
        assert learner.reload()
        assert "0" not in learner


def test_a_stream_that_waits_for_its_turn_can_be_stopped(live, taught):
    with Learner.open(taught) as learner, learner.turn():
        stream = live("learn", taught, *WORDS)
        stream.write(line(20))
        assert stream.process.stderr.readline().startswith("Waiting for another process")
        code, output, _ = stream.end(signal.SIGINT)
    assert (code, json.loads(output)["taught"]) == (130, 0)
    assert len(ids_in(taught)) == 20


def between_rows(monkeypatch, act):
    """Call a function with the number of rows that were read, before each row of a file."""
    real = learn_command.open_reader

    def open_reader(*args):
        reader = real(*args)

        def rows():
            for n, example in enumerate(reader.rows):
                act(n)
                yield example

        return replace(reader, rows=rows())

    monkeypatch.setattr(learn_command, "open_reader", open_reader)


def test_the_count_of_right_predictions_is_that_of_the_newest_notes(taught, monkeypatch, run_json):
    def forget(n):
        if n == 5:
            with Learner.open(taught) as other, other.turn():
                other.notes.pop("drift")
                other.forget("0")

    between_rows(monkeypatch, forget)
    run_json("learn", taught, *WORDS[:-1], input="".join(map(line, range(20, 30))))
    learner = Learner.open(taught, read_only=True)
    assert len(learner) == 29
    assert len(learner.notes["drift"]["recent_labels"]) == 5
    assert DriftMonitor.from_json(learner.notes["drift"]).recent == 5
    assert learner.notes["files"]["label"] == "kind"


def test_a_window_that_another_process_sets_stays(taught, monkeypatch, run_json):
    def widen(n):
        if n == 5:
            with Learner.open(taught) as other, other.turn():
                assert other.settings.keep == 15
                other.set_keep(18)

    between_rows(monkeypatch, widen)
    told = run_json(
        "learn", taught, *WORDS[:-1], "--keep", "15", input="".join(map(line, range(20, 30)))
    )
    assert told["examples"] == 18
    assert Learner.open(taught, read_only=True).settings.keep == 18


def test_a_row_that_another_process_taught_is_known(taught, monkeypatch, run_json):
    def teach(n):
        if n == 5:
            with Learner.open(taught) as other:
                other.teach([25 % 7, 25 % 3], "cat", id="25")

    between_rows(monkeypatch, teach)
    told = run_json("learn", taught, *WORDS[:-1], input="".join(map(line, range(20, 30))))
    assert (told["taught"], told["known"], told["examples"]) == (9, 1, 30)


def test_other_columns_that_another_process_taught_end_it(taught, monkeypatch, refused):
    def swap(n):
        if n == 5:
            with Learner.open(taught) as other, other.turn():
                other.notes["files"]["columns"] = ["b", "a"]
                other.forget("0")

    between_rows(monkeypatch, swap)
    said = refused("learn", taught, *WORDS[:-1], input="".join(map(line, range(20, 30))))
    assert said == "Another process has taught this model other columns; run the command again."
    assert len(ids_in(taught)) == 24


BAD_LINES = {
    "text": ("no JSON\n", "this is not JSON"),
    "list": ("[1, 2]\n", "this is not an object"),
    "columns": ('{"n": 99, "c": 1, "kind": "cat"}\n', "it has none of the columns that"),
    "number": ('{"n": 99, "a": 1, "b": 1e200, "kind": "cat"}\n', "The column 'b' must be a"),
    "label": ('{"n": 99, "a": 1, "b": 2}\n', "the label is empty"),
    "known": (line(1, kind="fox"), "Example '1' is stored with another label"),
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_of_a_stream_is_reported_and_skipped(taught, kind):
    bad, sentence = BAD_LINES[kind]
    for first, more in ((line(20) + bad + line(21), 2), (bad + line(22), 1)):
        result = CliRunner().invoke(
            cli.app, ["learn", str(taught), "-", "--no-consolidate"], input=first
        )
        where = 1 if more == 1 else 2
        assert result.exit_code == 0, result.exception
        assert f"standard input, line {where}: {sentence}" in result.stderr
        assert result.stderr.count("This line is skipped.") == 1
        assert result.stdout.startswith(f"Taught {more} example")
        assert " 1 line was skipped." in result.stdout


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_of_a_file_ends_it(taught, tmp_path, refused, kind):
    bad, sentence = BAD_LINES[kind]
    (tmp_path / "f.jsonl").write_text(line(20) + bad + line(21))
    said = refused("learn", taught, tmp_path / "f.jsonl")
    assert f"f.jsonl, line 2: {sentence}" in said
    assert said.endswith("The rows before it are kept. To continue after it, add --from-line 3.")
    assert len(ids_in(taught)) == 21


@pytest.mark.parametrize("lines", ["no JSON\n", '{"n": 1, "a": "x", "kind": ""}\n', ""])
def test_a_stream_whose_first_line_is_bad_leaves_no_folder(model, refused, lines):
    assert "standard input" in refused("learn", model, *WORDS[:-1], input=lines + line(1)[:-5])
    assert not model.exists()
    refused("learn", model, "-", "--label", "sort", input=line(1))
    assert not model.exists()


def test_a_folder_that_an_interrupted_first_run_left_can_be_used(model, run_json, refused):
    model.mkdir()
    Database(model).close()
    assert "model.sqlite" in os.listdir(model)
    for command in ("info", "suspects"):
        assert refused(command, model) == (
            f"There is no model in {model}; `minout learn` creates one."
        )
    words = (*WORDS[:-1], "--keep", "3", "--features", "random_fourier")
    assert run_json("learn", model, *words, input="".join(map(line, range(9))))["examples"] == 3


SHORT = '{"state": "ok"}\n'


def test_of_many_bad_lines_ten_are_said_and_the_others_counted(taught):
    lines = line(20) + "no JSON\n" * 50 + line(21) + SHORT + line(22)
    result = CliRunner().invoke(cli.app, ["learn", str(taught), *WORDS], input=lines)
    assert result.exit_code == 0, result.exception
    assert json.loads(result.stdout)["skipped"] == 51
    assert result.stderr.count("This line is skipped.") == 11
    assert result.stderr.count("40 more lines were skipped.") == 1


@pytest.mark.parametrize("words", [(), NAMED], ids=["noted", "named"])
def test_the_first_object_may_be_bad_if_the_model_exists(taught, words):
    result = CliRunner().invoke(
        cli.app, ["learn", str(taught), "-", *words, "--json"], input=SHORT + line(20)
    )
    assert result.exit_code == 0, result.exception
    told = json.loads(result.stdout)
    assert (told["taught"], told["skipped"], told["examples"]) == (1, 1, 21)
    assert (
        "standard input, line 1: it has none of the columns that this model was taught with "
        "(a, b), but state;" in result.stderr
    )


def test_a_label_column_that_no_line_has_is_refused(taught, refused):
    said = refused("learn", taught, "-", "--label", "sort", input=line(20))
    assert said.startswith("standard input has no column 'sort'")


def test_predictions_skip_bad_lines(taught):
    lines = SHORT + line(1) + "no JSON\n" + '{"a": 1, "b": 2}\n'.replace("1", "1e200") + line(2)
    lines += '{"n": 7, "a": 1, "b": 2}\n'
    result = CliRunner().invoke(cli.app, ["predict", str(taught), "-", "--json"], input=lines)
    assert result.exit_code == 0, result.exception
    shown = [json.loads(each)["line"] for each in result.stdout.splitlines()]
    assert shown == [2, 5, 6]
    assert result.stderr.count("This line is skipped.") == 3


def test_input_without_a_good_line_is_refused(taught, refused):
    for lines in ("", "1,2,3\n" * 30, SHORT * 3):
        for name in ("learn", "predict"):
            assert "none of its lines can be read; it must be JSON lines" in refused(
                name, taught, "-", input=lines
            )
    assert len(ids_in(taught)) == 20


@pytest.mark.parametrize("name", ["learn", "predict", "score", "what_if"])
def test_a_csv_on_standard_input_is_one_sentence(taught, model, name):
    text = "n,a,b,kind\n" + "1,2,3,cat\n" * 50
    result = CliRunner().invoke(cli.app, [name, str(taught), "-"], input=text)
    assert str(result.exception) == (
        "standard input looks like CSV, but must be JSON lines, an object per line; pass the CSV "
        "file by its name, not -."
    )
    assert result.stderr == ""


def test_a_csv_on_standard_input_makes_no_model(model, refused):
    said = refused("learn", model, *WORDS[:-1], input="n;a;b;kind\n1;2;3;cat\n")
    assert said.startswith("standard input looks like CSV")
    assert not model.exists()
