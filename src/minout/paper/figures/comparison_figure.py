"""Accuracy through training under several policies, side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from minout import drawing
from minout.paper.figures import seeds
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {
    "conditional": (drawing.CONDITIONAL, "conditional rehearsal"),
    "closed": (drawing.CLOSED, "closed"),
    "uniform": (drawing.UNIFORM, "as many at random"),
    "uniform-once": ("#CC79A7", "at random, one draw per example"),
    "none": ("#777777", "no rehearsal"),
}
PANELS = {
    "train": "whole training set",
    "seen": "training examples seen so far",
    "test": "test set",
}


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw three panels: the whole training set, what was seen so far, and the test set."""
    figure = drawing.new_figure(10.0, 3.8)
    for axes, (name, title) in zip(figure.subplots(1, 3, sharey=True), PANELS.items(), strict=True):
        drawing.tidy(axes)
        axes.set_title(title, fontsize=10, loc="left")
        axes.set(ylim=(0, 101), xlabel="examples taught, in label order")
        ends = {}
        for policy, (colour, _) in LOOKS.items():
            if runs := seeds.of_policy(rows, policy):
                curves = 100 * np.array([run.values[name] for run in runs])
                seeds.band(axes, curves, colour, wide=policy == "conditional")
                ends[policy] = float(curves[:, -1].mean())
                axes.set_xlim(0, curves.shape[1])
        _write_the_ends(axes, ends)
    figure.axes[0].set_ylabel("accuracy (%)")
    name_the_policies(figure, [LOOKS[policy] for policy in ends])
    return figure


def name_the_policies(figure: "Figure", looks: Sequence[tuple[str, str]]) -> None:
    """Write a legend above the panels, from pairs of colour and name."""
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=colour, linewidth=2, label=name) for colour, name in looks]
    legend = figure.legend(handles=lines, loc="outside upper left", ncols=len(lines), frameon=False)
    for text, (colour, _) in zip(legend.get_texts(), looks, strict=True):
        text.set_color(colour)


def _write_the_ends(axes: "Axes", ends: dict[str, float]) -> None:
    """Write the last value at the end of each curve, without overlap."""
    ceiling = 110.0
    for policy, end in sorted(ends.items(), key=lambda each: -each[1]):
        ceiling = min(end, ceiling - 6.0)
        axes.annotate(
            f"{end:.0f}", (1.01, ceiling), xycoords=("axes fraction", "data"),
            fontsize=9, color=LOOKS[policy][0], va="center", annotation_clip=False,
        )  # fmt: skip
