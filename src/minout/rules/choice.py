"""Which metric, prior and price suit what was taught: chosen by cross-validation on some rows.

The rows are picked and dealt into folds by their digests, so the choice does not depend on the
order in which they came. Everything is computed from the rows' inner products.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize_scalar

from minout import kernels
from minout._typing import Bools, Floats, Ints, Words
from minout.maths import NOISE, RIDGE, TINY

ROWS = 1_000
CLASSES = 20
FOLDS = 3
STANDARD_ERRORS = 2.0
PRICES = (1e-3, 1e-2, 1e-1, 1.0)
SHARPNESS = (0.1, 100.0)
"""Between these bounds sharpness is looked for."""


class Shape(NamedTuple):
    """Says how rows are measured, and whether separators start from the linear discriminant.

    `columns` divides each column by its standard deviation first; `metric` measures in the inverse
    of the within-class covariance; `prior` starts from the discriminant.
    """

    columns: bool = False
    metric: bool = False
    prior: bool = False


class Choice(NamedTuple):
    """Is what was settled on: a shape and λ.

    `sharpness` is what scores are multiplied by before they become probabilities: that under which
    the labels of rows that were held out were likeliest.
    """

    shape: Shape
    price: float
    sharpness: float = 1.0


SHAPES = (Shape(), Shape(columns=True), Shape(metric=True, prior=True), Shape(True, True, True))
"""What is tried, the plainest first."""


def picked(digests: Words, labels: Ints) -> Ints:
    """Picks the rows to choose by: those with the lowest digests, in that order.

    Copies of a row have one digest, so one of them is taken: they would sit on both sides of a
    fold. Of many classes those with the lowest digests are taken, because pairs grow with their
    square; classes of which fewer than one row per fold is left are left out.
    """
    _, first = np.unique(digests, return_index=True)
    _, leader = np.unique(labels[first], return_index=True)
    classes = labels[first[np.sort(leader)[:CLASSES]]]
    few = first[np.isin(labels[first], classes)][:ROWS]
    values, counts = np.unique(labels[few], return_counts=True)
    return few[np.isin(labels[few], values[counts >= FOLDS])]


def choose(
    X: Floats, labels: Ints, digests: Words, shapes: tuple[Shape, ...], prices: tuple[float, ...]
) -> Choice:
    """Picks a price for each shape, then a shape, by how rows fare that are held out.

    The price: the lowest that names as many of them rightly as any, but for two standard errors of
    the difference; a low price fits what was taught more closely, so it must be worth something to
    pay more. The shape: the plainest whose margins, clipped to [-1, 1], are as high on average as
    any, but for the same. (Margins say more than names: with ten examples per class the share of
    names that are right is too coarse to choose by.)
    """
    if len(np.unique(labels)) < 2:
        return Choice(shapes[0], prices[0])
    folds = (digests >> np.uint64(7)) % np.uint64(FOLDS)
    products = {columns: _products(X, columns) for columns in {shape.columns for shape in shapes}}
    if len(shapes) == len(prices) == 1:
        return _sharpened(shapes[0], prices[0], products, X.shape[1], labels, folds)
    fared = kernels.in_threads(
        lambda s: _fared(products[s.columns], X.shape[1], labels, folds, s, prices), shapes
    )
    places = [_plainest([each.right for each in of_shape]) for of_shape in fared]
    clipped = [np.clip(f[at].margins, -1.0, 1.0) for f, at in zip(fared, places, strict=True)]
    best = _plainest(clipped)
    shape, price = shapes[best], prices[places[best]]
    return _sharpened(shape, price, products, X.shape[1], labels, folds)


class _Fared(NamedTuple):
    """Is how rows fared that were held out: their own class's least margin; named rightly?"""

    margins: Floats
    right: Floats


def _sharpened(
    shape: Shape,
    price: float,
    products: dict[bool, Floats],
    width: int,
    labels: Ints,
    folds: Words,
) -> Choice:
    # The sharpness under which the labels of held-out rows are likeliest. Each of them counts as
    # wrong by a little, as one among so many might be: where all are right, that sets the limit.
    parts = []
    for fold in range(FOLDS):
        held = folds == fold
        classes = np.unique(labels[~held])
        held_labels = labels[held]
        if len(classes) > 1:
            scores = _scores(products[shape.columns], width, labels, ~held, shape, (price,))[0]
            known = np.isin(held_labels, classes)
            parts.append((scores[known], np.searchsorted(classes, held_labels[known])))
    doubt = 1.0 / (2.0 + sum(len(own) for _, own in parts))

    def unlikely(log_sharpness: float) -> float:
        total = 0.0
        for scores, own in parts:
            log_shares = np.log(np.maximum(shares(np.exp(log_sharpness) * scores), 1e-300))
            right = log_shares[np.arange(len(own)), own]
            others = (log_shares.sum(axis=1) - right) / (scores.shape[1] - 1)
            total -= float((1.0 - doubt) * right.sum() + doubt * others.sum())
        return total

    if not any(len(own) for _, own in parts):
        return Choice(shape, price)
    found = minimize_scalar(unlikely, bounds=np.log(SHARPNESS), method="bounded")
    return Choice(shape, price, float(np.exp(found.x)))


def shares(scores: Floats) -> Floats:
    """Gives exp(score) of each class divided by their sum, row by row."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _plainest(values: list[Floats]) -> int:
    # The first whose mean is below the highest by no more than the noise of the difference.
    best = values[int(np.argmax([each.mean() for each in values]))]
    for i, each in enumerate(values):
        less = best - each
        if less.mean() <= STANDARD_ERRORS * less.std() / np.sqrt(len(less)):
            return i
    return len(values) - 1


def _products(X: Floats, columns: bool) -> Floats:
    Z = X - X.mean(axis=0)
    if columns:
        deviation = Z.std(axis=0)
        constant = deviation <= 1e-12 * np.abs(X).max(axis=0)
        Z = Z / np.where(constant, 1.0, deviation)
    return np.asarray(Z @ Z.T)


def _fared(
    G: Floats, width: int, labels: Ints, folds: Words, shape: Shape, prices: tuple[float, ...]
) -> list[_Fared]:
    # How each row fares with separators that were found without its fold, per price.
    fared = [_Fared(np.full(len(labels), -1.0), np.zeros(len(labels))) for _ in prices]
    for fold in range(FOLDS):
        held = folds == fold
        classes = np.unique(labels[~held])
        if not held.any() or len(classes) < 2:
            continue
        own = labels[held, None] == classes
        for each, scores in zip(
            fared, _scores(G, width, labels, ~held, shape, prices), strict=True
        ):
            each.margins[held] = np.where(own, scores, -np.inf).max(axis=1)
            each.right[held] = classes[scores.argmax(axis=1)] == labels[held]
    return fared


def _scores(
    G: Floats, width: int, labels: Ints, train: Bools, shape: Shape, prices: tuple[float, ...]
) -> list[Floats]:
    # What separators found on the training rows say of the others, per price: (held, classes).
    classes = np.unique(labels[train])
    member = (labels[train, None] == classes).astype(np.float64)
    average = member / member.sum(axis=0)
    H = _measured(G, train, member, average, width if shape.metric else None)
    to_means = H[:, train] @ average
    between = average.T @ to_means[train]
    rows, held = np.flatnonzero(train), np.flatnonzero(~train)
    scores = [np.full((len(held), len(classes)), np.inf) for _ in prices]
    for a in range(len(classes)):
        for b in range(a + 1, len(classes)):
            pool = rows[(labels[rows] == classes[a]) | (labels[rows] == classes[b])]
            signs = np.where(labels[pool] == classes[a], 1.0, -1.0)
            f0 = _prior(to_means, between, a, b) if shape.prior else np.zeros(len(labels))
            gram = np.ascontiguousarray(signs[:, None] * signs * (H[np.ix_(pool, pool)] + 1.0))
            to_pool = H[np.ix_(held, pool)] + 1.0
            found = _dearest_first(gram, 1.0 - signs * f0[pool], prices)
            for score, alpha in zip(scores, found, strict=True):
                f = f0[held] + to_pool @ (signs * alpha)
                score[:, a] = np.minimum(score[:, a], f)
                score[:, b] = np.minimum(score[:, b], -f)
    return scores


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


def _prior(to_means: Floats, between: Floats, a: int, b: int) -> Floats:
    # The discriminant at every row: at +1 on the mean of a, at -1 on that of b.
    half = (between[a, a] - 2.0 * between[a, b] + between[b, b]) / 2.0
    if not half > NOISE:
        return np.zeros(len(to_means))
    middle = (between[a, a] - between[b, b]) / 2.0
    return np.asarray((to_means[:, a] - to_means[:, b] - middle) / half)


def _dearest_first(gram: Floats, r: Floats, prices: tuple[float, ...]) -> list[Floats]:
    # From the dearest price down, each from where the last one ended.
    alpha, found = np.zeros(len(r)), []
    for price in sorted(prices, reverse=True):
        if not kernels.newton(gram, r, price, alpha, kernels.empty_factor(len(r))):
            raise ArithmeticError("a separator did not settle")
        found.append(alpha.copy())
    return found[::-1]
