"""The command line: rows per second of a CSV of mixed columns, and what a small job costs."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from packaging.requirements import Requirement
from sklearn.datasets import load_iris

from benchmarks.data import Rng
from benchmarks.measuring import Options, Table, bytes_of, memory_mb, percent, timed, track
from minout import MinoutClassifier

NUMBERS, CATEGORIES, WORDS = 15, 10, 10
LABELS = np.array(["low", "middle", "high"])
ALONE = "import sys; sys.modules['pandas'] = None; "  # scikit-learn imports pandas if it is there
SETTINGS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
SETTINGS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
FIT = (
    f"{ALONE}import minout, numpy; data = numpy.loadtxt(sys.argv[1], delimiter=',', skiprows=1); "
    "X, y = data[:, :-1], data[:, -1]; minout.MinoutClassifier().fit(X, y).predict(X)"
)


class Ran(NamedTuple):
    """A command that ended well: its wall time, the peak of its memory, and what it printed."""

    seconds: float
    megabytes: float
    printed: str


def run(options: Options) -> Iterator[Table]:
    """Yield what starting costs, and then a line for each command."""
    yield starting(turns=1 if options.small else 9)
    count = 60 if options.small else 100_000
    frame = mixed_table(count, np.random.default_rng(options.seed))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        file, few = folder / "table.csv", folder / "few.csv"
        frame.to_csv(file, index=False, float_format="%.6g")
        frame[:100].to_csv(few, index=False, float_format="%.6g")
        if not options.small:
            minout("learn", folder / "few", few, "--label", "kind")
        model, label = folder / "model", ("--label", "kind")
        read_seconds, read = timed(pd.read_csv, file)
        rows = [("pandas.read_csv, alone", *_cells(read_seconds, count), "–")]
        jobs = {
            "minout learn": ("learn", model, file, *label),
            "minout predict": ("predict", model, file),
            "minout score": ("score", model, file, *label),
            "minout info": ("info", model),
            "minout --version": ("--version",),
        }
        names = list(jobs)[:2] if options.small else list(jobs)
        for name in track(names, "commands"):
            ran = minout(*jobs[name])
            is_file = name not in ("minout info", "minout --version")
            cells = _cells(ran.seconds, count if is_file else 0)
            rows.append((name, *cells, f"{ran.megabytes:,.0f} MB"))
        size = file.stat().st_size / 1e6
    fit_seconds, share = _in_python(read)
    rows.append(("MinoutClassifier().fit, in Python", *_cells(fit_seconds, count), "–"))
    yield Table(
        f"A CSV of {count:,} × {frame.shape[1] - 1} columns, {size:.1f} MB",
        ("what", "seconds", "rows per second", "peak memory"),
        rows,
        f"{NUMBERS} numbers (a tenth missing), {CATEGORIES} categories, two dates, two booleans "
        "and an identifier; three labels. Commands are timed whole, with starting Python and "
        f"writing the model. Of the rows learned, {percent(share, 1)} are predicted right.",
    )


def starting(turns: int) -> Table:
    """Measure new processes in turns, so that all sides meet the same load."""
    with tempfile.TemporaryDirectory() as made:
        file, model = Path(made, "iris.csv"), Path(made, "iris.minout")
        load_iris(as_frame=True).frame.to_csv(file, index=False)
        minout("learn", model, file, "--label", "target")
        script = str(Path(sys.executable).with_name("minout"))
        jobs = {
            "import sklearn.svm": [sys.executable, "-c", f"{ALONE}import sklearn.svm"],
            "import minout; fit; predict": [sys.executable, "-c", FIT, str(file)],
            "minout predict": [script, "predict", str(model), str(file)],
            "minout info": [script, "info", str(model)],
            "minout --help": [script, "--help"],
        }
        taken = [[_spent(job) for job in jobs.values()] for _ in track(range(turns), "turns")]
    cpu, wall = np.median(taken, axis=0).T
    rows = [
        (name, *(f"{value:.2f}" for value in (c, w, c / cpu[0], w / wall[0])))
        for name, c, w in zip(jobs, cpu, wall, strict=True)
    ]
    return Table(
        "Starting, with iris",
        ("what", "CPU seconds", "wall seconds", "CPU, ratio", "wall, ratio"),
        rows,
        f"Medians of {turns} new processes each, in turns, one BLAS thread, no pandas. What a "
        f"default install brings has {installed_mb('minout'):,.0f} MB, scikit-learn with what it "
        f"needs {installed_mb('scikit-learn'):,.0f} MB of them.",
    )


def _spent(command: list[str]) -> tuple[float, float]:
    # CPU and wall time of a process that ends well.
    start, before = time.perf_counter(), os.times()
    env = {**os.environ, **SETTINGS}
    subprocess.run(command, check=True, capture_output=True, env=env)
    wall, after = time.perf_counter() - start, os.times()
    own = after.children_user - before.children_user
    return own + after.children_system - before.children_system, wall


def installed_mb(name: str) -> float:
    """Return the size of a library and all that it needs, without extras."""
    found: dict[str, int] = {}
    names = [name]
    while names:
        each = names.pop().lower()
        if each not in found:
            library = distribution(each)
            paths = [Path(str(file.locate())) for file in library.files or ()]
            found[each] = sum(bytes_of(path) for path in paths)
            needs = [Requirement(need) for need in library.requires or ()]
            names += [n.name for n in needs if not n.marker or n.marker.evaluate({"extra": ""})]
    return sum(found.values()) / 1e6


def minout(*words: object) -> Ran:
    """Run a command of minout in a process of its own."""
    command = [str(Path(sys.executable).with_name("minout")), *map(str, words)]
    peak, start = 0.0, time.perf_counter()
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT)
        while process.poll() is None:
            peak = max(peak, memory_mb("VmHWM", process.pid))
            time.sleep(0.01)
        seconds = time.perf_counter() - start
        printed.seek(0)
        text = printed.read().decode()
    if process.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed:\n{text}")
    return Ran(seconds, peak, text)


def _cells(seconds: float, count: int) -> tuple[str, str]:
    return f"{seconds:.2f}", f"{count / seconds:,.0f}" if count else "–"


def _in_python(frame: pd.DataFrame) -> tuple[float, float]:
    X, y = frame.drop(columns="kind"), frame["kind"].to_numpy()
    seconds, model = timed(MinoutClassifier().fit, X, y)
    return seconds, float(np.mean(model.predict(X) == y))


def mixed_table(count: int, rng: Rng) -> pd.DataFrame:
    """Draw a table of mixed columns with its label in the last, in random order.

    The label depends on a third of the numbers and categories, a boolean and the time of year.
    """
    y = rng.integers(3, size=count)
    columns: dict[str, object] = {"customer": [f"c-{n:07}" for n in rng.permutation(count)]}
    for n in range(NUMBERS):
        values = (n % 3 == 0) * rng.normal(size=3)[y] + rng.normal(size=count) + rng.normal()
        values *= 10.0 ** rng.integers(-3, 5)
        columns[f"number {n}"] = np.where(rng.random(count) < 0.1, np.nan, values)
    for n in range(CATEGORIES):
        chances = rng.dirichlet(np.ones(WORDS), size=3)
        ends = chances.cumsum(axis=1)[y if n % 3 == 1 else 0 * y]
        word = (rng.random((count, 1)) > ends[:, :-1]).sum(axis=1)
        columns[f"category {n}"] = [f"value {each}" for each in word]
    day = np.datetime64("2024-01-01")
    columns["born"] = (day + (120 * y + rng.integers(180, size=count)) % 365).astype(str)
    columns["seen"] = (day + rng.integers(365, size=count)).astype(str)
    columns["paid"] = np.where(rng.random(count) < np.array([0.2, 0.5, 0.8])[y], "true", "false")
    columns["called"] = np.where(rng.random(count) < 0.5, "yes", "no")
    return pd.DataFrame(columns | {"kind": LABELS[y]})
