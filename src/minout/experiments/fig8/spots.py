"""Rows sorted by where on the line they are: one spot for all seeds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Floats
from minout.results import Row

TABLES = ("rows", "groups", "all")


class Spot(NamedTuple):
    """Is the runs of one point of the line, a row per seed."""

    kind: str
    size: int
    rows: list[Row]

    def values(self, name: str) -> Floats:
        """Gives one value of every run: (seeds,)."""
        return np.array([row.values[name] for row in self.rows], dtype=np.float64)

    def mean(self, name: str) -> float:
        """Averages one value over the seeds."""
        return float(self.values(name).mean())


def spots(rows: Sequence[Row], *kinds: str, rehearsing: bool) -> list[Spot]:
    """Lists the points of some kinds in the order of the plan."""
    found: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        values = row.values
        if values["kind"] in kinds and values["rehearsing"] == rehearsing:
            found.setdefault((values["kind"], values["size"]), []).append(row)
    return [Spot(kind, size, seeds) for (kind, size), seeds in found.items()]
