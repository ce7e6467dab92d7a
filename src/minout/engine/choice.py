"""Choose scale, metric, prior, C, knots and regions by cross-validation on some of the rows.

The rows are picked and divided into folds by their digests, so the choice does not depend on their
order. Everything is computed from the inner products of the rows. Knots and regions are made anew
without the rows of each fold.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize_scalar

from minout import kernels, maths
from minout._typing import Bools, Floats, Ints, Words
from minout.errors import NotConverged
from minout.maths import NOISE, RIDGE, TINY

ROWS = 1_000
"""The number of rows on which all forms are tried …"""
MORE_ROWS, AGAIN = 3_000, 4
"""… and the number on which so many of the best are tried again, if rows are short enough."""
SHORT = 200
"""Rows of up to so many columns are."""
CLASSES = 20
ALIKE = 10
"""Where only some classes are taken, they are groups of this many with similar means."""
FOLDS = 3
STANDARD_ERRORS = 2.0
WORTH = 0.005
"""By how much a lower C, or a prior from means, must make held-out labels more probable."""
EQUAL_BY = 0.001
"""Forms whose labels are less probable than those of the best by so little are as good."""
ROUNDING = 1e-9
"""Means that differ by less are equal."""
STRENGTHS = (5.0, 0.5)
"""Values of C to choose from. In tests, higher ones fitted no more and generalised worse."""
REGIONS = (1, 2, 4, 8)
"""Numbers of regions per label to choose from."""
KNOTS = (0, 3, 9)
"""Numbers of hat functions per column to choose from."""
LEAST_ROWS = 5
"""A label has at most one region for so many examples."""
ROWS_PER_KNOT = 10
"""Knots are tried if there are so many rows for each knot of a column."""
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
    regions : int
        How many regions a label has at most.
    knots : int
        How many hat functions of each column are added at most.
    """

    standardize: bool = False
    whiten: bool = False
    lda_prior: bool = False
    C: float = STRENGTHS[0]
    sharpness: float = 1.0
    regions: int = 1
    knots: int = 0

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
BENT = (SHAPES[0], SHAPES[1], SHAPES[3])
"""Those that are tried with knots or several regions: others gained nothing with them in tests."""


def picked(digests: Words, labels: Ints, means: Floats, most: int | None = None) -> Ints:
    """Return the rows for cross-validation: those with the lowest digests, in that order.

    Equal rows have the same digest; one of them is taken, so that they are not in two folds. With
    many classes, the class of the row with the lowest digest is taken, with those whose means are
    nearest to its mean, then the next such group, until there are enough rows: classes picked at
    random would be too easy to tell apart. Classes with fewer rows than folds are left out. `means`
    (classes, d) are by class number, as the labels are.
    """
    _, first = np.unique(digests, return_index=True)
    taken = _classes_for_validation(labels[first], means)
    few = first[np.isin(labels[first], taken)][: most or ROWS]
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


class Options(NamedTuple):
    """What may be chosen, the plainest of each first."""

    shapes: tuple[Shape, ...] = SHAPES
    strengths: tuple[float, ...] = STRENGTHS
    regions: tuple[int, ...] = (1,)
    knots: tuple[int, ...] = (0,)


def choose(X: Floats, labels: Ints, digests: Words, options: Options, stored: int = 0) -> Choice:
    """Choose C for each form (shape, knots and regions), then a form, by results on held-out rows.

    C: the highest, unless another one makes the held-out labels more probable by more than half a
    percent and two standard errors of the difference; a high C fits the examples more closely.
    The shape, with as few knots and regions as possible: the simplest one whose mean margin,
    clipped to [-1, 1], is within two standard errors of the highest. (With few examples, accuracy
    is too coarse.) A prior from the means alone gives larger margins without being better, so such
    a shape must make the labels more probable, as a lower C must. Then the form: that one, unless
    another makes the labels more probable by more than a standard error; of all that are within
    half a standard error of the highest, the plainest. A tenth of a percent is no difference.
    (Margins shrink with every separator that a minimum is taken over, so they do not compare
    forms.) A form whose separators cannot be solved because of rounding is chosen only if there is
    no other. The best forms of the first 1,000 rows are compared again on all rows given. If many
    more examples are stored, a larger form will gain more than these rows show: then the best is
    taken, not the plainest of the best.
    """
    C, regions, knots = options.strengths[0], options.regions[0], options.knots[0]
    plain = Choice(*options.shapes[0], C=C, regions=regions, knots=knots)
    if len(np.unique(labels)) < 2:
        return plain
    folds = (digests >> np.uint64(7)) % np.uint64(FOLDS)
    table = _Table(X[:ROWS], labels[:ROWS], folds[:ROWS])
    forms = _tried(table, list(_to_climb(_worth_trying(options, labels))), options.strengths)
    if not forms:
        return plain
    is_sample = stored > 2 * len(X)
    best = _best(forms, is_sample=is_sample)
    if len(X) > ROWS and len(forms) > 1:
        ranked = sorted(forms, key=lambda form: -float(form.found.probable.mean()))
        again = dict.fromkeys((f.knots, f.shape, (f.regions,)) for f in (best, *ranked[:AGAIN]))
        tried = _tried(_Table(X, labels, folds), list(again), options.strengths)
        best = _best(tried or [best], is_sample=is_sample)
    C, sharpness = options.strengths[best.at], best.found.sharpness
    return Choice(*best.shape, C, sharpness, best.regions, best.knots)


def _worth_trying(options: Options, labels: Ints) -> Options:
    # The options for which there are enough rows: knots and regions are made without a third.
    most = int(np.bincount(labels).max()) * (FOLDS - 1) // FOLDS
    regions = [each for each in options.regions if region_count(most, each) == each]
    knots = [each for each in options.knots if ROWS_PER_KNOT * each <= len(labels)]
    return options._replace(
        regions=tuple(regions) or options.regions[:1], knots=tuple(knots) or options.knots[:1]
    )


def _tried(
    table: "_Table", tasks: list[tuple[int, Shape, tuple[int, ...]]], strengths: tuple[float, ...]
) -> list["_Form"]:
    climbs = kernels.in_threads(lambda each: _climb(table, *each, strengths), tasks)
    return [form for climb in climbs for form in climb]


def _best(forms: list["_Form"], *, is_sample: bool) -> "_Form":
    least = min(form.size for form in forms)
    best = _best_shape([form for form in forms if form.size == least])
    larger = [form for form in forms if form.size > least]
    top = max((form.found.probable for form in larger), key=np.mean, default=None)
    if top is not None and _is_more(top, best.found.probable, by=EQUAL_BY, errors=1.0):
        by, errors = (0.0, 0.0) if is_sample else (EQUAL_BY, 0.5)
        alike = [f for f in larger if not _is_more(top, f.found.probable, by=by, errors=errors)]
        best = min(alike, key=lambda form: form.size)
    return best


def _to_climb(options: Options) -> Iterator[tuple[int, Shape, tuple[int, ...]]]:
    # Knots and shapes to try, with the numbers of regions.
    bent = tuple(shape for shape in options.shapes if shape in BENT) or options.shapes
    for knots in options.knots:
        for shape in options.shapes if knots == options.knots[0] else bent:
            yield knots, shape, options.regions if shape in bent else options.regions[:1]


class _Form(NamedTuple):
    """A form that was tried: the number of its C, and the results with it."""

    knots: int
    regions: int
    shape: Shape
    at: int
    found: "_HeldOutResults"

    @property
    def size(self) -> int:
        """How many numbers it takes, about, beside the plainest form."""
        return (1 + self.knots) * self.regions**2


def _best_shape(forms: list[_Form]) -> _Form:
    means_only = [form for form in forms if form.shape.lda_prior and not form.shape.whiten]
    others = [form for form in forms if form not in means_only] or means_only
    best = others[_plainest([np.clip(form.found.margins, -1.0, 1.0) for form in others])]
    for form in means_only:
        if _is_more(form.found.probable, best.found.probable, by=WORTH):
            best = form
    return best


class _Table:
    """The rows to choose by, the numbers of their labels, and their folds."""

    def __init__(self, X: Floats, labels: Ints, folds: Words) -> None:
        self.X, self.labels = X, labels
        self.held = [folds == fold for fold in range(FOLDS)]
        self._products: dict[bool, Floats] = {}

    def columns(self, held: Bools, knots: int) -> Floats:
        """Return all rows, expanded by the knots of those that are not held out."""
        return maths.expanded(maths.expansion(self.X[~held], knots), self.X) if knots else self.X

    def products(self, X: Floats, *, standardize: bool) -> Floats:
        """Return inner products of all rows; those of rows without hats are kept."""
        found = self._products.get(standardize) if X is self.X else None
        if found is None:
            Z = _scaled(X, standardize=standardize)
            found = np.asarray(Z @ Z.T)
            if X is self.X:
                self._products[standardize] = found
        return found


def _climb(
    table: _Table, knots: int, shape: Shape, counts: tuple[int, ...], strengths: tuple[float, ...]
) -> list[_Form]:
    # Try more and more regions, until the labels become less probable by two standard errors or
    # the separators cannot be solved.
    folds: Iterable[_Fold | None] = (_Fold.of(table, each, knots, shape) for each in table.held)
    lams, climbed = tuple(1.0 / (2.0 * C) for C in strengths), []
    highest: _HeldOutResults | None = None
    for regions in counts:
        try:
            folds = folds if len(counts) == 1 else list(folds)  # one at a time takes less memory
            parts = [fold.held_out(regions, lams) for fold in folds if fold is not None]
        except (NotConverged, np.linalg.LinAlgError):
            break
        results = [
            _HeldOutResults([part[i] for part in parts], len(table.labels))
            for i in range(len(lams))
        ]
        at = _plainest([each.probable for each in results], by=WORTH)
        found = results[at]
        climbed.append(_Form(knots, regions, shape, at, found))
        if highest is not None and _is_more(highest.probable, found.probable):
            break
        if highest is None or found.probable.mean() > highest.probable.mean():
            highest = found
    return climbed


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

    bounds, options = np.log(SHARPNESS), {"xatol": 1e-3}
    found = minimize_scalar(unlikely, bounds=bounds, method="bounded", options=options)
    return float(np.exp(found.x))


class _Fold(NamedTuple):
    """One fold: inner products in the metric of the other rows, and which rows are held out.

    Z are all rows in coordinates in which H is ZZ', or (n, 0) if they are long. `own` are the
    columns of the labels of the held-out rows, `rows` their numbers; those whose label is not in
    the other rows are left out.
    """

    H: Floats
    Z: Floats
    train: Ints
    labels: Ints
    rows: Ints
    own: Ints
    lda_prior: bool

    @classmethod
    def of(cls, table: _Table, held: Bools, knots: int, shape: Shape) -> "_Fold | None":
        """Measure a fold; None if that leaves no rows or one label."""
        train, labels = ~held, table.labels
        names = np.unique(labels[train])
        known = held & np.isin(labels, names)
        if not known.any() or len(names) < 2:
            return None
        member = (labels[train, None] == names).astype(np.float64)
        X = table.columns(held, knots)
        if 2 * X.shape[1] <= len(member):
            X = _scaled(X, standardize=shape.standardize)
            Z = _measured_by_columns(X, train, member, whiten=shape.whiten)
            H = np.asarray(Z @ Z.T)
        else:
            G = table.products(X, standardize=shape.standardize)
            H = _measured(G, train, member, X.shape[1] if shape.whiten else None)
            Z = np.empty((len(labels), 0))
        rows = np.flatnonzero(known)
        own, theirs = (np.searchsorted(names, labels[each]) for each in (rows, train))
        return cls(H, Z, np.flatnonzero(train), theirs, rows, own, shape.lda_prior)

    def held_out(self, regions: int, lams: tuple[float, ...]) -> list[_HeldOutFold]:
        """Return the held-out rows with separators found without them, per λ."""
        scores = _scores(self, *self._regions(regions), lams)
        return [_HeldOutFold(self.rows, at_lam, self.own) for at_lam in scores]

    def _regions(self, count: int) -> tuple[Ints, Ints]:
        # The region of each training row, and the label of each region.
        found = np.zeros(len(self.train), dtype=np.int64)
        owner: list[int] = []
        for label in range(int(self.labels.max()) + 1):
            mine = np.flatnonzero(self.labels == label)
            clusters = np.zeros(len(mine), dtype=np.int64)
            k = region_count(len(mine), count)
            if k > 1:
                Z = self._coordinates(self.train[mine])
                clusters = np.unique(maths.nearest(Z, maths.centres(Z, k)), return_inverse=True)[1]
            found[mine] = len(owner) + clusters
            owner += [label] * (int(clusters.max()) + 1)
        return found, np.array(owner)

    def _coordinates(self, rows: Ints) -> Floats:
        # Coordinates of some rows in which inner products are those of the metric.
        if self.Z.shape[1]:
            return np.asarray(self.Z[rows])
        values, vectors = np.linalg.eigh(self.H[np.ix_(rows, rows)])
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def region_count(rows: int, most: int) -> int:
    """Return into how many regions a label with so many rows is divided."""
    return min(most, max(rows // LEAST_ROWS, 1))


def softmax(scores: Floats) -> Floats:
    """Return the softmax of each row."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _plainest(values: list[Floats], by: float = 0.0) -> int:
    # The first whose mean is not significantly below the highest.
    best = values[int(np.argmax([each.mean() for each in values]))]
    return next(i for i, each in enumerate(values) if each is best or not _is_more(best, each, by))


def _is_more(
    values: Floats, than: Floats, by: float = 0.0, errors: float = STANDARD_ERRORS
) -> bool:
    more = values - than
    return bool(more.mean() > max(by, ROUNDING, errors * more.std() / np.sqrt(len(more))))


def _scaled(X: Floats, *, standardize: bool) -> Floats:
    Z = X - X.mean(axis=0)
    if standardize:
        deviation = Z.std(axis=0)
        constant = deviation <= 1e-12 * np.abs(X).max(axis=0)
        Z = Z / np.where(constant, 1.0, deviation)
    return np.asarray(Z)


def _scores(fold: _Fold, regions: Ints, owner: Ints, lams: tuple[float, ...]) -> Floats:
    # Scores of the held-out rows from separators of the training rows: (lams, held, labels).
    H, train, held = fold.H, fold.train, fold.rows
    member = (regions[:, None] == np.arange(len(owner))).astype(np.float64)
    average = member / member.sum(axis=0)
    to_means = H[:, train] @ average
    middle, scale = _priors(average.T @ to_means[train], fold.lda_prior)
    by_region = train[np.argsort(regions, kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(regions, minlength=len(owner)))])
    inside, outside = _turned(to_means[by_region]), _turned(to_means[held])
    priors = kernels.ClassPriors(inside, outside, middle, scale)
    largest_first = np.argsort(lams)[::-1]
    found = np.empty((len(lams), len(held), len(owner)))
    if not kernels.pair_scores(
        H[np.ix_(by_region, by_region)],
        H[np.ix_(by_region, held)],
        fold.Z[by_region],
        start,
        owner,
        priors,
        np.array(lams)[largest_first],
        found,
    ):
        raise NotConverged("a separator did not settle")
    first = np.searchsorted(owner, np.arange(int(owner.max()) + 1))
    return np.maximum.reduceat(found[np.argsort(largest_first)], first, axis=2)


def _turned(A: Floats) -> Floats:
    return np.ascontiguousarray(A.T)


def _measured_by_columns(X: Floats, train: Bools, member: Floats, *, whiten: bool) -> Floats:
    # Rows in coordinates in which inner products are those of the metric.
    Z = X - X[train].mean(axis=0)
    if whiten:
        Y = Z[train] - member @ ((member / member.sum(axis=0)).T @ Z[train])
        n, d = Y.shape
        freedom = max(n - member.shape[1], 1)
        within = Y.T @ Y / freedom
        ridge = RIDGE * within.trace() / min(n, d)
        if ridge > TINY:
            Z = Z @ np.linalg.cholesky(np.linalg.inv(within + ridge * np.eye(d)))
    scale = float(np.square(Z[train]).sum(axis=1).mean())
    return np.asarray(Z / np.sqrt(scale)) if scale > TINY else np.asarray(Z)


def _measured(G: Floats, train: Bools, member: Floats, width: int | None) -> Floats:
    # Inner products x'K x about the training rows' mean, scaled; width None is the plain K. The
    # same for rows of many columns, from their inner products alone.
    n, average = int(train.sum()), member / member.sum(axis=0)
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
