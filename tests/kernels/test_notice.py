"""One line on standard error says that kernels are being compiled, if that takes long."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="is about compiled code"
)

LINE = "minout: compiling for this machine (kept for later runs); this takes some seconds …\n"
MODULE = """
import sys, time
from numba import njit
from numba.extending import overload
from minout.kernels import _compiled

_compiled.NOTICE_AFTER = {after}

def pause():
    ...

@overload(pause)
def _(): # numba calls this while it compiles
    time.sleep(0.15)
    return lambda: None

@{decorator}
def first(x):
    pause()
    return x

@{decorator}
def second(x):
    pause()
    return x

{before}
first(1)
print("ready", file=sys.__stderr__)
second(1)
first(1.0)
"""


def run(tmp_path, after=0.1, decorator="_compiled.compiled", before=""):
    script = MODULE.format(after=after, decorator=decorator, before=before)
    (tmp_path / "slow.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-B", "-c", "import slow"],
        cwd=tmp_path,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stderr


def test_a_long_compilation_is_announced_once_while_it_lasts_and_never_on_a_warm_start(tmp_path):
    assert run(tmp_path) == LINE + "ready\n"
    assert run(tmp_path) == "ready\n"


def test_a_short_compilation_is_not_announced(tmp_path):
    assert run(tmp_path, after=60.0) == "ready\n"


def test_functions_of_others_are_not_announced(tmp_path):
    assert run(tmp_path, decorator="njit") == "ready\n"


@pytest.mark.parametrize(
    "stream",
    ["sys.stderr = None", "sys.stderr = open('closed', 'w'); sys.stderr.close()"],
    ids=["none", "closed"],
)
def test_a_closed_standard_error_is_left_alone(tmp_path, stream):
    assert run(tmp_path, before=stream) == "ready\n"


def test_where_nothing_can_be_kept_the_line_does_not_say_that_it_is(tmp_path):
    uncached = "first = njit(first.py_func); _compiled.kernels.append(first)"
    assert run(tmp_path, before=uncached) == LINE.replace(" (kept for later runs)", "") + "ready\n"
