"""Where the time of a stream goes, by kind of work, in the thread that teaches."""

import cProfile
import pstats
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.data import in_label_order
from benchmarks.engine.inputs import Inputs
from benchmarks.learners import new_learner, teach
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table

OTHER = "steps, checks of input and reports, in Python"
WORK = {
    "check.py": "margins computed in the fixed order",
    "reference.py": "bounds on margins",
    "sketch.py": "sketches of rows, and bounds from them",
    "images.py": "products K(x - origin) of pooled rows",
    "pool.py": "solves of large pools",
    "batch.py": "solves of small pools and their checks",
    "moments.py": "sums for the covariance",
    "choice.py": "cross-validation",
    "geometry.py": "metric and priors",
    "examples.py": "storing rows",
    "threads.py": "handing work to the other thread, and waiting for it",
}
"""The module that does each kind of work; all others are OTHER."""
MOST_CALLERS = 8
"""A function outside of minout is a part of a caller's caller at most so far away."""
Function = tuple[str, int, str]
Stats = Mapping[Function, tuple[Any, ...]]


class ProfileRow(NamedTuple):
    """The seconds of one kind of work while a stream is taught, profiled."""

    features: str
    examples: int
    work: str
    seconds: float
    share: float


def measure(inputs: Inputs, progress: Progress) -> list[ProfileRow]:
    """Teach each kind of features in label order, with default settings."""
    inputs.compile(progress)
    rows = []
    for features in dict.fromkeys((inputs.settings.features, "raw")):
        data = inputs.features(features, progress)
        order = in_label_order(data.labels)
        profile, learner = cProfile.Profile(), new_learner()
        X, y = data.rows[order], data.labels[order]
        profile.runcall(teach, learner, X, y, progress, what=f"profile, {features}")
        seconds = _by_work(pstats.Stats(profile).stats)  # type: ignore[attr-defined]
        total = sum(seconds.values())
        rows += [
            ProfileRow(features, len(order), work, spent, spent / total)
            for work, spent in sorted(seconds.items(), key=lambda each: -each[1])
        ]
    return rows


def _by_work(stats: Stats) -> dict[str, float]:
    # Time inside a function, without the functions it calls.
    seconds: dict[str, float] = defaultdict(float)
    for function, (_, _, own, _, _) in stats.items():
        for work, share in _works_of(function, stats, MOST_CALLERS).items():
            seconds[work] += own * share
    return dict(seconds)


def _works_of(function: Function, stats: Stats, depth: int) -> dict[str, float]:
    # The kinds of work that a function is a part of, and the share of each. A compiled kernel, or a
    # function outside of minout, is a part of what its callers do.
    file, callers = Path(function[0]), stats[function][4]
    is_ours = file.name in WORK or ("minout" in file.parts and "kernels" not in file.parts)
    if is_ours or not callers or not depth:
        return {WORK.get(file.name, OTHER): 1.0}
    total = sum(ct for _, _, _, ct in callers.values())
    shares: dict[str, float] = defaultdict(float)
    for caller, (_, _, _, ct) in callers.items():
        for work, share in _works_of(caller, stats, depth - 1).items():
            shares[work] += share * (ct / total if total else 1.0 / len(callers))
    return shares


def tables(rows: Sequence[ProfileRow]) -> list[Table]:
    """Return a table for each kind of features."""
    note = (
        "Label order, default settings. The time of the thread that teaches, with the profiler's "
        "own; a second thread does a share of most kinds of work meanwhile."
    )
    return [
        Table(
            f"16. Profile of the stream, {features}",
            ("work", "seconds", "share"),
            [
                (row.work, f"{row.seconds:.2f}", f"{100 * row.share:.0f} %")
                for row in rows
                if row.features == features
            ],
            note,
        )
        for features in dict.fromkeys(row.features for row in rows)
    ]


def goals(rows: Sequence[ProfileRow]) -> list[Goal]:  # noqa: ARG001 - parts have the same shape
    """Return no goal: a profile is for reading."""
    return []
