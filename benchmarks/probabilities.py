"""Probabilities: log loss, Brier score and calibration error, beside logistic regression."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV

from benchmarks.data import Array, Split
from benchmarks.measuring import Options, Table, track
from benchmarks.rivals import for_rows
from benchmarks.sets import classifier, drawn, load, weights_to_test
from benchmarks.tables import calibration_error

SETS = (
    *("digits", "scattering", "emoji vectors", "reviews", "activities"),
    *("movies", "force", "loans"),
)
SMALL_SETS = ("wine", "drawn table")
GRID = {"logisticregression__C": [0.01, 0.1, 1.0, 10.0, 100.0]}


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each set, and one for all."""
    names, draws, each = (SMALL_SETS, 1, 20) if options.small else (SETS, 3, 100)
    rows, ratios = [], []
    for name in track(names, "probabilities"):
        data = load(name, options.data)
        splits = [drawn(data, each, options.seed + n) for n in range(draws)]
        found = np.mean([_measure(split) for split in splits], axis=0)
        ratios.append(float(np.log(found[0, 0] / found[1:, 0].min())))
        shape = f"{name}, {len(splits[0].labels):,}, {len(np.unique(splits[0].labels))}"
        scores = (", ".join(f"{score:.3f}" for score in model) for model in found)
        rows.append((shape, *scores, f"{ratios[-1]:+.3f}"))
    yield Table(
        "Probabilities: log loss, Brier score, calibration error in ten bins",
        (
            *("set, rows learned, classes", "minout", "logistic regression", "calibrated"),
            "log of the ratio of log losses, minout's to the better other",
        ),
        [*rows, ("mean", "", "", "", f"{np.mean(ratios):+.3f}")],
        f"Means over {draws} draws of at most {each} rows a class; test rows, at most 3,000, are "
        "weighted so that classes have the shares they have in the rows learned. Logistic "
        "regression, of standardised columns, TF-IDF or skrub's columns, has C tuned for log loss "
        "by 3-fold cross-validation on the rows learned; calibrated is `CalibratedClassifierCV` "
        "of it, 3 folds.",
    )


def _measure(split: Split) -> list[tuple[float, float, float]]:
    X, y = split.rows, split.labels
    logistic = for_rows(X, LogisticRegression(max_iter=1_000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a C that does not converge, and unknown categories
        tuned = GridSearchCV(logistic, GRID, cv=3, scoring="neg_log_loss").fit(X, y)
        calibrated = CalibratedClassifierCV(tuned.best_estimator_, cv=3).fit(X, y)
        models = (classifier(X).fit(X, y), tuned, calibrated)
        return [_scores(model, split, weights_to_test(split)) for model in models]


def _scores(model: Any, split: Split, weights: Array) -> tuple[float, float, float]:
    q, y = np.asarray(model.predict_proba(split.test_rows)), split.test_labels
    is_label = y[:, None] == model.classes_
    loss = log_loss(y, q, labels=model.classes_, sample_weight=weights)
    brier = float(weights @ np.square(q - is_label).sum(axis=1))
    is_right = is_label[np.arange(len(y)), q.argmax(axis=1)]
    return loss, brier, calibration_error(q.max(axis=1), is_right, weights * len(y))
