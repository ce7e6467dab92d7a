"""A function in a process of its own, so that its memory is its own."""

import traceback
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from minout.bench.engine.tell import Tell

T = TypeVar("T")
STATUS = Path("/proc/self/status")


def in_fresh_process(function: Callable[..., T], *arguments: Any, tell: Tell) -> T:
    """Gives function(*arguments, tell), worked out by a new interpreter.

    What it tells is passed on. Function, arguments and result are pickled, so the function stands
    at the top of its file.
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
            tell(*content)
    except EOFError as error:
        process.join()
        raise ChildProcessError(
            f"A process that was to measure its memory ended with exit code {process.exitcode}."
        ) from error
    finally:
        ours.close()
        process.join(10)


def resident_mb() -> float | None:
    """Is the memory that this process has now, in MB; None where /proc does not tell."""
    return _status("VmRSS")


def peak_mb() -> float | None:
    """Is the most that it ever had, in MB. (getrusage would begin with the parent's.)"""
    return _status("VmHWM")


def _status(name: str) -> float | None:
    if not STATUS.is_file():
        return None
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[name].split()[0]) * 1024 / 1e6


def _child(theirs: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        result = function(*arguments, lambda *told: theirs.send(("tell", told)))
    except Exception as error:
        error.add_note(traceback.format_exc())
        theirs.send(("failed", error))
    else:
        theirs.send(("done", result))
