"""Near and far pairs: with very many classes, few pairs need a separator with weights of its own.

A pair of classes is near if one of them is among the `near_classes` nearest of the other, by the
distance of their means in the metric. A near pair has a separator like all pairs of a few classes.
A far pair starts from the linear discriminant of its classes times FAR_SCALE, which takes no more
than one score per class, and stores nothing until an example has a low margin in it; then it stores
its support vectors and their α, no weights (`kernels/far.py`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels, maths
from minout._typing import Bools, Floats, Ints
from minout.engine.images import Images
from minout.engine.pool import Pool, Problem
from minout.maths import NOISE, Geometry, Prior

FAR_SCALE = 4.0
"""A far pair's discriminant is at plus and minus this on the means of its classes."""
ROUNDING = 1e-6
"""By how much bounds on corrections are widened, as a share of the terms that they bound.

The terms are computed in float64; with a metric of condition 1e8 they are off by less than 1e-8.
"""
NO_PLACES: Ints = np.empty(0, dtype=np.int64)
NO_WEIGHTS: Floats = np.empty(0)
Singles = NDArray[np.float32]


class ClassRow(NamedTuple):
    """The discriminant of one class, and its distances to all classes.

    `mean` is its mean less the origin, V = K·mean, half = V·mean/2; `scale` and `near` are by class
    number; `reach` is the squared distance of its furthest near class.
    """

    c: int
    mean: Floats
    V: Floats
    half: float
    scale: Singles
    near: Bools
    reach: float


class Support(NamedTuple):
    """The corrections of a far pair: places, coefficients sα, and bounds on their sum.

    The sum at z = x - origin is between floor - norm·‖z‖ and ceiling + norm·‖z‖, in the norm of
    the metric.
    """

    places: Ints
    coef: Floats
    floor: float = 0.0
    ceiling: float = 0.0
    norm: float = 0.0

    def without(self, places: Ints) -> "Support":
        """Return the support without some places; the bounds do not hold for it."""
        stays = ~np.isin(self.places, places)
        return self._replace(places=self.places[stays], coef=self.coef[stays])


NO_SUPPORT = Support(NO_PLACES, NO_WEIGHTS)


class FarPairs:
    """The discriminants of all classes, which pairs are near, and the support of far pairs.

    Arrays by class number have spare capacity. `index` has the row of a near pair's weights, or
    the number of a far pair's support, or -1.
    """

    def __init__(self, width: int, near_classes: int) -> None:
        self.near_classes = near_classes
        self.count = 0
        self.mean: Floats = np.zeros((0, width))
        self.V: Floats = np.zeros((0, width))
        self.half: Floats = np.zeros(0)
        self.reach: Floats = np.zeros(0)
        self.near: Bools = np.zeros((0, 0), dtype=bool)
        self.scale: Singles = np.zeros((0, 0), dtype=np.float32)
        self.index: NDArray[np.int32] = np.zeros((0, 0), dtype=np.int32)
        self.floor: Singles = np.zeros((0, 0), dtype=np.float32)
        self.norm: Singles = np.zeros((0, 0), dtype=np.float32)
        self._log = _Log(64, 64)

    @classmethod
    def of(cls, geometry: Geometry, means: Floats, near_classes: int) -> "FarPairs":
        """Return the discriminants of classes with these means, without any support."""
        pairs, m = cls(means.shape[1], near_classes), len(means)
        pairs.make_room(m, exactly=True)
        pairs.count = m
        pairs.mean[:] = means - geometry.origin
        pairs.V[:] = maths.images(geometry, means)
        pairs.half[:] = np.einsum("ij,ij->i", pairs.V, pairs.mean) / 2.0
        squares = pairs.half[:, None] + pairs.half - pairs.V @ pairs.mean.T
        squares = np.tril(squares) + np.tril(squares, -1).T  # symmetric to the last bit
        squares *= 2.0
        np.fill_diagonal(squares, np.inf)
        pairs.reach[:] = [_reach(row, near_classes) for row in squares]
        for c in range(m):
            sizes = pairs.half[c] + pairs.half
            found = _near_and_scale(squares[c], sizes, float(pairs.reach[c]), pairs.reach)
            pairs.near[c], pairs.scale[c] = found
        return pairs

    def row_of(self, geometry: Geometry, c: int, mean: Floats) -> ClassRow:
        """Return the discriminant of class c, or of a new class, at a new mean."""
        known, m = self.count, max(self.count, c + 1)
        centred, V = mean - geometry.origin, maths.images(geometry, mean[None])[0]
        half = float(V @ centred) / 2.0
        squares, sizes, theirs = np.full(m, np.inf), np.zeros(m), np.zeros(m)
        sizes[:known], theirs[:known] = half + self.half[:known], self.reach[:known]
        squares[:known] = 2.0 * (sizes[:known] - self.mean[:known] @ V)
        squares[c] = np.inf
        reach = _reach(squares, self.near_classes)
        near, scale = _near_and_scale(squares, sizes, reach, theirs)
        return ClassRow(c, centred, V, half, scale, near, reach)

    def is_near(self, a: int, b: int) -> bool:
        """Return whether the pair of two classes is near."""
        return bool(self.near[a, b])

    def prior(self, low: int, high: int, row: ClassRow | None = None) -> Prior:
        """Return the prior of a pair, near or far; `row` replaces that of its class."""
        (V_low, half_low), (V_high, half_high) = self._score(low, row), self._score(high, row)
        scale = self._scale(low, high, row)
        return Prior((V_low - V_high) * scale, -(half_low - half_high) * scale)

    def values(
        self,
        low: int,
        high: int,
        coef: Floats,
        pictures: tuple[Floats, Ints],
        X: Floats,
        places: Ints,
        origin: Floats,
        row: ClassRow | None = None,
    ) -> Floats:
        """Return the values of a far pair at the rows X[places], as the kernels compute them.

        `coef` are the coefficients of its support, `pictures` what `Images.of` returns for it.
        """
        (V_low, half_low), (V_high, half_high) = self._score(low, row), self._score(high, row)
        out, half = np.empty(len(places)), np.array([half_low, half_high])
        scale = self._scale(low, high, row)
        kernels.pair_values(V_low, V_high, half, scale, *pictures, coef, X, places, origin, out)
        return out

    def support(self, low: int, high: int) -> Support:
        """Return the support of a far pair."""
        number = int(self.index[low, high])
        if number < 0 or self.near[low, high]:
            return NO_SUPPORT
        return Support(
            *self._log.entry(number),
            float(self.floor[low, high]),
            -float(self.floor[high, low]),
            float(self.norm[low, high]),
        )

    def has_support(self, c: int) -> Bools:
        """Return for each class whether its far pair with class c has support."""
        m = self.count
        return np.asarray((self.index[c, :m] >= 0) & ~self.near[c, :m])

    def pairs_with_support(self) -> tuple[Ints, Ints]:
        """Return the classes low and high of all far pairs with support, by pair number."""
        m = self.count
        high, low = np.nonzero(np.tril((self.index[:m, :m] >= 0) & ~self.near[:m, :m], -1))
        return low, high

    def near_pairs(self) -> tuple[Ints, Ints]:
        """Return the classes low and high of all near pairs, by pair number."""
        high, low = np.nonzero(np.tril(self.near[: self.count, : self.count], -1))
        return low, high

    @property
    def near_count(self) -> int:
        """About how many near pairs there are: at most this many."""
        return self.near_classes * self.count

    def make_room(self, classes: int, *, exactly: bool = False) -> None:
        """Grow the arrays, if needed, to hold this many classes."""
        known = len(self.half)
        if classes <= known:
            return
        size = classes if exactly else classes + classes // 4 + 1
        for name in (*_BY_PAIR, *_BY_CLASS):  # `half`, whose length is looked at, is the last
            old = getattr(self, name)
            shape = (size, size) if name in _BY_PAIR else (size, *old.shape[1:])
            new = np.full(shape, -1 if name == "index" else 0, dtype=old.dtype)
            new[tuple(slice(0, length) for length in old.shape)] = old
            setattr(self, name, new)

    def class_row(self, c: int) -> ClassRow:
        """Return the discriminant that a class has."""
        m = self.count
        return ClassRow(
            c,
            self.mean[c].copy(),
            self.V[c].copy(),
            float(self.half[c]),
            self.scale[c, :m].copy(),
            self.near[c, :m].copy(),
            float(self.reach[c]),
        )

    def set_class(self, row: ClassRow) -> None:
        """Replace the discriminant of a class, or add one, in place; call `make_room` first.

        Pairs that become near or far lose what `index` says: they must be `put` next.
        """
        c, m = row.c, len(row.near)
        if c >= self.count:
            for name in _BY_PAIR:
                array, empty = getattr(self, name), -1 if name == "index" else 0
                array[c], array[:, c] = empty, empty
        for o in np.flatnonzero(row.near != self.near[c, :m]).tolist():
            self._put_index(c, o, -1)
        self.near[c, :m] = self.near[:m, c] = row.near
        self.scale[c, :m] = self.scale[:m, c] = row.scale
        self.mean[c], self.V[c], self.half[c] = row.mean, row.V, row.half
        self.reach[c] = row.reach
        self.count = max(self.count, c + 1)

    def put_near(self, low: int, high: int, slot: int) -> None:
        """Note the row of a near pair's weights, in place."""
        self._put_index(low, high, slot)

    def put_support(self, low: int, high: int, support: Support) -> None:
        """Replace the support of a far pair, in place; none removes it."""
        n, number = len(support.places), int(self.index[low, high])
        self.floor[low, high] = _down(support.floor) if n else 0.0
        self.floor[high, low] = _down(-support.ceiling) if n else 0.0
        self.norm[low, high] = self.norm[high, low] = -_down(-support.norm) if n else 0.0
        if not n:
            self._put_index(low, high, -1)
            return
        if not self._log.has_room(n):
            self._make_log(n)
        self._put_index(low, high, self._log.write(number, support.places, support.coef))

    def only(self, kept: list[int]) -> "FarPairs":
        """Return those of some classes, numbered again from 0; near pairs have no rows yet."""
        twin = FarPairs(self.V.shape[1], self.near_classes)
        twin.make_room(len(kept), exactly=True)
        twin.count = len(kept)
        square = np.ix_(kept, kept)
        for name in _BY_CLASS:
            getattr(twin, name)[:] = getattr(self, name)[kept]
        twin.near[:], twin.scale[:] = self.near[square], self.scale[square]
        number = {c: n for n, c in enumerate(kept)}
        for low, high in zip(*(each.tolist() for each in self.pairs_with_support()), strict=True):
            if low in number and high in number:
                twin.put_support(number[low], number[high], self.support(low, high))
        return twin

    def for_kernels(self, images: Images) -> tuple[kernels.ClassScores, kernels.Corrections]:
        """Return the arrays that the kernels take; all supports must have images."""
        classes = kernels.ClassScores(
            self.V, self.half, self.near, self.scale, self.index, self.floor, self.norm
        )
        pictures, slot = images.all_slots()
        log = self._log
        corrections = kernels.Corrections(log.start, log.size, log.coef, log.places, pictures, slot)
        return classes, corrections

    def places_with_support(self) -> Ints:
        """Return the places that are support of a far pair, each once."""
        low, high = self.pairs_with_support()
        numbers, log = self.index[low, high], self._log
        sizes = log.size[numbers]
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.unique(log.places[np.repeat(log.start[numbers], sizes) + within])

    def _score(self, c: int, row: ClassRow | None) -> tuple[Floats, float]:
        if row is not None and row.c == c:
            return row.V, row.half
        return self.V[c], float(self.half[c])

    def _scale(self, low: int, high: int, row: ClassRow | None) -> float:
        if row is not None and row.c in (low, high):
            return float(row.scale[low + high - row.c])
        return float(self.scale[low, high])

    def _put_index(self, a: int, b: int, value: int) -> None:
        self.index[a, b] = self.index[b, a] = value

    def _make_log(self, more: int) -> None:
        # A new log with room for more, without what was replaced; the numbers stay.
        low, high = self.pairs_with_support()
        numbers, old = self.index[low, high].tolist(), self._log
        log = _Log(2 * old.numbers + 64, 2 * (int(old.size[numbers].sum()) + more) + 64)
        log.numbers = old.numbers
        for number in numbers:
            log.write(number, *old.entry(number))
        self._log = log


class _Log:
    """Supports one after the other; a new version is written at the end, whatever was before."""

    def __init__(self, numbers: int, entries: int) -> None:
        self.start: Ints = np.zeros(numbers, dtype=np.int64)
        self.size: Ints = np.zeros(numbers, dtype=np.int64)
        self.places: Ints = np.zeros(entries, dtype=np.int64)
        self.coef: Floats = np.zeros(entries)
        self.used = self.numbers = 0

    def has_room(self, entries: int) -> bool:
        """Return whether one more support of so many entries can be written."""
        return self.used + entries <= len(self.coef) and self.numbers < len(self.start)

    def write(self, number: int, places: Ints, coef: Floats) -> int:
        """Write a support under its number, or under a new one if it is -1; return the number."""
        if number < 0:
            number, self.numbers = self.numbers, self.numbers + 1
        end = self.used + len(places)
        self.places[self.used : end], self.coef[self.used : end] = places, coef
        self.start[number], self.size[number] = self.used, len(places)
        self.used = end
        return number

    def entry(self, number: int) -> tuple[Ints, Floats]:
        """Return the places and coefficients of a support."""
        part = slice(self.start[number], self.start[number] + self.size[number])
        return self.places[part], self.coef[part]


_BY_CLASS = ("mean", "V", "reach", "half")
_BY_PAIR = ("near", "scale", "index", "floor", "norm")


def support_of(pool: Pool, w: Floats, problem: Problem) -> Support:
    """Return the support of a far pair whose pool was solved, and whose weights are w."""
    used = np.flatnonzero(pool.alpha > 0.0)
    if not len(used):
        return NO_SUPPORT
    places, coef = pool.places[used], (pool.signs * pool.alpha)[used]
    Z = problem.table[places] - problem.geometry.origin
    pictures, which = problem.images.of(problem.table, places)
    # With u = Σ coef·K z, the square of the corrections' norm, u'K⁻¹u, is Σ coef·(u·z).
    square = abs(float(coef @ (Z @ (w - pool.prior.w))))
    lengths = np.sqrt(np.abs(np.einsum("ij,ij->i", Z, pictures[which])))
    total, size = float(coef.sum()), np.abs(coef)
    wide = ROUNDING * float(size.sum())
    norm = (1.0 + ROUNDING) * float(np.sqrt(square)) + ROUNDING * float(size @ lengths)
    return Support(places, coef, total - wide, total + wide, norm)


def pool_of(support: Support, prior: Prior) -> Pool:
    """Return a pool with the rows of a far pair's support."""
    pool = Pool(prior)
    pool.join(support.places, np.sign(support.coef))
    pool.alpha = np.abs(support.coef)
    return pool


def lengths(geometry: Geometry, X: Floats) -> Floats:
    """Return the norm of each row less the origin in the metric, rounded up."""
    Z = X - geometry.origin
    images = Z * geometry.K if geometry.K.ndim == 1 else Z @ geometry.K
    products = np.einsum("ij,ij->i", Z, images)
    rounding = 1e-10 * np.linalg.norm(Z, axis=1) * np.linalg.norm(images, axis=1)
    return np.asarray((1.0 + ROUNDING) * np.sqrt(np.abs(products) + rounding))


def _reach(squares: Floats, near_classes: int) -> float:
    finite = np.isfinite(squares)
    k = min(near_classes, int(finite.sum()))
    return float(np.partition(squares, k - 1)[k - 1]) if k else 0.0


def _near_and_scale(
    squares: Floats, sizes: Floats, reach: float, theirs: Floats
) -> tuple[Bools, Singles]:
    # Means closer than rounding are near, and have no discriminant.
    apart = squares > 10.0 * NOISE * (1.0 + sizes)
    near = ((squares <= np.maximum(reach, theirs)) | ~apart) & np.isfinite(squares)
    factor = np.where(near, 2.0, 2.0 * FAR_SCALE)
    scale = np.where(apart, factor / np.where(apart, squares, 1.0), 0.0)
    return near, scale.astype(np.float32)


def _down(value: float) -> float:
    # The next lower number in float32.
    return float(np.nextafter(np.float32(value), np.float32(-np.inf)))
