"""Check all guarantees of the engine against the plain-NumPy specification."""

from typing import NamedTuple

import numpy as np

from minout import maths
from minout._typing import Floats, Id, Ints
from minout.engine.check import MARGIN_TOLERANCE
from minout.engine.separators import all_pairs
from minout.engine.state import State
from minout.engine.step import SUFFICIENT_MARGIN

BLOCK = 4_096


class Audit(NamedTuple):
    """The result of `audit`.

    Attributes
    ----------
    examples : int
        The number of stored examples.
    margins : int
        The number of margins computed: one per example and separator of its class.
    least_margin : float
        The smallest margin above 0.
    misfits : tuple of id
        The examples with a margin of 0 or less, and all examples with the same row as one of them.
    pending : tuple of id
        The examples that wait for the next settle of a separator: their margin may be below 0.5.
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
    differences = [*_rows(state), *_membership(state), *_weights(state), *_index(state)]
    examples, violations = state.examples, state.separators.violations
    places = examples.places()
    wrong = np.zeros(examples.end, dtype=np.int64)
    unsure = np.zeros(examples.end, dtype=np.int64)
    slacks = _slacks(state)
    sizes = np.abs(state.separators.W), np.abs(state.separators.b)
    least, rounding, count = np.inf, 0.0, 0
    for c in range(len(state.classes)):
        mine = places[examples.classes[places] == c]
        for start in range(0, len(mine), BLOCK):
            block = mine[start : start + BLOCK]
            margins, error = _margins(state, block, c, sizes)
            count += margins.size - len(block)
            rounding = max(rounding, float(error.max(initial=0.0)))
            right = margins > 0.0
            least = min(least, float(margins[right].min(initial=np.inf)))
            wrong[block] = np.count_nonzero(~right, axis=1)
            unsure[block] = np.count_nonzero(np.abs(margins) <= error, axis=1)
            low = (margins + slacks[block] < SUFFICIENT_MARGIN - error - MARGIN_TOLERANCE).any(
                axis=1
            )
            differences += [
                f"Example {state.ids[place]!r} has a margin below {SUFFICIENT_MARGIN}, "
                "and no slack that makes up for it."
                for place in block[low].tolist()
            ]
    differs = np.abs(wrong - violations[: examples.end]) > unsure
    differences += [
        f"Example {state.ids[place]!r} is on the wrong side of {wrong[place]} separators; "
        f"the index says {violations[place]}."
        for place in np.flatnonzero(differs).tolist()
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


def _margins(
    state: State, places: Ints, c: int, sizes_of: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    # The margins of rows of class c (inf against itself), and bounds on their rounding errors.
    X = state.examples.table[places].astype(np.float64)
    classes, origin = len(state.classes), state.frame.geometry.origin
    labels = np.full(len(places), c)
    margins = maths.margins(state.separators.W, state.separators.b, X, origin, labels, classes)
    sizes = maths.margins(*sizes_of, np.abs(X - origin), 0.0, labels, classes)
    # Holds for a sum of d + 1 products in any order, with or without fused multiply-add.
    error = (X.shape[1] + 4) * 2.0**-52 * np.abs(np.where(np.isinf(sizes), 0.0, sizes))
    return margins, error


def _slacks(state: State) -> Floats:
    # The slack λα of each place in the separator against each class; no limit while it is pending.
    out = np.zeros((state.examples.end, len(state.classes)))
    lam = state.frame.choice.lam
    for pair, low, high in all_pairs(len(state.classes)):
        pool = state.separators.pools[pair]
        of_low = pool.signs > 0.0
        out[pool.places[of_low], high] = lam * pool.alpha[of_low]
        out[pool.places[~of_low], low] = lam * pool.alpha[~of_low]
        for place in state.separators.pending[pair].tolist():
            out[place, high if state.examples.classes[place] == low else low] = np.inf
    return out


def _rows(state: State) -> list[str]:
    return [
        f"The row of example {state.ids[place]!r} is not the one that was stored."
        for place in state.examples.damaged().tolist()
    ]


def _membership(state: State) -> list[str]:
    differences = []
    places = state.examples.places()
    for c, members in enumerate(state.classes.members):
        kept = places[state.examples.classes[places] == c]
        if not np.array_equal(np.sort(members.places), kept):
            label = state.classes.labels[c]
            differences.append(f"The list of class {label!r} differs from the stored examples.")
    if sorted(state.place_of.values()) != places.tolist():
        differences.append("The ids do not match the stored examples.")
    return differences


def _index(state: State) -> list[str]:
    # The index must hold the digests of all misfits and no others.
    stored = state.examples.places()
    misfits = stored[state.separators.violations[stored] > 0]
    digests, counts = np.unique(state.examples.digests[misfits], return_counts=True)
    if dict(zip(digests.tolist(), counts.tolist(), strict=True)) != state.separators.listed:
        return ["The list of misfits does not match the separators."]
    return []


def _weights(state: State) -> list[str]:
    # w must be w0 + Σ sα K(x - origin), the sum over its support vectors.
    differences = []
    exact = state.examples.dtype == np.float64
    for pair, low, high in all_pairs(len(state.classes)):
        w, b, pool, *_ = state.separators[pair]
        used = pool.alpha > 0.0
        signed = (pool.signs * pool.alpha)[used]
        X = state.examples.table[pool.places[used]].astype(np.float64)
        images = maths.images(state.frame.geometry, X)
        off = np.linalg.norm(pool.prior.w + signed @ images - w)
        size = np.abs(signed) @ np.linalg.norm(images, axis=1) + np.linalg.norm(pool.prior.w)
        shift = abs(pool.prior.b + signed.sum() - b)
        rounding = 1e-7 if exact and pool.solved_by_alpha() else 1e-5
        if off > rounding * size or shift > 1e-5 * (np.abs(signed).sum() + abs(pool.prior.b)):
            labels = state.classes.labels
            differences.append(
                f"The separator of {labels[low]!r} and {labels[high]!r} "
                "does not follow from its examples and prior."
            )
    return differences
