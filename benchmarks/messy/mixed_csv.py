"""A CSV of numbers, categories, dates, booleans and an identifier: rows per second of learning."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.csv_process import LABEL
from benchmarks.data import Array, Ints
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, mb

Kinds = Literal["mixed", "numbers"]

NUMBERS, CATEGORIES, VALUES, CLASSES = 15, 10, 10, 3
MISSING = 0.1
RARE, LATE = 0.005, 0.8
"""The last value of every third category: its share, and after which share of the rows it comes."""
LEARN = "minout learn"
WAYS = {
    "pandas.read_csv": ("pandas", ()),
    "minout's reader": ("reader", ()),
    f"{LEARN} --no-consolidate": ("learn", ("--no-consolidate",)),
    LEARN: ("learn", ()),
}
ROOT = Path(__file__).parents[2]


class MixedCsvRow(NamedTuple):
    """One way through a CSV, in a process of its own; `peak_mb` is that of the whole process."""

    seed: int
    way: str
    rows: int
    columns: int
    megabytes: float
    seconds: float
    peak_mb: float | None


def measure(rows: int, kinds: Kinds, seed: int, progress: Progress) -> list[MixedCsvRow]:
    """Write a file once, and read and learn it in processes of their own.

    The first rows are learned once before, untimed, so that nothing is compiled later.
    """
    frame = mixed_table(rows, kinds, np.random.default_rng(seed))
    found = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        file, few = folder / "table.csv", folder / "few.csv"
        frame.to_csv(file, index=False, float_format="%.6g")
        frame[: max(rows // 50, 100)].to_csv(few, index=False, float_format="%.6g")
        run_alone("learn", few, folder / "few")
        for done, (way, (name, options)) in enumerate(WAYS.items()):
            progress(f"CSV, {way}", done, len(WAYS))
            model = [folder / f"model {done}"] if name == "learn" else []
            said = run_alone(name, file, *model, *options)
            size = file.stat().st_size / 1e6
            shape = said["rows"], frame.shape[1] - 1, size
            found.append(MixedCsvRow(seed, way, *shape, said["seconds"], said["peak_mb"]))
    return found


def run_alone(*words: object) -> dict[str, Any]:
    """Return what `python -m benchmarks.csv_process` prints; its error is raised here."""
    command = [sys.executable, "-m", "benchmarks.csv_process", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise ChildProcessError(f"`{' '.join(command[1:])}` failed: {last}")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def mixed_table(rows: int, kinds: Kinds, rng: np.random.Generator) -> pd.DataFrame:
    """Return a table with its label in the last column, in random order.

    The label depends on a third of the numbers and of the categories, on a boolean and on the time
    of year. The "numbers" are the number columns alone, none missing.
    """
    y = rng.integers(CLASSES, size=rows)
    numbers = _numbers(y, rng)
    if kinds == "mixed":
        columns = {
            "customer": [f"customer-{n:07}" for n in rng.permutation(rows)],
            **{name: _some_missing(values, rng) for name, values in numbers.items()},
            **_categories(y, rng),
            **_dates(y, rng),
            **_booleans(y, rng),
        }
    else:
        columns = dict(numbers)
    columns[LABEL] = np.array(["low", "middle", "high"], dtype=object)[y]
    return pd.DataFrame(columns)


def tables(rows: Sequence[MixedCsvRow]) -> list[Table]:
    """Return a line for each way, with its time as a multiple of pandas's."""
    pandas = rows[0].seconds
    lines = [
        (
            row.way,
            f"{row.seconds:.2f} s",
            f"{row.rows / row.seconds:,.0f}",
            f"{row.seconds / pandas:.1f}",
            mb(row.peak_mb),
        )
        for row in rows
    ]
    first = rows[0]
    title = f"A CSV of {first.rows:,} × {first.columns} columns, {first.megabytes:.0f} MB"
    head = ("way", "time", "rows per second", "time / pandas", "peak memory")
    note = (
        "Each in a process of its own. Reading is timed without imports, `minout learn` with them "
        "and with writing the model. Memory is that of the whole process. Nothing is compiled."
    )
    return [Table(title, head, lines, note)]


def goals(_: Sequence[MixedCsvRow]) -> list[Goal]:
    """Return no goals: no bound was set for these numbers."""
    return []


def _numbers(y: Ints, rng: np.random.Generator) -> dict[str, Array]:
    found = {}
    for n in range(NUMBERS):
        apart = 1.0 if n % 3 == 0 else 0.0
        values = apart * rng.normal(size=CLASSES)[y] + rng.normal(size=len(y))
        unit, origin = 10.0 ** rng.integers(-3, 5), rng.normal()
        found[f"number {n}"] = unit * (values + 3 * origin)
    return found


def _some_missing(values: Array, rng: np.random.Generator) -> Array:
    return np.where(rng.random(len(values)) < MISSING, np.nan, values)


def _categories(y: Ints, rng: np.random.Generator) -> dict[str, Any]:
    found = {}
    late = np.arange(len(y)) >= LATE * len(y)
    for n in range(CATEGORIES):
        says_something, has_rare = n % 3 == 1, n % 3 == 0
        usual = VALUES - 1 if has_rare else VALUES
        chances = rng.dirichlet(np.ones(usual), size=CLASSES)
        if not says_something:
            chances[:] = chances[0]
        ends = np.cumsum(chances, axis=1)[y]
        drawn = (rng.random(len(y))[:, None] > ends[:, :-1]).sum(axis=1)
        if has_rare:
            drawn[late & (rng.random(len(y)) < RARE / (1 - LATE))] = VALUES - 1
        words = np.array([f"value {k}" for k in range(VALUES)], dtype=object)
        found[f"category {n}"] = words[drawn]
    return found


def _dates(y: Ints, rng: np.random.Generator) -> dict[str, Any]:
    day = np.datetime64("2024-01-01")
    season = (120 * y + rng.integers(180, size=len(y))) % 365
    seconds = rng.integers(365 * 86_400, size=len(y))
    return {
        "born": (day + season).astype(str),
        "seen": (day.astype("datetime64[s]") + seconds).astype(str),
    }


def _booleans(y: Ints, rng: np.random.Generator) -> dict[str, Any]:
    says_something = rng.random(len(y)) < np.array([0.2, 0.5, 0.8])[y]
    nothing = rng.random(len(y)) < 0.5
    return {
        "paid": np.where(says_something, "true", "false"),
        "called": np.where(nothing, "yes", "no"),
    }
