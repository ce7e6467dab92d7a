"""Check all guarantees of the engine against the plain-NumPy specification."""

from typing import NamedTuple

import numpy as np

from minout import maths
from minout._typing import Floats, Id, Ints
from minout.core.pool import goes_by_alpha
from minout.core.regions import NO_PLACES, pair_numbers, regions_of
from minout.core.separators import SUFFICIENT_MARGIN
from minout.core.settle import MARGIN_TOLERANCE
from minout.core.state import State

BLOCK = 4_096


class Audit(NamedTuple):
    """The result of `audit`.

    Attributes
    ----------
    examples : int
        The number of stored examples.
    margins : int
        The number of margins computed: one per example and separator of its region.
    least_margin : float
        The smallest margin above 0.
    misfits : tuple of id
        The examples with a margin of 0 or less, and all examples with the same row as one of them.
    pending : tuple of id
        The examples that wait until a separator is solved again: their margin may be below 0.5.
    rounding_error : float
        An upper bound on the rounding error of all margins.
    too_close : int
        The number of margins that are closer to 0 than their own rounding error.
    differences : tuple of str
        One sentence for each difference between what was computed and what the learner stores.
    """

    examples: int
    margins: int
    least_margin: float
    misfits: tuple[Id, ...]
    pending: tuple[Id, ...]
    rounding_error: float
    too_close: int
    differences: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no differences."""
        return not self.differences


def audit(state: State) -> Audit:
    """Compute all margins of all stored examples again, and compare."""
    differences = [
        *_rows(state),
        *_membership(state),
        *_weights(state),
        *_bounds(state),
        *_index(state),
    ]
    examples, violations = state.examples, state.examples.violations
    places = examples.places()
    wrong = np.zeros(examples.end, dtype=np.int64)
    unsure = np.zeros(examples.end, dtype=np.int64)
    slacks = _Slacks(state)
    least, rounding, count = np.inf, 0.0, 0
    for c in range(len(state.regions)):
        mine, weights = places[examples.regions[places] == c], _region_weights(state, c)
        for start in range(0, len(mine), BLOCK):
            block = mine[start : start + BLOCK]
            margins, error = _margins(state, block, weights)
            count += int(np.isfinite(weights.b).sum()) * len(block)
            rounding = max(rounding, float(error.max(initial=0.0)))
            right = margins > 0.0
            least = min(least, float(margins[right].min(initial=np.inf)))
            wrong[block] = np.count_nonzero(~right, axis=1)
            unsure[block] = np.count_nonzero(np.abs(margins) <= error, axis=1)
            enough = SUFFICIENT_MARGIN - error - MARGIN_TOLERANCE
            low = (margins + slacks.of(block, len(state.regions)) < enough).any(axis=1)
            differences += [
                f"Example {state.examples.ids[place]!r} has a margin below {SUFFICIENT_MARGIN}, "
                "and no slack that makes up for it."
                for place in block[low].tolist()
            ]
    differs = np.abs(wrong - violations[: examples.end]) > unsure
    differences += [
        f"Example {state.examples.ids[place]!r} is on the wrong side of {wrong[place]} separators; "
        f"the index says {violations[place]}."
        for place in places[differs[places]].tolist()
    ]
    return Audit(
        len(places),
        count,
        least,
        state.names(examples.equal_to(np.flatnonzero(wrong))),
        state.names(state.pending()),
        rounding,
        int(unsure.sum()),
        tuple(differences),
    )


class _RegionWeights(NamedTuple):
    """w and b of all separators of a region, positive on its side; b is inf within its label.

    `sizes` and `biases` are their absolute values; for a far pair, the sum of the absolute values
    of all terms that its value is made of.
    """

    W: Floats
    b: Floats
    sizes: Floats
    biases: Floats


def _region_weights(state: State, c: int) -> _RegionWeights:
    scores, owner, regions = state.separators.scores, state.regions.order.owner, len(state.regions)
    others, geometry = np.flatnonzero(owner != owner[c]), state.frame.geometry
    W, b = np.zeros((regions, state.examples.width)), np.full(regions, np.inf)
    sizes, biases = np.zeros(W.shape), np.zeros(regions)
    pairs = pair_numbers(c, others)
    far = others[~scores.near[pairs]]
    if len(far):  # the difference of two class scores
        V, half, scale = scores.V, scores.halves, scores.scale[pair_numbers(c, far)]
        W[far], b[far] = (V[c] - V[far]) * scale[:, None], (half[far] - half[c]) * scale
        sizes[far] = scale[:, None] * (np.abs(V[c]) + np.abs(V[far]))
        biases[far] = scale * (np.abs(half[c]) + np.abs(half[far]))
    for o, pair in zip(others.tolist(), pairs.tolist(), strict=True):
        record = state.separators.records.get(pair)
        if record is None:
            continue
        w, bias = state.weights(pair)
        W[o], b[o] = (w, bias) if c < o else (-w, -bias)
        if record.is_far:
            X = state.examples.table[record.pool.places].astype(np.float64)
            sizes[o] += record.pool.alpha @ np.abs(maths.images(geometry, X))
            biases[o] += 2.0 * record.pool.alpha.sum()
    return _RegionWeights(W, b, np.abs(W) + sizes, np.abs(b) + biases)


def _margins(state: State, places: Ints, weights: _RegionWeights) -> tuple[Floats, Floats]:
    # The margins of rows of one region (inf within its label), and bounds on their rounding errors.
    Z = state.examples.table[places].astype(np.float64) - state.frame.geometry.origin
    margins = Z @ weights.W.T + weights.b
    biases = np.where(np.isinf(weights.b), 0.0, weights.biases)
    sizes = np.abs(Z) @ weights.sizes.T + biases
    # Holds for a sum of d + 1 products in any order, with or without fused multiply-add.
    error = (Z.shape[1] + 4) * 2.0**-52 * sizes
    return margins, error


class _Slacks:
    """The slack of each place in the separators of its region; no limit while it is pending."""

    def __init__(self, state: State) -> None:
        places, others, slacks, weights = [], [], [], state.examples.weights
        for pair in state.separators.stored():
            (low, high), separator = regions_of(pair), state.separators[pair]
            pool = separator.pool
            both = np.concatenate([pool.places, separator.pending])
            places.append(both)
            others.append(np.where(state.examples.regions[both] == low, high, low))
            slacks.append(state.frame.choice.lam * pool.alpha / weights[pool.places])
            slacks.append(np.full(len(separator.pending), np.inf))
        self._places = np.concatenate([NO_PLACES, *places])
        self._others = np.concatenate([NO_PLACES, *others])
        self._slacks = np.concatenate([np.empty(0), *slacks])
        order = np.argsort(self._places, kind="stable")
        self._places, self._others = self._places[order], self._others[order]
        self._slacks = self._slacks[order]

    def of(self, places: Ints, regions: int) -> Floats:
        """Return the slacks of some places, ascending: (n, regions)."""
        out = np.zeros((len(places), regions))
        first = np.searchsorted(self._places, places)
        last = np.searchsorted(self._places, places, side="right")
        for i, (start, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            np.maximum.at(out[i], self._others[start:end], self._slacks[start:end])
        return out


def _rows(state: State) -> list[str]:
    return [
        f"The row of example {state.examples.ids[place]!r} is not the one that was stored."
        for place in state.examples.damaged().tolist()
    ]


def _membership(state: State) -> list[str]:
    differences = []
    places = state.examples.places()
    for c, members in enumerate(state.regions.members):
        kept = places[state.examples.regions[places] == c]
        if not np.array_equal(np.sort(members.places), kept):
            label = state.regions.labels[c]
            differences.append(f"The list of label {label!r} differs from the stored examples.")
    names = state.names(places)
    if [state.place_of(each) for each in names] != places.tolist():
        differences.append("The ids do not match the stored examples.")
    return differences


def _index(state: State) -> list[str]:
    # The index must hold the digests of all misfits and no others.
    stored = state.examples.places()
    misfits = stored[state.examples.violations[stored] > 0]
    digests, counts = np.unique(state.examples.digests[misfits], return_counts=True)
    if dict(zip(digests.tolist(), counts.tolist(), strict=True)) != state.listed:
        return ["The list of misfits does not match the separators."]
    return []


def _weights(state: State) -> list[str]:
    # w must be w0 + Σ sα K(x - origin), the sum over its support vectors.
    differences = []
    exact, problem = state.examples.dtype == np.float64, state.problem()
    for pair in state.separators.stored():
        separator, (low, high) = state.separators[pair], regions_of(pair)
        if separator.is_far or separator.left:  # support vectors have left: it is to be solved
            continue
        pool, (w, b) = separator.pool, state.weights(pair)
        prior = state.separators.scores.prior(pair)
        used = pool.alpha > 0.0
        signed = (pool.signs * pool.alpha)[used]
        X = state.examples.table[pool.places[used]].astype(np.float64)
        images = maths.images(state.frame.geometry, X)
        with np.errstate(over="ignore"):  # then the sizes are infinite, and nothing can be said
            off = np.linalg.norm(prior.w + signed @ images - w)
            size = np.abs(signed) @ np.linalg.norm(images, axis=1) + np.linalg.norm(prior.w)
        shift = abs(prior.b + signed.sum() - b)
        rounding = 1e-7 if exact and goes_by_alpha(pool, problem) else 1e-5
        if off > rounding * size or shift > 1e-5 * (np.abs(signed).sum() + abs(prior.b)):
            labels = state.regions.labels
            differences.append(
                f"The separator of {labels[low]!r} and {labels[high]!r} "
                "does not follow from its examples and prior."
            )
    return differences


def _bounds(state: State) -> list[str]:
    # What is stored to bound the corrections of far pairs must follow from their support.
    geometry, differences = state.frame.geometry, []
    for pair, record in state.separators.records.items():
        if state.separators.scores.near[pair]:
            continue
        (floor, ceiling, norm), coef = record.bounds, record.pool.signs * record.pool.alpha
        X = state.examples.table[record.pool.places].astype(np.float64)
        square = float(coef @ ((X - geometry.origin) @ maths.images(geometry, X).T) @ coef)
        if not (floor <= float(coef.sum()) <= ceiling and square <= norm**2):
            a, b = (state.regions.labels[c] for c in regions_of(pair))
            differences.append(f"The bounds on the corrections between {a!r} and {b!r} are wrong.")
    return differences
