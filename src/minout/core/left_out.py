"""Scores of stored examples, each without itself: it is left out of separators, metric and priors.

The formulas are those of `maths/leave_one_out.py`; settings, regions and knots stay those of all
examples. Equal rows leave together. With few examples per region one of each near region leaves,
too: otherwise every label but the example's own would keep all of its examples, which is a
disadvantage that a new row does not have.
"""

from typing import NamedTuple

import numpy as np

from minout import kernels, maths
from minout._typing import Bools, Floats, Ints
from minout.core.pool import goes_by_alpha
from minout.core.regions import NO_PLACES, pair_number
from minout.core.state import State

BLOCK = 512  # so many examples are left out at a time
FEW = 128
"""With at most so many candidates a separator is solved again, and others leave with an example."""
NEAR = 2.0
"""Rows with a margin below this are candidates: they may become support vectors without others.

Of at most `FEW` rows all are.
"""
PAIR = 2_048  # candidates are searched in pairs of at most so many rows
DIGITS = 9  # of scores, after the point
CACHED = 2**25  # images of all rows are kept if these have at most so many numbers


@kernels.one_blas_thread()
def left_out_scores(state: State, places: Ints) -> Floats:
    """Return the scores of examples at some places for each label, each without itself.

    The scores (n, labels) are in the order of the labels. An example that is all of its label
    keeps its scores: without it there is no such label. With a single label they are infinite.
    They are rounded, so that equal ones are equal: then the first label is predicted.
    """
    if len(state.regions.names) == 1:
        return np.full((len(places), 1), np.inf)
    common = _Common(state)
    digests, own = state.examples.digests[places], state.examples.regions[places]
    order = np.lexsort((digests, own))
    parts = np.split(order, np.flatnonzero(np.diff(own[order])) + 1)
    scores = np.empty((len(places), len(state.regions.names)))

    def compute(part: Ints) -> None:
        region = _Region(common, int(own[part[0]]))
        for start in range(0, len(part), BLOCK):
            rows = part[start : start + BLOCK]
            scores[rows] = state.label_scores(region.scores(places[rows]))

    kernels.in_threads(compute, [part for part in parts if len(part)])
    return np.asarray(scores.round(DIGITS) + 0.0)


def in_order(state: State) -> Ints:
    """Return the places of all examples in the order of their digests."""
    places, examples = state.examples.places(), state.examples
    keys = examples.weights[places], examples.regions[places], examples.digests[places]
    return places[np.lexsort(keys)]


def different(state: State, most: int) -> tuple[Ints, Ints, Floats]:
    """Return at most so many different examples, those with the lowest digests, in order.

    These are their places, the numbers of their labels, and the weights of all that equal them.
    """
    places, examples = in_order(state), state.examples
    labels = state.regions.order.owner[examples.regions[places]]
    rows = np.rec.fromarrays((examples.digests[places], labels))
    _, first, number = np.unique(rows, return_index=True, return_inverse=True)
    weights = np.bincount(number, examples.weights[places]).astype(np.float64)
    return places[first][:most], labels[first][:most], weights[:most]


def alone(state: State) -> Ints:
    """Return the numbers of the labels whose examples are all equal."""
    return np.flatnonzero(np.bincount(different(state, state.count)[1]) == 1)


class _Common:
    """What the regions of a state have in common; the rows are less the origin."""

    def __init__(self, state: State) -> None:
        self.state, self.problem = state, state.problem()
        self.owner, self.scores = state.regions.order.owner, state.separators.scores
        self.members = [each.places for each in state.regions.members]
        stored, examples = state.examples.places(), state.examples
        _, number = np.unique(examples.digests[stored], return_inverse=True)
        self.groups = np.full(examples.end, -1, dtype=np.int64)
        self.groups[stored] = number
        sums = state.frame.moments.by_label(self.owner)
        self.label_means, self.label_weights = sums.means() - self.origin, sums.counts
        self.free_bias = state.choice.free_bias
        self.of_group = np.bincount(number, examples.weights[stored])
        self.label_images = self.image(self.label_means)
        self.images = None
        if len(stored) * examples.width <= CACHED:
            self.images = np.empty((examples.end, examples.width))
            in_order = stored[np.argsort(number, kind="stable")]
            self.images[in_order] = self.image(self.rows(in_order))
        else:
            pools = [record.pool for record in state.separators.records.values()]
            used = [pool.places[pool.alpha > 0.0] for pool in pools]
            self.problem.images.of(self.problem.table, np.concatenate([NO_PLACES, *used]))
        self.firsts = [self._firsts(c) for c in range(len(self.owner))]
        self.of_region = self._weights_of_equals(np.arange(len(self.owner)))
        self.of_label = self._weights_of_equals(self.owner)

    @property
    def origin(self) -> Floats:
        return self.state.frame.geometry.origin

    def rows(self, places: Ints) -> Floats:
        """Return rows less the origin."""
        return self.state.examples.table[places].astype(np.float64) - self.origin

    def image(self, Z: Floats) -> Floats:
        """Return the images of rows less the origin."""
        K = self.state.frame.geometry.K
        return Z * K if K.ndim == 1 else Z @ K

    def images_of(self, places: Ints) -> Floats:
        """Return the images of rows at some places."""
        return self.image(self.rows(places)) if self.images is None else self.images[places]

    def images_of_support(self, places: Ints) -> Floats:
        """Return the images of support vectors."""
        if self.images is not None:
            return self.images[places]
        pictures, which = self.problem.images.of(self.problem.table, places)
        return pictures[which]

    def shares(self, places: Ints) -> Floats:
        """Return the weights of rows, with those that equal them, beside that of all others.

        0 for rows that came after the origin was computed, and for -1, which stands for no row.
        """
        state = self.state
        is_in = (places >= 0) & (state.examples.serials[places] < state.frame.schedule.measured_at)
        weights = np.where(is_in, self.of_group[self.groups[places]], 0.0)
        return np.asarray(weights / np.maximum(self.label_weights.sum() - weights, weights))

    def _firsts(self, c: int) -> Ints:
        # One place of each set of equal rows of a region, in the order of their digests.
        places = self.members[c]
        return places[np.unique(self.groups[places], return_index=True)[1]]

    def _weights_of_equals(self, kinds: Ints) -> Floats:
        # By place, the weight of all equal rows of one kind: a region, or a label.
        stored, examples = self.state.examples.places(), self.state.examples
        keys = self.groups[stored] * (int(kinds.max()) + 1) + kinds[examples.regions[stored]]
        _, number = np.unique(keys, return_inverse=True)
        found = np.zeros(examples.end)
        found[stored] = np.bincount(number, examples.weights[stored])[number]
        return found


class _Leaving(NamedTuple):
    """Examples (n,) of one region that are left out: rows, their images, and what changes."""

    places: Ints
    Z: Floats
    images: Floats
    removed: maths.Removal

    def only(self, which: Bools) -> "_Leaving":
        """Return some of them."""
        removed = maths.Removal(*(each[which] for each in self.removed))
        return _Leaving(self.places[which], self.Z[which], self.images[which], removed)


class _Side(NamedTuple):
    """The separator of a region against another one, q, with its side positive.

    `candidates` are as in the kernel, `places` theirs, with those of F first. It is solved again if
    `is_small`; it is solved for w if `by_w`. The shared points are the means of both regions and of
    the label: rows `points` (3, d), images, and inner products.
    """

    q: int
    places: Ints
    candidates: kernels.Candidates
    is_small: bool
    by_w: bool
    points: Floats
    images: Floats
    inner: Floats

    @property
    def size(self) -> int:
        """The number of rows in F."""
        return len(self.places) if self.by_w else len(self.candidates.inverse)


class _Region:
    """One region and its separators, to leave its examples out."""

    def __init__(self, common: _Common, c: int) -> None:
        self.common, self.c = common, c
        owner, state = common.owner, common.state
        self.label = int(owner[c])
        self.others = np.flatnonzero(owner != self.label)
        self.kept = np.delete(np.arange(len(owner)), c)
        self.separators = state.separators.only(self.kept.tolist())
        self._sides: dict[int, _Side] = {}

    def scores(self, places: Ints) -> Floats:
        """Return the scores of some of its examples for each region, without them."""
        state, firsts = self.common.state, self.common.firsts[self.c]
        if len(firsts) == 1 and len(state.regions.of(state.regions.labels[self.c])) == 1:
            return state.region_scores(state.examples.table[places])
        scores = self._scores_of_others(places)
        if len(firsts) == 1:
            return scores  # the region leaves with it
        leaving = self._leaving(places)
        records, others = state.separators.records, self.others.tolist()
        bare = np.array([pair_number(self.c, q) not in records for q in others])
        values = np.empty((len(places), len(others)))
        values[:, bare] = self._priors(leaving, self.others[bare])
        for n in np.flatnonzero(~bare).tolist():
            values[:, n] = self._values(leaving, others[n])
        scores[:, self.others] = np.minimum(scores[:, self.others], -values)
        scores[:, self.c] = values.min(axis=1)
        return scores

    def _scores_of_others(self, places: Ints) -> Floats:
        # The scores of the other regions as if this one were not there, and its own as -inf.
        state, kept, separators = self.common.state, self.kept, self.separators
        X, origin, owner = state.examples.table[places], self.common.origin, self.common.owner[kept]
        out, scores = (
            np.full((len(X), len(kept)), np.inf),
            np.full((len(X), len(kept) + 1), -np.inf),
        )
        ones, share = np.ones(len(X)), np.zeros(len(X))
        if not self.common.free_bias:
            # Σsα is b: about the origin without the row, its margin is 1 + share times this.
            images, Z = self.common.images_of(places), self.common.rows(places)
            share, square = self.common.shares(places), np.einsum("nd,nd->n", images, Z)
            ones = share * square + 1.0 / (1.0 + share)
        if separators.has_far:
            far = separators.for_kernels(state.frame.images, owner, state.examples.table, X)
            kernels.far_scores(far, X, origin, state.lengths(X), ones, out)
        else:
            W, b, at = separators.W, separators.b, separators.at
            if not self.common.free_bias:
                W, b, origin = np.column_stack([W, b]), np.zeros_like(b), np.append(origin, 0.0)
                X = np.column_stack([X, ones])
            kernels.scores(W, b, at, X.astype(W.dtype), origin, owner, out)
        if not self.common.free_bias:
            out *= 1.0 + share[:, None]
        scores[:, kept] = out
        return scores

    def _leaving(self, places: Ints) -> _Leaving:
        common, frame = self.common, self.common.state.frame
        Z, images, label = common.rows(places), common.images_of(places), self.label
        weights = common.of_label[places]
        U, picture = Z - common.label_means[label], images - common.label_images[label]
        is_in = common.state.examples.serials[places] < frame.schedule.measured_at
        share = np.where(is_in, frame.geometry.share, 0.0)
        total, count = common.label_weights[label], common.scores.counts[self.c]
        leverage = np.einsum("ij,ij->i", U, picture)
        return _Leaving(places, Z, images, maths.removal(weights, total, count, leverage, share))

    def _priors(self, leaving: _Leaving, others: Ints) -> Floats:
        # The values (n, others) of separators that are their priors: of far pairs.
        (n, _), k, common = leaving.Z.shape, len(others), self.common
        scores, label = common.scores, common.label_means[self.label]
        means = scores.means[others]
        gram, image = np.empty((n, k, 5, 5)), common.label_images[self.label]
        r, square = scores.V[self.c], np.einsum("nd,nd->n", leaving.images, leaving.Z)[:, None]
        inner = {
            (0, 0): square,
            (0, 2): (leaving.Z @ r)[:, None],
            (0, 3): leaving.images @ means.T,
            (0, 4): (leaving.Z @ image)[:, None],
            (2, 2): r @ scores.means[self.c],
            (2, 3): means @ r,
            (2, 4): r @ label,
            (3, 3): scores.squares[others],
            (3, 4): means @ image,
            (4, 4): image @ label,
        }
        for (a, b), each in inner.items():
            gram[:, :, a, b] = gram[:, :, b, a] = each
        gram[:, :, 1], gram[:, :, :, 1] = gram[:, :, 0], gram[:, :, :, 0]  # there is no partner
        removed = maths.Removal(*(np.repeat(each, k) for each in leaving.removed))
        each = np.array([scores.strength(self.c, q) for q in others.tolist()]).reshape(k, 2)
        strength, noise = np.tile(each, (n, 1)).T
        flat = gram.reshape(n * k, 5, 5)
        prior = maths.prior_left_out(flat, removed, np.zeros(n * k), strength, noise)
        own = np.einsum("na,na->n", prior.coef, flat[:, :, 0]) + prior.b
        return np.asarray(own.reshape(n, k))

    def _values(self, leaving: _Leaving, q: int) -> Floats:
        # The values of the separator against region q.
        common, pair = self.common, pair_number(self.c, q)
        side = self._sides.get(q) or self._side(q)
        self._sides[q] = side
        partners = self._partners(leaving.places, q) if side.is_small else None
        scale = float(common.scores.scale[pair])
        all_move = scale or not common.free_bias
        moves = leaving.removed.gain > 0.0 if not all_move else np.ones(len(leaving.Z), dtype=bool)
        used = common.groups[side.places[: side.size]]
        moves |= np.isin(common.groups[leaving.places], used)
        if partners is not None:
            moves |= np.isin(common.groups[partners], used) & (partners >= 0)
        out = np.empty(len(moves))
        if not moves.all():
            w, b = common.state.weights(pair)
            out[~moves] = (leaving.Z[~moves] @ w + b) * (1.0 if self.c < q else -1.0)
        if moves.any():
            some = None if partners is None else partners[moves]
            out[moves] = self._left_out(side, leaving.only(moves), some)
        return out

    def _partners(self, places: Ints, q: int) -> Ints | None:
        # The k-th row of region q leaves with the k-th row of this one; -1 stands for none.
        groups, mine, theirs = self.common.groups, *(self.common.firsts[c] for c in (self.c, q))
        is_near = self.common.scores.near[pair_number(self.c, q)]
        if not is_near or len(theirs) < 2 or max(len(mine), len(theirs)) > FEW:
            return None
        rank = np.searchsorted(groups[mine], groups[places])
        return np.where(rank < len(theirs), theirs[np.minimum(rank, len(theirs) - 1)], -1)

    def _side(self, q: int) -> _Side:
        common, both = self.common, [self.c, q]
        pool = common.state.separators.support_of(pair_number(self.c, q))
        used, alpha = pool.places[pool.alpha > 0.0], pool.alpha[pool.alpha > 0.0]
        _, first, number = np.unique(self._keys(used), return_index=True, return_inverse=True)
        places, alpha = used[first], np.asarray(np.bincount(number, alpha), dtype=np.float64)
        more, is_small = self._more(q, places)
        by_w = not (is_small or goes_by_alpha(pool, common.problem))
        places = np.concatenate([places, more])
        regions = common.state.examples.regions[places]
        signs = np.where(regions == self.c, 1.0, -1.0)
        weights = common.of_region[places]
        products = inverse = np.empty((0, 0))
        if not by_w:
            Z, f = common.rows(places), len(alpha)
            products = common.images_of_support(places) @ Z.T
            lam = common.problem.lam / weights[:f]
            inverse = maths.inverse(products[:f, :f] + 1.0, lam)
        candidates = kernels.Candidates(
            products if is_small else np.empty((0, 0)),
            signs,
            weights,
            np.concatenate([alpha, np.zeros(len(more))]),
            common.groups[places],
            inverse,
        )
        points = np.vstack([common.scores.means[both], common.label_means[self.label]])
        images = np.vstack([common.scores.V[both], common.label_images[self.label]])
        return _Side(q, places, candidates, is_small, by_w, points, images, images @ points.T)

    def _keys(self, places: Ints) -> Ints:
        # Equal rows of a region have the same one: together they are one row of their weight.
        is_mine = self.common.state.examples.regions[places] == self.c
        return np.asarray(2 * self.common.groups[places] + is_mine)

    def _more(self, q: int, places: Ints) -> tuple[Ints, bool]:
        # Rows outside of F that may come into it, and whether there are few candidates.
        common = self.common
        both = np.concatenate([common.firsts[c] for c in (min(self.c, q), max(self.c, q))])
        if common.images is None or len(both) > PAIR or len(places) > FEW:
            return NO_PLACES, False
        w, b = common.state.weights(pair_number(self.c, q))
        signs = np.where(common.state.examples.regions[both] == min(self.c, q), 1.0, -1.0)
        near = both[(signs * (common.rows(both) @ w + b) < NEAR) | (len(both) <= FEW)]
        more = near[~np.isin(self._keys(near), self._keys(places))]
        more = more[np.argsort(common.groups[more], kind="stable")]
        is_small = len(more) + len(places) <= FEW
        return (more, True) if is_small else (NO_PLACES, False)

    def _left_out(self, side: _Side, leaving: _Leaving, partners: Ints | None) -> Floats:
        common, candidates = self.common, side.candidates
        prior, with_P = self._prior(side, leaving, partners)
        f, Z = side.size, common.rows(side.places)
        if side.by_w:
            return self._by_w(side, leaving, prior)
        H, with_points = leaving.images @ Z.T, side.images @ Z.T
        at = prior.coef[:, 2:] @ with_points + prior.coef[:, :1] * H + prior.b[:, None]
        if partners is not None:
            at += prior.coef[:, 1:2] * (common.images_of(partners) @ Z.T)
        h, (qz, own) = H - with_points[2], with_P
        groups = np.column_stack([common.groups[leaving.places], np.full(len(H), -1)])
        if partners is not None:
            groups[:, 1] = np.where(partners >= 0, common.groups[partners], -1)
        solved = (candidates.signs[:f] - at[:, :f]) @ candidates.inverse
        turned = h[:, :f] @ candidates.inverse
        if not common.free_bias:
            H = H + self._by_origin(leaving, H, Z, partners)
        gain, out = leaving.removed.gain, np.empty(len(H))
        gone = kernels.Leaving(groups, H, h, qz, gain, at, own, solved, turned)
        kernels.values_left_out(candidates, gone, common.problem.lam, out)
        return np.where(np.isfinite(out), out, 0.0)  # lost in rounding: it says nothing

    def _by_origin(self, leaving: _Leaving, H: Floats, Z: Floats, partners: Ints | None) -> Floats:
        # What the products of examples with the rows Z become more by without them in the mean of
        # all rows. A stiff bias makes up for nothing; α changes by much less and is taken as it is.
        common, share = self.common, self.common.shares(leaving.places)[:, None]
        square = np.einsum("nd,nd->n", leaving.images, leaving.Z)[:, None]
        if partners is None:
            return np.asarray(share * (H + (1.0 + share) * square))
        P, images = common.rows(partners), common.images_of(partners)
        theirs = common.shares(partners)[:, None]
        between = np.einsum("nd,nd->n", images, leaving.Z)[:, None]
        own = np.einsum("nd,nd->n", images, P)[:, None]
        along = share * square + theirs * between
        length = share * (along + theirs * between) + theirs * theirs * own
        return np.asarray(share * H + theirs * (images @ Z.T) + along + length)

    def _prior(
        self, side: _Side, leaving: _Leaving, partners: Ints | None
    ) -> tuple[maths.PriorLeftOut, tuple[Floats, Floats]]:
        # The priors without the examples; and q'z and the prior at the examples themselves.
        common, removed, scores = self.common, leaving.removed, self.common.scores
        points, n = side.points, len(leaving.Z)
        gram, pi = np.empty((n, 5, 5)), np.zeros(n)
        gram[:, 2:, 2:] = side.inner
        gram[:, 0, 0] = np.einsum("nd,nd->n", leaving.images, leaving.Z)
        gram[:, 0, 2:] = gram[:, 2:, 0] = leaving.images @ points.T
        if partners is None:
            gram[:, 1], gram[:, :, 1] = gram[:, 0], gram[:, :, 0]
            gram[:, 1, 1] = gram[:, 0, 0]
        else:
            P, images = common.rows(partners), common.images_of(partners)
            each = maths.moved(common.of_region[partners], scores.counts[side.q])
            pi = np.where(partners >= 0, each, 0.0)
            gram[:, 1, 1] = np.einsum("nd,nd->n", images, P)
            gram[:, 0, 1] = gram[:, 1, 0] = np.einsum("nd,nd->n", leaving.images, P)
            gram[:, 1, 2:] = gram[:, 2:, 1] = images @ points.T
        strength, noise = scores.strength(self.c, side.q)
        prior = maths.prior_left_out(gram, removed, pi, strength, noise)
        own = np.einsum("na,na->n", prior.coef, gram[:, :, 0]) + prior.b
        return prior, (gram[:, 0, 0] - gram[:, 0, 4], own)

    def _by_w(self, side: _Side, leaving: _Leaving, prior: maths.PriorLeftOut) -> Floats:
        common, problem = self.common, self.common.problem
        signs, weights, groups = side.candidates[1], side.candidates[2], side.candidates[4]
        size = int(common.groups.max()) + 1
        mine = common.groups[leaving.places]
        each = np.bincount(groups, weights, size), np.bincount(groups, weights * signs, size)
        own = each[0][mine].astype(np.float64), each[1][mine].astype(np.float64)
        precision, rows = problem.geometry.precision, (common.rows(side.places), signs, weights)
        assert precision is not None
        args = own, precision, problem.lam, prior, side.points, leaving.removed
        return maths.values_by_w(leaving.Z, rows, *args)
