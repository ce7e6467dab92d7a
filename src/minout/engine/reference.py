"""Activations at an earlier separator, from which most margins at a later one can be bounded."""

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.engine.pool import Problem
from minout.engine.sketch import Sketch

WORTH_DIVIDING = 500
"""Work on fewer rows is not divided between threads: the overhead is larger."""
BOUNDS_PER_SUM = 8
"""The number of margins that can be bounded in the time in which one is computed."""
NO_VALUES: Floats = np.empty(0)


class Reference:
    """Activations at weights (w, b), and bounds from them on activations at other weights.

    _values[k][i] is the activation of the i-th example of side k, within `_tolerance`. `spent`
    counts the examples that could not be bounded since the last `start`. It is a cache: results are
    the same without it.
    """

    __slots__ = ("_b", "_tolerance", "_values", "spent", "w")

    def __init__(self) -> None:
        self.w: Floats | None = None
        self.start(None, 0.0)

    def start(self, w: Floats | None, b: float) -> None:
        """Start again from other weights."""
        self.w, self._b = w, b
        self._values: list[Floats] = [NO_VALUES, NO_VALUES]
        self._tolerance = 0.0
        self.spent = 0

    def fork(self) -> "Reference":
        """Return a copy that may be changed without changing this reference."""
        twin = Reference()
        if self.w is not None:
            twin.w, twin._b, twin._values = self.w, self._b, list(self._values)
            twin._tolerance, twin.spent = self._tolerance, self.spent
        return twin

    def doubtful(
        self,
        w: Floats,
        b: float,
        sides: tuple[Ints, Ints],
        problem: Problem,
        bound: float,
        sketch: Sketch,
    ) -> tuple[Ints, Ints]:
        """Return the places on each side whose margin at (w, b) may be below the bound."""
        assert self.w is not None
        move, shift = sketch.split(w - self.w), b - self._b
        known = [self._known(side, sides[side], problem, sketch) for side in (0, 1)]
        bound += self._tolerance

        def picked(task: tuple[int, slice]) -> Ints:
            side, part = task
            mine, sign = sides[side][part], -1.0 if side else 1.0
            return mine[sketch.doubtful(known[side][part], mine, move, shift, sign, bound)]

        worth = BOUNDS_PER_SUM * WORTH_DIVIDING
        tasks = [(side, part) for side in (0, 1) for part in parts(len(sides[side]), worth)]
        few = len(sides[0]) + len(sides[1]) < worth
        found = [picked(task) for task in tasks] if few else kernels.in_threads(picked, tasks)
        first, second = (
            np.concatenate([each for (on, _), each in zip(tasks, found, strict=True) if on == side])
            for side in (0, 1)
        )
        self.spent += len(first) + len(second)
        return first, second

    def _known(self, side: int, places: Ints, problem: Problem, sketch: Sketch) -> Floats:
        # The activations at the reference, including examples added after it was started.
        assert self.w is not None
        known = self._values[side]
        late = places[len(known) :]
        if len(late):
            more = np.empty(len(late))
            kernels.in_threads(
                lambda part: self._evaluate(problem, late[part], more[part]), parts(len(late))
            )
            if problem.table.dtype == np.float32:
                length = float(np.linalg.norm(self.w)) * sketch.longest(late)
                self._tolerance = max(self._tolerance, kernels.TOLERANCE * length)
            self._values[side] = known = np.concatenate([known, more])
        return known

    def _evaluate(self, problem: Problem, places: Ints, out: Floats) -> None:
        assert self.w is not None
        table, origin = problem.table, problem.geometry.origin
        if table.dtype == np.float32:
            b = self._b - float(self.w @ origin)
            kernels.roughly(self.w.astype(np.float32), b, table.view(np.float32), places, out)
        else:
            kernels.activations(self.w, self._b, table, places, origin, out)


def parts(n: int, worth: int | None = None) -> list[slice]:
    """Return a range, or its two halves if it is worth dividing the work."""
    if n < (WORTH_DIVIDING if worth is None else worth):
        return [slice(0, n)]
    return [slice(0, n // 2), slice(n // 2, n)]
