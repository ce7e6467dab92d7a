"""Expected accuracy, from leaving stored examples out, beside the accuracy on held-out rows."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import SETS, Rng, Split, split_rows, two_gaussians
from benchmarks.engine.inputs import Inputs, draw_per_class
from benchmarks.engine.wrong_labels import replace_labels
from benchmarks.learners import new_learner, teach
from benchmarks.measuring import seconds_of
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, percent
from minout.learner import Learner
from minout.metrics import accuracy

STORED = ("iris", "wine", "breast cancer", "digits")
CONSOLIDATED, STREAMED = "consolidated", "streamed"
LEARNED = 0.75
"""At most this share of a set that is not drawn anew is learned from."""


class ExpectedRow(NamedTuple):
    """One split of one set: expected accuracy with its interval, and that on the held-out rows.

    `when` is "consolidated", or "streamed" for the model after a stream in label order. `tested`
    is the number of held-out rows, `seconds` the time that the expected accuracy takes.
    """

    seed: int
    name: str
    when: str
    examples: int
    columns: int
    classes: int
    tested: int
    expected: float
    low: float
    high: float
    held_out: float
    seconds: float

    @property
    def difference(self) -> float:
        """Expected less held-out accuracy, in points."""
        return 100.0 * (self.expected - self.held_out)

    @property
    def holds(self) -> bool:
        """Whether the held-out accuracy lies in the interval."""
        return self.low <= self.held_out <= self.high


def measure(inputs: Inputs, progress: Progress) -> list[ExpectedRow]:
    """Measure every set at every size that leaves enough rows to test on, once per seed."""
    settings = inputs.settings
    inputs.compile(progress)
    sets = _sets(inputs, progress)
    jobs = [(n, s, seed) for n in sets for s in settings.sizes for seed in settings.seeds]
    rows = []
    for done, (name, size, seed) in enumerate(jobs):
        progress("expected accuracy", done, len(jobs))
        data = sets[name](size, np.random.default_rng(seed))
        if data is not None:
            rows += _measure_one(name, seed, data)
    return rows


def _measure_one(name: str, seed: int, data: Split) -> list[ExpectedRow]:
    learner = new_learner(dtype="float64")
    teach(learner, data.rows, data.labels)
    streamed = _row(STREAMED, name, seed, data, learner)
    learner.consolidate()
    return [streamed, _row(CONSOLIDATED, name, seed, data, learner)]


def _row(when: str, name: str, seed: int, data: Split, learner: Learner) -> ExpectedRow:
    return ExpectedRow(
        seed,
        name,
        when,
        *data.rows.shape,
        len(learner.classes),
        len(data.test_rows),
        *learner.expected_accuracy()[:3],
        accuracy(learner.predict(data.test_rows), data.test_labels),
        seconds_of(learner.expected_accuracy),
    )


Draw = Callable[[int, Rng], Split | None]
"""Draws so many rows to learn from, and others to test on; None if the set is too small."""


def _sets(inputs: Inputs, progress: Progress) -> dict[str, Draw]:
    tests, images = inputs.settings.table_test, inputs.features("raw", progress)

    def draw_images(size: int, rng: Rng) -> Split | None:
        each = size // len(np.unique(images.labels))
        if each > np.bincount(images.labels).min():
            return None
        drawn = draw_per_class(images.labels, each, rng)
        return Split(images.rows[drawn], images.labels[drawn], images.test_rows, images.test_labels)

    def draw_gaussians(size: int, rng: Rng) -> Split:
        return two_gaussians(size, tests, rng)

    stored: dict[str, Draw] = {name: _stored(name) for name in STORED}
    return {
        **stored,
        "digits, wrong labels": _stored("digits", wrong=inputs.settings.wrong),
        "images, raw pixels": draw_images,
        "two Gaussians": draw_gaussians,
        "blobs": _drawn("blobs", tests, centers=5, n_features=10, cluster_std=6.0),
        "few informative columns": _drawn(
            "classification",
            tests,
            n_features=50,
            n_informative=4,
            n_redundant=0,
            n_classes=3,
            n_clusters_per_class=1,
        ),
        "moons": _drawn("moons", tests, noise=0.25),
    }


def _stored(name: str, *, wrong: float = 0.0) -> Draw:
    def draw(size: int, rng: Rng) -> Split | None:
        X, y = SETS[name](rng)
        labels = y.astype(np.int64)
        if wrong:
            labels = replace_labels(labels, round(wrong * len(labels)), rng)
        return split_rows(X, labels, size, rng) if size <= LEARNED * len(labels) else None

    return draw


def _drawn(kind: str, tests: int, **options: Any) -> Draw:
    def draw(size: int, rng: Rng) -> Split:
        import sklearn.datasets

        make = getattr(sklearn.datasets, f"make_{kind}")
        X, y = make(n_samples=size + tests, random_state=_seed(rng), **options)
        return split_rows(X, y.astype(np.int64), size, rng)

    return draw


def _seed(rng: Rng) -> int:
    return int(rng.integers(2**31))


def tables(rows: Sequence[ExpectedRow]) -> list[Table]:
    """Return expected less held-out accuracy by set and size, consolidated and as streamed."""
    return [_table(when, [r for r in rows if r.when == when]) for when in (CONSOLIDATED, STREAMED)]


def _table(when: str, rows: Sequence[ExpectedRow]) -> Table:
    sizes = sorted({row.examples for row in rows})
    head = (
        "set",
        "columns, classes",
        *(f"{size:,} rows" for size in sizes),
        "at the largest: expected / held out",
    )
    note = (
        "Expected less held-out accuracy in points, the mean over the splits, and in how many of "
        "the splits the held-out accuracy lies in the 95 % interval."
    )
    lines = [_line(mine, sizes) for mine in _groups(rows)]
    return Table(f"15. Expected accuracy, {when}", head, lines, note)


def _line(rows: list[ExpectedRow], sizes: list[int]) -> tuple[str, ...]:
    last = _largest(rows)
    return (
        rows[0].name,
        f"{rows[0].columns}, {rows[0].classes}",
        *(_cell([row for row in rows if row.examples == size]) for size in sizes),
        " / ".join(
            percent(float(np.mean(values)), 1)
            for values in ([row.expected for row in last], [row.held_out for row in last])
        ),
    )


def _cell(rows: list[ExpectedRow]) -> str:
    if not rows:
        return ""
    return f"{_mean_difference(rows):+.1f} ({sum(row.holds for row in rows)}/{len(rows)})"


def goals(rows: Sequence[ExpectedRow]) -> list[Goal]:
    """Return the goals: small differences at the largest sizes, intervals that hold, and time."""
    rows = [row for row in rows if row.when == CONSOLIDATED]
    off, name = max((abs(_mean_difference(_largest(mine))), mine[0].name) for mine in _groups(rows))
    share = float(np.mean([row.holds for row in rows]))
    longest = max(row.seconds for row in rows)
    near = "within 1 point of the held-out accuracy in every set, at its largest size"
    within = "held-out accuracy in the interval in nine of ten splits"
    return [
        Goal("expected", near, f"{off:.1f} points off: {name}", off <= 1.0),
        Goal("expected", within, percent(share, 0), share >= 0.9),
        Goal("expected", "takes at most a second", f"{longest:.3f} s", longest <= 1.0),
    ]


def _groups(rows: Sequence[ExpectedRow]) -> list[list[ExpectedRow]]:
    names = dict.fromkeys(row.name for row in rows)
    return [[row for row in rows if row.name == name] for name in names]


def _largest(rows: Sequence[ExpectedRow]) -> list[ExpectedRow]:
    most = max(row.examples for row in rows)
    return [row for row in rows if row.examples == most]


def _mean_difference(rows: Sequence[ExpectedRow]) -> float:
    return float(np.mean([row.difference for row in rows]))
