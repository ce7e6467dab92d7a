"""Names of tests: the same in every process, whatever its clock, hash seed and folder.

Two processes of pytest-xdist that collect different names refuse to run. To collect the whole suite
takes 10 s or more, so one folder stands for it; MINOUT_TEST_ALL_IDS=1 collects everything.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ["tests/files"]
COLLECT = """
import sys, time
later, real, real_ns = float(sys.argv[1]), time.time, time.time_ns
time.time = lambda: real() + later
time.time_ns = lambda: real_ns() + int(later * 1e9)
import pytest
sys.exit(pytest.main(sys.argv[2:]))
"""


def collecting(seed, later, cwd):
    """Start a process that lists the names of tests."""
    asked = ["tests"] if os.environ.get("MINOUT_TEST_ALL_IDS") else FOLDERS
    options = ["--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    options += [f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml")]
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            COLLECT,
            str(later),
            *options,
            *(str(ROOT / each) for each in asked),
        ],
        cwd=cwd,
        env=env | {"PYTHONHASHSEED": str(seed)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_names_depend_on_neither_clock_nor_hash_seed_nor_folder(tmp_path):
    started = [collecting(1, 0, ROOT), collecting(2, 100_000, tmp_path)]
    first, second = (
        [line.partition("::")[2] for line in each.communicate(timeout=300)[0].splitlines()]
        for each in started
    )
    assert [each.returncode for each in started] == [0, 0]
    assert len(first) > 50
    assert first == second


def test_names_hold_no_bytes_and_no_addresses(request):
    names = [item.callspec.id for item in request.session.items if hasattr(item, "callspec")]
    wrong = [name for name in names if re.search(r"\\x|0x[0-9a-f]{6}", name)]
    assert wrong == []
