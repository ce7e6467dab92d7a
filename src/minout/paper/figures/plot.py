"""Panels of curves with the spread over the seeds: all that most figures draw."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minout._typing import Floats
from minout.paper.figures import drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {
    "conditional": drawing.CONDITIONAL,
    "closed": drawing.CLOSED,
    "random": drawing.UNIFORM,
    "random-once": "#CC79A7",
    "none": "#777777",
}


class Curve(NamedTuple):
    """Values y (points, seeds) at x (points,)."""

    label: str
    colour: str
    x: Sequence[float]
    y: Floats
    dashed: bool = False


class Panel(NamedTuple):
    """Curves, and what `Axes.set` takes; also a title, and `ticks` for a logarithmic axis."""

    curves: Sequence[Curve]
    words: dict[str, Any]


def draw_panels(grid: Sequence[Sequence[Panel]], width: float, height: float) -> "Figure":
    """Draw each curve's mean, with whiskers (or a band) to the lowest and highest seed.

    Panels of a line share their y axis, those of a column their x axis; the first has a legend.
    """
    figure = drawing.new_figure(width, height)
    shape = len(grid), len(grid[0])
    axes_of = figure.subplots(*shape, sharex="col", sharey="row", squeeze=False)
    for axes, (curves, words) in zip(axes_of.flat, (p for line in grid for p in line), strict=True):
        ticks = words.pop("ticks", None)
        axes.set_title(words.pop("title", ""), fontsize=10, loc="left")
        for label, colour, x, y, dashed in curves:
            mean, low, high = y.mean(axis=1), y.min(axis=1), y.max(axis=1)
            look: dict[str, Any] = {"color": colour, "label": label}
            look["linestyle"] = "--" if dashed else "-"
            if len(mean) > 25:
                axes.plot(x, mean, linewidth=1.5, **look)
                axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
            else:
                whiskers = np.abs([low - mean, high - mean])
                axes.errorbar(x, mean, whiskers, marker="o", markersize=4.5, elinewidth=1, **look)
        drawing.tidy(axes)
        axes.set(**words)
        axes.label_outer()
        if ticks:
            axes.set_xscale("log")
            axes.set_xticks(ticks, [f"{value:,}" for value in ticks])
            axes.minorticks_off()
    axes_of[0, 0].legend(frameon=False, fontsize=8)
    return figure
