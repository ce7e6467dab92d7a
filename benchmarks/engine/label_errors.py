"""Planted wrong labels: their estimated number, and those found, beside cleanlab."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import SETS, Array, Ints, two_gaussians
from benchmarks.engine.inputs import Inputs
from benchmarks.engine.wrong_labels import replace_labels
from benchmarks.measuring import seconds_of
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table
from minout.features import Identity
from minout.learner import Learner

GAUSSIANS = "two Gaussians"
UNIFORM, PAIRS = "any label", "the nearest label"
PLANTED = (
    (0.0, UNIFORM),
    *((share, kind) for share in (0.01, 0.05, 0.2) for kind in (UNIFORM, PAIRS)),
)
FOLDS = 5


class Found(NamedTuple):
    """The estimated number of wrong labels, how many are named, and how many of those are wrong."""

    estimate: float
    named: int
    right: int


class LabelErrorsRow(NamedTuple):
    """One set with a share of wrong labels, each by any other label or by the nearest one.

    `low` and `high` are the interval of the number, `seconds` is what the estimate takes.
    `cleanlab` is None where it is not installed.
    """

    name: str
    examples: int
    share: float
    kind: str
    planted: int
    ours: Found
    low: int
    high: int
    conflicts: int
    seconds: float
    cleanlab: Found | None


def measure(inputs: Inputs, progress: Progress) -> list[LabelErrorsRow]:
    """Plant wrong labels in every set, teach it, and compare what is found with what was planted.

    The noise has another seed than the one with which the model of wrong labels was developed.
    """
    settings, rows = inputs.settings, []
    jobs = [(name, *planted) for name in settings.label_sets for planted in PLANTED]
    for done, (name, share, kind) in enumerate(jobs):
        progress("planted labels", done, len(jobs))
        rng = np.random.default_rng([settings.seed, 7])
        X, y = _set(name, settings.label_rows, rng)
        rows.append(_measure_one(name, X, y, plant(X, y, share, kind, rng), (share, kind)))
    return rows


def _set(name: str, count: int, rng: np.random.Generator) -> tuple[Array, Ints]:
    if name == GAUSSIANS:
        drawn = two_gaussians(count, 1, rng)
        return drawn.rows, drawn.labels
    X, y = SETS[name](rng)
    return X, y.astype(np.int64)


def plant(X: Array, y: Ints, share: float, kind: str, rng: np.random.Generator) -> Ints:
    """Replace a share of the labels: by any other one, or by the one with the nearest mean."""
    count = round(share * len(y))
    if kind == UNIFORM:
        return replace_labels(y, count, rng)
    means = np.array([(X[y == c]).mean(axis=0) for c in range(int(y.max()) + 1)])
    scaled = means / np.maximum(X.std(axis=0), 1e-12)
    apart = np.square(scaled[:, None] - scaled[None]).sum(axis=-1)
    np.fill_diagonal(apart, np.inf)
    labels, few = y.copy(), rng.permutation(len(y))[:count]
    labels[few] = apart.argmin(axis=1)[y[few]]
    return labels


def _measure_one(
    name: str, X: Array, y: Ints, labels: Ints, planted: tuple[float, str]
) -> LabelErrorsRow:
    wrong = set(np.flatnonzero(labels != y).tolist())
    learner = Learner(refresh="manual", features=Identity("float64"))
    learner.teach_many(X, labels.tolist(), list(range(len(y))))
    learner.consolidate()
    errors = learner.label_errors()
    likely = {each.id for each in learner.suspects(likely=True)}
    return LabelErrorsRow(
        name,
        len(y),
        *planted,
        len(wrong),
        Found(errors.wrong, len(likely), len(likely & wrong)),
        errors.low,
        errors.high,
        len(learner.conflicts()),
        seconds_of(learner.label_errors),
        _cleanlab(X, labels, wrong),
    )


def has_cleanlab() -> bool:
    """Return whether cleanlab is installed."""
    return find_spec("cleanlab") is not None


def _cleanlab(X: Array, labels: Ints, wrong: set[int]) -> Found | None:
    # With its defaults, and logistic regression on the same columns, standardised, out of fold.
    if not has_cleanlab():
        return None
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2_000))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    q = cross_val_predict(model, X, labels, cv=folds, method="predict_proba")
    count: Any = import_module("cleanlab.count")
    issues: Any = import_module("cleanlab.filter")
    named = set(np.flatnonzero(issues.find_label_issues(labels, q)).tolist())
    return Found(float(count.num_label_issues(labels, q)), len(named), len(named & wrong))


def tables(rows: Sequence[LabelErrorsRow]) -> list[Table]:
    """Return a line for each set and kind of wrong labels."""
    lines = [
        (
            f"{row.name}, {row.examples:,}",
            f"{row.share:.0%}" + (f", {row.kind}" if row.share else ""),
            str(row.planted),
            f"{row.ours.estimate:.0f} ({row.low} to {row.high})",
            _quality(row.ours, row.planted),
            "–" if row.cleanlab is None else f"{row.cleanlab.estimate:.0f}",
            "–" if row.cleanlab is None else _quality(row.cleanlab, row.planted),
        )
        for row in rows
    ]
    head = (
        "set, rows",
        "wrong labels",
        "planted",
        "estimated (95 % interval)",
        "named: precision, recall",
        "cleanlab: estimated",
        "cleanlab: named",
    )
    note = (
        "Named are labels that are wrong with a probability of 0.5 or more; of cleanlab, what "
        "`find_label_issues` returns with its defaults, from logistic regression out of fold. "
        "Labels that were wrong before are not known, so count as right."
    )
    return [Table("23. Planted wrong labels", head, lines, note)]


def _quality(found: Found, planted: int) -> str:
    if not planted:
        return str(found.named)
    precision = found.right / found.named if found.named else 1.0
    return f"{found.named}: {precision:.2f}, {found.right / planted:.2f}"


def goals(rows: Sequence[LabelErrorsRow]) -> list[Goal]:
    """Return the goals: next to nothing where nothing was planted, intervals that hold, time."""
    clean = [row for row in rows if not row.planted]
    most = max(row.ours.estimate / row.examples for row in clean)
    held = sum(row.low <= row.planted <= row.high for row in rows)
    longest = max(row.seconds for row in rows)
    return [
        Goal("labels", "at most 0.5 % where none is planted", f"{most:.2%}", most <= 0.005),
        Goal(
            "labels",
            "planted number in the interval in nine of ten",
            f"{held} of {len(rows)}",
            held >= 0.9 * len(rows),
        ),
        Goal("labels", "takes at most a second", f"{longest:.3f} s", longest <= 1.0),
    ]
