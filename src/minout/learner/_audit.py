"""An independent look at everything the margin learner claims, by the plain-NumPy specification."""

from typing import NamedTuple

import numpy as np

from minout import maths
from minout._typing import Floats, Ints
from minout.learner._check import OFF
from minout.learner._margin import LEFT_ALONE, Margin
from minout.learner.certificate import Id

BLOCK = 4_096


class Audit(NamedTuple):
    """Is what a full scan found.

    Every stored example has a margin in each pair of its class: `margins` were computed, and the
    least of those that are above 0 is `least_margin`. `exceptions` lists the ids with a margin of
    0 or less, and those of equal rows. `slack` is the most that rounding can change any of the
    margins by; `too_close` counts margins that are nearer to 0 than that, so that their side is a
    matter of rounding.
    `complaints` says, a sentence each, what does not agree with what the learner keeps.
    """

    examples: int
    margins: int
    least_margin: float
    exceptions: tuple[Id, ...]
    slack: float
    too_close: int
    complaints: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Says whether everything agrees."""
        return not self.complaints


def audit(learner: Margin) -> Audit:
    """Computes every margin of every stored example again, and compares."""
    complaints = [*_rows(learner), *_membership(learner), *_weights(learner)]
    places = learner.memory.ids()
    wrong = np.zeros(learner.memory.end, dtype=np.int64)
    unsure = np.zeros(learner.memory.end, dtype=np.int64)
    private = _private(learner)
    sizes = np.abs(learner.W), np.abs(learner.b)
    least, slack, count = np.inf, 0.0, 0
    for c in range(len(learner.labels)):
        mine = places[learner.memory.labels(places) == c]
        for start in range(0, len(mine), BLOCK):
            block = mine[start : start + BLOCK]
            margins, error = _margins(learner, block, c, sizes)
            count += margins.size - len(block)
            slack = max(slack, float(error.max(initial=0.0)))
            right = margins > 0.0
            least = min(least, float(margins[right].min(initial=np.inf)))
            wrong[block] = np.count_nonzero(~right, axis=1)
            unsure[block] = np.count_nonzero(np.abs(margins) <= error, axis=1)
            low = (margins + private[block] < LEFT_ALONE - error - OFF).any(axis=1)
            complaints += [
                f"Example {learner.ids[place]!r} has a margin below {LEFT_ALONE}, "
                "and no private parameter that makes up for it."
                for place in block[low].tolist()
            ]
    differs = np.abs(wrong - learner.short[: learner.memory.end]) > unsure
    complaints += [
        f"Example {learner.ids[place]!r} is on the wrong side of {wrong[place]} separators; "
        f"the index says {learner.short[place]}."
        for place in np.flatnonzero(differs).tolist()
    ]
    return Audit(
        len(places),
        count,
        least,
        tuple(learner.ids[p] for p in learner.memory.equal_to(np.flatnonzero(wrong)).tolist()),
        slack,
        int(unsure.sum()),
        tuple(complaints),
    )


def _margins(
    learner: Margin, places: Ints, c: int, sizes_of: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    # The margins of rows of class c, inf against itself, and a bound on what rounding did to them.
    X = learner.memory.table[places].astype(np.float64)
    classes, origin = len(learner.labels), learner.geometry.origin
    labels = np.full(len(places), c)
    margins = maths.margins(learner.W, learner.b, X, origin, labels, classes)
    sizes = maths.margins(*sizes_of, np.abs(X - origin), 0.0, labels, classes)
    # A sum of d + 1 products, in any order and with either of two roundings each, is within this.
    error = (X.shape[1] + 4) * 2.0**-52 * np.abs(np.where(np.isinf(sizes), 0.0, sizes))
    return margins, error


def _private(learner: Margin) -> Floats:
    # The largest λα of each place: what its private parameter adds to a margin.
    out = np.zeros((learner.memory.end, len(learner.labels)))
    for high in range(1, len(learner.labels)):
        for low in range(high):
            pool = learner.pools[high * (high - 1) // 2 + low]
            of_low = pool.signs > 0.0
            out[pool.places[of_low], high] = learner.choice.price * pool.alpha[of_low]
            out[pool.places[~of_low], low] = learner.choice.price * pool.alpha[~of_low]
    return out


def _rows(learner: Margin) -> list[str]:
    return [
        f"The row of example {learner.ids[place]!r} is not the one that was stored."
        for place in learner.memory.damaged().tolist()
    ]


def _membership(learner: Margin) -> list[str]:
    complaints = []
    places = learner.memory.ids()
    for c, members in enumerate(learner.members):
        kept = places[learner.memory.labels(places) == c]
        if not np.array_equal(np.sort(members.places), kept):
            complaints.append(f"The list of class {learner.labels[c]!r} is not what is stored.")
    if sorted(learner.place_of.values()) != places.tolist():
        complaints.append("The ids do not lead to the examples that are stored.")
    return complaints


def _weights(learner: Margin) -> list[str]:
    # w must be w0 + Σ sα K(x - origin): what it rests on and nothing else.
    complaints = []
    exact = learner.memory.dtype == np.float64
    for high in range(1, len(learner.labels)):
        for low in range(high):
            pair = high * (high - 1) // 2 + low
            pool = learner.pools[pair]
            used = pool.alpha > 0.0
            signed = (pool.signs * pool.alpha)[used]
            X = learner.memory.table[pool.places[used]].astype(np.float64)
            images = maths.images(learner.geometry, X)
            off = np.linalg.norm(pool.prior.w + signed @ images - learner.W[pair])
            size = np.abs(signed) @ np.linalg.norm(images, axis=1) + np.linalg.norm(pool.prior.w)
            shift = abs(pool.prior.b + signed.sum() - learner.b[pair])
            rounding = 1e-7 if exact and pool.solved_by_alpha() else 1e-5
            if off > rounding * size or shift > 1e-5 * (np.abs(signed).sum() + abs(pool.prior.b)):
                complaints.append(
                    f"The separator of {learner.labels[low]!r} and {learner.labels[high]!r} "
                    "is not what its examples and prior make it."
                )
    return complaints
