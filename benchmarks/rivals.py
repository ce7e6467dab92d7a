"""The models that minout is compared with: streaming LDA, and tuned models of scikit-learn."""

import warnings
from typing import Any

import numpy as np

from benchmarks.data import Array, Ints

SVC_C = tuple(10.0**power for power in range(-4, 4))
LOGISTIC_C = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
SHRINKAGE = (None, "auto", 0.001, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9)
WIDE = 2_000
RIDGE = 0.25
BLOCK = 4_096


def streaming_lda(rows: Array, labels: Ints, test_rows: Array) -> Ints:
    """Return the predictions of streaming LDA, in plain NumPy, for test_rows (k, d).

    Class means and one covariance are sums, so a stream of updates and all rows (n, d) at once
    give the same model; it is computed at once. Its ridge is that of the engine's whitening,
    S_w + 0.25·tr(S_w)/min(n, d)·I, and all classes have the same prior probability.
    """
    classes, number = np.unique(labels, return_inverse=True)
    n, d = rows.shape
    origin = rows.mean(axis=0, dtype=np.float64)
    means = [rows[number == c].mean(axis=0, dtype=np.float64) for c in range(len(classes))]
    M = np.stack(means) - origin
    S = np.zeros((d, d))
    for start in range(0, n, BLOCK):
        block = slice(start, start + BLOCK)
        Z = rows[block] - origin - M[number[block]]
        S += Z.T @ Z
    S /= max(n - len(classes), 1)
    ridge = RIDGE * float(S.trace()) / min(n, d)
    S[np.diag_indices(d)] += ridge if ridge > 0.0 else 1.0
    W = np.linalg.solve(S, M.T)
    b = -(M.T * W).sum(axis=0) / 2.0
    blocks = [
        ((test_rows[start : start + BLOCK] - origin) @ W + b).argmax(axis=1)
        for start in range(0, len(test_rows), BLOCK)
    ]
    return np.asarray(classes[np.concatenate(blocks)])


def plain_lda(rows: Array, labels: Ints, test_rows: Array) -> Ints:
    """Return the predictions of scikit-learn's LinearDiscriminantAnalysis() for test_rows (k, d).

    It has no ridge, which is best where there are many rows per column.
    """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # variables are collinear if there are few rows
        model = LinearDiscriminantAnalysis().fit(rows, labels)
    blocks = [
        model.predict(test_rows[start : start + BLOCK]) for start in range(0, len(test_rows), BLOCK)
    ]
    return np.asarray(np.concatenate(blocks))


def tuned_svc(rows: Array, labels: Ints, *, folds: int) -> Any:
    """Return a fitted LinearSVC on standardised columns, C tuned from 1e-4 to 1e3."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(max_iter=10_000, random_state=0)
    return _tuned(model, {"model__C": list(SVC_C)}, rows, labels, folds)


def tuned_lda(rows: Array, labels: Ints, *, folds: int) -> Any:
    """Return a fitted LinearDiscriminantAnalysis on standardised columns, its shrinkage tuned.

    From 2,000 columns on it is solved by SVD and not tuned: a covariance of 10,000 columns takes
    800 MB and minutes.
    """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    if rows.shape[1] >= WIDE:
        return LinearDiscriminantAnalysis().fit(rows, labels)
    grid: dict[str, list[Any]] = {"model__shrinkage": list(SHRINKAGE)}
    return _tuned(LinearDiscriminantAnalysis(solver="lsqr"), grid, rows, labels, folds)


def tuned_logistic(rows: Array, labels: Ints, *, folds: int) -> Any:
    """Return a fitted LogisticRegression on standardised columns, C tuned from 1e-3 to 100."""
    from sklearn.linear_model import LogisticRegression

    grid = {"model__C": list(LOGISTIC_C)}
    return _tuned(LogisticRegression(max_iter=2_000), grid, rows, labels, folds)


def plain_logistic(rows: Array, labels: Ints) -> Any:
    """Return a LogisticRegression on rows as they are, for the time of its predictions only."""
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it need not converge
        return LogisticRegression(max_iter=20).fit(rows, labels)


def _tuned(model: Any, grid: dict[str, list[Any]], rows: Array, labels: Ints, folds: int) -> Any:
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline = Pipeline([("scaler", StandardScaler()), ("model", model)])
    splits = StratifiedKFold(folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a value that does not converge is judged like any other
        return GridSearchCV(pipeline, grid, cv=splits).fit(rows, labels)
