"""A window: what forgetting the oldest example costs, and whether memory stays constant."""

import math
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.changing import Stream
from benchmarks.engine.inputs import Inputs
from benchmarks.learners import STRAIGHT, Steps, concatenate_steps, new_learner, teach
from benchmarks.measuring import in_fresh_process, resident_mb
from benchmarks.parts import Progress, no_progress
from benchmarks.tables import Goal, Table, mb, ms, percent
from minout.learner import Learner

CLASSES, COLUMNS = 10, 20
SPREADS = {"separable": 6.0, "overlapping": 0.6}
"""Standard deviation of the centres of the classes, by data; that of a class is 1."""
WARM_KEPT, WARM_MORE = 300, 100
BLOCK = 20
"""So many rows are taught to one learner, then to the other."""
MOST_TIMES = 3.0
MOST_CHANGE = 0.05


class WindowRow(NamedTuple):
    """`more` examples taught after `stored`, of which all stay or the newest `stored`.

    `seconds` (wall), `cpu_seconds` and `seconds_between` (steps without a refresh) are means of one
    `teach`. `memory_mb` is what the process grew by in the learner's own calls; `file_bytes` is the
    size of the saved model, and `left` the number of examples in it.
    """

    data: str
    stored: int
    more: int
    keeps_all: bool
    seconds: float
    cpu_seconds: float
    seconds_between: float
    refreshes: int
    moved: int
    misfits: int
    left: int
    memory_mb: float | None
    file_bytes: int


class ConstantRow(NamedTuple):
    """A learner with a window after `taught` examples: memory of its process, bytes of its file."""

    data: str
    kept: int
    taught: int
    resident_mb: float | None
    file_bytes: int
    stored: int
    seconds: float


Row = WindowRow | ConstantRow


def measure(inputs: Inputs, progress: Progress) -> list[Row]:
    """Teach the same rows with and without a window, then a long stream with one."""
    settings = inputs.settings
    inputs.compile(progress)  # compiled here, so that the fresh processes only load
    rows: list[Row] = []
    for data in SPREADS:
        for stored, more in settings.window_at:
            what = data, stored, more, settings.seed
            rows += in_fresh_process(_measure_costs, *what, progress=progress)
        size = settings.constant_kept, settings.constant_rows, settings.seed
        rows += in_fresh_process(_measure_constant, data, *size, progress=progress)
    return rows


def classes_of(data: str, count: int, seed: int) -> Stream:
    """Draw rows (count, 20) of ten unit Gaussians, far apart or close together."""
    rng = np.random.default_rng(seed)
    centres = SPREADS[data] * rng.standard_normal((CLASSES, COLUMNS))
    labels = rng.integers(0, CLASSES, count)
    rows = centres[labels] + rng.standard_normal((count, COLUMNS))
    return Stream(rows.astype(np.float32), labels)


class _Taught:
    """A learner, and what teaching it took: clocks and growth of memory of its own calls only."""

    def __init__(self, keep: Any) -> None:
        self.learner = new_learner(STRAIGHT._replace(keep=keep))
        self.cpu_seconds, self.memory_mb = 0.0, 0.0
        self.pieces: list[Steps] = []

    def teach(self, part: Stream, progress: Progress, what: str) -> Steps:
        before, start = resident_mb(), time.process_time()
        steps = teach(self.learner, part.rows, part.labels, progress, what=what)
        self.cpu_seconds += time.process_time() - start
        self.memory_mb += (resident_mb() or math.nan) - (before or math.nan)
        return steps


def _measure_costs(
    data: str, stored: int, more: int, seed: int, progress: Progress
) -> list[WindowRow]:
    _load_kernels(data, seed)
    rows, labels = classes_of(data, stored + more, seed)
    both = [_Taught("all"), _Taught(stored)]
    for each in both:
        each.teach(Stream(rows[:stored], labels[:stored]), progress, f"{data}, {stored:,} stored")
        each.cpu_seconds = 0.0
    for start in range(stored, stored + more, BLOCK):
        progress(f"{data}, {stored:,} stored, in turns", start - stored, more)
        part = Stream(rows[start : start + BLOCK], labels[start : start + BLOCK])
        for each in both if start // BLOCK % 2 else both[::-1]:
            each.pieces += [each.teach(part, no_progress, "")]
    return [_cost_row(data, stored, each, each is both[0]) for each in both]


def _cost_row(data: str, stored: int, taught: _Taught, keeps_all: bool) -> WindowRow:
    steps = concatenate_steps(taught.pieces)
    more = len(steps.seconds)
    return WindowRow(
        data,
        stored,
        more,
        keeps_all,
        float(steps.seconds.mean()),
        taught.cpu_seconds / more,
        float(steps.seconds[~steps.refreshed].mean()),
        int(steps.refreshed.sum()),
        int(steps.moved.sum()),
        len(taught.learner.misfits),
        len(taught.learner),
        None if math.isnan(taught.memory_mb) else taught.memory_mb,
        _file_bytes(taught.learner),
    )


def _measure_constant(
    data: str, kept: int, count: int, seed: int, progress: Progress
) -> list[ConstantRow]:
    _load_kernels(data, seed)
    rows, labels = classes_of(data, count, seed)
    learner, found = new_learner(STRAIGHT._replace(keep=kept)), []
    ends = [2 * kept, count // 2, count]
    for start, end in zip([0, *ends], ends, strict=False):
        began, part = time.perf_counter(), slice(start, end)
        teach(learner, rows[part], labels[part], progress, what=f"{data}, up to {end:,} taught")
        seconds = (time.perf_counter() - began) / (end - start)
        memory, size = resident_mb(), _file_bytes(learner)
        found += [ConstantRow(data, kept, end, memory, size, len(learner), seconds)]
    return found


def _load_kernels(data: str, seed: int) -> None:
    # Compiled code is loaded at its first call, and a first save takes memory: before the clock.
    rows, labels = classes_of(data, WARM_KEPT + WARM_MORE, seed)
    for keep in ("all", WARM_KEPT):
        learner = new_learner(STRAIGHT._replace(keep=keep))
        teach(learner, rows, labels, no_progress)
        _file_bytes(learner)


def _file_bytes(learner: Learner) -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        learner.save(file)
        return sum(each.stat().st_size for each in Path(folder).iterdir())


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return a table of costs and one of memory and file size over a long stream."""
    lines = []
    for pair in _pairs(rows):
        for row in pair:
            ratios = [row.seconds / pair[0].seconds, row.cpu_seconds / pair[0].cpu_seconds]
            lines += [
                (
                    row.data,
                    f"{row.stored:,}",
                    f"{row.more:,}",
                    "all" if row.keeps_all else f"newest {row.stored:,}",
                    ms(row.seconds),
                    ms(row.cpu_seconds),
                    *("–" if row.keeps_all else f"{ratio:.2f}" for ratio in ratios),
                    ms(row.seconds_between),
                    f"{row.refreshes:,}",
                    f"{row.moved:,}",
                    percent(row.misfits / row.left, 1),
                    mb(row.memory_mb),
                    _kb(row.file_bytes),
                )
            ]
    head = (
        *("data", "stored", "taught more", "kept", "ms each", "CPU ms", "ratio", "of CPU"),
        *("ms between refreshes", "refreshes", "moves", "misfits", "memory", "file"),
    )
    note = (
        "Ten Gaussians in 20 columns, shuffled, one region and no hat functions (regions=1, "
        "expand=None). Both learners are first taught the same stored rows. The window is as "
        "large, so each of the rows taught after them displaces one; only these are timed. "
        "Means per example, refreshes included; the learners take turns every 20 rows, in a fresh "
        "process. Memory is what that grew by in the calls of each learner."
    )
    return [Table("20a. The cost of a window", head, lines, note), _constant_table(rows)]


def _constant_table(rows: Sequence[Row]) -> Table:
    head = ("data", "kept", "taught", "ms each", "resident", "file", "stored")
    lines = [
        (
            row.data,
            f"{row.kept:,}",
            f"{row.taught:,}",
            ms(row.seconds),
            mb(row.resident_mb),
            _kb(row.file_bytes),
            f"{row.stored:,}",
        )
        for row in rows
        if isinstance(row, ConstantRow)
    ]
    note = (
        "Resident memory of a fresh process, with interpreter, libraries and all rows of the "
        "stream; ms are the mean since the line above."
    )
    return Table("20b. Memory and file of a long stream with a window", head, lines, note)


def goals(rows: Sequence[Row]) -> list[Goal]:
    """Return the goals: at most three times the cost, and constant memory and file size."""
    found = []
    for whole, window in _pairs(rows):
        ratio = window.seconds / whole.seconds
        goal = f"{whole.data}, {whole.stored:,} kept: at most {MOST_TIMES:.0f} times all kept"
        found += [Goal("window", goal, f"{ratio:.2f}", ratio <= MOST_TIMES)]
    for data in dict.fromkeys(row.data for row in rows if isinstance(row, ConstantRow)):
        some = [row for row in rows if isinstance(row, ConstantRow) and row.data == data]
        measured = ("memory", [row.resident_mb for row in some])
        sizes = ("file", [row.file_bytes for row in some])
        found += [_constant_goal(data, *each) for each in (measured, sizes)]
    return found


def _constant_goal(data: str, what: str, values: Sequence[float | None]) -> Goal:
    known = [each for each in values if each is not None]
    change = max(known) / min(known) - 1.0 if len(known) == len(values) else None
    goal = f"{data}: {what} within {percent(MOST_CHANGE, 0)}"
    measured = "–" if change is None else percent(change, 1)
    return Goal("window", goal, measured, change is not None and change <= MOST_CHANGE)


def _pairs(rows: Sequence[Row]) -> list[tuple[WindowRow, WindowRow]]:
    costs = [row for row in rows if isinstance(row, WindowRow)]
    return list(zip(costs[::2], costs[1::2], strict=True))


def _kb(count: int) -> str:
    return f"{count / 1e3:,.0f} kB"
