"""Where both sides of a separator stood at an earlier one, so that few must be looked at."""

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.learner._sketch import Sketch
from minout.rules import Ground

WORTH_DIVIDING = 500
"""Work on fewer rows is not divided between threads: to hand it out takes 0.2 ms."""
LOOKS_PER_SUM = 8
"""So many rows are looked at in the time in which one is computed."""


class Reference:
    """Remembers activations at weights (w, b), and bounds from them what they are at others.

    values[k][i] is the activation of the i-th example of side k, within `slack`. `spent` counts
    whom it could not vouch for since it was started.
    """

    __slots__ = ("_b", "_slack", "_values", "spent", "w")

    def __init__(self) -> None:
        self.w: Floats | None = None
        self.start(None, 0.0)

    def start(self, w: Floats | None, b: float) -> None:
        """Takes other weights to start from."""
        self.w, self._b = w, b
        self._values: list[Floats] = [np.empty(0), np.empty(0)]
        self._slack = 0.0
        self.spent = 0

    def doubtful(
        self,
        w: Floats,
        b: float,
        sides: tuple[Ints, Ints],
        ground: Ground,
        bound: float,
        sketch: Sketch,
    ) -> tuple[Ints, Ints]:
        """Lists the places on each side whose margin at (w, b) may be below the bound."""
        assert self.w is not None
        move, shift = sketch.split(w - self.w), b - self._b
        known = [self._known(side, sides[side], ground, sketch) for side in (0, 1)]
        bound += self._slack

        def picked(task: tuple[int, slice]) -> Ints:
            side, part = task
            mine, sign = sides[side][part], -1.0 if side else 1.0
            return mine[sketch.doubtful(known[side][part], mine, move, shift, sign, bound)]

        worth = LOOKS_PER_SUM * WORTH_DIVIDING
        tasks = [(side, part) for side in (0, 1) for part in parts(len(sides[side]), worth)]
        few = len(sides[0]) + len(sides[1]) < worth
        found = [picked(task) for task in tasks] if few else kernels.in_threads(picked, tasks)
        first, second = (
            np.concatenate([each for (on, _), each in zip(tasks, found, strict=True) if on == side])
            for side in (0, 1)
        )
        self.spent += len(first) + len(second)
        return first, second

    def _known(self, side: int, places: Ints, ground: Ground, sketch: Sketch) -> Floats:
        # The activations at the reference, also of those that came after it.
        assert self.w is not None
        known = self._values[side]
        late = places[len(known) :]
        if len(late):
            more = np.empty(len(late))
            kernels.in_threads(
                lambda part: self._evaluate(ground, late[part], more[part]), parts(len(late))
            )
            if ground.table.dtype == np.float32:
                length = float(np.linalg.norm(self.w)) * sketch.longest(late)
                self._slack = max(self._slack, kernels.SLACK * length)
            self._values[side] = known = np.concatenate([known, more])
        return known

    def _evaluate(self, ground: Ground, places: Ints, out: Floats) -> None:
        assert self.w is not None
        table, origin = ground.table, ground.geometry.origin
        if table.dtype == np.float32:
            b = self._b - float(self.w @ origin)
            kernels.roughly(self.w.astype(np.float32), b, table.view(np.float32), places, out)
        else:
            kernels.activations(self.w, self._b, table, places, origin, out)


def parts(n: int, worth: int | None = None) -> list[slice]:
    """Gives halves of a range, where it pays to divide the work."""
    if n < (WORTH_DIVIDING if worth is None else worth):
        return [slice(0, n)]
    return [slice(0, n // 2), slice(n // 2, n)]
