"""Planted wrong labels: how many are estimated, and which are named, beside cleanlab."""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from cleanlab.count import num_label_issues
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from benchmarks.data import Array, Ints, replace_labels
from benchmarks.measuring import Options, Table, track
from benchmarks.rivals import for_rows
from benchmarks.sets import classifier, load, take

SETS = (
    *("digits", "breast cancer", "emoji vectors", "reviews", "activities"),
    *("movies", "passengers", "loans"),
)
ROWS = 1_000


class Found(NamedTuple):
    """The estimated number as text, the rows that are named, and rows, most suspect first.

    `holds` says whether the 95 % interval contains the planted number; None if there is none.
    """

    estimate: str
    named: list[int]
    ranked: list[int]
    holds: bool | None = None


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each set, share and kind of wrong labels, and one for all."""
    names = ("wine",) if options.small else SETS
    rows, holds, qualities = [], [], []
    for name in track(names, "planted labels"):
        for y, given, what, X in _planted(name, options):
            wrong = set(np.flatnonzero(given != y).tolist())
            found = (_ours(X, given, len(wrong)), _cleanlab(X, given))
            holds.append(found[0].holds)
            quality = [_quality(each, wrong) for each in found]
            qualities += [quality] if wrong else []
            cells = (
                cell
                for each, three in zip(found, quality, strict=True)
                for cell in (each.estimate, _words(three) if wrong else str(len(each.named)))
            )
            rows.append((f"{name}, {len(y):,}", what, str(len(wrong)), *cells))
    means = [_words(each) for each in np.nanmean(qualities, axis=0)]
    counted = f"{holds.count(True)} of {len(holds) - holds.count(None)} hold"
    yield Table(
        "Planted wrong labels",
        (
            *("set, rows", "wrong labels", "planted", "minout: estimated (95 % interval)"),
            *("named: precision, recall; first", "cleanlab: estimated, with"),
            "cleanlab: named: precision, recall; first",
        ),
        [*rows, ("means", "", "", counted, means[0], "", means[1])],
        "Default settings, one draw. Named are labels that are wrong with a probability of 0.5 or "
        "more; of cleanlab, what `find_label_issues` returns, from 5-fold probabilities of the "
        "model with the lower log loss. First: of the N most suspect labels, which share is wrong, "
        "with N planted. Where none are planted, how many are named. Labels that were wrong before "
        "count as right; NO marks intervals without the planted number.",
    )


def _planted(name: str, options: Options) -> Iterator[tuple[Ints, Ints, str, Any]]:
    # Labels, labels of which a share is wrong, what was done, and rows.
    rng = np.random.default_rng(options.seed)
    X, y = load(name, options.data)
    chosen = rng.permutation(len(y))[:ROWS]
    X, y = take(X, chosen), np.unique(y[chosen], return_inverse=True)[1]
    other = _confused_with(_probabilities(X, y)[1], y)
    for share in (0.05,) if options.small else (0.0, 0.01, 0.05, 0.2):
        given = replace_labels(y, share, rng)
        yield y, given, f"{share:.0%}, any label", X
        if share and len(other) > 2:
            yield y, np.where(given == y, y, other[y]), f"{share:.0%}, the most similar", X


def _confused_with(q: Array, y: Ints) -> Ints:
    # By label, the other one with the highest mean probability.
    mean = np.stack([q[y == label].mean(axis=0) for label in range(q.shape[1])])
    np.fill_diagonal(mean, -1.0)
    return mean.argmax(axis=1)


def _ours(X: Any, labels: Ints, planted: int) -> Found:
    model = classifier(X).fit(X, labels)
    errors = model.label_errors()
    named = [each.id for each in model.suspects(likely=True)]
    ranked = [each.id for each in model.suspects(len(labels))]
    if np.isnan(errors.wrong):
        return Found("none given", named, ranked)
    holds = errors.low <= planted <= errors.high
    estimate = f"{errors.wrong:.0f} ({errors.low:.0f} to {errors.high:.0f})"
    return Found(estimate + ("" if holds else " NO"), named, ranked, bool(holds))


def _cleanlab(X: Any, labels: Ints) -> Found:
    model, q = _probabilities(X, labels)
    named = np.flatnonzero(find_label_issues(labels, q, n_jobs=1)).tolist()
    ranked = np.argsort(get_label_quality_scores(labels, q), kind="stable").tolist()
    return Found(f"{num_label_issues(labels, q)}, {model}", named, ranked)


def _probabilities(X: Any, labels: Ints) -> tuple[str, Array]:
    # Of the better model, out of fold; of texts only logistic regression.
    models = {"logistic": LogisticRegression(max_iter=1_000)}
    if not isinstance(X, list):
        models["boosting"] = HistGradientBoostingClassifier(random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unknown categories, and of rare labels in folds
        for name, model in models.items():
            pipeline = for_rows(X, model)
            found[name] = cross_val_predict(pipeline, X, labels, cv=folds, method="predict_proba")
    name = min(found, key=lambda each: log_loss(labels, found[each]))
    return name, found[name]


def _quality(found: Found, wrong: set[int]) -> tuple[float, float, float]:
    # Precision and recall of those named, and the share of wrong ones in the first.
    right, k = len(wrong.intersection(found.named)), max(len(wrong), 1)
    first = len(wrong.intersection(found.ranked[:k]))
    return right / len(found.named) if found.named else float("nan"), right / k, first / k


def _words(quality: Any) -> str:
    precision, recall, first = quality
    return f"{precision:.2f}, {recall:.2f}; {first:.2f}".replace("nan", "–")
