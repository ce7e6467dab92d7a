"""Class scores: the prior of every pair of regions is a difference of two, times a scale.

The score of region c is g(x) = V_c·z - half_c, z = x - origin, V_c = K·mean_c: its linear
discriminant. A *near* pair starts from the discriminant of its regions at ±1 on their means, and
stores its weights. With very many classes a pair is near only if one of its regions is among the
`near_classes` nearest of the other, by the distance of their means in the metric. A *far* pair
starts from FAR_SCALE times the discriminant, and stores no weights, but the support vectors that
correct it, if it needs any (`native/far.hpp`). Without `lda_prior` all scores are 0, and all pairs
near; very many wide ones store no weights, either, but their pools.
"""

from typing import Any, NamedTuple

import numpy as np

from minout import kernels, maths
from minout._typing import Bools, Floats, Ints
from minout.core.regions import (
    pair_count,
    pair_number,
    pair_numbers,
    regions_of_all,
)
from minout.errors import NotConverged
from minout.maths import NOISE, Geometry, Prior

FAR_SCALE = 4.0
"""A far pair's discriminant is at about plus and minus this at the means of its regions."""


class ClassScores(NamedTuple):
    """The scores of m regions, and the scale of each pair, by pair number; never changed.

    `means` (m, d) are less the origin, `squares` = V·mean, `counts` the sums of weights. The
    squared length of a mean of n examples is on average within/n larger than that of the region,
    `within` being the mean squared distance of examples from the mean of their region. For far
    pairs this is subtracted: otherwise a region with few examples would seem further away than it
    is. With weights, n is the sum of those of the region, and `within` is multiplied by the mean
    weight of the different examples: the scale of the weights cancels. `reach` (m,) is the squared
    distance of the furthest near region. `near_classes` is None if all pairs are near.
    `has_weights` is whether near pairs store weights.
    """

    V: Floats
    means: Floats
    squares: Floats
    counts: Floats
    reach: Floats
    scale: Floats
    near: Bools
    within: float = 0.0
    near_classes: int | None = None
    has_weights: bool = True

    @classmethod
    def zero(cls, owner: Ints, width: int, *, has_weights: bool = True) -> "ClassScores":
        """Return scores that are 0, of regions with these labels: no prior."""
        m, pairs = len(owner), pair_count(len(owner))
        low, high = regions_of_all(np.arange(pairs))
        near = np.asarray(owner[low] != owner[high])
        rows, numbers = np.zeros((m, width)), np.zeros(m)
        zero = cls(rows, rows, numbers, numbers, numbers, np.zeros(pairs), near)
        return zero._replace(has_weights=has_weights)

    @classmethod
    def of(
        cls,
        geometry: Geometry,
        means: Floats,
        counts: Floats,
        different: int,
        owner: Ints,
        near_classes: int | None,
    ) -> "ClassScores":
        """Return the scores of regions with these means and labels.

        `counts` are the sums of their weights, `different` the number of different examples.
        """
        m, total = len(means), float(counts.sum())
        V = maths.images(geometry, means, kernels.product)
        means = means - geometry.origin
        squares = np.einsum("ij,ij->i", V, means)
        # The mean of ‖x - origin‖² over all examples is 1: what means do not account for is within.
        within = max(total - float((counts * squares).sum()), 0.0) / max(different - m, 1.0)
        low, high = regions_of_all(np.arange(pair_count(m)))
        apart = squares[low] + squares[high] - 2.0 * kernels.product(V, means.T)[high, low]
        apart[owner[low] == owner[high]] = np.inf
        reach = np.full(m, np.inf)
        for c in range(m if near_classes is not None else 0):
            reach[c] = _reach(apart[pair_numbers(c, _others(m, c))], near_classes)
        none = np.zeros(0, dtype=bool)
        scores = cls(V, means, squares, counts, reach, apart, none, within, near_classes)
        scale, near = scores._scaled(low, high, apart)
        return scores._replace(scale=scale, near=near)

    def with_region(
        self, geometry: Geometry, c: int, mean: Floats, count: float, owner: Ints
    ) -> "ClassScores":
        """Return scores with region c, which may be new, at a new mean; raise NotConverged."""
        wide = self if c < len(self.V) else self.extended(owner)
        copies: dict[str, Any] = {name: getattr(wide, name).copy() for name in FIELDS}
        new = wide._replace(**copies)
        others, centred = _others(len(new.V), c), mean - geometry.origin
        with np.errstate(over="ignore", invalid="ignore"):
            V = maths.images(geometry, mean[None], kernels.product)[0]
            square, along = float((V * centred).sum()), np.empty(len(others))
            kernels.activations(V, 0.0, new.means, others, np.zeros(len(V)), along)
            apart = square + new.squares[others] - 2.0 * along
            apart[owner[others] == owner[c]] = np.inf
            reach = _reach(apart, self.near_classes)
            new.V[c], new.means[c], new.squares[c] = V, centred, square
            new.counts[c], new.reach[c] = count, reach
            scale, near = new._scaled(np.full(len(others), c), others, apart)
        pairs = pair_numbers(c, others)
        new.scale[pairs], new.near[pairs] = scale, near
        if not (np.isfinite(V).all() and np.isfinite(square) and np.isfinite(scale).all()):
            raise NotConverged("a discriminant overflowed")
        return new

    def extended(self, owner: Ints) -> "ClassScores":
        """Return scores with one more region, whose score is 0, near to all of other labels."""
        known, width = self.V.shape
        zero, near = np.zeros((1, width)), owner[:known] != owner[known]
        return self._replace(
            V=np.concatenate([self.V, zero]),
            means=np.concatenate([self.means, zero]),
            squares=np.append(self.squares, 0.0),
            counts=np.append(self.counts, 0.0),
            reach=np.append(self.reach, 0.0),
            scale=np.concatenate([self.scale, np.zeros(known)]),
            near=np.concatenate([self.near, near]),
        )

    def _scaled(self, low: Ints, high: Ints, apart: Floats) -> tuple[Floats, Bools]:
        # The scale of pairs at squared distances, inf within a label, and which are near. Means
        # closer than rounding are near, and have no discriminant.
        differ = apart > 10.0 * NOISE * (1.0 + self.squares[low] + self.squares[high])
        near = (apart <= np.maximum(self.reach[low], self.reach[high])) | ~differ
        near &= np.isfinite(apart)
        excess = self.within * (1.0 / self.counts[low] + 1.0 / self.counts[high])
        apart = np.where(differ, apart, 1.0)
        likely = np.maximum(apart - excess, apart / 4.0)
        scale = np.where(near, 2.0 / apart, 2.0 * FAR_SCALE / likely)
        return np.where(differ, scale, 0.0), near

    @property
    def halves(self) -> Floats:
        """Half the squared length of each mean (m,), less its noise, as far pairs take it."""
        noise = 0.0 if self.near_classes is None else self.within / self.counts
        return np.asarray((self.squares - noise) / 2.0)

    def prior(self, pair: int) -> Prior:
        """Return the prior of a pair, near or far."""
        W, b = self.priors(np.array([pair]))
        return Prior(W[0], float(b[0]))

    def priors(self, pairs: Ints) -> tuple[Floats, Floats]:
        """Return the weights (n, d) and the bias (n,) of the priors of some pairs."""
        (low, high), scale, near = regions_of_all(pairs), self.scale[pairs], self.near[pairs]
        apart = self.squares[low] - self.squares[high]
        if not near.all():
            squares = 2.0 * self.halves
            apart = np.where(near, apart, squares[low] - squares[high])
        W = self.V.take(low, axis=0)
        W -= self.V.take(high, axis=0)
        W *= scale[:, None]
        b = -(apart / 2.0) * scale
        W[scale == 0.0], b[scale == 0.0] = 0.0, 0.0
        return W, b

    def strength(self, r: int, q: int) -> tuple[float, float]:
        """Return the prior of a pair at the mean of r, where that of q has minus it, and its noise.

        The noise is subtracted from half the difference of the squared lengths of the means.
        """
        pair, (a, b) = pair_number(r, q), self.means[[r, q]]
        apart = float((self.V[r] - self.V[q]) @ (a - b))
        each = 0.0 if self.near[pair] else self.within / 2.0
        noise = each / self.counts[r] - each / self.counts[q] if each else 0.0
        return float(self.scale[pair]) * apart / 2.0, float(noise)

    def only(self, kept: list[int]) -> "ClassScores":
        """Return those of some regions, numbered again from 0."""
        low, high = regions_of_all(np.arange(pair_count(len(kept))))
        number = np.array(kept, dtype=np.int64)
        pairs = pair_numbers(number[low], number[high])
        arrays: dict[str, Any] = {name: getattr(self, name)[kept] for name in FIELDS[:5]}
        return self._replace(**arrays, scale=self.scale[pairs], near=self.near[pairs])


FIELDS = ClassScores._fields[:7]
"""Those that are arrays: by region, then by pair."""


def _others(m: int, c: int) -> Ints:
    return np.delete(np.arange(m), c)


def _reach(apart: Floats, near_classes: int | None) -> float:
    if near_classes is None:
        return float("inf")
    k = min(near_classes, int(np.isfinite(apart).sum()))
    return float(np.partition(apart, k - 1)[k - 1]) if k else 0.0
