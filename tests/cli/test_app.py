"""The command line itself: help, options, exit codes, what people and scripts read."""

import inspect
import json
import os
import signal
import subprocess
import sys
from functools import partial

import pytest
from rich.console import Console

import minout
from minout.cli import app as cli
from minout.cli import inspection, output
from minout.errors import UnwritableError
from tests.cli.conftest import invoke

MAIN = "from minout.cli import main; main()"
SCIPY = ("linalg", "optimize", "sparse", "fft", "spatial", "special", "stats")
SAME = ("--label", "--id", "--features", "--encoding", "--decimal", "--skip-bad", "--json")
ANNOUNCED = """
import sys

class Announce:
    asked = None

    def find_spec(self, name, path=None, target=None):
        if name == "minout.cli.app":
            self.asked = 0
        if self.asked is not None:
            self.asked += 1
            if self.asked == {count}:
                print("now", flush=True)
                sys.stdin.readline()

sys.meta_path.insert(0, Announce())
from minout.cli import main
main()
"""


def options_of(name):
    return [each for each in cli.load_command(name).params if each.param_type_name == "option"]


def test_there_are_fourteen_commands_of_at_most_ten_options():
    assert len(cli.COMMANDS) == 14
    for name in cli.COMMANDS:
        assert len(options_of(name)) <= 10, name


def test_an_option_means_the_same_in_every_command():
    meanings = {}
    for name in cli.COMMANDS:
        for each in options_of(name):
            for word in set(each.opts) & set(SAME):
                meanings.setdefault(word, set()).add((each.help, each.metavar))
    assert len(meanings) == len(SAME)
    assert all(len(each) == 1 for each in meanings.values())


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself_with_an_example(name):
    told = inspect.getdoc(cli.load_command(name).callback)
    assert cli.COMMANDS[name][1] == told.partition("\n")[0]
    assert f"Example: minout {name} " in f"{told} "


def loaded_by(*words):
    code = "import atexit, sys\natexit.register(lambda: print('\\nloaded', *sys.modules))\n" + MAIN
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=True
    )
    return set(done.stdout.rpartition("\nloaded ")[2].split())


def test_help_and_version_import_nothing_heavy():
    loaded = loaded_by("--help")
    assert "typer" in loaded
    assert not {"numpy", "scipy", "minout.learner"}.intersection(loaded)
    assert invoke("--version").output.strip() == minout.__version__


def test_predictions_import_no_part_of_scipy_and_no_command_scikit_learn(
    wines, wine_rows, write_csv
):
    file = write_csv("few.csv", wine_rows[:9])
    for words in (
        ["predict", wines, file],
        ["copy", wines, f"{wines}-copy"],
        ["explain", wines, file, "--row", 1],
    ):
        loaded = loaded_by(*words)
        assert "minout.learner" in loaded
        assert not {f"scipy.{each}" for each in SCIPY}.intersection(loaded)
        assert "sklearn" not in loaded
    for words in (["list", wines], ["info", wines], ["audit", wines], ["consolidate", wines]):
        assert "sklearn" not in loaded_by(*words)


def test_mistakes_have_exit_codes_and_one_line(monkeypatch, capsys):
    assert invoke("learn").exit_code == 2
    assert invoke("explain", "m", "x.csv", "--row", "0").exit_code == 2
    monkeypatch.setattr("sys.argv", ["minout", "predict", "nowhere[bold]", "x.csv"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    told = capsys.readouterr().err
    assert ended.value.code == 1
    assert told.startswith("error: ")
    assert "nowhere[bold]" in told
    assert len(told.strip().splitlines()) == 1


def interrupted(code, *words, **env):
    """Start a command, send SIGINT when it prints "now", and return how it ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE),
        env={**os.environ, **env},
        text=True,
    )
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(input="go on\n", timeout=60)
    return process.returncode, errors


@pytest.mark.parametrize("count", [1, 400])
def test_ctrl_c_at_the_nth_import_ends_it_without_a_traceback(count):
    ended = interrupted(ANNOUNCED.format(count=count), "predict", "model", "x.csv")
    assert ended == (-signal.SIGINT, "")


def test_a_command_that_ignores_ctrl_c_from_its_start_goes_on_ignoring_it(tmp_path):
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    code, errors = interrupted(
        ignoring + ANNOUNCED.format(count=100), "predict", str(tmp_path / "m"), "x.csv"
    )
    assert (code, errors.startswith("error: ")) == (1, True)


def test_ctrl_c_while_a_command_runs_is_one_line_too(monkeypatch):
    def interrupt(model):
        raise KeyboardInterrupt

    monkeypatch.setattr(inspection, "load_model", interrupt)
    ended = invoke("info", "model")
    assert (ended.exit_code, ended.stderr) == (130, "Stopped.\n")


ESC = "\x1b[31mred\x07"
SHOWN = "\\x1b[31mred\\x07"


@pytest.fixture
def coloured(write_csv, run, tmp_path):
    """A model whose labels and ids hold escape sequences, and its file."""
    rows = [["a", "kind", "n"], [1, ESC, f"{ESC}1"], [2, "y", "q"], [3, "y", f"{ESC}2"]]
    file = write_csv("c.csv", rows)
    run("learn", tmp_path / "c", file, "--label", "kind", "--id", "n")
    return tmp_path / "c", file


def test_people_see_control_characters_escaped_and_scripts_get_them_exactly(
    run, run_json, coloured, monkeypatch, tmp_path, refused
):
    model, file = coloured
    assert ESC in run("predict", model, file)
    assert ESC in run_json("info", model)["classes"]
    terminal = partial(Console, force_terminal=True, color_system=None, width=200)
    monkeypatch.setattr(output, "Console", terminal)
    for words in (["info", model], ["list", model], ["predict", model, file]):
        drawn = run(*words)
        assert SHOWN in drawn
        assert "\x1b[31mred" not in drawn
        assert "\x07" not in drawn
    assert SHOWN in run("score", model, file)


def test_errors_and_notes_show_control_characters_escaped(capsys, monkeypatch, tmp_path):
    output.errors.cache_clear()
    monkeypatch.setattr("sys.argv", ["minout", "info", str(tmp_path / ESC)])
    with pytest.raises(SystemExit):
        cli.main()
    told = capsys.readouterr().err
    assert SHOWN in told
    assert "\x07" not in told


def test_a_reader_that_leaves_ends_it_quietly(wines, wine_rows, write_csv):
    file = write_csv("many.csv", [wine_rows[0], *wine_rows[1:] * 40])
    pipe = subprocess.Popen(
        [sys.executable, "-c", MAIN, "predict", str(wines), str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert pipe.stdout.readline() == b"line,id,label,probability\n"
    pipe.stdout.close()
    assert pipe.stderr.read() == b""
    pipe.stderr.close()
    assert pipe.wait() == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk to write to")
def test_output_that_cannot_be_written_is_one_sentence(wines, monkeypatch, refused):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, "info", str(wines)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error: The output could not be written: No space left")
    assert len(done.stderr.strip().splitlines()) == 1
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UnwritableError, match="Standard output is closed"):
        output.command(print)()


def test_json_has_null_for_what_is_no_number():
    row = {"a": float("nan"), "b": [float("inf"), 1], "c": (1, "x")}
    assert json.loads(json.dumps(output.plain(row))) == {"a": None, "b": [None, 1], "c": [1, "x"]}
