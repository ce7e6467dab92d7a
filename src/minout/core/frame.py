"""The frame: everything that all separators share and that is recomputed together.

It holds the chosen settings, the origin and metric, the sums they are computed from, the schedule
of the next refresh, and the images for that origin and metric.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from minout import kernels, maths
from minout._typing import Floats, Ints
from minout.core.choice import MORE_ROWS, ROWS, SHORT, Choice, Options, choose, picked
from minout.core.examples import Examples
from minout.core.folds import Shape, Table
from minout.core.images import Images
from minout.core.moments import RunningMoments
from minout.core.regions import region_count
from minout.core.settings import Settings
from minout.core.table import Rows, RowTable, columns, distinct
from minout.errors import NotConverged
from minout.maths import NO_EXPANSION, Expansion, Geometry

WIDEST_METRIC = 4_000
"""With more columns than this (a matrix of 128 MB), `whiten` is used only if the user sets it."""
FIRST_OTHERS = 16
"""A refresh is due when the examples without the most frequent label have quadrupled to this."""
NEVER = 2**61
CHOOSE_AGAIN, LEAST_TURNOVER = 8, 20_000
"""Settings are chosen again after a turnover of 8 times the stored examples, and 20,000."""
FIRST_PRIORS = 5  # priors of a region are recomputed at 5, 20, 80, … examples of it
MOST_ROWS = 2_048
"""The centres of regions are found from at most so many different examples of a label."""

Shapes = tuple[Shape, ...]


class Schedule(NamedTuple):
    """When the next refresh, choice of settings and priors are due.

    A refresh is due at a turnover (examples taught and forgotten so far), or when so many examples
    do not have the most frequent label. Settings were chosen last for so many examples, labels, and
    examples without the most frequent label; the next refresh chooses them if these have grown, or
    from the turnover `choose_at` on. `prior_at` is by region: its examples at the next priors. The
    metric was made from the rows with serial numbers below `measured_at`.
    """

    refresh_at: tuple[int, int] = (2, 1)
    chosen_at: tuple[int, int, int] = (0, 0, 0)
    prior_at: tuple[int, ...] = ()
    choose_at: int = NEVER
    measured_at: int = 0

    def refresh_due(self, settings: Settings, turnover: int, others: int) -> bool:
        """Return whether a refresh is due.

        `others` is the number of examples that do not have the most frequent label.
        """
        if settings.refresh != "auto":
            return False
        return turnover >= self.refresh_at[0] or others >= self.refresh_at[1]

    def refreshed(self, turnover: int, examples: int, others: int) -> "Schedule":
        """Return the schedule after a refresh."""
        return self._replace(refresh_at=(turnover + examples, max(4 * others, FIRST_OTHERS)))

    def postponed(self, turnover: int, examples: int) -> "Schedule":
        """Return the schedule if a refresh that was due has failed."""
        return self._replace(refresh_at=(turnover + examples, 2 * self.refresh_at[1]))

    def priors_due(self, settings: Settings, c: int, members: int) -> bool:
        """Return whether the priors of region c are due when it has this many examples."""
        return settings.refresh == "auto" and members >= self.prior_at[c]

    def choice_due(self, turnover: int, examples: int, labels: int, others: int) -> bool:
        """Return whether a refresh now chooses the settings again."""
        then, labels_then, others_then = self.chosen_at
        return (
            examples >= 4 * then
            or labels >= 1.5 * labels_then
            or others >= max(4 * others_then, FIRST_OTHERS)
            or turnover >= self.choose_at
        )


def next_priors(count: int) -> int:
    """Return the next number of examples, above `count`, at which priors are recomputed."""
    at = FIRST_PRIORS
    while at <= count:
        at *= 4
    return at


class Frame(NamedTuple):
    """Everything that all separators share; replaced as a whole."""

    choice: Choice
    geometry: Geometry
    moments: RunningMoments
    schedule: Schedule
    images: Images

    @classmethod
    def first(cls, settings: Settings, x: Floats, taught: int) -> "Frame":
        """Return the frame with a first row as its origin, to use until the first refresh."""
        moments, ones = RunningMoments.about(x, seen=taught), np.ones(len(x))
        geometry = Geometry(moments.shift, ones, ones)
        images = Images(geometry)
        return cls(settings.first_choice(), geometry, moments, Schedule(), images)


def chosen(
    frame: Frame, settings: Settings, given: RowTable, rows: Rows, owner: Ints, turnover: int
) -> Frame | None:
    """Return the frame with settings chosen from the rows, which were added to its sums before.

    `given` has the rows without an expansion, owner[c] is the number of the label of region c, and
    `turnover` how many examples were taught and forgotten so far. None if there are too few rows.
    """
    labels, count = owner[rows.regions], int(owner.max()) + 1
    d, different = given.shape[1], rows.distinct(owner)
    shapes = _allowed(settings.shapes(count), d)
    kept, shapes = _telling(frame, settings, owner, len(different.first), (d, shapes))
    most = MORE_ROWS if len(kept) <= SHORT else ROWS
    found = picked(labels[different.first], frame.moments.by_label(owner).means(), most)
    few, weights = different.first[found], different.weights[found]
    if len(np.unique(labels[few])) < 2:
        return None
    X = given[rows.order[few]][:, kept].astype(np.float64)
    ends = np.searchsorted(kept, np.reshape(settings.blocks, (-1, 2))).tolist()
    blocks = tuple((start, stop) for start, stop in ends if start < stop)
    may_have_hats = len(kept) - int(np.count_nonzero(maths.in_blocks(len(kept), blocks)))
    if settings.missing == "mean":
        X = maths.expanded(maths.expansion(X, 0, weights, fills=True), X)
    hats = settings.hat_counts(may_have_hats)[: None if may_have_hats else 1]
    options = Options(shapes, settings.strengths(), settings.region_counts(count), hats)
    table = Table(X, labels[few], rows.digests[few], weights, blocks)
    choice = choose(table, options, len(different.first))
    n = len(rows.order)
    chosen_at = n, count, n - int(np.bincount(labels).max())
    choose_at = turnover + max(CHOOSE_AGAIN * n, LEAST_TURNOVER)
    schedule = frame.schedule._replace(chosen_at=chosen_at, choose_at=choose_at)
    return frame._replace(choice=choice, schedule=schedule)


def expansion_of(frame: Frame, settings: Settings, examples: Examples, places: Ints) -> Expansion:
    """Return the hat functions of the rows at some places, and values for missing ones.

    Columns in blocks have no hat functions.
    """
    hats, fills = frame.choice.hats, len(examples.expansion.fill) > 0
    if not hats and not fills:
        return NO_EXPANSION
    one_label = np.zeros(len(places), dtype=np.int64)
    rows = distinct(examples.digests[places], one_label, examples.weights[places])
    found, bare = [], maths.in_blocks(examples.rows.shape[1], settings.blocks)
    for start, X in columns(examples.rows, places[rows.first]):
        own = bare[start : start + X.shape[1]]
        some = maths.expansion(X, hats, rows.weights, fills=fills, bare=own)
        found.append(some._replace(of=some.of + start, missing=some.missing + start))
    return Expansion(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def divided(frame: Frame, rows: Rows, owner: Ints) -> tuple[list[int], list[Ints]]:
    """Divide the rows of each label into regions: clusters in the metric of the frame.

    Return the label number and the places of each region. Regions are in the order of the label
    numbers, places in that of the rows.
    """
    labels, different = owner[rows.regions], rows.distinct(owner)
    by_digest = np.argsort(rows.digests, kind="stable")
    roots = _roots(frame.geometry)
    numbers, members = [], []
    for label in range(int(owner.max()) + 1):
        own = by_digest[labels[by_digest] == label]
        mine = labels[different.first] == label
        few, weights = different.first[mine][:MOST_ROWS], different.weights[mine][:MOST_ROWS]
        count = region_count(int(np.count_nonzero(mine)), frame.choice.regions)
        found = np.zeros(len(labels), dtype=np.int64)
        if count > 1:
            centres = kernels.centres(roots(rows.table[rows.order[few]]), count, weights)
            for start in range(0, len(own), MOST_ROWS):
                some = own[start : start + MOST_ROWS]
                found[some] = kernels.nearest(roots(rows.table[rows.order[some]]), centres)
        for region in np.unique(found[own]).tolist():
            numbers.append(label)
            members.append(rows.order[(labels == label) & (found == region)])
    return numbers, members


def _roots(geometry: Geometry) -> Callable[[Floats], Floats]:
    # A function that maps rows to coordinates in which distances are those of the metric.
    origin, K = geometry[:2]
    if K.ndim == 1:
        root = np.sqrt(K)
        return lambda X: np.asarray((X - origin) * root)
    factor = np.linalg.cholesky(K)
    return lambda X: np.asarray((X - origin) @ factor)


def measured(frame: Frame, settings: Settings, rows: Rows, owner: Ints) -> Frame:
    """Return the frame with origin and metric computed from its sums, and no images.

    Within-class covariance is that within labels, however many regions they have.
    """
    choice, d = frame.choice, rows.table.shape[1]
    moments, standardize, blocks = frame.moments, choice.standardize, settings.blocks
    different = rows.distinct(owner)
    n, multiply = len(different.first), kernels.product
    try:
        if not choice.whiten:
            sums = moments.by_label(owner).moments()
            geometry = maths.plain(sums, n, columns=standardize, blocks=blocks)
        elif 2 * n <= d:
            in_order = np.argsort(different.first)
            few, weights = different.first[in_order], different.weights[in_order]
            X, labels = rows.table[rows.order[few]].astype(np.float64), owner[rows.regions[few]]
            sums = moments.by_label(owner).moments()
            geometry = maths.metric_of_few(
                sums, X, labels, weights, columns=standardize, blocks=blocks, multiply=multiply
            )
        else:
            moments = moments.with_scatter(rows)
            sums = moments.by_label(owner).moments()
            geometry = maths.metric(sums, n, columns=standardize, blocks=blocks, multiply=multiply)
    except np.linalg.LinAlgError as error:
        raise NotConverged("the metric cannot be computed") from error
    if not choice.free_bias:
        geometry = maths.stiff(geometry)
    images, schedule = Images(geometry), frame.schedule._replace(measured_at=moments.seen)
    return Frame(choice, geometry, moments, schedule, images)


def _telling(
    frame: Frame, settings: Settings, owner: Ints, distinct: int, given: tuple[int, Shapes]
) -> tuple[Ints, Shapes]:
    # The columns that are not in blocks that tell nothing of the labels, and the shapes in which
    # such blocks hardly count; all columns and shapes if that cannot be.
    d, shapes = given
    sums = frame.moments.by_label(owner).moments()
    kept = np.flatnonzero(maths.shrinkage(sums, distinct, settings.blocks)[:d] > maths.LEAST_SHARE)
    scaled = tuple(shape for shape in shapes if shape.standardize)
    return (kept, scaled) if 0 < len(kept) < d and scaled else (np.arange(d), shapes)


def _allowed(shapes: Shapes, width: int) -> Shapes:
    if width <= WIDEST_METRIC or all(shape.whiten for shape in shapes):
        return shapes
    return tuple(dict.fromkeys(shape._replace(whiten=False) for shape in shapes))
