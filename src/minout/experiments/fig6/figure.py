"""Accuracy through one pass: the shuffled stream is learned, the ordered one is not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from minout.experiments import ink
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FULL_STREAM = 60_000
COLOURS = {"ordered": ink.SGD, "shuffled": ink.INK}


def draw(rows: Sequence[Row]) -> "Figure":
    """Draws the mean over the seeds, test solid and training dashed; the bands reach all seeds."""
    figure = ink.new_figure(6.4, 3.6)
    axes = figure.subplots()
    ink.tidy(axes)
    for stream in ("ordered", "shuffled"):
        _curves(axes, [row for row in rows if row.values["stream"] == stream], COLOURS[stream])
    taught = rows[0].values["taught"][-1]
    axes.set(xlim=(0, taught), ylim=(0, 100))
    axes.set(xlabel="examples taught", ylabel="accuracy (%)")
    _labels(axes, rows)
    return figure
