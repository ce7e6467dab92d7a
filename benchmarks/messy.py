"""Tables with categories, dates and missing cells, beside skrub's pipelines."""

import warnings
from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
import sklearn.datasets
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from skrub import tabular_pipeline

from benchmarks.data import Array, Ints, Rng, label_order
from benchmarks.measuring import Options, Table, accuracy, spread, teach, timed, track
from minout import MinoutClassifier

MISSING = 0.2
WORDS = 10
STREAM, OURS = "minout, stream", "minout, consolidated"
RIVALS: dict[str, Callable[[], Any]] = {
    "skrub, logistic": lambda: tabular_pipeline(LogisticRegression(max_iter=2_000)),
    "skrub, boosting": lambda: tabular_pipeline(HistGradientBoostingClassifier(random_state=0)),
}


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each table."""
    names = ("drawn",) if options.small else tuple(TABLES)
    splits, count = (1, 200) if options.small else (5, 4_000)
    models = (STREAM, OURS, *RIVALS)
    rows = []
    for name in names:
        found: dict[str, list[tuple[float, float]]] = {model: [] for model in models}
        shape = (0, 0)
        for n in track(range(splits), name):
            shape = _measure(name, options.seed + n, count, found)
        cells = (f"{_shares(found[model])}, {_seconds(found[model])}" for model in models)
        rows.append((f"{name}, {shape[0]:,} × {shape[1]}", *cells))
    yield Table(
        "Accuracy in % and seconds to learn, tables as they are",
        ("table", *models),
        rows,
        f"Mean ± standard deviation over {splits} splits, half to test on; a fifth of all cells is "
        "missing. minout gets one pass in label order, 100 rows a call; skrub's pipelines get all "
        "rows at once.",
    )


def _measure(
    name: str, seed: int, count: int, found: dict[str, list[tuple[float, float]]]
) -> tuple[int, int]:
    # Add accuracy and seconds of each model on one split.
    rng = np.random.default_rng(seed)
    frame, y = TABLES[name](count, rng)
    frame = frame.mask(rng.random(frame.shape) < MISSING)
    X, test, y, test_y = train_test_split(frame, y, test_size=0.5, stratify=y, random_state=seed)
    order = label_order(y)
    X, y = X.iloc[order], y[order]
    ours = MinoutClassifier()
    seconds = sum(teach(ours, X, y))
    found[STREAM].append((accuracy(ours, test, test_y), seconds))
    seconds += timed(ours.consolidate)[0]
    found[OURS].append((accuracy(ours, test, test_y), seconds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of categories that were not there to learn from
        for model, make in RIVALS.items():
            seconds, fitted = timed(make().fit, X, y)
            found[model].append((accuracy(fitted, test, test_y), seconds))
    return X.shape


def _shares(runs: list[tuple[float, float]]) -> str:
    return spread([share for share, _ in runs])


def _seconds(runs: list[tuple[float, float]]) -> str:
    return f"{fmean(seconds for _, seconds in runs):.1f} s"


def drawn_table(count: int, rng: Rng) -> tuple[pd.DataFrame, Ints]:
    """Draw three labels of which six numbers and four categories say something, and a date not."""
    y = rng.integers(3, size=count)
    numbers = rng.normal(size=(3, 6))[y] + 1.5 * rng.normal(size=(count, 6))
    frame = pd.DataFrame(numbers, columns=[f"number {n}" for n in range(6)])
    for n in range(4):
        ends = rng.dirichlet(np.ones(WORDS), size=3).cumsum(axis=1)[y]
        word = (rng.random((count, 1)) > ends[:, :-1]).sum(axis=1)
        frame[f"word {n}"] = [f"w{each}" for each in word]
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(365, size=count), "D")
    return frame, y


def _with_categories(X: Array, every: int) -> pd.DataFrame:
    # Every third column, say, becomes the name of the tenth of its values.
    columns: dict[str, Any] = {}
    for n, values in enumerate(X.T):
        columns[f"x{n}"] = values
        if n % every == 0:
            ends = np.unique(np.quantile(values, np.arange(1, WORDS) / WORDS))
            columns[f"x{n}"] = [f"c{each}" for each in np.searchsorted(ends, values)]
    return pd.DataFrame(columns)


def _breast_cancer(_count: int, _rng: Rng) -> tuple[pd.DataFrame, Ints]:
    X, y = sklearn.datasets.load_breast_cancer(return_X_y=True)
    return _with_categories(X, 3), y


def _digits(_count: int, _rng: Rng) -> tuple[pd.DataFrame, Ints]:
    X, y = sklearn.datasets.load_digits(return_X_y=True)
    return _with_categories(X[:, X.std(axis=0) > 1], 5), y


TABLES = {"drawn": drawn_table, "breast cancer": _breast_cancer, "digits": _digits}
