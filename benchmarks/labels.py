"""Planted wrong labels: how many are estimated, and which are named, beside cleanlab."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from cleanlab.count import num_label_issues
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import TABLES, Array, Ints, Rng, replace_labels
from benchmarks.measuring import Options, Table, track
from minout import MinoutClassifier

ANY, NEAREST = "any label", "the nearest label"
SETS = ("digits", "breast cancer", "20 classes", "two Gaussians")
ROWS = 2_000


class Found(NamedTuple):
    """The estimated number as text, the rows that are named, and rows by how suspect they are."""

    estimate: str
    named: list[int]
    ranked: list[int]


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each set, share and kind of wrong labels."""
    names = ("wine",) if options.small else SETS
    shares = (0.05,) if options.small else (0.0, 0.01, 0.05, 0.2)
    kinds = (ANY,) if options.small else (ANY, NEAREST)
    jobs = [(name, share, kind) for name in names for share in shares for kind in kinds]
    rows = []
    for name, share, kind in track(jobs, "planted labels"):
        rng = np.random.default_rng(options.seed)
        X, y = TABLES[name](ROWS, rng)
        if kind == NEAREST and (share == 0 or len(np.unique(y)) == 2):
            continue  # the same as any label
        given = replace_labels(y, share, rng) if kind == ANY else nearest_labels(X, y, share, rng)
        wrong = set(np.flatnonzero(given != y).tolist())
        what = f"{share:.0%}, {kind}" if share else "none"
        cells = (f"{name}, {len(y):,}", what, str(len(wrong)))
        for found in (_ours(X, given), _cleanlab(X, given)):
            cells += found.estimate, _quality(found, wrong)
        rows.append(cells)
    yield Table(
        "Planted wrong labels",
        (
            *("set, rows", "wrong labels", "planted", "minout: estimated (95 % interval)"),
            *("named: precision, recall; first", "cleanlab: estimated"),
            "cleanlab: named: precision, recall; first",
        ),
        rows,
        "Consolidated, default settings. Named are labels that are wrong with a probability of 0.5 "
        "or more; of cleanlab, what `find_label_issues` returns from logistic regression out of "
        "fold. First: of the N most suspect labels, which share is wrong, with N planted. Labels "
        "that were wrong before count as right. None given: minout says that it cannot tell.",
    )


def nearest_labels(X: Array, y: Ints, share: float, rng: Rng) -> Ints:
    """Replace a share of the labels, each by the label whose mean is nearest."""
    means = np.stack([X[y == each].mean(axis=0) for each in range(y.max() + 1)])
    means /= np.maximum(X.std(axis=0), 1e-12)
    distances = np.linalg.norm(means[:, None] - means, axis=-1)
    np.fill_diagonal(distances, np.inf)
    found, wrong = y.copy(), rng.permutation(len(y))[: round(share * len(y))]
    found[wrong] = distances.argmin(axis=1)[y[wrong]]
    return found


def _ours(X: Array, labels: Ints) -> Found:
    model = MinoutClassifier().fit(X, labels)
    errors = model.label_errors()
    estimate = f"{errors.wrong:.0f} ({errors.low:.0f} to {errors.high:.0f})"
    if np.isnan(errors.wrong):
        estimate = "none given"
    named = [each.id for each in model.suspects(likely=True)]
    return Found(estimate, named, [each.id for each in model.suspects(len(labels))])


def _cleanlab(X: Array, labels: Ints) -> Found:
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2_000))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    q = cross_val_predict(model, X, labels, cv=folds, method="predict_proba")
    named = np.flatnonzero(find_label_issues(labels, q, n_jobs=1)).tolist()
    ranked = np.argsort(get_label_quality_scores(labels, q), kind="stable").tolist()
    return Found(str(num_label_issues(labels, q)), named, ranked)


def _quality(found: Found, wrong: set[int]) -> str:
    if not wrong:
        return str(len(found.named))
    right = len(wrong.intersection(found.named))
    precision = f"{right / len(found.named):.2f}" if found.named else "–"
    first = len(wrong.intersection(found.ranked[: len(wrong)])) / len(wrong)
    return f"{len(found.named)}: {precision}, {right / len(wrong):.2f}; {first:.2f}"
