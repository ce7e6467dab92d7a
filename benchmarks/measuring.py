"""Wall time of a call, time of the least possible work, and memory of a fresh process."""

import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Array
from benchmarks.parts import Progress

T = TypeVar("T")
STATUS = Path("/proc/self/status")


def seconds_of(call: Callable[..., object], *arguments: Any) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def median_seconds(calls: Sequence[Callable[[Array], Any]], inputs: Sequence[Array]) -> list[float]:
    """Return the median wall time of each call over all inputs.

    The calls take turns, so that other load on the machine slows all of them. The first time is
    not counted: something may be compiled.
    """
    times = [[seconds_of(call, X) for call in calls] for X in (inputs[0], *inputs)]
    return [median(each) for each in zip(*times[1:], strict=True)]


class Floor(NamedTuple):
    """The least time that rows can take: `W @ x` for each, in seconds, by precision."""

    float32: float
    float64: float


def measure_floor(W: Array, rows: Array) -> Floor:
    """Multiply W (separators, d) with each of rows (n, d), on one thread."""
    with threadpool_limits(1):
        return Floor(
            _product_seconds(W.astype(np.float32), rows.astype(np.float32)),
            _product_seconds(W.astype(np.float64), rows.astype(np.float64)),
        )


def _product_seconds(W: Array, rows: Array) -> float:
    W @ rows[0]
    start = time.perf_counter()
    for x in rows:
        W @ x
    return time.perf_counter() - start


def in_fresh_process(function: Callable[..., T], *arguments: Any, progress: Progress) -> T:
    """Return function(*arguments, progress), computed by a new interpreter.

    Function, arguments and result are pickled, so the function must be at the top level of its
    module. Progress is passed on to the caller's callback.

    Raises
    ------
    ChildProcessError
        If the process ends without a result. An exception in it is raised here.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_child, args=(theirs, function, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        while True:
            kind, content = ours.recv()
            if kind == "done":
                result: T = content
                return result
            if kind == "failed":
                raise content
            progress(*content)
    except EOFError as error:
        process.join()
        raise ChildProcessError(
            f"A process that measures memory ended with exit code {process.exitcode}."
        ) from error
    finally:
        ours.close()
        process.join(10)


def resident_mb() -> float | None:
    """Return the current memory of this process in MB; None where /proc does not have it."""
    return _status("VmRSS")


def _status(name: str) -> float | None:
    if not STATUS.is_file():
        return None
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[name].split()[0]) * 1024 / 1e6


def _child(theirs: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        result = function(*arguments, lambda *words: theirs.send(("progress", words)))
    except Exception as error:
        error.add_note(traceback.format_exc())
        theirs.send(("failed", error))
    else:
        theirs.send(("done", result))
