"""Accuracy through one pass: the shuffled stream is learned, the ordered one is not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from minout import drawing
from minout.paper.figures.task import Claim
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FULL_STREAM = 60_000
GREY = "#666666"
COLOURS = {"ordered": drawing.SGD, "shuffled": drawing.INK}


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw the mean over the seeds, test solid, training dashed; the bands reach every seed."""
    figure = drawing.new_figure(6.4, 3.8)
    axes = figure.subplots()
    drawing.tidy(axes)
    taught = rows[0].values["taught"][-1]
    axes.set(xlim=(0, taught), ylim=(0, 100), xlabel="examples taught", ylabel="accuracy (%)")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    for stream, colour in COLOURS.items():
        _curves(axes, _of(rows, stream), colour)
    _words(axes, rows, taught)
    return figure


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Compare "fails utterly" with the final test accuracy; a bound must hold for all seeds."""
    ordered, shuffled = (_final(_of(rows, stream)) for stream in COLOURS)
    bound = 85 if rows[0].values["taught"][-1] >= FULL_STREAM else 80
    return [
        Claim(
            paper="SGD fails utterly on MNIST-ol (below 20 % of the test set at the end)",
            measured=_summary(ordered),
            holds=max(ordered) < 20,
        ),
        Claim(
            paper=f"the same network learns the shuffled stream (above {bound} %)",
            measured=_summary(shuffled),
            holds=min(shuffled) > bound,
        ),
    ]


def _of(rows: Sequence[Row], stream: str) -> list[Row]:
    return [row for row in rows if row.values["stream"] == stream]


def _final(rows: Sequence[Row]) -> list[float]:
    return [100 * row.values["test_accuracy"][-1] for row in rows]


def _summary(finals: Sequence[float]) -> str:
    spread = f" ± {np.std(finals, ddof=1):.1f}" if len(finals) > 1 else ""
    return f"{np.mean(finals):.1f}{spread} % ({len(finals)} seed{'s' * (len(finals) > 1)})"


def _curves(axes: "Axes", rows: Sequence[Row], colour: str) -> None:
    taught = rows[0].values["taught"]
    for part, style, width in (("training", (0, (4, 2)), 1.0), ("test", "-", 1.8)):
        seeds = 100 * np.array([row.values[f"{part}_accuracy"] for row in rows])
        axes.plot(taught, seeds.mean(axis=0), color=colour, linestyle=style, linewidth=width)
        axes.fill_between(
            taught, seeds.min(axis=0), seeds.max(axis=0), color=colour, alpha=0.18, linewidth=0
        )


def _words(axes: "Axes", rows: Sequence[Row], taught: int) -> None:
    """Label the curves, mark chance, and show which digit MNIST-ol teaches when."""
    per_label = np.array(rows[0].values["per_label"])
    chance = 100 / len(per_label)
    axes.axhline(chance, color=drawing.NONE, linewidth=1.0, linestyle=":", zorder=0)
    axes.text(0.99 * taught, chance - 2, "chance", color=GREY, fontsize=9, ha="right", va="top")
    for label, middle in enumerate(np.cumsum(per_label) - per_label / 2):
        axes.text(middle, 23, str(label), color=drawing.SGD, fontsize=9, ha="center")
    axes.text(
        taught / 2, 30, "in label order (MNIST-ol), digit by digit:", color=drawing.SGD, ha="center"
    )
    axes.text(taught / 2, 72, "in random order", color=drawing.INK, ha="center")
    last = _of(rows, "shuffled")
    for part, align in (("training", "bottom"), ("test", "top")):
        end = 100 * np.mean([row.values[f"{part}_accuracy"][-1] for row in last])
        axes.annotate(
            part, (taught, end), (4, 0), textcoords="offset points",
            fontsize=9, color=drawing.INK, va=align, annotation_clip=False,
        )  # fmt: skip
