"""Messy tables: numbers, columns of ten categories, and a fifth of all cells missing."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

from benchmarks.data import Array, Ints

MISSING = 0.2
CATEGORIES = 10


class MessySplit(NamedTuple):
    """A table to learn from, in the order of its labels, and one to test on."""

    rows: pd.DataFrame
    labels: Ints
    test_rows: pd.DataFrame
    test_labels: Ints


def split_table(name: str, seed: int, rows: int) -> MessySplit:
    """Return a table with missing cells, half of it to test on."""
    rng = np.random.default_rng(seed)
    frame, y = TABLES[name](rng, rows)
    frame = frame.mask(rng.random(frame.shape) < MISSING)
    X, test, y, test_y = train_test_split(frame, y, test_size=0.5, random_state=seed, stratify=y)
    order = np.argsort(y, kind="stable")
    return MessySplit(X.iloc[order], y[order], test, test_y)


def _made(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, Ints]:
    # Three labels; numbers and categories each say something of them, and a date nothing.
    y = rng.integers(3, size=rows)
    centres = rng.normal(size=(3, 6))
    chances = rng.dirichlet(np.ones(CATEGORIES), size=(3, 4))
    words = np.array([f"w{n}" for n in range(CATEGORIES)], dtype=object)
    frame = pd.DataFrame(centres[y] + 1.5 * rng.normal(size=(rows, 6)))
    frame.columns = [f"number {n}" for n in range(6)]
    for column in range(4):
        drawn = [rng.choice(CATEGORIES, p=chances[label, column]) for label in y]
        frame[f"word {column}"] = words[drawn]
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(365, size=rows), "D")
    return frame, y


def _breast_cancer(_rng: np.random.Generator, _rows: int) -> tuple[pd.DataFrame, Ints]:
    X, y = load_breast_cancer(return_X_y=True)
    return _with_categories(X, every=3), y


def _digits(_rng: np.random.Generator, _rows: int) -> tuple[pd.DataFrame, Ints]:
    X, y = load_digits(return_X_y=True)
    varied = X[:, X.std(axis=0) > 1.0]
    return _with_categories(varied, every=5), y


def _with_categories(X: Array, every: int) -> pd.DataFrame:
    # Every third column, say, as the name of the tenth of its values.
    columns: dict[str, object] = {}
    for n, values in enumerate(X.T):
        if n % every:
            columns[f"x{n}"] = values
            continue
        ends = np.unique(np.quantile(values, np.arange(1, CATEGORIES) / CATEGORIES))
        columns[f"x{n}"] = np.array([f"c{k}" for k in np.searchsorted(ends, values)], dtype=object)
    return pd.DataFrame(columns)


TABLES: dict[str, Callable[[np.random.Generator, int], tuple[pd.DataFrame, Ints]]] = {
    "made": _made,
    "breast cancer": _breast_cancer,
    "digits": _digits,
}
