"""The models that minout is compared with: each function returns a fitted model with `predict`.

*One pass* models see the rows once, in the order given. The others get all rows at once; "tuned"
means by cross-validation on the rows to learn from.
"""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from river.forest import ARFClassifier
from river.tree import HoeffdingAdaptiveTreeClassifier, HoeffdingTreeClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from skrub import tabular_pipeline
from threadpoolctl import threadpool_limits

from benchmarks.data import Array, Ints
from benchmarks.measuring import BATCH

BLOCK = 4_096


class Sgd:
    """scikit-learn's SGDClassifier, one pass, on columns scaled by all rows (an advantage)."""

    def __init__(self, rows: Array, labels: Ints) -> None:
        self._scaler = StandardScaler().fit(rows)
        self._model = SGDClassifier(random_state=0)
        names = np.unique(labels)
        for start in range(0, len(labels), BATCH):
            part = slice(start, start + BATCH)
            self._model.partial_fit(self._scaler.transform(rows[part]), labels[part], names)

    def predict(self, rows: Array) -> Ints:
        """Return the labels of rows."""
        return self._model.predict(self._scaler.transform(rows))


class StreamingLda:
    """Linear discriminant analysis; its sums are the same after a stream and for all rows at once.

    The ridge is that of minout's whitening, S + 0.25·tr(S)/min(n, d)·I. All classes have the same
    prior probability.
    """

    def __init__(self, rows: Array, labels: Ints) -> None:
        self._names, number = np.unique(labels, return_inverse=True)
        n, d = rows.shape
        self._origin = rows.mean(axis=0, dtype=np.float64)
        means = [rows[labels == name].mean(axis=0, dtype=np.float64) for name in self._names]
        M = np.stack(means) - self._origin
        S = np.zeros((d, d))
        for start in range(0, n, BLOCK):
            block = slice(start, start + BLOCK)
            Z = rows[block] - self._origin - M[number[block]]
            S += Z.T @ Z
        S /= max(n - len(self._names), 1)
        S[np.diag_indices(d)] += 0.25 * S.trace() / min(n, d) or 1.0
        self._W = np.linalg.solve(S, M.T)
        self._b = -(M.T * self._W).sum(axis=0) / 2

    def predict(self, rows: Array) -> Ints:
        """Return the labels of rows."""
        blocks = [
            (rows[start : start + BLOCK] - self._origin) @ self._W + self._b
            for start in range(0, len(rows), BLOCK)
        ]
        return self._names[np.concatenate(blocks).argmax(axis=1)]


class OnlineSgd:
    """scikit-learn's SGDClassifier with the methods of a model of river; rows are (1, d)."""

    def __init__(self, names: Ints) -> None:
        self._model, self._names, self._is_new = SGDClassifier(random_state=0), names, True

    def predict_one(self, x: Array) -> Any:
        """Return the label of a row; None before the first was learned."""
        return None if self._is_new else self._model.predict(x)[0]

    def learn_one(self, x: Array, y: int) -> None:
        """Learn a row."""
        self._model.partial_fit(x, [y], self._names)
        self._is_new = False


class HoeffdingTree:
    """river's Hoeffding tree, one pass."""

    def __init__(self, rows: Array, labels: Ints) -> None:
        self._model = HoeffdingTreeClassifier()
        for x, y in zip(as_dicts(rows), labels.tolist(), strict=True):
            self._model.learn_one(x, y)

    def predict(self, rows: Array) -> Ints:
        """Return the labels of rows."""
        return np.array([self._model.predict_one(x) for x in as_dicts(rows)])


def as_dicts(rows: Array) -> list[dict[int, float]]:
    """Return rows as river takes them."""
    return [dict(enumerate(row)) for row in rows.tolist()]


def adaptive_models(rows: Array, labels: Ints) -> dict[str, tuple[Any, list[Any]]]:
    """Return models for streams that change, untaught, with the rows as they take them."""
    return {
        "SGDClassifier": (OnlineSgd(np.unique(labels)), list(rows[:, None])),
        "river ARFClassifier": (ARFClassifier(seed=0), as_dicts(rows)),
        "river HoeffdingAdaptiveTree": (HoeffdingAdaptiveTreeClassifier(seed=0), as_dicts(rows)),
    }


def nearest(rows: Array, labels: Ints) -> Any:
    """Return the vote of the five nearest rows, all of which are stored."""
    return KNeighborsClassifier(5, algorithm="brute").fit(rows, labels)


def logistic(rows: Array, labels: Ints) -> Any:
    """Return logistic regression on standardised columns, C = 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last digits of its loss decide nothing
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)).fit(rows, labels)


def tuned_logistic(rows: Array, labels: Ints) -> Any:
    """Return logistic regression on standardised columns, C tuned."""
    grid = {"logisticregression__C": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]}
    return _tuned(LogisticRegression(max_iter=2_000), grid, rows, labels)


def tuned_svm(rows: Array, labels: Ints) -> Any:
    """Return an RBF-SVM on standardised columns, C and gamma tuned."""
    widths = [factor / rows.shape[1] for factor in (0.25, 1.0, 4.0, 16.0)]
    return _tuned(SVC(), {"svc__C": [1.0, 10.0], "svc__gamma": widths}, rows, labels)


def boosting(rows: Array, labels: Ints) -> Any:
    """Return gradient boosting with its default settings."""
    return HistGradientBoostingClassifier(random_state=0).fit(rows, labels)


def tfidf() -> TfidfVectorizer:
    """Return TF-IDF of words and pairs of words, unfitted."""
    return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))


def for_rows(X: Any, model: Any) -> Any:
    """Return a model, unfitted, behind what it needs for an array, a list of texts or a frame."""
    if isinstance(X, pd.DataFrame):
        return tabular_pipeline(model)
    return make_pipeline(tfidf() if isinstance(X, list) else StandardScaler(), model)


def _tuned(model: Any, grid: Any, rows: Array, labels: Ints) -> Any:
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(make_pipeline(StandardScaler(), model), grid, cv=folds)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # a value that does not converge is judged like any other
        return search.fit(rows, labels)
