"""Read a CSV, or learn it, and print seconds and memory of this process: a script of its own.

It imports nothing but what it measures: `python -m benchmarks.csv_process WAY FILE [MODEL …]`. It
prints a JSON object.
"""

import contextlib
import io
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

STATUS = Path("/proc/self/status")
LABEL = "kind"


def main(way: str, *words: str) -> None:
    """Measure "pandas" FILE, "reader" FILE, or "learn" FILE MODEL OPTION …"""
    seconds, rows = WAYS[way](*words)
    print(json.dumps({"seconds": seconds, "rows": rows, "peak_mb": _peak_mb()}))


def _pandas(file: str) -> tuple[float, int]:
    import pandas as pd

    start = time.perf_counter()
    frame = pd.read_csv(file)
    return time.perf_counter() - start, len(frame)


def _reader(file: str) -> tuple[float, int]:
    from minout.streams.files import read

    start = time.perf_counter()
    with read(file, label=LABEL, rows="records") as reader:
        rows = sum(1 for _ in reader)
    return time.perf_counter() - start, rows


def _learn(file: str, model: str, *options: str) -> tuple[float, int]:
    # The command as in a shell: its imports, and writing the model, are part of its time.
    start = time.perf_counter()
    from minout.cli import main as minout

    words = ["minout", "learn", model, file, "--label", LABEL, "--json", *options]
    printed = io.StringIO()
    with mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(printed):
        try:
            minout()
        except SystemExit as ended:
            if ended.code:
                raise
    return time.perf_counter() - start, json.loads(printed.getvalue())["taught"]


def _peak_mb() -> float | None:
    # In MB; None where /proc does not have it.
    if not STATUS.is_file():
        return None
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) * 1024 / 1e6


WAYS: dict[str, Callable[..., Any]] = {"pandas": _pandas, "reader": _reader, "learn": _learn}

if __name__ == "__main__":
    main(*sys.argv[1:])
