"""The kernels as plain Python, where an index out of bounds cannot hide."""

import os
import subprocess
import sys
from pathlib import Path


def test_kernels_pass_the_same_tests_uncompiled():
    here = Path(__file__)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
            *("--hypothesis-profile=quick", f"--ignore={here}", str(here.parent)),
        ],
        cwd=here.parents[2],
        env=env | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout
