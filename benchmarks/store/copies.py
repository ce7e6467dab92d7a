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
from tests.faults.copies import copies
from tests.faults.forms import FORMS, remove
from tests.faults.models import MODELS, MORE_MODELS, questions
from tests.faults.trial import BAD, Form, Trials, Verdict, counted

COUNTS = ("tried", "noticed", "identical", "earlier", "plausible", "bad")
SHOWN = 20
"""So many copies that do harm are described."""


class CopiesRow(NamedTuple):
    """The copies of one form and kind: how many were tried, and what came of them."""

    form: str
    kind: str
    tried: int
    noticed: int
    identical: int
    earlier: int
    plausible: int
    bad: int
    megabytes: float
    examples: tuple[str, ...] = ()


def measure(count: int, seed: int, progress: Progress) -> list[CopiesRow]:
    """Try copies of ten models in each form, about as many of each."""
    found: list[CopiesRow] = []
    for number, form in enumerate(FORMS.values()):

        def shown(name: str, done: int, _: int, before: int = number * count) -> None:
            progress(name, before + done, len(FORMS) * count)

        found += _measured(form, count, seed, shown)
    return found


def _measured(form: Form, count: int, seed: int, progress: Progress) -> list[CopiesRow]:
    models = {**MODELS, **MORE_MODELS}
    verdicts: dict[str, list[Verdict]] = defaultdict(list)
    harm: dict[str, list[str]] = defaultdict(list)
    done = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, (model, make) in enumerate(models.items()):
            share = count * (number + 1) // len(models) - count * number // len(models)
            if not share:
                continue
            rows = questions(model)
            form.store(make(), folder / model, rows)
            with Trials(form, folder / model, rows, seconds=60.0) as trials:
                for copy in copies(folder / model, folder, share, seed, form=form):
                    verdict = trials.of(copy)
                    remove(copy)
                    verdicts[copy.kind].append(verdict)
                    if verdict.word == BAD:
                        harm[copy.kind].append(f"{model}: {copy.change}: {verdict.why}")
                    done += 1
                    if worth_showing(done, count):
                        progress("copies", done, count)
    return [_row(form.name, kind, verdicts[kind], harm[kind]) for kind in sorted(verdicts)]


def measure_with_bounds(count: int, seed: int, progress: Progress) -> list[CopiesRow]:
    """Try copies in a fresh process whose kernels check every index."""
    with tempfile.TemporaryDirectory() as cache:
        checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": cache}
        with patch.dict(os.environ, checked):
            return in_fresh_process(measure, count, seed, progress=progress)


def tables(rows: Sequence[CopiesRow]) -> list[Table]:
    """Return what came of the copies by kind, and the copies that do harm."""
    head = ("form", "copies", *COUNTS, "MB")
    lines = [
        (row.form, row.kind, *(f"{each:,}" for each in _counts(row)), f"{row.megabytes:.0f}")
        for row in (*rows, *_totals(rows))
    ]
    note = (
        "MB is the most memory that a copy took, beyond that of the process. A folder whose "
        "write-ahead log is damaged may be an earlier state, as after a crash."
    )
    found = [Table("Damaged and forged copies", head, lines, note)]
    harm = [(row.form, row.kind, each) for row in rows for each in row.examples][:SHOWN]
    head = ("form", "copies", "what")
    return found + ([Table("Copies that do harm", head, harm)] if harm else [])


def goals(rows: Sequence[CopiesRow]) -> list[Goal]:
    """Return the goal of this part: no copy does harm."""
    bad, tried = sum(row.bad for row in rows), sum(row.tried for row in rows)
    return [Goal("copies", "none does harm", f"{bad:,} of {tried:,}", bad == 0)]


def _row(form: str, kind: str, verdicts: list[Verdict], harm: list[str]) -> CopiesRow:
    most = max(verdict.memory for verdict in verdicts) / 1e6
    return CopiesRow(form, kind, len(verdicts), *counted(verdicts).values(), most, tuple(harm))


def _totals(rows: Sequence[CopiesRow]) -> list[CopiesRow]:
    # The sums of each form.
    found = []
    for form in dict.fromkeys(row.form for row in rows):
        own = [row for row in rows if row.form == form]
        sums = [sum(column) for column in zip(*map(_counts, own), strict=True)]
        found.append(CopiesRow(form, "all", *sums, max(row.megabytes for row in own)))
    return found


def _counts(row: CopiesRow) -> list[int]:
    return [getattr(row, name) for name in COUNTS]
