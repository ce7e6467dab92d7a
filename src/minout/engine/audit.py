"""Check everything the engine promises, by the plain-NumPy specification."""

from typing import NamedTuple

import numpy as np

from minout import maths
from minout._typing import Floats, Id, Ints
from minout.engine.check import OFF
from minout.engine.separators import all_pairs
from minout.engine.state import State
from minout.engine.step import LEFT_ALONE

BLOCK = 4_096


class Audit(NamedTuple):
    """What a full scan found.

    Attributes
    ----------
    examples : int
        How many examples are stored.
    margins : int
        How many margins were computed: one per example and separator of its class.
    least_margin : float
        The least margin above 0.
    misfits : tuple of id
        The examples with a margin of 0 or less, and those with equal rows.
    slack : float
        The most that rounding can change any of the margins by.
    too_close : int
        How many margins are nearer to 0 than rounding can change them.
    complaints : tuple of str
        A sentence for each thing that does not agree with what the learner keeps.
    """

    examples: int
    margins: int
    least_margin: float
    misfits: tuple[Id, ...]
    slack: float
    too_close: int
    complaints: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return not self.complaints


def audit(state: State) -> Audit:
    """Compute every margin of every stored example again, and compare."""
    complaints = [*_rows(state), *_membership(state), *_weights(state), *_index(state)]
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
            low = (margins + slacks[block] < LEFT_ALONE - error - OFF).any(axis=1)
            complaints += [
                f"Example {state.ids[place]!r} has a margin below {LEFT_ALONE}, "
                "and no slack that makes up for it."
                for place in block[low].tolist()
            ]
    differs = np.abs(wrong - violations[: examples.end]) > unsure
    complaints += [
        f"Example {state.ids[place]!r} is on the wrong side of {wrong[place]} separators; "
        f"the index says {violations[place]}."
        for place in np.flatnonzero(differs).tolist()
    ]
    return Audit(
        len(places),
        count,
        least,
        state.names(examples.equal_to(np.flatnonzero(wrong))),
        rounding,
        int(unsure.sum()),
        tuple(complaints),
    )


def _margins(
    state: State, places: Ints, c: int, sizes_of: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    # The margins of rows of class c, inf against itself, and a bound on what rounding did to them.
    X = state.examples.table[places].astype(np.float64)
    classes, origin = len(state.classes), state.frame.geometry.origin
    labels = np.full(len(places), c)
    margins = maths.margins(state.separators.W, state.separators.b, X, origin, labels, classes)
    sizes = maths.margins(*sizes_of, np.abs(X - origin), 0.0, labels, classes)
    # A sum of d + 1 products, in any order and with either of two roundings each, is within this.
    error = (X.shape[1] + 4) * 2.0**-52 * np.abs(np.where(np.isinf(sizes), 0.0, sizes))
    return margins, error


def _slacks(state: State) -> Floats:
    # The slack λα of each place in the separator against each class.
    out = np.zeros((state.examples.end, len(state.classes)))
    lam = state.frame.choice.lam
    for pair, low, high in all_pairs(len(state.classes)):
        pool = state.separators.pools[pair]
        of_low = pool.signs > 0.0
        out[pool.places[of_low], high] = lam * pool.alpha[of_low]
        out[pool.places[~of_low], low] = lam * pool.alpha[~of_low]
    return out


def _rows(state: State) -> list[str]:
    return [
        f"The row of example {state.ids[place]!r} is not the one that was stored."
        for place in state.examples.damaged().tolist()
    ]


def _membership(state: State) -> list[str]:
    complaints = []
    places = state.examples.places()
    for c, members in enumerate(state.classes.members):
        kept = places[state.examples.classes[places] == c]
        if not np.array_equal(np.sort(members.places), kept):
            label = state.classes.labels[c]
            complaints.append(f"The list of class {label!r} is not what is stored.")
    if sorted(state.place_of.values()) != places.tolist():
        complaints.append("The ids do not lead to the examples that are stored.")
    return complaints


def _index(state: State) -> list[str]:
    # The digests of all misfits must be listed, and no others.
    stored = state.examples.places()
    misfits = stored[state.separators.violations[stored] > 0]
    digests, counts = np.unique(state.examples.digests[misfits], return_counts=True)
    if dict(zip(digests.tolist(), counts.tolist(), strict=True)) != state.separators.listed:
        return ["The list of misfits is not what the separators make it."]
    return []


def _weights(state: State) -> list[str]:
    # w must be w0 + Σ sα K(x - origin): what it rests on and nothing else.
    complaints = []
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
            complaints.append(
                f"The separator of {labels[low]!r} and {labels[high]!r} "
                "is not what its examples and prior make it."
            )
    return complaints
