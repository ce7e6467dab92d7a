"""Accuracy, forgetting and rehearsal along the line from nothing shared to everything shared."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from minout import drawing
from minout._typing import Floats
from minout.paper.figures.fig8.claims import TABLES, PointRuns, claims, point_runs
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["claims", "draw"]

GREY = "#666666"
FAMILIES = (TABLES, ("minout",), ("network",))
LOOKS = {"minout": (drawing.CONDITIONAL, "s"), "network": (drawing.SGD, "D")}
TABLE_LOOK = (drawing.INK, "o")
ASIDE = {"minout": 1.07, "network": 1.14}
"""Where to draw what shares everything: side by side, to be told apart."""
TICKS = (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1)


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw the mean over the seeds, with whiskers to the lowest and the highest."""
    figure = drawing.new_figure(8.2, 9.2)
    panels = figure.subplots(3, 1, sharex=True, height_ratios=[1.2, 1, 1.1])
    for axes in panels:
        _frame(axes)
    known, forgotten, cost = panels
    for kinds in FAMILIES:
        filled, hollow = (point_runs(rows, *kinds, rehearsing=each) for each in (True, False))
        for axes, name in ((known, "test"), (forgotten, "forgetting")):
            _curve(axes, filled, 100 * _values(filled, name))
            _curve(axes, hollow, 100 * _values(hollow, name), hollow=True)
        _curve(cost, filled, _values(filled, "rehearsed"))
    known.set(ylim=(0, 100), ylabel="test accuracy\nat the end (%)")
    forgotten.set(ylim=(-4, 104), ylabel="forgetting, best less\nlast accuracy (points)")
    cost.set_ylabel("different examples rehearsed\nper example taught")
    cost.set_xlabel("share of the stored examples that a change of one θ or unit can disturb")
    _name_the_points(known, rows)
    _name_the_curves(known, forgotten, rows)
    _name_the_steps(cost, rows)
    cost.text(1.08, 6, "everything shared", color=GREY, fontsize=9, rotation=90, ha="center")
    if caps := sum(row.values["caps"] for row in rows):
        words = f"{caps} lessons ended at the cap of steps, not learned"
        figure.supxlabel(words, fontsize=9, color=drawing.SGD)
    figure.align_ylabels()
    return figure


def _frame(axes: "Axes") -> None:
    """Use a square-root scale at the start of the line; shade its end, where all is shared."""
    drawing.tidy(axes)
    axes.set_xscale("function", functions=(_root, np.square))
    axes.set_xticks(TICKS, [f"{100 * tick:.0f} %" for tick in TICKS])
    axes.set_xlim(-0.0008, 1.19)
    axes.axvspan(0.97, 1.19, color=drawing.NONE, alpha=0.15, linewidth=0, zorder=0)


def _root(x: Floats) -> Floats:
    return np.asarray(np.sign(x) * np.sqrt(np.abs(x)))


def _values(line: Sequence[PointRuns], name: str) -> Floats:
    return np.array([runs.values(name) for runs in line])


def _curve(
    axes: "Axes", line: Sequence[PointRuns], values: Floats, *, hollow: bool = False
) -> None:
    """Draw values (points, seeds); hollow and dashed is without rehearsal."""
    colour, marker = LOOKS.get(line[0].kind, TABLE_LOOK)
    mean = values.mean(axis=1)
    axes.errorbar(
        [_x(runs) for runs in line], mean,
        yerr=np.abs([values.min(axis=1) - mean, values.max(axis=1) - mean]),
        color=colour, marker=marker, markersize=5.5,
        markerfacecolor="white" if hollow else colour, elinewidth=1,
        linewidth=1.5, linestyle=(0, (4, 2)) if hollow else "-", zorder=3,
    )  # fmt: skip


def _x(runs: PointRuns) -> float:
    shared = runs.mean("shared")
    return ASIDE.get(runs.kind, 1.0) if shared == 1 else shared


def _name_the_points(axes: "Axes", rows: Sequence[Row]) -> None:
    """Label each point with rehearsal."""
    row, *groups, last, one = point_runs(rows, *TABLES, rehearsing=True)
    _say(axes, "$T[x]$, a θ for every row: chance", _at(row, "test", 100), drawing.INK, (9, 0))
    for runs in groups:
        words = f"{runs.size}\ngroups" if runs == groups[0] else str(runs.size)
        _say(axes, words, _at(runs, "test", 100), drawing.INK, (-4, 5), ha="right")
    _say(axes, f"{last.size} groups", _at(last, "test", 100), drawing.INK, (2, -9))
    _say(axes, "one θ", _at(one, "test", 100), drawing.INK, (-3, 6), ha="right")
    first, *units = point_runs(rows, "minout", rehearsing=True)
    words = f"minout, $k$ = {first.size}"
    _say(axes, words, _at(first, "test", 100), drawing.CONDITIONAL, (6, 8), ha="right")
    for runs in units:
        height = -9 if runs == units[-1] else 8
        _say(
            axes,
            str(runs.size),
            _at(runs, "test", 100),
            drawing.CONDITIONAL,
            (0, height),
            ha="center",
        )
    (network,) = point_runs(rows, "network", rehearsing=True)
    _say(axes, "network", _at(network, "test", 100), drawing.SGD, (6, 10), ha="right")


def _name_the_curves(known: "Axes", forgotten: "Axes", rows: Sequence[Row]) -> None:
    """Explain the curves without rehearsal, and the minout that forgets least without it."""
    near = {each: point_runs(rows, "groups", rehearsing=each)[-2] for each in (True, False)}
    _say(known, "with rehearsal", _at(near[True], "test", 100), GREY, (10, -4))
    _say(known, "without rehearsal", _at(near[False], "test", 100), GREY, (10, 5))
    _say(forgotten, "with rehearsal", _at(near[True], "forgetting", 100), GREY, (10, 6))
    _say(forgotten, "without rehearsal", _at(near[False], "forgetting", 100), GREY, (10, -4))
    unit, *_ = point_runs(rows, "minout", rehearsing=False)
    for axes, name in ((known, "test"), (forgotten, "forgetting")):
        words, at = f"$k$ = {unit.size}", _at(unit, name, 100)
        _say(axes, words, at, drawing.CONDITIONAL, (-7, 0), ha="right")


def _name_the_steps(axes: "Axes", rows: Sequence[Row]) -> None:
    """Add the number rehearsed in one step, where it differs."""
    unit, *_ = point_runs(rows, "minout", rehearsing=True)
    (theta,) = point_runs(rows, "all", rehearsing=True)
    for runs, what, colour in (
        (unit, "a unit", drawing.CONDITIONAL),
        (theta, "this θ", drawing.INK),
    ):
        words = f"in a step of {what}: {runs.mean('at_risk'):.0f}"
        _say(axes, words, _at(runs, "rehearsed"), colour, (-7, 5), ha="right")


def _at(runs: PointRuns, name: str, scale: float = 1) -> tuple[float, float]:
    return _x(runs), scale * runs.mean(name)


def _say(
    axes: "Axes", words: str, at: tuple[float, float], colour: str,
    offset: tuple[float, float], *, ha: Literal["left", "center", "right"] = "left",
) -> None:  # fmt: skip
    """Write beside a point, `offset` in typographic points: above, below or, at 0, level."""
    va = {1.0: "bottom", -1.0: "top", 0.0: "center"}[float(np.sign(offset[1]))]
    axes.annotate(
        words, at, offset, textcoords="offset points", color=colour, fontsize=9, va=va, ha=ha
    )
