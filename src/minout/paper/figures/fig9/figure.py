"""Accuracy and examples rehearsed against the number of modes, for two settings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from minout import drawing
from minout._typing import Floats
from minout.paper.figures.comparison_figure import LOOKS, name_the_policies
from minout.paper.figures.fig9.claims import Sweep, claims, sweeps
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["claims", "draw"]

GREY = "#666666"
POLICIES = ("conditional", "uniform", "none")


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw the mean over the seeds, with whiskers to the lowest and the highest."""
    found = sweeps(rows)
    figure = drawing.new_figure(4.8 * len(found), 8.4)
    grid = figure.subplots(
        3, len(found), sharex=True, sharey="row", squeeze=False, height_ratios=[1.4, 1.4, 1]
    )
    for column, sweep in zip(grid.T, found, strict=True):
        _column(column, sweep)
    train, test, cost = grid[:, 0]
    train.set(ylim=(0, 103), ylabel="training accuracy\nat the end (%)")
    test.set(ylim=(0, 103), ylabel="test accuracy\nat the end (%)")
    cost.set(ylim=(0, None), ylabel="examples rehearsed\nper step of a unit")
    names = (
        f"conditional, at most {found[0].budget}",
        f"{found[0].budget} at random",
        "no rehearsal",
    )
    colours = [LOOKS[policy][0] for policy in POLICIES]
    name_the_policies(figure, list(zip(colours, names, strict=True)))
    if caps := sum(row.values["caps"] for row in rows):
        words = f"{caps} lessons ended at the cap of steps, not learned"
        figure.supxlabel(words, fontsize=9, color=drawing.SGD)
    figure.align_ylabels()
    return figure


def _column(column: Sequence["Axes"], sweep: Sweep) -> None:
    for axes in column:
        drawing.tidy(axes)
        axes.axvline(sweep.budget, color=GREY, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
    train, test, cost = column
    for policy in POLICIES:
        _curve(train, sweep, 100 * sweep.values(policy, "train"), policy)
        _curve(test, sweep, 100 * sweep.values(policy, "test"), policy)
        _curve(cost, sweep, sweep.values(policy, "rehearsed"), policy)
    train.set_title(sweep.name, fontsize=10, loc="left")
    cost.annotate(
        f"more modes than\nthe {sweep.budget} rehearsed", (sweep.budget, 0), (5, 8),
        textcoords="offset points", color=GREY, fontsize=9, va="bottom",
    )  # fmt: skip
    cost.set(xlabel="modes, of all labels together", xscale="log")
    cost.set_xticks(sweep.modes, [f"{value:,}" for value in sweep.modes])
    cost.minorticks_off()


def _curve(axes: "Axes", sweep: Sweep, values: Floats, policy: str) -> None:
    """Draw values (numbers of modes, seeds); the wide line stays visible under a thin one."""
    colour, _ = LOOKS[policy]
    mean = values.mean(axis=1)
    axes.errorbar(
        sweep.modes, mean, yerr=np.abs([values.min(axis=1) - mean, values.max(axis=1) - mean]),
        color=colour, linewidth=3.0 if policy == "conditional" else 1.5, elinewidth=1,
        marker="o", markersize=6.5 if policy == "conditional" else 4,
    )  # fmt: skip
