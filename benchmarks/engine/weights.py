"""Weights: how closely their laws hold, and classes of which one is rare."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import Array, Ints, Split
from benchmarks.engine.inputs import Inputs
from benchmarks.inside import chosen, form
from benchmarks.learners import AUTOMATIC, STRAIGHT, Pins, new_learner
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, mean_and_error, yes
from minout.classifier import MinoutClassifier
from minout.learner import Learner

FIXED = STRAIGHT._replace(C=2.0, whiten=False, lda_prior=False, standardize=False)
"""C is not one of the values to choose from, so no choice equals what is pinned."""
SETTINGS = {
    "plain": FIXED,
    "standardised": FIXED._replace(standardize=True),
    "whitened": FIXED._replace(whiten=True),
    "whitened, LDA": FIXED._replace(whiten=True, lda_prior=True),
    "chosen": AUTOMATIC,
}
REPEATED, ADDED, TIMES_C = "weight n = n rows", "weights add up", "weights × 3 = C × 3"
WITHIN = 1e-7
ODDS, COLUMNS, BAYES_ERROR = 50, 10, 0.1
OURS, LOGISTIC = "MinoutClassifier", "LogisticRegression"
MOST_BELOW = 0.01


class LawRow(NamedTuple):
    """Two models of one table that should be equal.

    `scores` is the largest difference of a score relative to the largest score, `probabilities` the
    largest difference. `same_choice`: both learners chose the same settings, `choice`.
    """

    seed: int
    settings: str
    law: str
    examples: int
    scores: float
    probabilities: float
    same_choice: bool
    choice: str


class RareRow(NamedTuple):
    """Balanced accuracy (the mean of the classes' recalls) where one class is rare."""

    seed: int
    model: str
    balanced: bool
    examples: int
    rare: int
    accuracy: float
    recall_rare: float


Row = LawRow | RareRow


class Weighted(NamedTuple):
    """A small table with weights 1, 2 or 3, and rows to compare models at."""

    rows: Array
    labels: Ints
    weights: Ints
    other_rows: Array


def measure(inputs: Inputs, progress: Progress) -> list[Row]:
    """Check the laws on random tables, then learn a rare class."""
    settings = inputs.settings
    inputs.compile(progress)
    rows: list[Row] = []
    for seed in range(settings.law_tables):
        progress("laws of weights", seed, settings.law_tables)
        for name in SETTINGS:
            rows += check_laws(name, seed)
    for seed in range(settings.rare_draws):
        progress("a rare class", seed, settings.rare_draws)
        rows += _measure_rare(settings.rare_rows, seed)
    return rows


def check_laws(name: str, seed: int) -> list[LawRow]:
    """Compare the models of one random table that the laws of weights say are equal."""
    rng = np.random.default_rng(seed)
    pins, table = SETTINGS[name], random_table(rng)
    weighted = _walked(pins, table, rng)
    places = rng.permutation(np.repeat(np.arange(len(table.labels)), table.weights))
    repeated = _taught(pins, table.rows[places], table.labels[places])
    shares = rng.uniform(0.1, 0.9, len(table.labels)) * table.weights
    parts = np.concatenate([shares, table.weights - shares])
    order = rng.permutation(len(parts))
    twice = np.tile(np.arange(len(table.labels)), 2)[order]
    added = _taught(pins, table.rows[twice], table.labels[twice], parts[order])
    pairs = {REPEATED: (weighted, repeated), ADDED: (weighted, added)}
    if pins.C != "auto":
        heavier = _taught(pins, table.rows, table.labels, 3.0 * table.weights)
        closer = _taught(
            pins._replace(C=3.0 * pins.C), table.rows, table.labels, 1.0 * table.weights
        )
        pairs[TIMES_C] = (heavier, closer)
    return [_compared(seed, name, law, table, *pair) for law, pair in pairs.items()]


def random_table(rng: np.random.Generator) -> Weighted:
    """Draw 20 to 80 rows of 2 to 4 Gaussians in 2 to 8 columns, or of a ball and what is around."""
    count, columns, classes = rng.integers(20, 81), rng.integers(2, 9), rng.integers(2, 5)
    labels = np.arange(count) % classes
    centres = rng.uniform(0.3, 2.0) * rng.standard_normal((classes, columns))
    scales = np.exp(rng.standard_normal(columns))
    rows = scales * (centres[labels] + rng.standard_normal((count, columns)))
    if rng.random() < 0.5:
        distances = np.square(rows / scales).sum(axis=1)
        labels = (distances > np.median(distances)).astype(np.int64)
    others = scales * 2.0 * rng.standard_normal((50, columns))
    return Weighted(rows, labels, rng.integers(1, 4, count), others)


def _walked(pins: Pins, table: Weighted, rng: np.random.Generator) -> Learner:
    # Some rows get their weight or label by a correction, and rows that do not stay are forgotten.
    learner = new_learner(pins, dtype="float64")
    count, classes = len(table.labels), int(table.labels.max()) + 1
    for i in rng.permutation(count).tolist():
        right, weight = int(table.labels[i]), float(table.weights[i])
        if rng.random() < 0.3:
            learner.teach(table.rows[i], (right + 1) % classes, i, rng.uniform(0.5, 4.0))
            learner.correct(i, right, weight)
        else:
            learner.teach(table.rows[i], right, i, weight)
        if rng.random() < 0.2:
            learner.teach(table.rows[i] + 0.1, right, count + i, rng.uniform(0.5, 4.0))
            learner.forget(count + i)
    learner.consolidate()
    return learner


def _taught(pins: Pins, rows: Array, labels: Ints, weights: Array | None = None) -> Learner:
    learner = new_learner(pins._replace(refresh="manual"), dtype="float64")
    learner.teach_many(rows, labels.tolist(), weights=None if weights is None else weights.tolist())
    learner.consolidate()
    return learner


def _compared(
    seed: int, name: str, law: str, table: Weighted, one: Learner, other: Learner
) -> LawRow:
    X = np.concatenate([table.rows, table.other_rows])
    first, second = one.scores(X), other.scores(X)
    scores = np.abs(first - second).max() / np.abs(first).max()
    probabilities = np.abs(one.probabilities(X) - other.probabilities(X)).max()
    same = law == TIMES_C or _described(one) == _described(other)
    return LawRow(
        seed,
        name,
        law,
        len(table.labels),
        float(scores),
        float(probabilities),
        bool(same),
        _described(one),
    )


def _described(learner: Learner) -> str:
    return f"{chosen(learner)}, {form(learner)}"


def rare_class(count: int, rng: np.random.Generator) -> Split:
    """Draw two Gaussians in 10 columns, 1 : 50, to learn from and as many to test on.

    With equal shares the best classifier would be wrong on a tenth.
    """
    labels = np.tile((np.arange(count) % (ODDS + 1) == 0).astype(np.int64), 2)
    rows = rng.standard_normal((2 * count, COLUMNS))
    rows[:, 0] += 2.0 * NormalDist().inv_cdf(1.0 - BAYES_ERROR) * labels
    return Split(rows[:count], labels[:count], rows[count:], labels[count:])


def _measure_rare(count: int, seed: int) -> list[RareRow]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = rare_class(count, np.random.default_rng(seed))
    found = []
    for balanced in (False, True):
        weight: Any = "balanced" if balanced else None
        models = {
            OURS: MinoutClassifier(class_weight=weight),
            LOGISTIC: make_pipeline(StandardScaler(), LogisticRegression(class_weight=weight)),
        }
        for name, model in models.items():
            right = model.fit(data.rows, data.labels).predict(data.test_rows) == data.test_labels
            common, rare = (float(right[data.test_labels == label].mean()) for label in (0, 1))
            size = len(data.labels), int(data.labels.sum())
            found += [RareRow(seed, name, balanced, *size, (common + rare) / 2.0, rare)]
    return found


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the largest deviation of each law, and the accuracy with a rare class."""
    lines = [
        (
            settings,
            law,
            str(len(some)),
            f"{max(row.scores for row in some):.1e}",
            f"{max(row.probabilities for row in some):.1e}",
            str(len({row.choice for row in some})),
            "–" if law == TIMES_C else yes(all(row.same_choice for row in some)),
        )
        for (settings, law), some in _by_law(rows).items()
    ]
    head = (
        *("settings", "law", "tables", "scores differ by", "probabilities by"),
        *("different choices", "same in both"),
    )
    note = (
        "The largest difference over random tables of 20 to 80 rows with weights 1, 2 and 3, "
        "consolidated, at their rows and 50 others; scores relative to the largest. The learner "
        "with weights got 30 % of its labels and weights by corrections, and forgot other rows. "
        "Different choices: how many there were over the tables."
    )
    return [Table("21a. The laws of weights", head, lines, note), _rare_table(rows)]


def _rare_table(rows: Sequence[Row]) -> Table:
    head = ("model", "class_weight", "draws", "rows", "rare", "balanced accuracy", "rare recall")
    lines = [
        (
            model,
            "balanced" if balanced else "None",
            str(len(some)),
            f"{some[0].examples:,}",
            f"{some[0].rare:,}",
            mean_and_error([100 * row.accuracy for row in some], " %"),
            mean_and_error([100 * row.recall_rare for row in some], " %"),
        )
        for (model, balanced), some in _by_model(rows).items()
    ]
    best = 100 * (1.0 - BAYES_ERROR)
    note = (
        "Two Gaussians in 10 columns, 1 : 50, as many test rows as rows to learn from; means and "
        f"standard errors over draws. The best balanced accuracy is {best:.0f} %. "
        "LogisticRegression has standardised columns; no model is tuned."
    )
    return Table("21b. A rare class", head, lines, note)


def goals(rows: Sequence[Row]) -> list[Goal]:
    """Return the goals: laws hold but for rounding; a rare class as with logistic regression."""
    worst = max(max(row.scores, row.probabilities) for row in rows if isinstance(row, LawRow))
    means = {
        model: float(np.mean([row.accuracy for row in some]))
        for (model, balanced), some in _by_model(rows).items()
        if balanced
    }
    below = means[LOGISTIC] - means[OURS]
    return [
        Goal("weights", f"the laws hold within {WITHIN:.0e}", f"{worst:.1e}", worst <= WITHIN),
        Goal(
            "weights",
            f"balanced accuracy at most {100 * MOST_BELOW:.0f} point below {LOGISTIC}",
            f"{100 * below:+.2f} points",
            below <= MOST_BELOW,
        ),
    ]


def _by_law(rows: Sequence[Row]) -> dict[tuple[str, str], list[LawRow]]:
    found: dict[tuple[str, str], list[LawRow]] = {}
    for row in rows:
        if isinstance(row, LawRow):
            found.setdefault((row.settings, row.law), []).append(row)
    return found


def _by_model(rows: Sequence[Row]) -> dict[tuple[str, bool], list[RareRow]]:
    found: dict[tuple[str, bool], list[RareRow]] = {}
    for row in rows:
        if isinstance(row, RareRow):
            found.setdefault((row.model, row.balanced), []).append(row)
    return found
