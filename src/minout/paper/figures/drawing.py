"""The style of all figures: colours, files in both formats, grids of axes and curves."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats
from minout.errors import import_extra
from minout.paper.figures.rows import Rows, known, sweep

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

    Figure = matplotlib.figure.Figure

# One colour per thing, in every figure (Okabe and Ito's palette, safe for colour-blind readers).
CONDITIONAL = "#0072B2"
CLOSED = "#009E73"
UNIFORM = "#E69F00"
NONE = "#999999"
SGD = "#D55E00"
SETS = ("#F4B6C2", "#F6E58D", "#BFE3F2")
INK = "#222222"
POLICIES = {
    "conditional": CONDITIONAL,
    "closed": CLOSED,
    "random": UNIFORM,
    "random-once": "#CC79A7",
    "none": "#777777",
}


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of `width` × `height` inches; no window is opened."""
    import_extra("matplotlib.figure", "figures", "Figures need matplotlib")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: "Figure", folder: Path, name: str) -> Path:
    """Write `name`.png and `name`.svg into `folder`; return the path of the first."""
    from matplotlib import rc_context

    figure.savefig(folder / f"{name}.png", dpi=150)
    with rc_context({"svg.hashsalt": "minout"}):  # the same bytes every time
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    return folder / f"{name}.png"


def panels(
    width: float,
    height: float,
    ylabels: Sequence[str],
    xlabels: Sequence[str],
    titles: Sequence[str] = (),
) -> tuple["Figure", NDArray[Any]]:
    """Make a line of axes for each y label and a column for each x label, which share them."""
    figure = new_figure(width, height)
    shape = len(ylabels), len(xlabels)
    grid = figure.subplots(*shape, sharex="col", sharey="row", squeeze=False)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.set_axisbelow(True)
    for axes, label in zip(grid[:, 0], ylabels, strict=True):
        axes.set_ylabel(label)
    for axes, label in zip(grid[-1], xlabels, strict=True):
        axes.set_xlabel(label)
    for axes, title in zip(grid[0], titles, strict=False):
        axes.set_title(title, fontsize=10, loc="left")
    return figure, grid


def curve(
    axes: "Axes", label: str, colour: str, x: Sequence[float], y: Floats, *, dashed: bool = False
) -> None:
    """Draw the mean of y (points, seeds) at x, with whiskers or a band to its extremes."""
    mean, low, high = y.mean(axis=1), y.min(axis=1), y.max(axis=1)
    look: dict[str, Any] = {"color": colour, "label": label, "linestyle": "--" if dashed else "-"}
    if len(mean) > 25:
        axes.plot(x, mean, linewidth=1.5, **look)
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    else:
        whiskers = np.abs([low - mean, high - mean])
        axes.errorbar(x, mean, whiskers, marker="o", markersize=4.5, elinewidth=1, **look)
    if axes is axes.figure.axes[0]:
        axes.legend(frameon=False, fontsize=8, handlelength=4)


def swept(
    axes: "Axes",
    label: str,
    colour: str,
    rows: Rows,
    name: str,
    knob: str,
    *,
    dashed: bool = False,
    **settings: Any,
) -> None:
    """Draw a value against a setting, on a logarithmic axis."""
    at = known(rows, knob)
    curve(axes, label, colour, at, sweep(rows, name, knob, **settings), dashed=dashed)
    axes.set_xscale("log")
    axes.set_xticks(at, [f"{value:,}" for value in at])
    axes.minorticks_off()
