"""What a unit did, step by step, until the report is written."""

import numpy as np

from minout import kernels
from minout._typing import Ints
from minout.kernels import Pull, Sets, Tally
from minout.learner.report import Pulls, UnitReport


class Log:
    """Adds up the steps of one unit on one example."""

    def __init__(self, neurons: int, rows: int) -> None:
        self.steps = 0
        self._rehearsed = self._exact = self._missed = self._leaks = 0
        flags = np.zeros((3, rows), dtype=bool)
        self._sums = Tally(np.zeros((neurons, rows)), flags[0], flags[1], flags[2])

    def note(self, pull: Pull, sets: Sets) -> None:
        """Adds one step: how the rows pulled, and the sets around it."""
        missed, leaked = kernels.tally(self._sums, pull, sets)
        self.steps += 1
        self._rehearsed += len(pull.rows) - 1
        self._exact += len(sets.exact)
        self._missed += missed
        self._leaks += leaked

    def report(
        self, unit: int, losses: tuple[float, float], hit_the_cap: bool, wrong: Ints
    ) -> UnitReport:
        """Sums it all up."""
        neurons, ids = np.nonzero(self._sums.pulls)
        return UnitReport(
            unit=unit,
            steps=self.steps,
            hit_the_cap=hit_the_cap,
            loss_before=losses[0],
            loss=losses[1],
            moved=np.unique(neurons),
            interfered=np.flatnonzero(self._sums.interfered),
            exact=np.flatnonzero(self._sums.exact),
            rehearsed=np.flatnonzero(self._sums.rehearsed),
            mean_rehearsed=self._rehearsed / self.steps,
            mean_exact=self._exact / self.steps,
            mean_missed=self._missed / self.steps,
            leaks=self._leaks,
            wrong=wrong,
            pulls=Pulls(neurons, ids, self._sums.pulls[neurons, ids]),
        )
