"""Cross-validation of one form: separators without the rows of each fold, and the scores of those.

Rows are divided into folds by their digests; few rows several times, in different ways, because one
division says little. Knots, metric and regions are made anew without the rows of each fold. With
few columns separators are found from the rows, otherwise from their inner products.
"""

from typing import NamedTuple

import numpy as np
import scipy

from minout import kernels, maths
from minout._typing import Bools, Digests, Floats, Ints
from minout.core.regions import region_count
from minout.errors import NotConverged
from minout.maths import NOISE, RIDGE, TINY, Blocks, softmax

FOLDS = 3
ENOUGH, MOST_DIVISIONS = 1_000, 3
"""Rows are divided again while at most 1,000 are held out in all, and at most three times."""
SHARPNESS = (0.1, 100.0)  # the bounds between which the sharpness is searched


class Shape(NamedTuple):
    """The settings of scale, metric, prior and bias; see `Choice`."""

    standardize: bool = False
    whiten: bool = False
    lda_prior: bool = False
    free_bias: bool = True


class Table:
    """Different rows (n, d) to choose by, the numbers of their labels, and their folds.

    Columns in `blocks` are standardized as one, shrunk, and have no hat functions.
    """

    def __init__(
        self,
        X: Floats,
        labels: Ints,
        digests: Digests,
        weights: Floats | None = None,
        blocks: Blocks = (),
    ) -> None:
        self.X, self.labels, self.digests, self.blocks = X, labels, digests, blocks
        self.weights: Floats = np.ones(len(X)) if weights is None else weights
        self.divisions = min(max(ENOUGH // max(len(X), 1), 1), MOST_DIVISIONS)
        words = digests.view(np.uint64)[1::2]  # the first half of a digest decides the order
        bits = [(words >> np.uint64(7 + 11 * each)) for each in range(self.divisions)]
        self._held = [each % np.uint64(FOLDS) == fold for each in bits for fold in range(FOLDS)]
        self._products: dict[tuple[bool, bytes], Floats] = {}
        self._columns: dict[tuple[int, bytes], Floats] = {}

    def first(self, count: int) -> "Table":
        """Return the first so many rows."""
        weights = self.weights[:count]
        X, labels, digests = self.X[:count], self.labels[:count], self.digests[:count]
        return Table(X, labels, digests, weights, self.blocks)

    def folds(self, hats: int, shape: Shape) -> list["Fold"]:
        """Return the folds in which there are rows to hold out and two labels among the others."""
        found = (Fold.of(self, held, hats, shape) for held in self._held)
        return [fold for fold in found if fold is not None]

    def columns(self, held: Bools, hats: int) -> Floats:
        """Return all rows, expanded by hat functions of those that are not held out."""
        if not hats:
            return self.X
        key = hats, held.tobytes()
        found = self._columns.get(key)  # all shapes have the same
        if found is None:
            bare = maths.in_blocks(self.X.shape[1], self.blocks)
            expansion = maths.expansion(self.X[~held], hats, self.weights[~held], bare=bare)
            found = self._columns[key] = maths.expanded(expansion, self.X)
        return found

    def scaled(self, X: Floats, held: Bools, *, standardize: bool) -> Floats:
        """Return all rows, expanded or not, less their mean, and standardized.

        What blocks tell of the labels is found from the rows that are not held out.
        """
        Z = X - _means(X, self.weights)
        if standardize:
            variance = _means((Z - _means(Z, self.weights)) ** 2, self.weights)
            constant = np.sqrt(variance) <= 1e-12 * np.abs(X).max(axis=0)
            total = maths.sum_in_blocks(np.where(constant, 0.0, variance), self.blocks)
            Z = Z / np.sqrt(np.where(total > 0.0, total, 1.0))
            if self.blocks:
                Z *= self._shrinkage(Z, ~held)
        return np.asarray(Z)

    def _shrinkage(self, Z: Floats, train: Bools) -> Floats:
        labels, weights = self.labels[train], self.weights[train]
        shares = (labels[:, None] == np.unique(labels)) * weights[:, None]
        sums, squares = shares.T @ Z[train], weights @ Z[train] ** 2
        moments = maths.Moments(np.zeros(Z.shape[1]), shares.sum(axis=0), sums, squares, None)
        return maths.shrinkage(moments, len(labels), self.blocks)

    def products(self, X: Floats, held: Bools, *, standardize: bool) -> Floats:
        """Return inner products of all rows; those of rows without hats are cached."""
        key = standardize, held.tobytes() if standardize and self.blocks else b""
        found = self._products.get(key) if X is self.X else None
        if found is None:
            Z = self.scaled(X, held, standardize=standardize)
            found = np.asarray(Z @ Z.T)
            if X is self.X:
                self._products[key] = found
        return found


class _HeldOut(NamedTuple):
    """Held-out rows of one fold: their numbers, their scores, and the column of their own label.

    `weights` are theirs.
    """

    rows: Ints
    scores: Floats
    own: Ints
    weights: Floats


class Results:
    """The results on held-out rows, the mean over the divisions into folds.

    `margins` are their smallest margins in their own class, -1 for rows whose class is not in the
    training rows; `probable` are the probabilities of their labels (0 for such rows) at the
    `sharpness` that maximises the likelihood; `weights` are those of the rows. At that sharpness
    the mean of `probable` is at most 1 - `doubt`, but for rounding.
    """

    def __init__(self, parts: list[_HeldOut], table: Table) -> None:
        n, share, self.weights = len(table.labels), 1.0 / table.divisions, table.weights
        self.margins, self.probable = np.full(n, -1.0), np.zeros(n)
        scored = [(each.scores, each.own, each.weights) for each in parts]
        self.sharpness = sharpness(scored).value if scored else 1.0
        self.doubt = doubt(sum(len(each.own) for each in parts))
        for rows, scores, own, _ in parts:
            each = np.arange(len(own))
            self.margins[rows] += share * (scores[each, own] + 1.0)
            self.probable[rows] += share * softmax(self.sharpness * scores)[each, own]


class Sharpness(NamedTuple):
    """A factor of scores, and the likelihood of the labels that were held out: its logarithm."""

    value: float
    likelihood: float


def doubt(answers: int) -> float:
    """Return the probability with which each of so many labels that were held out is wrong."""
    return 1.0 / (2.0 + answers)


def sharpness(parts: list[tuple[Floats, Ints, Floats]]) -> Sharpness:
    """Return the sharpness that maximises the likelihood of labels that were held out.

    Each part has scores (n, labels), the column of the label of each row, and weights (n,). Each
    label counts as wrong with a small probability, as one in this many might be: without this, the
    optimum would be infinite where all are right.
    """
    wrong = doubt(sum(len(own) for _, own, _ in parts))
    # Parts with as many labels are one: calls on many small arrays took a quarter of a small fit.
    alike: dict[int, list[tuple[Floats, Ints, Floats]]] = {}
    for part in parts:
        alike.setdefault(part[0].shape[1], []).append(part)
    joined = []
    for each in alike.values():
        scores, own, weights = map(np.concatenate, zip(*each, strict=True))
        # By label: NumPy is slow to add up few numbers of each of many rows.
        joined.append((np.ascontiguousarray(scores.T), (own, np.arange(len(own))), weights))

    def unlikely(log_sharpness: float) -> float:
        total = 0.0
        for scores, own, weights in joined:
            raised = np.exp(log_sharpness) * scores
            raised = np.exp(raised - raised.max(axis=0))
            log_shares = np.log(np.maximum(raised / raised.sum(axis=0), 1e-300))
            right = log_shares[own]
            others = (log_shares.sum(axis=0) - right) / (len(scores) - 1)
            sums = (weights * right).sum(), (weights * others).sum()
            total -= float((1.0 - wrong) * sums[0] + wrong * sums[1])
        return total

    minimum, options = scipy.optimize.minimize_scalar, {"xatol": 1e-3}
    found = minimum(unlikely, bounds=np.log(SHARPNESS), method="bounded", options=options)
    value = float(f"{np.exp(found.x):.4g}")  # the last bits of a logarithm depend on the machine
    return Sharpness(value, -float(found.fun))


class Fold(NamedTuple):
    """One fold: rows in the metric of those that are not held out.

    `products` are of these and of the held-out rows. `own` are the columns of the labels of the
    held-out rows, `held` their numbers; those whose label is not in the other rows are left out.
    `weights` are those of the rows that are not held out, `held_weights` of the others.
    """

    products: kernels.Products
    labels: Ints
    weights: Floats
    held: Ints
    held_weights: Floats
    own: Ints
    lda_prior: bool

    @classmethod
    def of(cls, table: Table, held: Bools, hats: int, shape: Shape) -> "Fold | None":
        """Return the rows in the metric of the training rows; None if these have one label."""
        train, labels = ~held, table.labels
        names = np.unique(labels[train])
        known = np.flatnonzero(held & np.isin(labels, names))
        if not len(known) or len(names) < 2:
            return None
        rows = _Training(train, table.weights[train], labels[train, None] == names)
        X, none = table.columns(held, hats), np.empty((0, 0))
        units = maths.units(X.shape[1], table.blocks if shape.standardize else ())
        if 2 * X.shape[1] <= len(rows.weights):
            X = table.scaled(X, held, standardize=shape.standardize)
            Z = _measured_by_columns(X, rows, units if shape.whiten else None)
            Z *= np.sqrt(maths.stiffness(shape.free_bias))
            products = kernels.Products(Z[train], Z[known], none, none)
        else:
            G = table.products(X, held, standardize=shape.standardize)
            H = _measured(G, rows, units if shape.whiten else None)
            H *= maths.stiffness(shape.free_bias)
            inside, outside = H[np.ix_(train, train)], H[np.ix_(train, known)]
            no_columns = np.empty((len(rows.weights), 0)), np.empty((len(known), 0))
            products = kernels.Products(*no_columns, inside, outside)
        own, theirs = (np.searchsorted(names, labels[each]) for each in (known, train))
        held_weights = table.weights[known]
        return cls(products, theirs, rows.weights, known, held_weights, own, shape.lda_prior)

    def held_out(self, regions: int, lams: tuple[float, ...]) -> list[_HeldOut]:
        """Return the held-out rows with separators found without them, per λ."""
        scores = _scores(self, *self._regions(regions), lams)
        return [_HeldOut(self.held, at_lam, self.own, self.held_weights) for at_lam in scores]

    def _regions(self, count: int) -> tuple[Ints, Ints]:
        # The region of each training row, and the label of each region.
        found = np.zeros(len(self.labels), dtype=np.int64)
        owner: list[int] = []
        for label in range(int(self.labels.max()) + 1):
            mine = np.flatnonzero(self.labels == label)
            clusters = np.zeros(len(mine), dtype=np.int64)
            k = region_count(len(mine), count)
            if k > 1:
                Z = self._coordinates(mine)
                nearest = kernels.nearest(Z, kernels.centres(Z, k, self.weights[mine]))
                clusters = np.unique(nearest, return_inverse=True)[1]
            found[mine] = len(owner) + clusters
            owner += [label] * (int(clusters.max()) + 1)
        return found, np.array(owner)

    def _coordinates(self, rows: Ints) -> Floats:
        # Coordinates of some training rows in which inner products are those of the metric.
        if self.products.Z.shape[1]:
            return np.asarray(self.products.Z[rows])
        values, vectors = np.linalg.eigh(self.products.inside[np.ix_(rows, rows)])
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def weighted_mean(values: Floats, weights: Floats) -> float:
    """Return the weighted mean of some numbers."""
    return float((weights * values).sum() / weights.sum())


def _means(X: Floats, weights: Floats) -> Floats:
    # The weighted mean of each column.
    return np.asarray((weights[:, None] * X).sum(axis=0) / weights.sum())


class _Training(NamedTuple):
    """The rows of a fold that are not held out: which, their weights, and in which class each is.

    `which` is by row of the table; `is_in` is (n, classes).
    """

    which: Bools
    weights: Floats
    is_in: Bools

    @property
    def member(self) -> Floats:
        """1 for the class of each row (n, classes)."""
        return self.is_in.astype(np.float64)

    @property
    def average(self) -> Floats:
        """The share of each row in the mean of its class (n, classes)."""
        return _shares(self.is_in, self.weights)

    @property
    def freedom(self) -> float:
        """The degrees of freedom within classes, times the mean weight."""
        n, classes = self.is_in.shape
        return float(max(n - classes, 1) * (self.weights.sum() / n))


def _shares(is_in: Bools, weights: Floats) -> Floats:
    weighed = np.where(is_in, weights[:, None], 0.0)
    return np.asarray(weighed / weighed.sum(axis=0))


def _scores(fold: Fold, regions: Ints, owner: Ints, lams: tuple[float, ...]) -> Floats:
    # Scores of the held-out rows from separators of the training rows: (lams, held, labels).
    Z, others, inside, outside = fold.products
    average = _shares(regions[:, None] == np.arange(len(owner)), fold.weights)
    if Z.shape[1]:
        means = average.T @ Z
        to_rows, to_others = means @ Z.T, means @ others.T
    else:
        to_rows, to_others = average.T @ inside, average.T @ outside
    priors = kernels.ClassPriors(to_rows, to_others, *_priors(to_rows @ average, fold.lda_prior))
    by_region = np.argsort(regions, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(regions, minlength=len(owner)))])
    divided = kernels.Divided(by_region, start, owner, fold.weights)
    largest_first = np.argsort(lams)[::-1]
    found = np.empty((len(lams), len(others), len(owner)))
    lams_down = np.array(lams)[largest_first]
    if not kernels.pair_scores(fold.products, divided, priors, lams_down, found):
        raise NotConverged("a separator did not settle")
    first = np.searchsorted(owner, np.arange(int(owner.max()) + 1))
    return np.maximum.reduceat(found[np.argsort(largest_first)], first, axis=2)


def _measured_by_columns(X: Floats, rows: _Training, units: int | None) -> Floats:
    # Rows in coordinates in which inner products are those of the metric; plain if `units` is None.
    train, weights = rows.which, rows.weights
    Z = X - _means(X[train], weights)
    if units is not None:
        Y = Z[train] - rows.member @ (rows.average.T @ Z[train])
        Y *= np.sqrt(weights)[:, None]
        n, d = Y.shape
        within = Y.T @ Y / rows.freedom
        ridge = RIDGE * within.trace() / min(n, units)
        if ridge > TINY:
            Z = Z @ np.linalg.cholesky(np.linalg.inv(within + ridge * np.eye(d)))
    scale = weighted_mean(np.square(Z[train]).sum(axis=1), weights)
    return np.asarray(Z / np.sqrt(scale)) if scale > TINY else np.asarray(Z)


def _measured(G: Floats, rows: _Training, units: int | None) -> Floats:
    # Inner products x'K x about the training rows' mean, scaled; units None is the plain K. The
    # same for rows of many columns, from their inner products alone.
    train, weights, member, average = rows.which, rows.weights, rows.member, rows.average
    n, total, freedom = len(weights), weights.sum(), rows.freedom
    centre = (G[:, train] * weights).sum(axis=1) / total
    middle = (G[np.ix_(train, train)] * (weights[:, None] * weights)).sum() / (total * total)
    H = G - centre[:, None] - centre + middle
    if units is not None:
        to_Y = H[:, train] - (H[:, train] @ average) @ member.T  # y_t = x_t - mean of t's class
        YY = to_Y[train] - member @ (average.T @ to_Y[train])
        roots = np.sqrt(weights)
        to_Y, YY = to_Y * roots, YY * roots[:, None] * roots
        ridge = RIDGE * YY.trace() / freedom / min(n, units)
        if ridge > TINY:
            L = np.linalg.cholesky(YY + freedom * ridge * np.eye(n))
            part = scipy.linalg.solve_triangular(L, to_Y.T, lower=True, check_finite=False)
            H = (H - part.T @ part) / ridge
    scale = weighted_mean(H.diagonal()[train], weights)
    return np.asarray(H / scale) if scale > TINY else H


def _priors(between: Floats, lda_prior: bool) -> tuple[Floats, Floats]:
    # Middles and scales of discriminants that are at +1 on the mean of one class, at -1 on the
    # other's; from the inner products between the means.
    squares = between.diagonal()
    half = (squares[:, None] - 2.0 * between + squares) / 2.0
    apart = (half > NOISE) & lda_prior
    scale = np.where(apart, 1.0 / np.where(apart, half, 1.0), 0.0)
    return (squares[:, None] - squares) / 2.0, scale
