"""Time, memory and progress of what is measured, and tables in Markdown."""

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple, TypeVar
from unittest import mock

import numpy as np
import rich.progress
from rich.console import Console

import minout

T = TypeVar("T")
ROOT = Path(__file__).parents[1]
BATCH = 100
"""Rows of one call of `partial_fit`."""


class Options(NamedTuple):
    """What a benchmark is run with: a folder of data or None, whether to be quick, and the seed."""

    data: Path | None = None
    small: bool = False
    seed: int = 0


class Table(NamedTuple):
    """A table of text; every row has a cell per word of the head."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""


def print_tables(name: str, run: Callable[[Options], Iterator[Table]], options: Options) -> None:
    """Run a benchmark, print each table when it is ready, and say how it was made."""
    start = time.perf_counter()
    for table in run(options):
        print(f"\n### {table.title}\n\n{markdown(table)}\n", flush=True)
        if table.note:
            print(f"{table.note}\n", flush=True)
    words = f"python -m benchmarks {name}"
    words += " --data FOLDER" * (options.data is not None) + " --small" * options.small
    print(
        f"`{words}`: seed {options.seed}, commit {commit()}, minout {minout.__version__}, "
        f"{os.cpu_count()} cores, {time.perf_counter() - start:.0f} s.",
        flush=True,
    )


def markdown(table: Table) -> str:
    """Return the rows of a table in Markdown."""
    lines = [table.head, ("---",) * len(table.head), *table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def commit() -> str:
    """Return the short name of the commit of the checkout, marked if files differ from it."""
    words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Yield the items; on a terminal, a bar on standard error shows how many are done.

    A bar inside another one is not shown.
    """
    console = Console(stderr=True)
    if _shown or not console.is_terminal:
        yield from items
        return
    _shown.append(what)
    try:
        yield from rich.progress.track(items, what, total, console=console, transient=True)
    finally:
        _shown.pop()


_shown: list[str] = []


def timed(call: Callable[..., T], *arguments: Any) -> tuple[float, T]:
    """Return the wall time of a call in seconds, and its result."""
    start = time.perf_counter()
    result = call(*arguments)
    return time.perf_counter() - start, result


def teach(model: Any, X: Any, y: Any, what: str = "teaching") -> list[float]:
    """Pass rows to `partial_fit` in their order, 100 a call; return the seconds of each call."""
    seconds = []
    for start in track(range(0, len(y), BATCH), what):
        rows = slice(start, start + BATCH)
        seconds.append(timed(model.partial_fit, X[rows], y[rows])[0])
    return seconds


def accuracy(model: Any, X: Any, y: Any) -> float:
    """Return the share of rows whose label is predicted."""
    return float(np.mean(model.predict(X) == np.asarray(y)))


def alone(function: Callable[[Options], T], options: Options) -> T:
    """Return function(options), computed by a new interpreter, so that its memory can be measured.

    With --small it is this one: starting another takes seconds.
    """
    return function(options) if options.small else in_fresh_process(function, options)


def in_fresh_process(function: Callable[..., T], *arguments: Any, **variables: str) -> T:
    """Return function(*arguments), computed by a new interpreter with environment variables set.

    Function, arguments and result are pickled.
    """
    with (
        mock.patch.dict(os.environ, variables),
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
    ):
        return pool.submit(function, *arguments).result()


def memory_mb(kind: str = "VmRSS", process: int | str = "self") -> float:
    """Return the memory of a process in MB now (VmRSS) or at its peak (VmHWM).

    It is NaN where /proc does not have it.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return float("nan")
    found = [line.split()[1] for line in lines if line.startswith(kind)]
    return int(found[0]) * 1024 / 1e6 if found else float("nan")


def bytes_of(path: Path) -> int:
    """Return the size of a file, or of all files of a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def percent(share: float, digits: int = 2) -> str:
    """Return a share as text: 0.5 is "50.00 %"."""
    return f"{100 * share:.{digits}f} %"


def spread(shares: Sequence[float], digits: int = 1) -> str:
    """Return mean and standard deviation of shares as text, in percent."""
    mean = f"{100 * fmean(shares):.{digits}f}"
    return f"{mean} ± {100 * stdev(shares):.{digits}f}" if len(shares) > 1 else mean


def ms(seconds: float) -> str:
    """Return seconds as text, in milliseconds with three digits."""
    return f"{1e3 * seconds:.3g}"


def yes(is_true: bool) -> str:
    """Return yes or NO."""
    return "yes" if is_true else "NO"
