"""Scikit-learn's linear models, tuned by cross-validation on the training rows."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout._typing import Ints

C_TRIED = tuple(10.0**power for power in range(-4, 4))
SHRINKAGE_TRIED = (None, "auto", 0.001, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9)
FOLDS = 5


def svc_predictions(rows: NDArray[Any], labels: Ints, asked: NDArray[Any]) -> Ints:
    """Names asked rows by LinearSVC on standardised columns, its C chosen from 1e-4 to 1e3."""
    from sklearn.svm import LinearSVC

    grid = {"model__C": list(C_TRIED)}
    return _tuned(LinearSVC(max_iter=10_000, random_state=0), grid, rows, labels, asked)


def lda_predictions(rows: NDArray[Any], labels: Ints, asked: NDArray[Any]) -> Ints:
    """Names asked rows by LinearDiscriminantAnalysis, its shrinkage chosen."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    grid = {"model__shrinkage": list(SHRINKAGE_TRIED)}
    return _tuned(LinearDiscriminantAnalysis(solver="lsqr"), grid, rows, labels, asked)


def _tuned(
    model: Any, grid: dict[str, list[Any]], rows: NDArray[Any], labels: Ints, asked: NDArray[Any]
) -> Ints:
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline = Pipeline([("scaler", StandardScaler()), ("model", model)])
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(pipeline, grid, cv=folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a C that does not converge is judged like any other
        search.fit(rows, labels)
    return np.asarray(search.predict(asked))
