"""Draw the accuracy after each example: on what was taught, and on held-out rows."""

from collections.abc import Sequence
from math import isqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from minout import drawing
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#666666"
BAND = "#F3F3F3"


class LineStyle(NamedTuple):
    """The line style and the name of a run."""

    colour: str
    dashes: Literal["-", "--"]
    width: float
    words: str


STYLES = {
    "minout": LineStyle(drawing.CONDITIONAL, "-", 2.2, "minout, in label order"),
    "sgd": LineStyle(drawing.SGD, "-", 1.8, "SGD, in label order"),
    "sgd-shuffled": LineStyle(GREY, "--", 1.2, "SGD, shuffled"),
}
"""Drawn in reverse order, so that minout is on top."""
PANELS = {
    "taught": "of everything taught so far, as labelled: {wrong} of {all:,} labels are wrong",
    "held_out": "of the digits held out",
}


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw the accuracy on what was taught above that on test rows, with a band per digit."""
    figure = drawing.new_figure(9.0, 6.4)
    strip, *panels = figure.subplots(3, 1, sharex=True, height_ratios=(0.2, 1.0, 1.0))
    by_name = {row.values["who"]: row for row in rows}
    ours = by_name["minout"]
    count = len(ours.values["taught"])
    for axes, (part, words) in zip(panels, PANELS.items(), strict=True):
        drawing.tidy(axes)
        axes.grid(visible=False, axis="x")
        axes.set(xlim=(0, count), ylim=(0, 102), ylabel="right (%)")
        title = words.format(wrong=ours.settings["wrong"], all=count)
        axes.set_title(title, loc="left", fontsize=10, color=drawing.INK)
        _bands(axes, ours)
        for name in reversed([each for each in STYLES if each in by_name]):
            _curve(axes, by_name[name].values[part], name)
        _ends(axes, {name: 100 * row.values[part][-1] for name, row in by_name.items()})
    _ceiling(panels[1], ours)
    _digits(strip, ours)
    panels[1].set_xlabel("examples taught")
    panels[1].xaxis.set_major_formatter("{x:,.0f}")
    _legend(figure, list(by_name))
    return figure


def _curve(axes: "Axes", shares: Sequence[float], name: str) -> None:
    look, count = STYLES[name], np.arange(1, len(shares) + 1)
    axes.plot(
        count, 100 * np.array(shares),
        color=look.colour, linestyle=look.dashes, linewidth=look.width,
    )  # fmt: skip


def _bands(axes: "Axes", row: Row) -> None:
    edges = [*row.values["turns"], len(row.values["taught"])]
    for start, end in zip(edges[0::2], edges[1::2], strict=False):
        axes.axvspan(start, end, color=BAND, linewidth=0, zorder=0)


def _digits(axes: "Axes", row: Row) -> None:
    """Draw the mean image of each label above its band."""
    axes.axis("off")
    edges = np.array([*row.values["turns"], len(row.values["taught"])]) / len(row.values["taught"])
    for start, end, look in zip(edges, edges[1:], row.values["looks"], strict=False):
        side = isqrt(len(look))
        inset = axes.inset_axes((start, 0.0, end - start, 1.0))
        inset.imshow(np.reshape(look, (side, side)), cmap="gray_r", interpolation="nearest")
        inset.axis("off")


def _ceiling(axes: "Axes", row: Row) -> None:
    """Draw the share of test digits whose labels have been taught."""
    edges = [*row.values["turns"], len(row.values["taught"])]
    most = np.cumsum(row.values["held_out_shares"])
    axes.stairs(100 * most, edges, color=drawing.NONE, linestyle=":", linewidth=1.2, baseline=None)
    axes.text(
        edges[-2] - 6, 100 * most[-2] + 2, "labels taught so far", color=GREY, fontsize=9,
        ha="right", va="bottom",
    )  # fmt: skip


def _ends(axes: "Axes", ends: dict[str, float]) -> None:
    """Write the last value of each curve beside its end, without overlap."""
    ceiling = 110.0
    for name, end in sorted(ends.items(), key=lambda each: -each[1]):
        ceiling = min(end, ceiling - 7.0)
        axes.annotate(
            f"{end:.1f}", (1.01, ceiling), xycoords=("axes fraction", "data"),
            fontsize=10, color=STYLES[name].colour, va="center", annotation_clip=False,
        )  # fmt: skip


def _legend(figure: "Figure", names: list[str]) -> None:
    from matplotlib.lines import Line2D

    looks = [look for name, look in STYLES.items() if name in names]
    lines = [
        Line2D([], [], color=look.colour, linestyle=look.dashes, linewidth=look.width)
        for look in looks
    ]
    words = [look.words for look in looks]
    legend = figure.legend(lines, words, loc="outside upper left", ncols=len(words), frameon=False)
    for text, look in zip(legend.get_texts(), looks, strict=True):
        text.set_color(look.colour)
