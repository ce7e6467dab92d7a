"""The sets around a step against units and neurons; what leaks, and what closing the set costs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from minout._typing import Floats
from minout.experiments import ink
from minout.experiments.fig7.sweep import Sweep, over_neurons, over_units
from minout.experiments.seeds import in_words
from minout.experiments.task import Claim
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#666666"
COLOURS = {"conditional": ink.CONDITIONAL, "closed": ink.CLOSED}


def draw(rows: Sequence[Row]) -> "Figure":
    """Draws the mean over the seeds, whiskers to the lowest and the highest.

    Sizes are averaged over the units that moved, as in Fig. 3; leaks are counted over all steps.
    """
    figure = ink.new_figure(9.0, 7.4)
    grid = figure.subplots(3, 2, sharex="col", sharey="row", height_ratios=[3, 1, 1])
    settings = rows[0].settings
    for column, sweep in zip(grid.T, (over_units(rows), over_neurons(rows)), strict=True):
        _frame(column, sweep)
        _sets(column[0], sweep, settings["per_class"])
        for policy, colour in COLOURS.items():
            _curve(column[1], sweep, sweep.leaking(policy), colour)
            _curve(column[2], sweep, 100 * sweep.values(policy, "test"), colour)
    return figure


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Sets the appendix's expectations beside the sizes that were measured."""
    return []


def _frame(column: Sequence["Axes"], sweep: Sweep) -> None:
    for axes in column:
        ink.tidy(axes)
    if sweep.knob == "classes":
        held = sweep.rows[0].settings["neurons"]
        column[0].set_title(f"more units, {held} neurons in each", fontsize=10, loc="left")
        column[-1].set(xlabel="units (classes taught)", xticks=sweep.at)
        for axes, words in zip(
            column,
            ("examples in a step of a unit", "steps that leak (%)", "test accuracy (%)"),
            strict=True,
        ):
            axes.set_ylabel(words)
    else:
        held = sweep.rows[0].settings["classes"]
        column[0].set_title(f"more neurons in each of {held} units", fontsize=10, loc="left")
        column[-1].set(xlabel="neurons per unit", xscale="log")
        column[-1].set_xticks(sweep.at, [str(value) for value in sweep.at])
        column[-1].minorticks_off()
    column[0].set_ylim(bottom=0)
    column[1].set_ylim(bottom=-1)


def _sets(axes: "Axes", sweep: Sweep, per_class: int) -> None:
    own = sweep.values("conditional", "own_class").mean(axis=1)
    asked = sweep.values("conditional", "rehearsed")
    stored = sweep.values("conditional", "stored").mean(axis=1)
    axes.fill_between(sweep.at, 0, own, color=ink.S1, linewidth=0)
    axes.fill_between(sweep.at, own, asked.mean(axis=1), color=ink.S2, linewidth=0)
    axes.plot(sweep.at, stored, color=GREY, linewidth=1.2, linestyle=(0, (1, 1.5)))
    axes.axhline(per_class, color=GREY, linewidth=0.9, linestyle=(0, (5, 3)))
    _curve(axes, sweep, sweep.values("closed", "rehearsed"), ink.CLOSED)
    _curve(axes, sweep, sweep.values("conditional", "exact"), ink.CONDITIONAL, hollow=True)
    _curve(axes, sweep, asked, ink.CONDITIONAL)


def _curve(
    axes: "Axes", sweep: Sweep, values: Floats, colour: str, *, hollow: bool = False
) -> None:
    """Draws values (points, seeds); a hollow curve is what should have been, dashed."""
    mean = values.mean(axis=1)
    axes.errorbar(
        sweep.at, mean, yerr=np.abs([values.min(axis=1) - mean, values.max(axis=1) - mean]),
        color=colour, linewidth=1.6, linestyle=(0, (4, 2)) if hollow else "-",
        marker="o", markersize=4.5, markerfacecolor="white" if hollow else colour, elinewidth=1,
    )  # fmt: skip
