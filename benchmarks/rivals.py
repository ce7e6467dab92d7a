"""The models that minout is compared with: streaming LDA, models of scikit-learn and of river."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Array, Ints

SVC_C = tuple(10.0**power for power in range(-4, 4))
LOGISTIC_C = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
SHRINKAGE = (None, "auto", 0.001, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9)
WIDE = 2_000
RBF_C = (1.0, 10.0)
RBF_WIDTHS = (0.25, 1.0, 4.0, 16.0)
"""Multiples of scikit-learn's gamma="scale"."""
FOREST: dict[str, list[Any]] = {
    "model__max_features": ["sqrt", 0.5],
    "model__min_samples_leaf": [1, 4],
}
BOOSTING: dict[str, list[Any]] = {
    "model__learning_rate": [0.1, 0.3],
    "model__max_leaf_nodes": [7, 31],
}
WIDE_BOOSTING: dict[str, list[Any]] = {"model__learning_rate": [0.1], "model__max_leaf_nodes": [7]}
MANY_COLUMNS = 500
"""From so many columns on boosting is not tuned: one fit takes ten seconds."""
SGD: list[dict[str, Any]] = [
    {"loss": loss, **more}
    for loss in ("hinge", "log_loss")
    for more in (
        *({"alpha": alpha} for alpha in (1e-4, 1e-3, 1e-2)),
        *({"learning_rate": "constant", "eta0": rate} for rate in (0.01, 0.1)),
    )
]
GRACE_PERIODS = (50, 200)
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


def tuned_batch_learners(
    rows: Array, labels: Ints, *, folds: int, trees: int, jobs: int
) -> dict[str, Any]:
    """Return fitted batch learners for curved classes by name, tuned on the rows (n, d).

    Each is a GridSearchCV, so its `best_score_` is an accuracy on held-out rows. 3-NN and the SVM
    have standardised columns or not, as is better. `trees` is the size of the forest and the number
    of rounds of boosting, `jobs` the number of processes.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    boosting = WIDE_BOOSTING if rows.shape[1] >= MANY_COLUMNS else BOOSTING
    searches: dict[str, tuple[Any, Any]] = {
        "3-NN": (KNeighborsClassifier(3), {"scaler": _scalers()}),
        "SVM": (SVC(), _rbf_grid(rows)),
        "forest": (RandomForestClassifier(trees, random_state=0), FOREST | NO_SCALER),
        "boosting": (
            HistGradientBoostingClassifier(max_iter=trees, random_state=0),
            boosting | NO_SCALER,
        ),
    }
    # Threads of small fits wait for each other: processes do the work, with a thread each.
    with threadpool_limits(1):
        return {
            name: _tuned(model, grid, rows, labels, folds, jobs)
            for name, (model, grid) in searches.items()
        }


NO_SCALER: dict[str, list[Any]] = {"scaler": ["passthrough"]}


def _scalers() -> list[Any]:
    from sklearn.preprocessing import StandardScaler

    return [StandardScaler(), "passthrough"]


def _rbf_grid(rows: Array) -> list[dict[str, list[Any]]]:
    d = rows.shape[1]
    return [
        {
            "scaler": [scaler],
            "model__C": list(RBF_C),
            "model__gamma": [width / (d * variance) for width in RBF_WIDTHS],
        }
        for scaler, variance in zip(_scalers(), (1.0, float(rows.var())), strict=True)
    ]


def _tuned(
    model: Any, grid: Any, rows: Array, labels: Ints, folds: int, jobs: int | None = None
) -> Any:
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline = Pipeline([("scaler", StandardScaler()), ("model", model)])
    splits = StratifiedKFold(folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a value that does not converge is judged like any other
        return GridSearchCV(pipeline, grid, cv=splits, n_jobs=jobs).fit(rows, labels)


class OnlineModel(Protocol):
    """A model that predicts and learns one row at a time."""

    def inputs(self, rows: Array) -> Iterable[Any]:
        """Return rows (n, d) as the model takes them, one by one."""

    def predict(self, x: Any) -> Any:
        """Return the label of one row; None before the first is learned."""

    def learn(self, x: Any, y: int) -> None:
        """Learn one row."""


class Online(NamedTuple):
    """One setting of an online model: its description, and a function that makes the model."""

    settings: str
    make: Callable[[], OnlineModel]


class OnlineChoice(NamedTuple):
    """An online model with the settings from which one is chosen."""

    name: str
    variants: list[Online]


def has_river() -> bool:
    """Return whether river is installed."""
    return find_spec("river") is not None


def online_models(classes: Ints) -> Iterator[OnlineChoice]:
    """Yield the online models that are installed; `classes` are all labels of the stream."""
    yield OnlineChoice("SGDClassifier", [_linear(classes, each) for each in SGD])
    if not has_river():
        return
    from river.forest import ARFClassifier
    from river.tree import HoeffdingAdaptiveTreeClassifier

    for cls in (ARFClassifier, HoeffdingAdaptiveTreeClassifier):
        yield OnlineChoice(cls.__name__, [_river(cls, period) for period in GRACE_PERIODS])


def _linear(classes: Ints, settings: dict[str, Any]) -> Online:
    words = ", ".join(f"{name} {value}" for name, value in settings.items())
    return Online(words, lambda: _Linear(classes, settings))


class _Linear:
    """scikit-learn's SGDClassifier, row by row."""

    def __init__(self, classes: Ints, settings: dict[str, Any]) -> None:
        from sklearn.linear_model import SGDClassifier

        self._model = SGDClassifier(**settings, random_state=0)
        self._classes, self._is_new = classes, True

    def inputs(self, rows: Array) -> Iterable[Any]:
        return rows[:, None, :]

    def predict(self, x: Any) -> Any:
        return None if self._is_new else self._model.predict(x)[0]

    def learn(self, x: Any, y: int) -> None:
        self._model.partial_fit(x, [y], classes=self._classes if self._is_new else None)
        self._is_new = False


def _river(cls: Callable[..., Any], period: int) -> Online:
    return Online(f"grace_period {period}", lambda: _River(cls(grace_period=period, seed=0)))


class _River:
    """A classifier of river; rows are dictionaries."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def inputs(self, rows: Array) -> Iterable[Any]:
        return [dict(enumerate(row)) for row in rows.tolist()]

    def predict(self, x: Any) -> Any:
        return self._model.predict_one(x)

    def learn(self, x: Any, y: int) -> None:
        self._model.learn_one(x, y)
