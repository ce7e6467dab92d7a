"""Several processes on one model: live streams, changes by others, signals and kills."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial

import pytest

from minout import Learner
from minout.errors import MissingDataError
from tests.cli.conftest import invoke

MINOUT = [sys.executable, "-c", "from minout.cli import main; main()"]
PATIENCE = 240.0
"""Seconds after which a test fails that waits for another process."""
WORDS = ("-", "--label", "kind", "--id", "n", "--json")


def line(n, kind=None):
    kind = kind or ("cat" if n % 7 > 3 else "dog")
    return json.dumps({"n": n, "a": n % 7, "b": n % 3, "kind": kind}) + "\n"


def lines(*numbers):
    return "".join(map(line, numbers))


def until(condition):
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def ids_in(model):
    """The ids that another process sees in a model; none if there is no model yet."""
    try:
        with Learner.open(model, read_only=True) as learner:
            return learner.ids
    except MissingDataError:
        return []


class Live(subprocess.Popen):
    """A command whose standard input stays open."""

    def __init__(self, *words, **options):
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        super().__init__([*MINOUT, *map(str, words)], **pipes | options, text=True)

    def write(self, text):
        self.stdin.write(text)
        self.stdin.flush()

    def end(self, number=None):
        """End its input, or send it a signal; return exit code, output and errors."""
        if number is not None:
            self.send_signal(number)
        output, errors = self.communicate(timeout=PATIENCE)
        assert "Traceback" not in (errors or "")
        return self.returncode, output, errors


@pytest.fixture
def live():
    """Start commands; those that still run at the end are killed."""
    started = []
    yield lambda *words, **options: started.append(Live(*words, **options)) or started[-1]
    for each in started:
        if each.poll() is None:
            each.kill()
            each.communicate()


@pytest.fixture
def taught(tmp_path, run):
    """A model of 20 examples."""
    run("learn", tmp_path / "m", *WORDS, input=lines(*range(20)))
    return tmp_path / "m"


def names(*numbers):
    return [str(n) for n in numbers]


def test_a_live_stream_is_seen_while_it_runs_and_a_signal_ends_it(live, tmp_path, run_json):
    model = tmp_path / "m"
    stream = live("learn", model, *WORDS)
    stream.write(lines(*range(12)))
    until(lambda: ids_in(model) == names(*range(12)))
    stream.write(line(12))
    until(lambda: ids_in(model) == names(*range(13)))
    code, output, errors = stream.end(signal.SIGTERM)
    assert code == 143
    assert json.loads(output)["taught"] == 13
    assert "Stopped; all of this is kept." in errors
    assert ids_in(model) == names(*range(13))
    assert run_json("audit", model)["ok"]


def test_a_hangup_that_is_ignored_stays_ignored_and_a_kill_loses_nothing_that_was_seen(
    live, tmp_path, run_json
):
    model = tmp_path / "m"
    ignore = partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    stream = live("learn", model, *WORDS, preexec_fn=ignore)
    stream.write(lines(*range(5)))
    until(lambda: len(ids_in(model)) == 5)
    stream.send_signal(signal.SIGHUP)
    stream.write(line(5))
    until(lambda: len(ids_in(model)) == 6)
    stream.kill()
    stream.communicate()
    assert run_json("audit", model)["ok"]
    told = run_json("learn", model, "-", input=lines(*range(20)))
    assert (told["taught"], told["known"], told["examples"]) == (14, 6, 20)


def test_two_streams_and_other_commands_change_one_model(live, taught, run, run_json):
    first, second = live("learn", taught, *WORDS), live("learn", taught, *WORDS)
    for n in range(20, 24, 2):
        first.write(line(n))
        second.write(line(n + 1))
        until(lambda n=n: len(ids_in(taught)) == n + 2)
    run("correct", taught, "3", "bird", "--new-label")
    run("forget", taught, "4")
    first.write(line(3) + line(30))
    told = [json.loads(each.end()[1])["taught"] for each in (first, second)]
    assert told == [3, 2]
    learner = Learner.open(taught, read_only=True)
    assert set(learner.ids) == set(names(*range(4), *range(5, 24), 30))
    assert learner.example("3")[1] == "bird"
    assert learner.audit().ok


def test_predictions_of_a_stream_use_what_was_learned_since(live, taught):
    stream = live("predict", taught, "-", "--json")

    def ask():
        stream.write(json.dumps({"a": 100, "b": 100}) + "\n")
        return json.loads(stream.stdout.readline())

    assert set(ask()["scores"]) == {"cat", "dog"}
    with Learner.open(taught) as learner:
        learner.teach_many([{"a": 100, "b": 100}] * 3, ["bird"] * 3)
    second = ask()
    assert (second["label"], set(second["scores"])) == ("bird", {"bird", "cat", "dog"})
    assert stream.end()[0] == 0


def test_a_command_that_waits_says_so_and_can_be_stopped(live, taught):
    with Learner.open(taught) as learner, learner.turn():
        stream = live("learn", taught, *WORDS)
        stream.write(line(20))
        said = stream.stderr.readline()
        assert said == f"Waiting for another process to finish its change of {taught} …\n"
        assert stream.end(signal.SIGINT)[0] == 130
    assert len(ids_in(taught)) == 20


BAD_LINES = {
    "text": ("no JSON\n", "this is not JSON"),
    "list": ("[1, 2]\n", "this is not an object"),
    "columns": ('{"n": 99, "c": 1, "kind": "cat"}\n', "it has none of the columns that"),
    "number": ('{"n": 99, "a": 1, "b": 1e200, "kind": "cat"}\n', "'b'"),
    "label": ('{"n": 99, "a": 1, "b": 2}\n', "it has no label"),
    "id": ('{"a": 1, "b": 2, "kind": "cat"}\n', "it has no id"),
    "known": (line(1, kind="fox"), "Example '1' is stored with another label"),
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_of_a_stream_is_reported_and_skipped(taught, kind):
    bad, sentence = BAD_LINES[kind]
    result = invoke("learn", taught, "-", "--json", input=line(20) + bad + line(21))
    assert result.exit_code == 0, result.exception
    assert "standard input, line 2: " in result.stderr
    assert sentence in result.stderr
    assert result.stderr.count("This line is skipped.") == 1
    told = json.loads(result.stdout)
    assert (told["taught"], told["skipped"]) == (2, 1)


def test_the_first_line_may_be_bad_if_the_model_exists(taught, run_json, refused, tmp_path):
    short = '{"state": "ok"}\n'
    told = run_json("learn", taught, "-", input=short + line(20))
    assert (told["taught"], told["skipped"]) == (1, 1)
    for name in ("learn", "predict"):
        assert "None of the 3 rows of standard input" in refused(name, taught, "-", input=short * 3)
    for text in ("{no JSON\n", '{"n": 1, "a": "x", "kind": ""}\n'):
        refused("learn", tmp_path / "new", *WORDS[:-1], input=text + line(1))
        assert not (tmp_path / "new").exists()


def test_of_many_bad_lines_ten_are_said_and_the_others_counted(taught):
    text = line(20) + "no JSON\n" * 50 + line(21)
    result = invoke("learn", taught, *WORDS, input=text)
    assert json.loads(result.stdout)["skipped"] == 50
    assert result.stderr.count("This line is skipped.") == 10
    assert result.stderr.count("More lines are skipped") == 1


@pytest.mark.parametrize("name", ["learn", "score"])
def test_bad_lines_are_reported_in_their_order(taught, name):
    without_label = line(20).replace('"dog"', '""').replace('"cat"', '""')
    text = line(1) + without_label + "no JSON\n" + line(2) + without_label + line(3)
    result = invoke(name, taught, "-", "--json", input=text)
    assert re.findall(r"standard input, line (\d)", result.stderr) == ["2", "3", "5"]


def test_predictions_skip_bad_lines(taught):
    text = '{"state": 1}\n' + line(1) + "no JSON\n" + '{"a": 1e200, "b": 2}\n' + line(2)
    result = invoke("predict", taught, "-", "--json", input=text)
    assert [json.loads(each)["line"] for each in result.stdout.splitlines()] == [2, 5]
    assert result.stderr.count("This line is skipped.") == 3


def test_standard_input_may_be_csv(taught, run_json, rows_of, refused):
    text = "n,a,b,kind\n" + "".join(f"{n},{n % 7},{n % 3},cat\n" for n in range(20, 25))
    assert run_json("learn", taught, "-", input=text)["taught"] == 5
    assert len(rows_of("predict", taught, "-", input=text)) == 5
    assert "has no column b, which this model was taught with" in refused(
        "predict", taught, "-", input="n,a\n1,2\n"
    )


def test_ctrl_c_in_the_middle_of_a_file_keeps_what_was_taught(taught, tmp_path, monkeypatch):
    real = Learner.teach_many

    def interrupted(self, *args, **options):
        done = real(self, *args, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return done

    monkeypatch.setattr(Learner, "teach_many", interrupted)
    monkeypatch.setattr("minout.cli.rows.PIECE", 10)
    (tmp_path / "f.jsonl").write_text(lines(*range(20, 60)))
    result = invoke("learn", taught, tmp_path / "f.jsonl", "--json")
    assert result.exit_code == 130
    assert json.loads(result.stdout)["taught"] == 10
    assert "Stopped; all of this is kept." in result.stderr
    assert ids_in(taught) == names(*range(30))


def test_ctrl_c_while_it_consolidates_keeps_the_stream(taught, monkeypatch):
    def interrupt(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)

    monkeypatch.setattr(Learner, "consolidate", interrupt)
    result = invoke("learn", taught, *WORDS, input=lines(*range(20, 30)))
    assert (result.exit_code, json.loads(result.stdout)["consolidated"]) == (130, False)
    assert len(ids_in(taught)) == 30


def test_a_bar_is_shown_on_a_terminal_after_two_seconds(live, tmp_path):
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    stream = live("learn", tmp_path / "m", *WORDS, stderr=theirs, env=env)
    os.close(theirs)
    stream.write(lines(*range(12)))
    seen, end = "", time.monotonic() + PATIENCE
    while not re.search(r"learning .*\d examples?, [\d,]+/s", seen):
        assert select.select([ours], [], [], max(0.0, end - time.monotonic()))[0]
        seen += os.read(ours, 4096).decode(errors="replace")
    stream.stdin.close()
    with suppress(OSError):  # so ends a terminal that the other side has closed
        while os.read(ours, 4096):
            pass
    os.close(ours)
    assert stream.wait(PATIENCE) == 0
    stream.stdout.close()
