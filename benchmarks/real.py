"""Real texts and mixed tables, all rows at once, beside TF-IDF and skrub's pipelines."""

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from benchmarks.data import Split
from benchmarks.measuring import Options, Table, percent, timed, track
from benchmarks.rivals import for_rows
from benchmarks.sets import as_they_come, chosen, classifier, drawn, load, weights_to_test

SMALL_SETS = {"text": ("few docstrings",), "mixed": ("drawn table",)}
OTHERS = {
    "text": ("TF-IDF, LinearSVC",),
    "mixed": ("skrub, logistic", "skrub, boosting"),
}
MANY = 600
"""So many texts are also drawn whatever their labels."""


def run(options: Options) -> Iterator[Table]:
    """Yield a table of accuracies for texts, and one for mixed tables."""
    for kind, others in OTHERS.items():
        names = SMALL_SETS[kind] if options.small else chosen("report", kind)
        draws, sizes = (1, (20,)) if options.small else (3, (10, 100))
        lines = []
        for name, each in track([(name, each) for name in names for each in sizes], kind):
            data = load(name, options.data)
            splits = [drawn(data, each, options.seed + n) for n in range(draws)]
            lines.append(_line(f"{name}, {each}", splits, kind))
        for name in track(names, "as they come") if kind == "text" and not options.small else ():
            data = load(name, options.data)
            splits = [as_they_come(data, MANY, options.seed + n) for n in range(draws)]
            lines.append(_line(f"{name}, {MANY} as they come", splits, kind))
        columns = ("minout", *others)
        yield Table(
            f"Accuracy and seconds to learn: {kind}",
            ("set, rows a class at most", "rows learned, classes", *columns, "MB of the model"),
            lines,
            f"Means over {draws} draws; test rows, at most 3,000, are weighted so that classes "
            "have the shares they have in the rows learned. minout has its default settings; C of "
            "the others is tuned by 3-fold cross-validation on the rows learned, which is part of "
            "their seconds, boosting has its defaults. MB are those of minout's file.",
        )


def _line(name: str, splits: list[Split], kind: str) -> tuple[str, ...]:
    found = np.mean([_measure(split, kind) for split in splits], axis=0)
    shape = f"{len(splits[0].labels):,}, {len(np.unique(splits[0].labels))}"
    cells = [f"{percent(right, 1)}, {seconds:.1f} s" for right, seconds in found[:-1]]
    return name, shape, *cells, f"{found[-1, 0]:.1f}"


def _measure(split: Split, kind: str) -> list[tuple[float, float]]:
    X, grid = split.rows, [0.01, 0.1, 1.0, 10.0]
    if kind == "text":
        models: list[Any] = [_tuned(for_rows(X, LinearSVC(random_state=0)), "linearsvc__C", grid)]
    else:
        logistic = for_rows(X, LogisticRegression(max_iter=1_000))
        models = [_tuned(logistic, "logisticregression__C", grid)]
        models.append(for_rows(X, HistGradientBoostingClassifier(random_state=0)))
    ours = classifier(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a C that does not converge, and unknown categories
        found = [_judged(model, split) for model in (ours, *models)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.minout"
        ours.save(file)
        return [*found, (file.stat().st_size / 1e6, 0.0)]


def _tuned(model: Any, name: str, grid: list[float]) -> Any:
    return GridSearchCV(model, {name: grid}, cv=3)


def _judged(model: Any, split: Split) -> tuple[float, float]:
    seconds, fitted = timed(model.fit, split.rows, split.labels)
    is_right = fitted.predict(split.test_rows) == split.test_labels
    return float(weights_to_test(split) @ is_right), seconds
