"""What a step concerns, and accuracy, against the number of regions per label."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from minout import drawing
from minout._typing import Floats
from minout.paper.figures.fig10.claims import Sweep, claims, sweeps
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["claims", "draw"]

GREY = "#666666"
CURVES = (
    ("at_risk", drawing.CONDITIONAL, "examples whose outputs could change"),
    ("checked", drawing.INK, "margins checked"),
)


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw the mean over the seeds, with whiskers to the lowest and the highest."""
    found = sweeps(rows)
    figure = drawing.new_figure(4.8 * len(found), 6.4)
    grid = figure.subplots(
        2, len(found), sharex="col", sharey="row", squeeze=False, height_ratios=[1.5, 1]
    )
    for column, sweep in zip(grid.T, found, strict=True):
        _column(column, sweep)
    shares, known = grid[:, 0]
    shares.legend(frameon=False, fontsize=9)
    shares.set(ylim=(0, None), ylabel="per step that moves something,\nof what is stored (%)")
    known.set(ylim=(0, 103), ylabel="test accuracy\nat the end (%)")
    figure.align_ylabels()
    return figure


def _column(column: Sequence["Axes"], sweep: Sweep) -> None:
    shares, known = column
    for axes in column:
        drawing.tidy(axes)
    for name, colour, words in CURVES:
        _curve(shares, sweep, 100 * sweep.values(name), colour, words)
    inverse = 100 * sweep.values("at_risk")[0].mean() / np.array(sweep.regions)
    shares.plot(
        sweep.regions, inverse, color=GREY, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1,
        label="in proportion to 1 / regions",
    )  # fmt: skip
    _curve(known, sweep, 100 * sweep.values("test"), drawing.INK)
    shares.set_title(sweep.name, fontsize=10, loc="left")
    known.set(xlabel="regions per label, at most (of all labels together)", xscale="log")
    units = sweep.values("units").mean(axis=1)
    ticks = [f"{each}\n({count:.0f})" for each, count in zip(sweep.regions, units, strict=True)]
    known.set_xticks(sweep.regions, ticks)
    known.minorticks_off()


def _curve(axes: "Axes", sweep: Sweep, values: Floats, colour: str, words: str = "") -> None:
    """Draw values (numbers of regions, seeds)."""
    mean = values.mean(axis=1)
    axes.errorbar(
        sweep.regions, mean, yerr=np.abs([values.min(axis=1) - mean, values.max(axis=1) - mean]),
        color=colour, linewidth=1.5, elinewidth=1, marker="o", markersize=5, label=words,
    )  # fmt: skip
