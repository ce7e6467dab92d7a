"""Damaged and forged copies of stored models: which are noticed, and which do harm.

`tests/faults` makes the copies and opens them in child processes; its `trial.py` says what the
words of the table mean.
"""

import os
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.measuring import in_fresh_process
from benchmarks.parts import Progress, worth_showing
from benchmarks.tables import Goal, Table
from tests.faults.copies import ONE_FILE, copies
from tests.faults.models import MODELS, MORE_MODELS, questions
from tests.faults.trial import BAD, Trials, Verdict, counted

SHOWN = 20
"""So many copies that do harm are described."""


class CopiesRow(NamedTuple):
    """The copies of one kind: how many were tried, and what came of them."""

    kind: str
    tried: int
    noticed: int
    identical: int
    plausible: int
    bad: int
    megabytes: float
    examples: tuple[str, ...] = ()


def measure(count: int, seed: int, progress: Progress) -> list[CopiesRow]:
    """Try copies of ten models, about as many of each."""
    models = {**MODELS, **MORE_MODELS}
    verdicts: dict[str, list[Verdict]] = defaultdict(list)
    harm: dict[str, list[str]] = defaultdict(list)
    done = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, (model, make) in enumerate(models.items()):
            make().save(folder / model)
            share = count * (number + 1) // len(models) - count * number // len(models)
            with Trials(ONE_FILE, folder / model, questions(model), seconds=60.0) as trials:
                for copy in copies(folder / model, folder, share, seed):
                    verdict = trials.of(copy)
                    copy.path.unlink(missing_ok=True)
                    verdicts[copy.kind].append(verdict)
                    if verdict.word == BAD:
                        harm[copy.kind].append(f"{model}: {copy.change}: {verdict.why}")
                    done += 1
                    if worth_showing(done, count):
                        progress("copies", done, count)
    return [_row(kind, verdicts[kind], harm[kind]) for kind in sorted(verdicts)]


def measure_with_bounds(count: int, seed: int, progress: Progress) -> list[CopiesRow]:
    """Try copies in a fresh process whose kernels check every index."""
    with tempfile.TemporaryDirectory() as cache:
        checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": cache}
        with patch.dict(os.environ, checked):
            return in_fresh_process(measure, count, seed, progress=progress)


def tables(rows: Sequence[CopiesRow]) -> list[Table]:
    """Return what came of the copies by kind, and the copies that do harm."""
    head = ("copies", "tried", "noticed", "identical", "plausible", "bad", "MB")
    total = CopiesRow("all", *(sum(column) for column in _numbers(rows)), _most(rows))
    lines = [
        (row.kind, *(f"{each:,}" for each in row[1:6]), f"{row.megabytes:.0f}")
        for row in (*rows, total)
    ]
    note = "MB is the most memory that a copy took, beyond that of the process."
    found = [Table("Damaged and forged copies", head, lines, note)]
    harm = [(row.kind, each) for row in rows for each in row.examples][:SHOWN]
    return found + ([Table("Copies that do harm", ("copies", "what"), harm)] if harm else [])


def goals(rows: Sequence[CopiesRow]) -> list[Goal]:
    """Return the goal of this part: no copy does harm."""
    bad, tried = sum(row.bad for row in rows), sum(row.tried for row in rows)
    return [Goal("copies", "none does harm", f"{bad:,} of {tried:,}", bad == 0)]


def _row(kind: str, verdicts: list[Verdict], harm: list[str]) -> CopiesRow:
    most = max(verdict.memory for verdict in verdicts) / 1e6
    return CopiesRow(kind, len(verdicts), *counted(verdicts).values(), most, tuple(harm))


def _numbers(rows: Sequence[CopiesRow]) -> list[list[int]]:
    return [list(column) for column in zip(*(row[1:6] for row in rows), strict=True)]


def _most(rows: Sequence[CopiesRow]) -> float:
    return max(row.megabytes for row in rows)
