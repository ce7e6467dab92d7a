"""Choose scale, metric, prior, bias, C, hats and regions by cross-validation on some of the rows.

The rows are picked by their digests, so the choice does not depend on their order. Equal rows of
one label are one row, with the sum of their weights. Every mean is weighted.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from minout import kernels, maths
from minout._typing import Floats, Ints
from minout.core.folds import FOLDS, Fold, Results, Shape, Table, weighted_mean
from minout.core.regions import region_count
from minout.errors import NotConverged

ROWS = 1_000  # all forms are tried on at most this many rows
MORE_ROWS, AGAIN = 3_000, 4  # the four best forms are compared again on at most 3,000 rows …
SHORT = 200  # … if a row has at most this many columns
CLASSES = 20
ALIKE = 10  # where only some classes are taken, they are groups of this many with similar means
STANDARD_ERRORS = 2.0
WORTH = 0.005
"""By how much a lower C, or a prior from means, must make held-out labels more probable."""
EQUAL_BY = 0.001  # a smaller difference in the mean probability of the labels is no difference
ROUNDING = 1e-9  # means that differ by less are equal
STRENGTHS = (5.0, 0.5)
"""Values of C to choose from. In tests, higher ones fitted no more and generalised worse."""
REGIONS = (1, 2, 4, 8)  # numbers of regions per label to choose from
HATS = (0, 3, 9)  # numbers of hat functions per column to choose from
WIDE = 4
"""Biases that are not free are tried if there are at least this many columns for each row."""
ROWS_PER_HAT = 10
"""Hat functions are tried if there are this many rows for each hat function of a column."""


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
    free_bias : bool
        Whether the bias of a separator costs no more than its weights. If False it costs 1,024
        times as much: separators pass nearly through the mean of all examples, so that no label
        wins by being frequent.
    C : float
        Inverse strength of the regularisation, as in scikit-learn.
    sharpness : float
        The factor of the scores in the softmax that gives probabilities (an inverse temperature):
        the value that makes the labels of left-out examples most probable.
    regions : int
        How many regions a label has at most.
    hats : int
        How many hat functions of each column are added at most.
    lead : float
        How much a score above 0 counts in probabilities, beside one below 0: from 1 down to 1/32,
        as the labels of left-out examples tell.
    """

    standardize: bool = False
    whiten: bool = False
    lda_prior: bool = False
    free_bias: bool = True
    C: float = STRENGTHS[0]
    sharpness: float = 1.0
    regions: int = 1
    hats: int = 0
    lead: float = 1.0

    @property
    def lam(self) -> float:
        """λ, the weight of the regularisation beside the squared slacks."""
        return maths.stiffness(self.free_bias) / (2.0 * self.C)


SHAPES = (
    Shape(free_bias=False),
    Shape(standardize=True, free_bias=False),
    Shape(),
    Shape(standardize=True),
    Shape(whiten=True, lda_prior=True),
    Shape(standardize=True, whiten=True, lda_prior=True),
    Shape(lda_prior=True),
)
"""The candidates, simplest first; the last one has a prior from the class means alone."""
BENT = (SHAPES[2], SHAPES[3], SHAPES[5])
"""Those that are tried with hats or several regions: others gained nothing with them in tests."""


def picked(labels: Ints, means: Floats, most: int | None = None) -> Ints:
    """Return the rows for cross-validation: those with the lowest digests, in that order.

    `labels` are those of different rows in the order of their digests; see `distinct`. With many
    classes, the class of the row with the lowest digest is taken, with those whose means are
    nearest to its mean, then the next such group, until there are enough rows: classes picked at
    random would be too easy to tell apart. Classes with fewer rows than folds are left out. `means`
    (classes, d) are by class number, as the labels are.
    """
    taken = _classes_for_validation(labels, means)
    few = np.flatnonzero(np.isin(labels, taken))[: most or ROWS]
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
    hats: tuple[int, ...] = (0,)


def choose(table: Table, options: Options, stored: int = 0) -> Choice:
    """Choose C for each form (shape, hats and regions), then a form, by results on held-out rows.

    C: the highest, unless another one raises the mean probability of the held-out labels by more
    than 0.005 and two standard errors of the difference; a high C fits the examples more closely.

    A bias that is not free is tried for wide rows only, whose labels can be told apart
    without one.

    The shape without hats and with one region: the simplest one whose mean margin, clipped to
    [-1, 1], is within two standard errors of the highest. (With few examples, accuracy is too
    coarse.) A prior from the means alone gives larger margins without being better, so such a shape
    must make the labels more probable, as a lower C must.

    Then the form: that one, unless another makes the labels more probable by more than two standard
    errors; of all that are within half a standard error of the highest, the smallest. A difference
    of 0.001 in the mean probability is none. (Margins shrink with every separator that a minimum is
    taken over, so they do not compare forms.) If many more examples are stored than are tried, a
    larger form will gain more than these rows show: then hats and shape of the best are taken, with
    the most regions that do not make the labels less probable by two standard errors.

    More hats and regions are tried step by step: none where the labels are as probable already as
    so many rows can show, no more where the last step made them less probable, and no more regions
    with shapes or hats that are far behind after two. The best forms of the first 1,000 rows are
    compared again on all rows given. A form whose separators cannot be solved because of rounding
    is chosen only if there is no other.

    The rows of the table are in the order of their digests; they were picked from `stored` ones.
    """
    rows, few = len(table.labels), table.first(ROWS)
    if few.X.shape[1] < WIDE * len(few.labels):
        free = tuple(shape for shape in options.shapes if shape.free_bias)
        options = options._replace(shapes=free)
    C, regions, hats = options.strengths[0], options.regions[0], options.hats[0]
    plain = Choice(*options.shapes[0], C=C, regions=regions, hats=hats)
    if len(np.unique(table.labels)) < 2:
        return plain
    forms = _tried(few, list(_climbs(_worth_trying(options, table.labels))), options.strengths)
    if not forms:
        return plain
    is_sample = stored > 2 * rows
    best = _best(forms, is_sample=is_sample)
    if rows > ROWS and len(forms) > 1:
        again = [_Climb(f.hats, f.shape, (f.regions,)) for f in _worth_trying_again(forms, best)]
        tried = _tried(table, again, options.strengths)
        best = _best(tried or [best], is_sample=is_sample)
    C, sharpness = options.strengths[best.at], best.found.sharpness
    return Choice(*best.shape, C, sharpness, best.regions, best.hats)


def _worth_trying(options: Options, labels: Ints) -> Options:
    # The options for which there are enough rows: hats and regions are made without a third.
    most = int(np.bincount(labels).max()) * (FOLDS - 1) // FOLDS
    regions = [each for each in options.regions if region_count(most, each) == each]
    hats = [each for each in options.hats if ROWS_PER_HAT * each <= len(labels)]
    return options._replace(
        regions=tuple(regions) or options.regions[:1], hats=tuple(hats) or options.hats[:1]
    )


def _worth_trying_again(forms: list["_Form"], best: "_Form") -> list["_Form"]:
    # The best, and those that made labels most probable, unless they are significantly worse.
    ranked = sorted(forms, key=lambda form: -form.probability)
    top = ranked[0]
    others = [f for f in ranked[:AGAIN] if f is not best and not _is_more_probable(top, f)]
    return [best, *others]


def _best(forms: list["_Form"], *, is_sample: bool) -> "_Form":
    straight = [form for form in forms if form.size == 1]
    larger = [form for form in forms if form.size > 1]
    best = _best_shape(straight) if straight else None
    if not larger:
        assert best is not None
        return best
    top = _most_probable(larger)
    if best is not None and not _is_more_probable(top, best, by=EQUAL_BY):
        return best
    if is_sample:
        alike = [f for f in larger if (f.hats, f.shape) == (top.hats, top.shape)]
        return max(
            (f for f in alike if not _is_more_probable(top, f)), key=lambda form: form.regions
        )
    alike = [f for f in larger if not _is_more_probable(top, f, by=EQUAL_BY, errors=0.5)]
    return min(alike, key=lambda form: form.size)


def _climbs(options: Options) -> Iterator["_Climb"]:
    bent = tuple(shape for shape in options.shapes if shape in BENT) or options.shapes
    latest: dict[Shape, _Climb] = {}
    for hats in options.hats:
        for shape in options.shapes if hats == options.hats[0] else bent:
            regions = options.regions if shape in bent else options.regions[:1]
            latest[shape] = _Climb(hats, shape, regions, latest.get(shape))
            yield latest[shape]


class _Form(NamedTuple):
    """A form that was tried: the number of its C, and the results with it."""

    hats: int
    regions: int
    shape: Shape
    at: int
    found: Results

    @property
    def size(self) -> int:
        """How many numbers it takes, about, beside the plainest form."""
        return (1 + self.hats) * self.regions**2

    @property
    def probability(self) -> float:
        """The mean probability of the labels of held-out rows."""
        return weighted_mean(self.found.probable, self.found.weights)

    @property
    def is_as_probable_as_can_be(self) -> bool:
        """Whether no form can make the labels more probable, by what is no difference."""
        return self.probability >= 1.0 - self.found.doubt - EQUAL_BY


def _most_probable(forms: list[_Form]) -> _Form:
    return max(forms, key=lambda form: form.probability)


class _Climb:
    """The forms of one shape and number of hats, with more and more regions.

    `fewer` are those of the same shape with the next smaller number of hats.
    """

    def __init__(
        self, hats: int, shape: Shape, counts: tuple[int, ...], fewer: "_Climb | None" = None
    ) -> None:
        self.hats, self.shape, self.counts, self.fewer = hats, shape, counts, fewer
        self.forms: list[_Form] = []
        self._folds: list[Fold] = []

    def step(self, table: Table, strengths: tuple[float, ...]) -> None:
        """Try the next number of regions."""
        regions, *more = self.counts
        self.counts = tuple(more)
        lams = [Choice(*self.shape, C=C).lam for C in strengths]
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # such separators are not solved
                folds = self._folds or table.folds(self.hats, self.shape)
                parts = [fold.held_out(regions, tuple(lams)) for fold in folds]
        except (NotConverged, np.linalg.LinAlgError):
            self.counts = ()
            return
        self._folds = folds if more else []
        results = [Results([part[i] for part in parts], table) for i in range(len(lams))]
        at = _plainest([each.probable for each in results], table.weights, by=WORTH)
        self.forms.append(_Form(self.hats, regions, self.shape, at, results[at]))

    def goes_on(self, top: _Form) -> bool:
        """Return whether to try more regions.

        Not if they made the labels significantly less probable; from two regions on, neither if the
        best of these forms is significantly behind `top`, the best form so far.
        """
        if not self.counts:
            return False
        mine = _most_probable(self.forms)
        if _is_more_probable(mine, self.forms[-1]):
            return False
        return self.forms[-1].regions == 1 or not _is_more_probable(top, mine)

    @property
    def begins(self) -> bool:
        """Whether to begin: fewer hats have been tried, and are not worse than still fewer."""
        fewer = self.fewer
        if self.forms or not self.counts or fewer is None:
            return False
        if not fewer.forms:
            return not fewer.counts  # they could not be solved
        least = fewer.fewer
        return (
            least is None
            or not least.forms
            or not _is_more_probable(least.forms[0], fewer.forms[0])
        )


def _tried(table: Table, climbs: list[_Climb], strengths: tuple[float, ...]) -> list[_Form]:
    going, forms = [climb for climb in climbs if climb.fewer is None], list[_Form]()
    while going:
        kernels.in_threads(lambda climb: climb.step(table, strengths), going)
        forms = [form for climb in climbs for form in climb.forms]
        straight = [form for form in forms if form.size == 1]
        if not forms or (straight and _best_shape(straight).is_as_probable_as_can_be):
            break
        top = _most_probable(forms)
        going = [climb for climb in going if climb.goes_on(top)]
        going += [climb for climb in climbs if climb.begins]
    return forms


def _best_shape(forms: list[_Form]) -> _Form:
    means_only = [form for form in forms if form.shape.lda_prior and not form.shape.whiten]
    others = [form for form in forms if form not in means_only] or means_only
    margins = [np.clip(form.found.margins, -1.0, 1.0) for form in others]
    best = others[_plainest(margins, others[0].found.weights)]
    for form in means_only:
        if _is_more_probable(form, best, by=WORTH):
            best = form
    return best


def _plainest(values: list[Floats], weights: Floats, by: float = 0.0) -> int:
    # The first whose mean is not significantly below the highest.
    best = values[int(np.argmax([weighted_mean(each, weights) for each in values]))]
    return next(
        i
        for i, each in enumerate(values)
        if each is best or not _is_more(best, each, weights, by=by)
    )


def _is_more_probable(
    form: _Form, than: _Form, *, by: float = 0.0, errors: float = STANDARD_ERRORS
) -> bool:
    values, others = form.found.probable, than.found.probable
    return _is_more(values, others, form.found.weights, by=by, errors=errors)


def _is_more(
    values: Floats,
    than: Floats,
    weights: Floats,
    *,
    by: float = 0.0,
    errors: float = STANDARD_ERRORS,
) -> bool:
    # The standard error is that of a mean of independent differences, each with its weight.
    more = values - than
    mean = weighted_mean(more, weights)
    error = np.sqrt(np.square(weights * (more - mean)).sum()) / weights.sum()
    return bool(mean > max(by, ROUNDING, errors * error))
