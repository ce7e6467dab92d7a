"""Rows sorted by the knob that was turned: units, or neurons per unit."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Floats
from minout.results import Row


class Sweep(NamedTuple):
    """Is the runs in which one knob was turned and the other held: `at` lists its values."""

    knob: str
    at: list[int]
    rows: list[Row]

    def values(self, policy: str, name: str) -> Floats:
        """Gives one value of every run of a policy: (values of the knob, seeds)."""
        return np.array(
            [
                [
                    row.values[name]
                    for row in self.rows
                    if row.settings["policy"] == policy and row.settings[self.knob] == value
                ]
                for value in self.at
            ],
            dtype=np.float64,
        )

    def leaking(self, policy: str) -> Floats:
        """Gives the share of steps, in per cent, in which someone not rehearsed crossed over."""
        return 100 * self.values(policy, "leaks") / self.values(policy, "steps")


def over_units(rows: Sequence[Row]) -> Sweep:
    """Picks the runs with more and more classes, each with a unit, all with the same neurons."""
    fewest = min(rows, key=lambda row: row.settings["classes"])
    return _sweep(rows, "classes", "neurons", fewest.settings["neurons"])


def over_neurons(rows: Sequence[Row]) -> Sweep:
    """Picks the runs with more and more neurons per unit, all with the most classes."""
    most = max(rows, key=lambda row: row.settings["classes"])
    return _sweep(rows, "neurons", "classes", most.settings["classes"])


def _sweep(rows: Sequence[Row], knob: str, held: str, value: int) -> Sweep:
    kept = [row for row in rows if row.settings[held] == value]
    return Sweep(knob, sorted({row.settings[knob] for row in kept}), kept)
