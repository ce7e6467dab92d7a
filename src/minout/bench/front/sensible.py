"""One pass in label order, nothing tuned, beside models that see everything at once, tuned."""

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.bench.engine.table import Claim, Table, mean_and_spread
from minout.bench.engine.tell import Tell
from minout.bench.engine.tuned import SHRINKAGE_TRIED
from minout.bench.front.sets import SETS, Split, split
from minout.classifier import MinoutClassifier
from minout.metrics import accuracy

C_TRIED = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
FOLDS = 3
BINS = 10
WIDE = 2_000


class Sensible(NamedTuple):
    """Is one table and split: accuracies, and how far probabilities are from shares.

    `stream` is after one pass, `ours` after consolidate(). `gap` is the mean distance between
    what was promised and what came true over ten bins of the highest probability, weighted by
    their rows; `surprise` the mean of -log p of the true class. `alike` is the gap that rows drawn
    from the promised probabilities themselves would show: so much is chance.
    """

    seed: int
    table: str
    examples: int
    columns: int
    classes: int
    seconds: float
    stream: float
    ours: float
    logistic: float
    lda: float
    gap: float
    alike: float
    logistic_gap: float
    surprise: float
    logistic_surprise: float


def measure(names: Sequence[str], seeds: Sequence[int], tell: Tell) -> list[Sensible]:
    """Teaches every table once per seed."""
    jobs = [(name, seed) for name in names for seed in seeds]
    rows = []
    for done, (name, seed) in enumerate(jobs):
        tell(name, done, len(jobs))
        rows.append(_one(name, seed, split(name, seed)))
    return rows


def _one(name: str, seed: int, made: Split) -> Sensible:
    ours = MinoutClassifier()
    start = time.perf_counter()
    for x, y in zip(made.rows, made.labels, strict=True):
        ours.partial_fit(x[None], y[None])
    seconds = time.perf_counter() - start
    stream = accuracy(ours.predict(made.test_rows), made.test_labels)
    ours.consolidate()
    shares = ours.predict_proba(made.test_rows)
    logistic = _logistic(made)
    logistic_shares = logistic.predict_proba(made.test_rows)
    rng = np.random.default_rng(seed)
    own = np.searchsorted(ours.classes_, made.test_labels)
    return Sensible(
        seed,
        name,
        len(made.rows),
        made.rows.shape[1],
        len(ours.classes_),
        seconds / len(made.rows),
        stream,
        accuracy(ours.predict(made.test_rows), made.test_labels),
        accuracy(logistic.predict(made.test_rows), made.test_labels),
        accuracy(_lda(made).predict(made.test_rows), made.test_labels),
        _gap(shares, own),
        float(np.mean([_gap(shares, _drawn(shares, rng)) for _ in range(20)])),
        _gap(logistic_shares, own),
        _surprise(shares, own),
        _surprise(logistic_shares, own),
    )


def _logistic(made: Split) -> Any:
    from sklearn.linear_model import LogisticRegression

    return _tuned(LogisticRegression(max_iter=2_000), {"model__C": list(C_TRIED)}, made)


def _lda(made: Split) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    if made.rows.shape[1] >= WIDE:  # a covariance of 10,000 columns takes 800 MB and minutes
        return LinearDiscriminantAnalysis().fit(made.rows, made.labels)
    grid: dict[str, list[Any]] = {"model__shrinkage": list(SHRINKAGE_TRIED)}
    return _tuned(LinearDiscriminantAnalysis(solver="lsqr"), grid, made)


def _tuned(model: Any, grid: dict[str, list[Any]], made: Split) -> Any:
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline = Pipeline([("scaler", StandardScaler()), ("model", model)])
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a setting that does not converge is judged like any other
        return GridSearchCV(pipeline, grid, cv=folds).fit(made.rows, made.labels)


def _gap(shares: Floats, own: Ints) -> float:
    highest, right = shares.max(axis=1), shares.argmax(axis=1) == own
    bins = np.minimum((highest * BINS).astype(int), BINS - 1)
    apart = [abs(float((highest[bins == k] - right[bins == k]).sum())) for k in range(BINS)]
    return sum(apart) / len(own)


def _drawn(shares: Floats, rng: np.random.Generator) -> Ints:
    u = rng.random((len(shares), 1))
    return np.asarray((shares.cumsum(axis=1) < u).sum(axis=1))


def _surprise(shares: Floats, own: Ints) -> float:
    return float(-np.log(np.maximum(shares[np.arange(len(own)), own], 1e-15)).mean())


def tables(rows: Sequence[Sensible]) -> list[Table]:
    """Writes accuracies, then probabilities, the mean over the splits."""
    names = (f"{FOLDS}-fold cross-validation", len({row.seed for row in rows}))
    note = (
        f"Mean ± standard deviation over {names[1]} splits, a quarter to test on. Ours: as it "
        "comes, one row at a time, all of one label before the next. The others: standardised "
        f"columns, all rows at once, C or shrinkage tuned by {names[0]} on the training rows "
        "(LDA by SVD, not tuned, from 2,000 columns on)."
    )
    first = Table(
        "Accuracy, one pass in label order",
        (
            "table",
            "rows × columns, classes",
            "ms per row",
            "stream",
            "consolidated",
            "logistic",
            "LDA",
        ),
        [_accuracies(name, some) for name, some in _groups(rows)],
        note,
    )
    second = Table(
        "Probabilities",
        ("table", "gap", "chance", "logistic's gap", "-log p", "logistic's -log p"),
        [_promises(name, some) for name, some in _groups(rows)],
        "gap: how far what was promised is from what came true, over ten bins of the highest "
        "probability. chance: the gap if the promises were exactly right, by drawing from them.",
    )
    return [first, second]


def claims(rows: Sequence[Sensible]) -> list[Claim]:
    """Holds each table against the better of the two others."""
    found = []
    for name, some in _groups(rows):
        ours, logistic, lda = np.mean([(r.ours, r.logistic, r.lda) for r in some], axis=0)
        ahead = 100 * float(ours - max(logistic, lda))
        what = f"{name}: within 2 points of the better"
        found.append(Claim(4, what, f"{ahead:+.1f} points", ahead >= -2.0))
    return found


def _accuracies(name: str, some: list[Sensible]) -> tuple[str, ...]:
    shares = (
        [100 * getattr(row, what) for row in some] for what in ("stream", "ours", "logistic", "lda")
    )
    return (
        name,
        f"{some[0].examples:,} × {some[0].columns:,}, {some[0].classes}",
        f"{1e3 * np.mean([row.seconds for row in some]):.2f}",
        *(mean_and_spread(each, " %", digits=1) for each in shares),
    )


def _promises(name: str, some: list[Sensible]) -> tuple[str, ...]:
    names = ("gap", "alike", "logistic_gap", "surprise", "logistic_surprise")
    means = (float(np.mean([getattr(row, each) for row in some])) for each in names)
    return (name, *(f"{mean:.3f}" for mean in means))


def _groups(rows: Sequence[Sensible]) -> Iterator[tuple[str, list[Sensible]]]:
    for name in SETS:
        some = [row for row in rows if row.table == name]
        if some:
            yield name, some
