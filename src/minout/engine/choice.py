"""Choose scale, metric, prior and C by cross-validation on some of the rows.

The rows are picked and divided into folds by their digests, so the choice does not depend on their
order. Everything is computed from the inner products of the rows.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize_scalar

from minout import kernels
from minout._typing import Bools, Floats, Ints, Words
from minout.errors import NotConverged
from minout.maths import NOISE, RIDGE, TINY

ROWS = 1_000
CLASSES = 20
ALIKE = 10
"""Where only some classes are taken, they are groups of this many with similar means."""
FOLDS = 3
STANDARD_ERRORS = 2.0
WORTH = 0.005
"""By how much a lower C, or a prior from means, must make held-out labels more probable."""
STRENGTHS = (5.0, 0.5)
"""Values of C to choose from. In tests, higher ones fitted no more and generalised worse."""
SHARPNESS = (0.1, 100.0)
"""The bounds between which the sharpness is searched."""


class Shape(NamedTuple):
    """The settings other than C: scale, metric and prior; see `Choice`."""

    standardize: bool = False
    whiten: bool = False
    lda_prior: bool = False


class Choice(NamedTuple):
    """The settings in use: chosen from the data, or set by the user.

    Attributes
    ----------
    standardize : bool
        Whether each column is divided by its standard deviation first.
    whiten : bool
        Whether the metric is the inverse of the within-class covariance.
    lda_prior : bool
        Whether separators are regularised towards the linear discriminant of their two classes.
    C : float
        Inverse strength of the regularisation, as in scikit-learn.
    sharpness : float
        The factor of the scores in the softmax that gives probabilities (an inverse temperature):
        the value that maximised the likelihood of the labels of held-out rows.
    """

    standardize: bool = False
    whiten: bool = False
    lda_prior: bool = False
    C: float = STRENGTHS[0]
    sharpness: float = 1.0

    @property
    def lam(self) -> float:
        """λ = 1/(2C), the weight of the regularisation beside the squared slacks."""
        return 1.0 / (2.0 * self.C)


SHAPES = (
    Shape(),
    Shape(standardize=True),
    Shape(whiten=True, lda_prior=True),
    Shape(standardize=True, whiten=True, lda_prior=True),
    Shape(lda_prior=True),
)
"""The candidates, simplest first; the last one has a prior from the class means alone."""


def picked(digests: Words, labels: Ints, means: Floats) -> Ints:
    """Return the rows for cross-validation: those with the lowest digests, in that order.

    Equal rows have the same digest; one of them is taken, so that they are not in two folds. With
    many classes, the class of the row with the lowest digest is taken, with those whose means are
    nearest to its mean, then the next such group, until there are enough rows: classes picked at
    random would be too easy to tell apart. Classes with fewer rows than folds are left out. `means`
    (classes, d) are by class number, as the labels are.
    """
    _, first = np.unique(digests, return_index=True)
    taken = _classes_for_validation(labels[first], means)
    few = first[np.isin(labels[first], taken)][:ROWS]
    values, counts = np.unique(labels[few], return_counts=True)
    return few[np.isin(labels[few], values[counts >= FOLDS])]


def _classes_for_validation(labels: Ints, means: Floats) -> list[int]:
    names, leader, counts = np.unique(labels, return_index=True, return_counts=True)
    waiting = names[np.argsort(leader)]
    count = dict(zip(names.tolist(), counts.tolist(), strict=True))
    taken: list[int] = []
    rows = 0
    while len(waiting) and (len(taken) < CLASSES or rows < ROWS):
        apart = np.square(means[waiting] - means[waiting[0]]).sum(axis=1)
        apart[0] = -1.0
        group = np.argsort(apart, kind="stable")[:ALIKE]
        taken += waiting[group].tolist()
        rows += sum(count[c] for c in waiting[group].tolist())
        waiting = np.delete(waiting, group)
    return taken


def choose(
    X: Floats, labels: Ints, digests: Words, shapes: tuple[Shape, ...], strengths: tuple[float, ...]
) -> Choice:
    """Choose C for each shape, then a shape, by the results on held-out rows.

    C: the highest, unless another one makes the held-out labels more probable by more than half a
    percent and two standard errors of the difference; a high C fits the examples more closely.
    The shape: the simplest one whose mean margin, clipped to [-1, 1], is within two standard errors
    of the highest. (With few examples, accuracy is too coarse.) A prior from the means alone gives
    larger margins without being better, so such a shape must make the labels more probable, as a
    lower C must. A shape whose separators cannot be solved because of rounding is chosen only if
    there is no other.
    """
    lams = tuple(1.0 / (2.0 * C) for C in strengths)
    if len(np.unique(labels)) < 2:
        return Choice(*shapes[0], C=strengths[0])
    folds = (digests >> np.uint64(7)) % np.uint64(FOLDS)
    kinds = sorted({shape.standardize for shape in shapes})
    products = dict(
        zip(kinds, kernels.in_threads(lambda each: _products(X, each), kinds), strict=True)
    )
    parts = kernels.in_threads(
        lambda each: _held_out_fold(products[each[0].standardize], X.shape[1], labels, *each, lams),
        [(shape, folds == fold) for shape in shapes for fold in range(FOLDS)],
    )
    tried = kernels.in_threads(
        lambda s: _held_out_results(parts[s * FOLDS : (s + 1) * FOLDS], len(labels), len(lams)),
        range(len(shapes)),
    )
    shapes = tuple(shape for shape, results in zip(shapes, tried, strict=True) if results) or shapes
    solved = [each for each in tried if each]
    if not solved:
        return Choice(*shapes[0], C=strengths[0])
    at = [_plainest([each.probable for each in of_shape], by=WORTH) for of_shape in solved]
    found = [of_shape[i] for of_shape, i in zip(solved, at, strict=True)]
    means_only = [i for i, shape in enumerate(shapes) if shape.lda_prior and not shape.whiten]
    others = [i for i in range(len(shapes)) if i not in means_only] or means_only
    best = others[_plainest([np.clip(found[i].margins, -1.0, 1.0) for i in others])]
    for i in means_only:
        if _is_more(found[i].probable, found[best].probable, by=WORTH):
            best = i
    return Choice(*shapes[best], C=strengths[at[best]], sharpness=found[best].sharpness)


class _HeldOutFold(NamedTuple):
    """Held-out rows of one fold: their numbers, their scores, and the column of their own class."""

    rows: Ints
    scores: Floats
    own: Ints


class _HeldOutResults:
    """The results on held-out rows.

    `margins` are their smallest margins in their own class, -1 for rows whose class is not in the
    training rows; `probable` are the probabilities of their labels (0 for such rows) at the
    `sharpness` that maximises the likelihood.
    """

    def __init__(self, parts: list[_HeldOutFold], n: int) -> None:
        self.margins, self.probable = np.full(n, -1.0), np.zeros(n)
        self.sharpness = _sharpness(parts) if parts else 1.0
        for rows, scores, own in parts:
            each = np.arange(len(own))
            self.margins[rows] = scores[each, own]
            self.probable[rows] = softmax(self.sharpness * scores)[each, own]


def _sharpness(parts: list[_HeldOutFold]) -> float:
    # Each label counts as wrong with a small probability, as one in this many might be. Without
    # this, the optimum would be infinite where all are right.
    doubt = 1.0 / (2.0 + sum(len(part.own) for part in parts))

    def unlikely(log_sharpness: float) -> float:
        total = 0.0
        for _, scores, own in parts:
            log_shares = np.log(np.maximum(softmax(np.exp(log_sharpness) * scores), 1e-300))
            right = log_shares[np.arange(len(own)), own]
            others = (log_shares.sum(axis=1) - right) / (scores.shape[1] - 1)
            total -= float((1.0 - doubt) * right.sum() + doubt * others.sum())
        return total

    found = minimize_scalar(unlikely, bounds=np.log(SHARPNESS), method="bounded")
    return float(np.exp(found.x))


def _held_out_fold(
    G: Floats, width: int, labels: Ints, shape: Shape, held: Bools, lams: tuple[float, ...]
) -> list[_HeldOutFold] | None:
    # The held-out rows of a fold with separators found without them, per λ; nothing if that leaves
    # no rows or one class; None if the separators cannot be solved for these numbers.
    classes = np.unique(labels[~held])
    known = np.isin(labels[held], classes)
    if not known.any() or len(classes) < 2:
        return []
    rows = np.flatnonzero(held)[known]
    own = np.searchsorted(classes, labels[rows])
    try:
        scores = _scores(G, width, labels, ~held, shape, lams)
    except (NotConverged, np.linalg.LinAlgError):
        return None
    return [_HeldOutFold(rows, at_lam[known], own) for at_lam in scores]


def _held_out_results(
    folds: Sequence[list[_HeldOutFold] | None], n: int, lams: int
) -> list[_HeldOutResults]:
    # The results of a shape on n rows, per λ; nothing if a fold could not be solved.
    solved = [fold for fold in folds if fold is not None]
    if len(solved) < len(folds):
        return []
    return [_HeldOutResults([fold[i] for fold in solved if fold], n) for i in range(lams)]


def softmax(scores: Floats) -> Floats:
    """Return the softmax of each row."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _plainest(values: list[Floats], by: float = 0.0) -> int:
    # The first whose mean is not significantly below the highest.
    best = values[int(np.argmax([each.mean() for each in values]))]
    return next(i for i, each in enumerate(values) if each is best or not _is_more(best, each, by))


def _is_more(values: Floats, than: Floats, by: float = 0.0) -> bool:
    more = values - than
    return bool(more.mean() > max(by, STANDARD_ERRORS * more.std() / np.sqrt(len(more))))


def _products(X: Floats, standardize: bool) -> Floats:
    Z = X - X.mean(axis=0)
    if standardize:
        deviation = Z.std(axis=0)
        constant = deviation <= 1e-12 * np.abs(X).max(axis=0)
        Z = Z / np.where(constant, 1.0, deviation)
    return np.asarray(Z @ Z.T)


def _scores(
    G: Floats, width: int, labels: Ints, train: Bools, shape: Shape, lams: tuple[float, ...]
) -> Floats:
    # Scores of the held-out rows from separators of the training rows: (lams, held, classes).
    classes = np.unique(labels[train])
    member = (labels[train, None] == classes).astype(np.float64)
    average = member / member.sum(axis=0)
    H = _measured(G, train, member, average, width if shape.whiten else None)
    to_means = H[:, train] @ average
    middle, scale = _priors(average.T @ to_means[train], shape.lda_prior)
    rows, held = np.flatnonzero(train), np.flatnonzero(~train)
    by_class = rows[np.argsort(labels[rows], kind="stable")]
    start = np.searchsorted(labels[by_class], [*classes.tolist(), classes[-1] + 1])
    inside, outside = _turned(to_means[by_class]), _turned(to_means[held])
    priors = kernels.ClassPriors(inside, outside, middle, scale)
    largest_first = np.argsort(lams)[::-1]
    found = np.empty((len(lams), len(held), len(classes)))
    if not kernels.pair_scores(
        H[np.ix_(by_class, by_class)],
        H[np.ix_(by_class, held)],
        start,
        priors,
        np.array(lams)[largest_first],
        found,
    ):
        raise NotConverged("a separator did not settle")
    return found[np.argsort(largest_first)]


def _turned(A: Floats) -> Floats:
    return np.ascontiguousarray(A.T)


def _measured(
    G: Floats, train: Bools, member: Floats, average: Floats, width: int | None
) -> Floats:
    # Inner products x'K x about the training rows' mean, scaled; width None is the plain K.
    n = int(train.sum())
    centre = G[:, train].mean(axis=1)
    H = G - centre[:, None] - centre + G[np.ix_(train, train)].mean()
    if width is not None:
        to_Y = H[:, train] - (H[:, train] @ average) @ member.T  # y_t = x_t - mean of t's class
        YY = to_Y[train] - member @ (average.T @ to_Y[train])
        freedom = max(n - member.shape[1], 1)
        ridge = RIDGE * YY.trace() / freedom / min(n, width)
        if ridge > TINY:
            L = np.linalg.cholesky(YY + freedom * ridge * np.eye(n))
            part = solve_triangular(L, to_Y.T, lower=True, check_finite=False)
            H = (H - part.T @ part) / ridge
    scale = float(H.diagonal()[train].mean())
    return np.asarray(H / scale) if scale > TINY else H


def _priors(between: Floats, lda_prior: bool) -> tuple[Floats, Floats]:
    # Middles and scales of discriminants that are at +1 on the mean of one class, at -1 on the
    # other's; from the inner products between the means.
    squares = between.diagonal()
    half = (squares[:, None] - 2.0 * between + squares) / 2.0
    apart = (half > NOISE) & lda_prior
    scale = np.where(apart, 1.0 / np.where(apart, half, 1.0), 0.0)
    return (squares[:, None] - squares) / 2.0, scale
