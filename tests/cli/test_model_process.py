"""The commands as processes: Ctrl-C, pipes and terminals."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time

import pytest

from minout import Learner

MINOUT = [sys.executable, "-c", "from minout.cli import main; main()"]
PATIENCE = 120.0
"""After so many seconds a process that should have ended long ago is ended."""


def start(*words, **options):
    return subprocess.Popen([*MINOUT, *map(str, words)], **options)


def finish(*words, **options):
    done = subprocess.run(
        [*MINOUT, *map(str, words)], capture_output=True, text=True, check=False, **options
    )
    assert "Traceback" not in done.stderr
    return done


class Fed:
    """A `minout learn MODEL -` whose standard input stays open, and whose bar we can see."""

    def __init__(self, model, lines, columns=200):
        self._ours, theirs = pty.openpty()
        self.process = start(
            "learn",
            model,
            "-",
            "--label=kind",
            "--id=n",
            "--json",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns)},
        )
        os.close(theirs)
        self._patience = threading.Timer(PATIENCE, self.process.kill)  # so that nothing hangs
        self._patience.start()
        self.seen = ""
        self.write(lines)

    def write(self, lines):
        self.process.stdin.write("".join(lines).encode())
        self.process.stdin.flush()

    def sees(self, pattern, seconds=PATIENCE):
        until = time.monotonic() + seconds
        while not re.search(pattern, self.seen):
            ready, _, _ = select.select([self._ours], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return False
            self.seen += os.read(self._ours, 4096).decode(errors="replace")
        return True

    def end(self):
        # Reads on, so that a process that still draws does not wait for us.
        try:
            while more := os.read(self._ours, 4096):
                self.seen += more.decode(errors="replace")
        except OSError:
            pass  # how a terminal says that the other side has closed it
        os.close(self._ours)
        told = self.process.stdout.read()
        self.process.stdin.close()
        self.process.stdout.close()
        self._patience.cancel()
        return self.process.wait(), json.loads(told)


@pytest.fixture
def lines():
    examples = (
        {"n": i, "a": i % 7, "b": i % 3, "kind": "cat" if i % 7 > 3 else "dog"} for i in range(40)
    )
    return [json.dumps(each) + "\n" for each in examples]


@pytest.fixture
def fed(tmp_path, lines):
    return Fed(tmp_path / "m", lines[:30])


def test_ctrl_c_while_it_waits_keeps_every_whole_example(fed, tmp_path, lines):
    assert fed.sees(r"[1-9]\d* examples?, .*\d/s, misfits \d+")
    for count in range(31, 100):  # the bar shows a count now and then: until it shows the last one
        fed.write(lines[30:31])
        if fed.sees(rf"\b{count} examples", seconds=1.0):
            break
    fed.process.send_signal(signal.SIGINT)
    code, told = fed.end()
    assert code == 130
    assert "Traceback" not in fed.seen
    assert "Start it again to continue" in fed.seen
    assert "--from-line" not in fed.seen
    assert (told["taught"], told["known"]) == (31, count - 31)
    kept = Learner.open(tmp_path / "m", read_only=True)
    again = Learner()
    for line in lines[:31]:
        said = json.loads(line)
        again.teach([said["a"], said["b"]], said["kind"], id=said["n"])
    rows = [[a, b] for a in range(7) for b in range(3)]
    assert (kept.scores(rows) == again.scores(rows)).all()
    rest = finish("learn", tmp_path / "m", "-", "--json", input="".join(lines))
    assert json.loads(rest.stdout)["examples"] == 40


def test_a_bar_of_80_columns_shows_the_share_and_the_misfits(tmp_path, lines):
    fed = Fed(tmp_path / "m", lines, columns=80)
    assert fed.sees(r"examples, \d+\.\d% right, [\d,]+/s, misfits \d+ ", seconds=60.0)
    fed.process.send_signal(signal.SIGINT)
    assert fed.end()[0] == 130


def test_a_reader_that_leaves_ends_it_quietly(tmp_path, lines, run):
    run("learn", tmp_path / "m", "-", "--label=kind", input="".join(lines))
    many = "".join(lines) * 500
    (tmp_path / "many.jsonl").write_text(many)
    pipe = start(
        "predict",
        tmp_path / "m",
        tmp_path / "many.jsonl",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert pipe.stdout.readline() == b"line,id,label,probability,score:cat,score:dog\n"
    pipe.stdout.close()
    assert pipe.stderr.read() == b""
    pipe.stderr.close()
    assert pipe.wait() == 0


def test_piped_output_is_plain(tmp_path, lines, run):
    # The first start on a machine has one more line, which says that kernels are being compiled.
    run("learn", tmp_path / "first", "-", "--label=kind", input="".join(lines))
    words = ["learn", tmp_path / "m", "-", "--label=kind"]
    done = finish(*words, input="".join(lines), env={**os.environ, "TERM": "xterm"})
    assert done.returncode == 0
    assert done.stderr == (
        "Columns of numbers: n, a, b (3); label: kind; id: none, so examples are numbered.\n"
    )
    assert done.stdout.startswith("Taught 40 examples")
    assert "\x1b" not in done.stdout
    table = finish("suspects", tmp_path / "m")
    assert table.stdout.startswith("id,label,probability,suggested_label,slack\n")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["learn"], 2),
        (["predict", "m", "x.csv", "--colour"], 2),
        (["explain", "m", "x.csv", "--row", "0"], 2),
        (["predict", "nowhere", "x.csv"], 1),
        (["--version"], 0),
    ],
)
def test_exit_codes(tmp_path, words, code):
    assert finish(*words, cwd=tmp_path).returncode == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk to write to")
def test_output_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "f.csv").write_text("a,kind\n1,é\n2,b\n3,é\n", encoding="utf-8")
    model, data = tmp_path / "m", tmp_path / "f.csv"
    shell = 'exec "$0" -c "from minout.cli import main; main()" "$@"'

    def ends(redirected, *words, **env):
        done = subprocess.run(
            ["sh", "-c", f"{shell} {redirected}", sys.executable, *map(str, words)],
            capture_output=True,
            env={**os.environ, **env},
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("error: ")
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
        return done.stderr

    assert "No space left" in ends(">/dev/full", "learn", model, data, "--label=kind")
    assert "No space left" in ends(">/dev/full", "predict", model, data)
    assert "No space left" in ends(">/dev/full", "info", model, "--json")
    assert "Standard output is closed" in ends(">&-", "info", model)
    assert "Standard input is closed" in ends("<&-", "predict", model, "-")
    said = ends("", "predict", model, data, PYTHONIOENCODING="ascii")
    assert "Standard output is ascii, which cannot write '\\xe9'" in said
