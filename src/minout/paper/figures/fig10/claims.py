"""What the paper leaves open about the number of units, beside what was measured."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Floats
from minout.paper.figures.seeds import in_words
from minout.paper.figures.task import Claim
from minout.results import Row


class Sweep(NamedTuple):
    """The runs on one data set: `regions` lists the numbers per label, ascending."""

    data: str
    regions: list[int]
    rows: list[Row]

    @property
    def name(self) -> str:
        """The data set in words."""
        knobs = self.rows[0].settings
        if self.data == "digits":
            return "digits, 64 columns, 10 labels"
        count, columns, labels = (knobs[each] for each in ("count", "columns", "labels"))
        return f"{count} clouds in {columns} columns, {labels} labels"

    def values(self, name: str) -> Floats:
        """Return one value of every run: (numbers of regions, seeds)."""
        return np.array(
            [
                [row.values[name] for row in self.rows if row.settings["regions"] == regions]
                for regions in self.regions
            ],
            dtype=np.float64,
        )


def sweeps(rows: Sequence[Row]) -> list[Sweep]:
    """Return the runs on each data set, in the order of the plan."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.settings["data"], []).append(row)
    return [
        Sweep(data, sorted({row.settings["regions"] for row in runs}), runs)
        for data, runs in found.items()
    ]


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Check for each data set whether a step concerns fewer examples if there are more units."""
    return [
        claim
        for sweep in sweeps(rows)
        for claim in (
            _falls(sweep, "at_risk", "a step can change the outputs of fewer examples"),
            _falls(sweep, "checked", "a step checks fewer margins"),
        )
    ]


def _falls(sweep: Sweep, name: str, what: str) -> Claim:
    shares = 100 * sweep.values(name)
    mean = shares.mean(axis=1)
    each = "; ".join(
        f"{regions}: {in_words(of_seeds)} %"
        for regions, of_seeds in zip(sweep.regions, shares, strict=True)
    )
    return Claim(
        paper="open: how the number of rehearsed examples depends on the number of units (we ask: "
        f"with more regions per label, {what}; {sweep.name})",
        measured=f"of what is stored, by regions per label: {each}",
        holds=bool((np.diff(mean) < 0).all()),
    )
