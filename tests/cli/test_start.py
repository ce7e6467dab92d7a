"""The start of a command: Ctrl-C while its modules are imported, and what is not imported."""

import inspect
import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from minout.cli import app as cli
from minout.cli import inspect_model

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
SLOW = "import time\nprint('now', flush=True)\nwhile True:\n    time.sleep(0.01)\n"


def interrupted(code, *words, **env):
    """Start a command, send SIGINT when it prints "now", and return how it ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **env},
        text=True,
    )
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(input="go on\n", timeout=60)
    return process.returncode, errors


@pytest.mark.parametrize("count", [1, 20, 100, 250, 400, 600, 900])
def test_ctrl_c_at_the_nth_import_is_one_line(count):
    ended = interrupted(ANNOUNCED.format(count=count), "predict", "model", "x.csv")
    assert ended == (130, "Stopped.\n")


@pytest.mark.parametrize("name", ["typer", "numpy", "numba", "scipy"])
def test_ctrl_c_during_a_slow_import_is_one_line(tmp_path, name):
    (tmp_path / f"{name}.py").write_text(SLOW)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    code = "from minout.cli import main; main()"
    assert interrupted(code, "predict", "model", "x.csv", PYTHONPATH=path) == (130, "Stopped.\n")


def test_a_command_that_ignores_ctrl_c_from_its_start_goes_on_ignoring_it(tmp_path):
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    code, errors = interrupted(
        ignoring + ANNOUNCED.format(count=100), "predict", str(tmp_path / "m"), "x.csv"
    )
    assert (code, errors.startswith("error: ")) == (1, True)


def test_ctrl_c_while_a_command_runs_is_one_line_too(monkeypatch):
    def interrupt(model):
        raise KeyboardInterrupt

    monkeypatch.setattr(inspect_model, "load_model", interrupt)
    ended = CliRunner().invoke(cli.app, ["info", "model"])
    assert (ended.exit_code, ended.stderr) == (130, "Stopped.\n")


def test_ctrl_c_with_closed_standard_error_ends_it_too():
    closing = "import os; os.close(2)\n"
    assert interrupted(closing + ANNOUNCED.format(count=100), "predict", "m", "x.csv") == (130, "")


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_the_list_of_commands_has_the_first_line_of_each_help(name):
    told = inspect.getdoc(cli.load_command(name).callback).partition("\n")[0]
    assert cli.COMMANDS[name].help == told


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["no-such-command"]])
def test_help_and_version_import_nothing_heavy(words):
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('\\nloaded', *sys.modules))\n"
        "from minout.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    loaded = done.stdout.rpartition("\nloaded ")[2].split()
    assert "typer" in loaded
    assert not {"numpy", "numba", "scipy", "minout.learner"}.intersection(loaded)
