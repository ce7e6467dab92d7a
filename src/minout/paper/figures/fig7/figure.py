"""The sets around a step against units and neurons; what leaks, and what closing the set costs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from minout import drawing
from minout._typing import Floats
from minout.paper.figures.fig7.claims import Sweep, claims, over_neurons, over_units
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["claims", "draw"]

GREY = "#666666"
COLOURS = {"closed": drawing.CLOSED, "conditional": drawing.CONDITIONAL}
PANELS = ("examples per step of a unit", "steps that\nleak (%)", "test\naccuracy (%)")


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw the mean over the seeds, with whiskers to the lowest and the highest.

    Sizes are averaged over the units that moved, as in Fig. 3; leaks are counted over all steps.
    """
    figure = drawing.new_figure(9.6, 7.2)
    grid = figure.subplots(3, 2, sharex="col", sharey="row", height_ratios=[3.4, 1, 1])
    for axes, words in zip(grid[:, 0], PANELS, strict=True):
        axes.set_ylabel(words)
    for column, sweep in zip(grid.T, (over_units(rows), over_neurons(rows)), strict=True):
        _frame(column, sweep)
        _sets(column[0], sweep)
        for policy, colour in COLOURS.items():
            _curve(column[1], sweep, sweep.leaking(policy), colour)
            _curve(column[2], sweep, 100 * sweep.values(policy, "test"), colour)
        column[0].set_ylim(bottom=0)
        column[1].set_ylim(bottom=-1)
    _words(grid[:, 1], over_neurons(rows))
    _mark_one_class(grid[0, 0], over_units(rows))
    _note_caps(figure, rows)
    figure.align_ylabels()
    return figure


def _frame(column: Sequence["Axes"], sweep: Sweep) -> None:
    for axes in column:
        drawing.tidy(axes)
    first, last = column[0], column[-1]
    if sweep.knob == "classes":
        neurons = sweep.rows[0].settings["neurons"]
        first.set_title(f"more units, each of {neurons} neurons", fontsize=10, loc="left")
        last.set(xlabel="units (classes taught)", xticks=sweep.at)
    else:
        classes = sweep.rows[0].settings["classes"]
        first.set_title(f"{classes} units, each of more neurons", fontsize=10, loc="left")
        last.set(xlabel="neurons per unit", xscale="log")
        last.set_xticks(sweep.at, [str(value) for value in sweep.at])
        last.minorticks_off()


def _sets(axes: "Axes", sweep: Sweep) -> None:
    """Shade the two parts of what conditional rehearses, below the exact set and `Closed`.

    The unit's own class stands for S1: they are the same where every stored example is fitted.
    """
    own, asked, stored = (
        sweep.values("conditional", name).mean(axis=1)
        for name in ("own_class", "rehearsed", "stored")
    )
    axes.fill_between(sweep.at, 0, own, color=drawing.S1, linewidth=0)
    axes.fill_between(sweep.at, own, asked, color=drawing.S2, linewidth=0)
    axes.plot(sweep.at, stored, color=GREY, linewidth=1.4, linestyle=(0, (1, 1.5)))
    _curve(axes, sweep, sweep.values("closed", "rehearsed"), drawing.CLOSED)
    _curve(axes, sweep, sweep.values("conditional", "exact"), drawing.CONDITIONAL, hollow=True)
    _curve(axes, sweep, sweep.values("conditional", "rehearsed"), drawing.CONDITIONAL)


def _curve(
    axes: "Axes", sweep: Sweep, values: Floats, colour: str, *, hollow: bool = False
) -> None:
    """Draw values (points, seeds); hollow and dashed: can be disturbed, not rehearsed."""
    mean = values.mean(axis=1)
    axes.errorbar(
        sweep.at, mean, yerr=np.abs([values.min(axis=1) - mean, values.max(axis=1) - mean]),
        color=colour, linewidth=1.6, linestyle=(0, (4, 2)) if hollow else "-", elinewidth=1,
        marker="o", markersize=4.5, markerfacecolor="white" if hollow else colour,
    )  # fmt: skip


def _words(column: Sequence["Axes"], sweep: Sweep) -> None:
    """Label every curve and area in the sweep over neurons."""
    own, asked, exact, stored = (
        sweep.values("conditional", name).mean(axis=1)
        for name in ("own_class", "rehearsed", "exact", "stored")
    )
    closed = sweep.values("closed", "rehearsed").mean(axis=1)
    middle, end, sets = len(sweep.at) // 2, len(sweep.at) - 1, column[0]
    x = sweep.at[middle]
    _say(sets, "all that is stored", (sweep.at[end], stored[end]), GREY, (0, -5), ha="right")
    _say(sets, "within reach of the step", (x, exact[middle]), drawing.CONDITIONAL, (5, 4))
    _say(sets, "closed rehearses", (x, closed[middle]), drawing.CLOSED, (-2, -6), ha="right")
    _say(sets, "conditional rehearses", (x, asked[middle]), drawing.CONDITIONAL, (5, 4))
    _say(sets, r"its own class, $\mathcal{S}_1$", (x, own[middle] / 2), drawing.INK, ha="center")
    _say(sets, r"others, $\mathcal{S}_2$", (x, (own + asked)[middle] / 2), drawing.INK, ha="center")
    leaking = sweep.leaking("conditional").mean(axis=1)
    _say(column[1], "conditional", (x, leaking[middle]), drawing.CONDITIONAL, (5, -14))
    tight = sweep.leaking("closed").mean(axis=1)
    words = "closed" if tight.any() else "closed: none"
    _say(column[1], words, (x, tight[middle]), drawing.CLOSED, (5, 4))


def _say(
    axes: "Axes", words: str, at: tuple[float, float], colour: str,
    offset: tuple[float, float] = (0, 0), *, ha: Literal["left", "center", "right"] = "left",
) -> None:  # fmt: skip
    """Write beside a point, `offset` in typographic points: above it, below it or, at 0, on it."""
    va = {1.0: "bottom", -1.0: "top", 0.0: "center"}[float(np.sign(offset[1]))]
    axes.annotate(
        words, at, offset, textcoords="offset points", color=colour, fontsize=9, va=va, ha=ha
    )


def _mark_one_class(axes: "Axes", sweep: Sweep) -> None:
    """Draw the paper's expectation: a unit rehearses as many as its class has."""
    per_class = sweep.rows[0].settings["per_class"]
    axes.axhline(per_class, color=GREY, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
    axes.annotate(
        f"the paper's expectation:\none class, {per_class}", (0.03, per_class), (0.03, 0.62),
        xycoords=axes.get_yaxis_transform(), textcoords="axes fraction", color=GREY, fontsize=9,
        arrowprops={"arrowstyle": "->", "color": GREY, "relpos": (0, 0), "shrinkB": 1},
    )  # fmt: skip


def _note_caps(figure: "Figure", rows: Sequence[Row]) -> None:
    if caps := sum(row.values["caps"] for row in rows):
        steps = rows[0].settings["max_steps"]
        lessons = sum(row.values["lessons"] for row in rows)
        figure.supxlabel(
            f"{caps} of {lessons:,} lessons ended at the cap of {steps:,} steps, not learned",
            fontsize=9, color=drawing.SGD,
        )  # fmt: skip
