"""Teach the rows of a file and print the memory of this process: a script of its own.

It imports nothing but minout and what it needs, so that what is measured is what a user's process
takes: `python -m benchmarks.stream_memory ROWS LABELS SETTINGS`. Each line that it prints is a JSON
object: the number of rows taught so far, or at the end all results.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from minout.features import Identity
from minout.learner import Learner

STATUS = Path("/proc/self/status")


def main(rows: str, labels: str, settings: str) -> None:
    """Teach float32 rows from a file, with labels from an NPY file and settings in JSON."""
    given = np.load(labels).tolist()
    row = np.empty(Path(rows).stat().st_size // (4 * len(given)), dtype=np.float32)
    learner = Learner(**json.loads(settings), features=Identity("float32"))
    before, start = _mb("VmRSS"), time.perf_counter()
    # Read, not mapped: the pages of a mapped file would count as this process's memory.
    with Path(rows).open("rb") as file:
        for done, y in enumerate(given, 1):
            file.readinto(row.data)
            learner.teach(row, y)
            if done % 500 == 0:
                _print(done=done)
    seconds, peak, after = time.perf_counter() - start, _mb("VmHWM"), _mb("VmRSS")
    learner.consolidate()
    _print(
        before_mb=before,
        peak_mb=peak,
        after_mb=after,
        peak_consolidated_mb=_mb("VmHWM"),
        seconds=seconds,
    )


def _mb(name: str) -> float | None:
    # Memory in MB now (VmRSS), or its peak (VmHWM); None where /proc does not have it.
    if not STATUS.is_file():
        return None
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[name].split()[0]) * 1024 / 1e6


def _print(**values: Any) -> None:
    print(json.dumps(values), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
