"""Activations at earlier weights, from which most margins at later ones can be bounded."""

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints, Words
from minout.engine.sketch import Anchor, Sketch, rounding

WORTH_DIVIDING = 500
"""Work on fewer rows is not divided between threads: the overhead is larger."""
BOUNDS_PER_SUM = 8
"""The number of margins that can be bounded in the time in which one is computed."""
ANCHORS = 8
"""The number of earlier weights that are kept."""
NO_VALUES: Floats = np.empty(0)
NO_NUMBERS: Ints = np.empty(0, dtype=np.int64)
NO_DIGESTS: Words = np.empty(0, dtype=np.uint64)


class Reference:
    """The last activation that was computed for each example, and the weights it was computed at.

    The activation of the i-th example of side k, whose digest is _digests[k][i], was _values[k][i]
    at the weights _anchors[_since[k][i]]; if _since is -1, it is not known. It is a cache: results
    are the same without it. Arrays are replaced, not changed, because copies share them.
    """

    __slots__ = ("_anchors", "_digests", "_since", "_values")

    def __init__(self) -> None:
        self._anchors: list[Anchor] = []
        self._values: list[Floats] = [NO_VALUES, NO_VALUES]
        self._since: list[Ints] = [NO_NUMBERS, NO_NUMBERS]
        self._digests: list[Words] = [NO_DIGESTS, NO_DIGESTS]

    def fork(self) -> "Reference":
        """Return a copy that may be changed without changing this reference."""
        twin = Reference()
        twin._anchors = list(self._anchors)
        twin._values, twin._since = list(self._values), list(self._since)
        twin._digests = list(self._digests)
        return twin

    def doubtful(
        self, w: Floats, b: float, sides: tuple[Ints, Ints], bound: float, sketch: Sketch
    ) -> tuple[Ints, Ints]:
        """Return which examples of each side may have a margin below the bound at (w, b)."""
        for side in (0, 1):
            self._follow(side, sketch.digests_of(sides[side]))
        if len(self._anchors) == ANCHORS:
            self._drop_least_used()
        if not self._anchors:
            return np.arange(len(sides[0])), np.arange(len(sides[1]))
        changes = sketch.changes(w, b, self._anchors)
        sizes = abs(b) + max(abs(anchor.b) for anchor in self._anchors)
        bound += rounding(len(w)) * sizes

        def picked(task: tuple[int, slice]) -> Ints:
            side, part = task
            known, since = self._values[side][part], self._since[side][part]
            sign, mine = -1.0 if side else 1.0, sides[side][part]
            return sketch.doubtful(known, since, mine, changes, sign, bound) + int(part.start)

        worth = BOUNDS_PER_SUM * WORTH_DIVIDING
        tasks = [(side, part) for side in (0, 1) for part in parts(len(sides[side]), worth)]
        few = len(sides[0]) + len(sides[1]) < worth
        found = [picked(task) for task in tasks] if few else kernels.in_threads(picked, tasks)
        first, second = (
            np.concatenate([each for (on, _), each in zip(tasks, found, strict=True) if on == side])
            for side in (0, 1)
        )
        return first, second

    def note(self, w: Floats, b: float, side: int, which: Ints, activations: Floats) -> None:
        """Remember activations at (w, b) of some examples of a side."""
        if not len(which):
            return
        if not self._anchors or self._anchors[-1].w is not w:
            self._anchors.append(Anchor(w, b))
        values, since = self._values[side].copy(), self._since[side].copy()
        values[which], since[which] = activations, len(self._anchors) - 1
        self._values[side], self._since[side] = values, since

    def _follow(self, side: int, digests: Words) -> None:
        # Bring a side up to the examples that it has now.
        values, since, before = self._values[side], self._since[side], self._digests[side]
        known = len(before)
        if np.array_equal(before, digests[:known]):
            more = len(digests) - known
            if not more:
                return
            values = np.concatenate([values, np.zeros(more)])
            since = np.concatenate([since, np.full(more, -1)])
        else:  # some have left
            order = np.argsort(before)
            found = order[np.minimum(np.searchsorted(before[order], digests), known - 1)]
            is_known = before[found] == digests
            values = np.where(is_known, values[found], 0.0)
            since = np.where(is_known, since[found], -1)
        self._values[side], self._since[side], self._digests[side] = values, since, digests

    def _drop_least_used(self) -> None:
        known = np.concatenate(self._since)
        least = int(np.argmin(np.bincount(known[known >= 0], minlength=len(self._anchors))))
        del self._anchors[least]
        number = np.arange(-1, len(self._anchors) + 1)  # of each anchor from now on; -1 stays
        number[least + 1], number[least + 2 :] = -1, number[least + 2 :] - 1
        self._since = [number[since + 1] for since in self._since]


def parts(n: int, worth: int | None = None) -> list[slice]:
    """Return a range, or its two halves if it is worth dividing the work."""
    if n < (WORTH_DIVIDING if worth is None else worth):
        return [slice(0, n)]
    return [slice(0, n // 2), slice(n // 2, n)]
