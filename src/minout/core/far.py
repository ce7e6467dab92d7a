"""Near and far pairs: with very many classes, few pairs need a separator with weights of its own.

A pair of classes is near if one of them is among the `near_classes` nearest of the other, by the
distance of their means in the metric. A near pair has a separator like all pairs of a few classes.
A far pair starts from the linear discriminant of its classes times FAR_SCALE, which takes no more
than one score per class, and stores nothing until an example has a low margin in it; then it stores
its support vectors and their α, no weights (`kernels/far.py`).
"""

import math
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels, maths
from minout._typing import Bools, Floats, Ints
from minout.core.images import Images
from minout.core.pool import Pool, Problem
from minout.core.regions import NO_PLACES, among
from minout.maths import NOISE, Geometry, Prior

FAR_SCALE = 4.0
"""A far pair's discriminant is at about plus and minus this at the means of its classes."""
ROUNDING = 1e-6
"""By how much bounds on corrections are widened, as a share of the terms that they bound.

The terms are computed in float64; with a metric of condition 1e8 they are off by less than 1e-8.
"""
NO_WEIGHTS: Floats = np.empty(0)
Singles = NDArray[np.float32]


class ClassRow(NamedTuple):
    """The discriminant of one class, and its distances to all classes.

    `mean` is its mean less the origin, V = K·mean, `square` = V·mean, and `examples` the sum of
    the weights in the mean; `scale` and `near` are by class number; `reach` is the squared
    distance of its furthest near class.
    """

    c: int
    mean: Floats
    V: Floats
    square: float
    half: float
    examples: float
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
        if not len(self.places):
            return self
        stays = ~among(self.places, places)
        return self._replace(places=self.places[stays], coef=self.coef[stays])


NO_SUPPORT = Support(NO_PLACES, NO_WEIGHTS)


class FarPairs:
    """The discriminants of all classes, which pairs are near, and the support of far pairs.

    The squared length of a mean of n examples is on average `within`/n larger than that of the
    class, `within` being the mean squared distance of examples from their class. For far pairs this
    is subtracted: otherwise a class with few examples would seem further away than it is. With
    weights, n is the sum of those of the class, and `within` is multiplied by the mean weight of
    the different examples: the scale of the weights cancels.

    Class c has row at[c] of `index`, `floor` and `norm`. `index` has the row of a near pair's
    weights, or the number of a far pair's support, or -1.

    Far pairs that are part of a state are not changed: a step works on a `twin`. It copies an array
    before it writes to it, but of `index`, `floor` and `norm` only the rows of the classes that it
    changes, behind those that anybody sees. Supports are one after the other in a log that all
    share.
    """

    def __init__(self, width: int, near_classes: int, within: float) -> None:
        self.near_classes = near_classes
        self.within = within
        self.count = 0
        self.mean: Floats = np.zeros((0, width))
        self.V: Floats = np.zeros((0, width))
        self.square: Floats = np.zeros(0)
        self.half: Floats = np.zeros(0)
        self.counts: Floats = np.zeros(0)
        self.reach: Floats = np.zeros(0)
        self.near: Bools = np.zeros((0, 0), dtype=bool)
        self.scale: Singles = np.zeros((0, 0), dtype=np.float32)
        self.index: NDArray[np.int32] = np.zeros((0, 0), dtype=np.int32)
        self.floor: Singles = np.zeros((0, 0), dtype=np.float32)
        self.norm: Singles = np.zeros((0, 0), dtype=np.float32)
        self.at: Ints = np.zeros(0, dtype=np.int64)
        self._log, self._tail = _Log(64, 64), [0]  # how many rows are in use
        self._owned = {*_BY_PAIR, *_BY_CLASS}  # the arrays that nobody else sees
        self._own_rows = set[int]()  # the classes whose rows nobody else sees

    def twin(self) -> "FarPairs":
        """Return the same far pairs, to be changed by one step."""
        twin = copy(self)
        twin._owned, twin._own_rows = set(), set()
        return twin

    def _own(self, name: str) -> Any:
        # An array that may be written to.
        if name not in self._owned:
            setattr(self, name, getattr(self, name).copy())
            self._owned.add(name)
        return getattr(self, name)

    def _own_row(self, c: int) -> int:
        # The row of a class that may be written to.
        if c not in self._own_rows:
            row = self._tail[0]
            if row == len(self.index):
                self._copy_rows(len(self.near))
                return int(self.at[c])
            self._tail[0] = row + 1
            for name in _BY_ROW:
                rows = getattr(self, name)
                rows[row] = rows[self.at[c]]
            if not self._own_rows:
                self.at = self.at.copy()
            self.at[c] = row
            self._own_rows.add(c)
        return int(self.at[c])

    def _copy_rows(self, size: int) -> None:
        # New rows for so many classes, with room for as many again.
        for name in _BY_ROW:
            old, empty = getattr(self, name), -1 if name == "index" else 0
            new = np.full((2 * size, size), empty, dtype=old.dtype)
            new[: len(self.at), : old.shape[1]] = old[self.at]
            setattr(self, name, new)
        self.at, self._tail, self._own_rows = np.arange(size), [size], set(range(size))

    @classmethod
    def of(
        cls,
        geometry: Geometry,
        means: Floats,
        counts: Floats,
        different: int,
        owner: Ints,
        near_classes: int,
    ) -> "FarPairs":
        """Return the discriminants of regions with these means and labels, without any support.

        `counts` are the sums of their weights, `different` the number of different examples.
        """
        m, total = len(means), float(counts.sum())
        mean, V = means - geometry.origin, maths.images(geometry, means)
        square = np.einsum("ij,ij->i", V, mean)
        # The mean of ‖x - origin‖² over all examples is 1: what means do not account for is within.
        within = max(total - float(counts @ square), 0.0) / max(different - m, 1.0)
        pairs = cls(means.shape[1], near_classes, within)
        pairs.make_room(m, exactly=True)
        pairs.count = m
        pairs.mean[:], pairs.V[:], pairs.square[:], pairs.counts[:] = mean, V, square, counts
        pairs.half[:] = pairs._half(square, counts)
        products = V @ mean.T

        def apart_from(c: int) -> _Apart:
            both = np.concatenate([products[c, :c], products[c:, c]])  # one half for both ways
            apart = pairs._apart(square[c], counts[c], both, m)
            apart.squares[owner == owner[c]] = np.inf
            return apart

        pairs.reach[:] = [_reach(apart_from(c).squares, near_classes) for c in range(m)]
        for c in range(m):
            found = _near_and_scale(apart_from(c), float(pairs.reach[c]), pairs.reach)
            pairs.near[c], pairs.scale[c] = found
        return pairs

    def row_of(
        self, geometry: Geometry, c: int, mean: Floats, count: float, owner: Ints
    ) -> ClassRow:
        """Return the discriminant of region c, or of a new region, at a new mean."""
        known, m = self.count, max(self.count, c + 1)
        centred, V = mean - geometry.origin, maths.images(geometry, mean[None])[0]
        square = float(V @ centred)
        apart = self._apart(square, count, self.mean[:known] @ V, m)
        apart.squares[owner[:m] == owner[c]] = np.inf
        reach, theirs = _reach(apart.squares, self.near_classes), np.zeros(m)
        theirs[:known] = self.reach[:known]
        near, scale = _near_and_scale(apart, reach, theirs)
        half = float(self._half(square, count))
        return ClassRow(c, centred, V, square, half, count, scale, near, reach)

    def _half(self, square: Any, counts: Any) -> Any:
        return (square - self.within / counts) / 2.0

    def _apart(self, square: float, count: float, products: Floats, m: int) -> "_Apart":
        # Distances of a mean to those of all m classes, from its products with the known ones.
        known = len(products)
        squares, sizes, excess = np.full(m, np.inf), np.zeros(m), np.zeros(m)
        sizes[:known] = square + self.square[:known]
        squares[:known] = sizes[:known] - 2.0 * products
        excess[:known] = self.within * (1.0 / count + 1.0 / self.counts[:known])
        return _Apart(squares, sizes, excess)

    def supported(self, c: int) -> Bools:
        """Return for each class whether something is stored for its pair with class c."""
        if c < self.count:
            return np.asarray(self.index[self.at[c], : self.count] >= 0)
        return np.zeros(c + 1, dtype=bool)

    def is_near(self, a: int, b: int) -> bool:
        """Return whether the pair of two classes is near."""
        return bool(self.near[a, b])

    def prior(self, low: int, high: int, row: ClassRow | None = None) -> Prior:
        """Return the prior of a pair, near or far; `row` replaces that of its class."""
        a, b = self._score(low, row), self._score(high, row)
        scale, is_near = self._scale(low, high, row)
        half = (a.square - b.square) / 2.0 if is_near else a.half - b.half
        return Prior((a.V - b.V) * scale, -half * scale)

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
        a, b = self._score(low, row), self._score(high, row)
        out, half = np.empty(len(places)), np.array([a.half, b.half])
        scale, _ = self._scale(low, high, row)
        kernels.pair_values(a.V, b.V, half, scale, *pictures, coef, X, places, origin, out)
        return out

    def bounds(self, low: int, high: int) -> tuple[float, float, float]:
        """Return the bounds that the kernels use for a far pair: floor, ceiling and norm."""
        a, b = self.at[low], self.at[high]
        return float(self.floor[a, high]), -float(self.floor[b, low]), float(self.norm[a, high])

    def pairs_with_support(self) -> tuple[Ints, Ints]:
        """Return the classes low and high of all far pairs with support, by pair number."""
        m = self.count
        index, near = self.index[self.at[:m], :m], self.near[:m, :m]
        high, low = np.nonzero(np.tril((index >= 0) & ~near, -1))
        return low, high

    def near_pairs(self) -> tuple[Ints, Ints]:
        """Return the classes low and high of all near pairs, by pair number."""
        high, low = np.nonzero(np.tril(self.near[: self.count, : self.count], -1))
        return low, high

    @property
    def near_count(self) -> int:
        """About how many near pairs there are at most."""
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
            new = np.zeros(shape, dtype=old.dtype)
            new[tuple(slice(0, length) for length in old.shape)] = old
            setattr(self, name, new)
            self._owned.add(name)
        self._copy_rows(size)

    def class_row(self, c: int) -> ClassRow:
        """Return the discriminant that a class has."""
        m = self.count
        return ClassRow(
            c,
            self.mean[c].copy(),
            self.V[c].copy(),
            float(self.square[c]),
            float(self.half[c]),
            float(self.counts[c]),
            self.scale[c, :m].copy(),
            self.near[c, :m].copy(),
            float(self.reach[c]),
        )

    def set_class(self, row: ClassRow) -> None:
        """Replace the discriminant of a class, or add one, in a twin.

        Pairs that become near or far lose what `index` says: they must be `put` next.
        """
        c, m = row.c, len(row.near)
        self.make_room(c + 1)
        near, scale, mean, V = map(self._own, ("near", "scale", "mean", "V"))
        for o in np.flatnonzero(row.near != near[c, :m]).tolist():
            self._put_index(c, o, -1)
        near[c, :m] = near[:m, c] = row.near
        scale[c, :m] = scale[:m, c] = row.scale
        mean[c], V[c] = row.mean, row.V
        values = (row.square, row.half, row.examples, row.reach)
        for name, value in zip(("square", "half", "counts", "reach"), values, strict=True):
            self._own(name)[c] = value
        self.count = max(self.count, c + 1)

    def put_near(self, low: int, high: int, slot: int) -> None:
        """Note the row of a near pair's weights, in a twin."""
        self._put_index(low, high, slot)

    def put_support(self, low: int, high: int, support: Support) -> None:
        """Replace the support of a far pair, in a twin; none removes it."""
        n, number = len(support.places), -1
        self._own_row(low)
        b, norm = self._own_row(high), -_down(-support.norm) if n else 0.0
        a = int(self.at[low])  # the second call may have copied all rows
        self.floor[a, high] = _down(support.floor) if n else 0.0
        self.floor[b, low] = _down(-support.ceiling) if n else 0.0
        self.norm[a, high] = self.norm[b, low] = norm
        if n:
            if not self._log.has_room(n):
                self._make_log(n)
            number = self._log.write(support.places, support.coef)
        self._put_index(low, high, number)

    def only(self, kept: list[int]) -> "FarPairs":
        """Return those of some classes, numbered again from 0; their pairs have nothing yet."""
        twin = FarPairs(self.V.shape[1], self.near_classes, self.within)
        twin.make_room(len(kept), exactly=True)
        twin.count = len(kept)
        square = np.ix_(kept, kept)
        for name in _BY_CLASS:
            getattr(twin, name)[:] = getattr(self, name)[kept]
        twin.near[:], twin.scale[:] = self.near[square], self.scale[square]
        return twin

    def for_kernels(self, images: Images, owner: Ints, W: Floats, b: Floats) -> kernels.Far:
        """Return the arrays that the kernels take; all supports must have images."""
        pairs = self.near, self.scale, self.at, self.index, self.floor, self.norm
        log = self._log.start, self._log.size, self._log.coef, self._log.places
        return kernels.Far(self.V, self.half, owner, *pairs, *log, *images.all_slots(), W, b)

    def _score(self, c: int, row: ClassRow | None) -> "_Score":
        if row is not None and row.c == c:
            return _Score(row.V, row.square, row.half)
        return _Score(self.V[c], float(self.square[c]), float(self.half[c]))

    def _scale(self, low: int, high: int, row: ClassRow | None) -> tuple[float, bool]:
        if row is not None and row.c in (low, high):
            other = low + high - row.c
            return float(row.scale[other]), bool(row.near[other])
        return float(self.scale[low, high]), bool(self.near[low, high])

    def _put_index(self, a: int, b: int, value: int) -> None:
        for one, other in ((a, b), (b, a)):
            row = self._own_row(one)
            self.index[row, other] = value

    def _make_log(self, more: int) -> None:
        # A new log with room for more, without what was replaced.
        low, high = self.pairs_with_support()
        old, numbers = self._log, self.index[self.at[low], high].tolist()
        entries = int(old.size[numbers].sum()) + more
        log = _Log(2 * len(numbers) + 64, 2 * entries + 64)
        for a, b, number in zip(low.tolist(), high.tolist(), numbers, strict=True):
            self._put_index(a, b, log.write(*old.entry(number)))
        self._log = log


class _Score(NamedTuple):
    """The discriminant of one class; see `ClassRow`."""

    V: Floats
    square: float
    half: float


class _Apart(NamedTuple):
    """Squared distances between means, the size of their terms, and how much too large they are."""

    squares: Floats
    sizes: Floats
    excess: Floats


class _Log:
    """Supports one after the other, each under its number; none is ever changed."""

    def __init__(self, numbers: int, entries: int) -> None:
        self.start: Ints = np.zeros(numbers, dtype=np.int64)
        self.size: Ints = np.zeros(numbers, dtype=np.int64)
        self.places: Ints = np.zeros(entries, dtype=np.int64)
        self.coef: Floats = np.zeros(entries)
        self.used = self.numbers = 0

    def has_room(self, entries: int) -> bool:
        """Return whether one more support of so many entries can be written."""
        return self.used + entries <= len(self.coef) and self.numbers < len(self.start)

    def write(self, places: Ints, coef: Floats) -> int:
        """Write a support, and return its number."""
        number, start, end = self.numbers, self.used, self.used + len(places)
        self.numbers, self.used = number + 1, end
        self.places[start:end], self.coef[start:end] = places, coef
        self.start[number], self.size[number] = start, len(places)
        return number

    def entry(self, number: int) -> tuple[Ints, Floats]:
        """Return the places and coefficients of a support."""
        part = slice(self.start[number], self.start[number] + self.size[number])
        return self.places[part], self.coef[part]


_BY_CLASS = ("mean", "V", "square", "counts", "reach", "half")
_BY_PAIR = ("near", "scale")
_BY_ROW = ("index", "floor", "norm")


def support_of(pool: Pool, problem: Problem) -> Support:
    """Return the support of a far pair whose pool was solved."""
    used = np.flatnonzero(pool.alpha > 0.0)
    n = len(used)
    if not n:
        return NO_SUPPORT
    places, coef = pool.places[used], (pool.signs * pool.alpha)[used]
    Z = problem.table[places] - problem.geometry.origin
    pictures, which = problem.images.of(problem.table, places)
    # The square of the corrections' norm is that of Σ coef·z in the metric.
    products = pictures[which] @ Z.T
    size, total = np.abs(coef), float(coef.sum())
    square, lengths = abs(float(coef @ products @ coef)), np.sqrt(np.abs(products.diagonal()))
    norm = (1.0 + ROUNDING) * math.sqrt(square) + ROUNDING * float(size @ lengths)
    wide = ROUNDING * float(size.sum())
    return Support(places, coef, total - wide, total + wide, norm)


def pool_of(support: Support, prior: Prior) -> Pool:
    """Return a pool with the rows of a far pair's support."""
    pool, coef = Pool(prior), support.coef
    pool.places, pool.signs, pool.alpha = support.places.copy(), np.sign(coef), np.abs(coef)
    pool.idle = np.zeros(len(coef), dtype=np.int64)
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


def _near_and_scale(apart: _Apart, reach: float, theirs: Floats) -> tuple[Bools, Singles]:
    # Means closer than rounding are near, and have no discriminant.
    squares, sizes, excess = apart
    differ = squares > 10.0 * NOISE * (1.0 + sizes)
    near = ((squares <= np.maximum(reach, theirs)) | ~differ) & np.isfinite(squares)
    likely = np.maximum(squares - excess, squares / 4.0)
    factor = np.where(near, 2.0 / np.where(differ, squares, 1.0), 0.0)
    factor = np.where(near, factor, 2.0 * FAR_SCALE / np.where(differ, likely, 1.0))
    return near, np.where(differ, factor, 0.0).astype(np.float32)


def _down(value: float) -> float:
    # The highest number in float32 that is not above; a number in float32 stays as it is.
    nearest = np.float32(value)
    is_above = float(nearest) > value
    return float(np.nextafter(nearest, np.float32(-np.inf)) if is_above else nearest)
