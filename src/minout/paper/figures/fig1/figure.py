"""Two panels, before and after: the line that wins x_new is pushed up and takes over x2."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minout import drawing
from minout.paper.figures.task import Claim
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

X_RANGE = (-3.0, 3.2)
Y_RANGE = (-0.8, 3.2)
LABEL_HEIGHT = -0.4
NAMES = {"x1": "x_1", "x_new": r"x_{\mathrm{new}}", "x2": "x_2"}


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw the lines, the output as their upper edge, and where the points were and are."""
    values = rows[0].values
    figure = drawing.new_figure(7.6, 3.3)
    left, right = figure.subplots(1, 2, sharey=True)
    left.set_title("Before the update", fontsize=10, loc="left")
    right.set_title(f"After learning ${NAMES['x_new']}$", fontsize=10, loc="left")
    left.set_ylabel("output $h(x)$")
    for axes, when in ((left, "before"), (right, "after")):
        _frame(axes, values, when)
        _lines(axes, values, when)
        axes.plot(
            values["points"],
            values[f"outputs_{when}"],
            "o",
            color=drawing.INK,
            markersize=6,
            zorder=5,
        )
    _moves(right, values)
    return figure


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Compare the caption of the paper's Fig. 1 with the numbers of the row."""
    values = rows[0].values
    was = _by_name(values, "winners_before")
    now = _by_name(values, "winners_after")
    rise = {name: new - old for name, old, new in _moved_outputs(values)}
    return [
        Claim(
            paper="G(x_new) = G(x1) = 2 and G(x2) = 3; learning x_new pushes line 2 up",
            measured=f"G(x_new) = {was['x_new'] + 1}, G(x1) = {was['x1'] + 1}, "
            f"G(x2) = {was['x2'] + 1}; line 2 rises by {rise['x_new']:.3f} at x_new",
            holds=(was["x_new"], was["x1"], was["x2"]) == (1, 1, 2) and rise["x_new"] > 0,
        ),
        Claim(
            paper="the update also interferes with x2, which line 3 had won: G(x2) = 2 afterwards",
            measured=f"G(x2) goes from {was['x2'] + 1} to {now['x2'] + 1}, "
            f"h(x2) moves by {rise['x2']:+.3f}",
            holds=was["x2"] != was["x_new"] == now["x2"] and rise["x2"] != 0,
        ),
    ]


def _frame(axes: "Axes", values: Mapping[str, Any], when: str) -> None:
    """Label each point and its winner under the axis; a winner that changed is red."""
    drawing.tidy(axes)
    axes.grid(visible=False)
    axes.set(xlim=X_RANGE, ylim=Y_RANGE, yticks=range(4))
    winners = values[f"winners_{when}"]
    labels = [
        f"${NAMES[name]}$\n$G={j + 1}$" for name, j in zip(values["names"], winners, strict=True)
    ]
    axes.set_xticks(values["points"], labels)
    for label, j, first in zip(
        axes.get_xticklabels(), winners, values["winners_before"], strict=True
    ):
        label.set_color(drawing.INK if j == first else drawing.SGD)
    axes.vlines(
        values["points"], Y_RANGE[0], values[f"outputs_{when}"],
        colors=drawing.NONE, linewidth=0.8, linestyle=":",
    )  # fmt: skip


def _lines(axes: "Axes", values: Mapping[str, Any], when: str) -> None:
    """Draw each line with its number, the one that moves in red, and their maximum as a band."""
    x = np.linspace(*X_RANGE, 801)
    slopes, intercepts = (np.array(values[f"{part}_{when}"]) for part in ("slopes", "intercepts"))
    lines = slopes[:, None] * x + intercepts[:, None]
    axes.plot(x, lines.max(axis=0), color=drawing.S3, linewidth=7, solid_capstyle="butt", zorder=1)
    moving = _by_name(values, "winners_before")["x_new"]
    for j, line in enumerate(lines):
        color = drawing.SGD if j == moving else drawing.INK
        axes.plot(x, line, color=color, linewidth=1.4, zorder=3)
        # The number stands below its line, where the line does not win: at the left, or low down.
        at = -2.85 if j == moving else (LABEL_HEIGHT - intercepts[j]) / slopes[j]
        axes.annotate(
            f"line {j + 1}", (at, slopes[j] * at + intercepts[j]),
            (-5 if slopes[j] < 0 else 5, -2), textcoords="offset points", color=color, fontsize=9,
            ha="right" if slopes[j] < 0 else "left", va="top",
        )  # fmt: skip


def _moves(axes: "Axes", values: Mapping[str, Any]) -> None:
    """Draw where the pushed line and the outputs were before, dashed and hollow, with arrows."""
    moving = _by_name(values, "winners_before")["x_new"]
    x = np.array(X_RANGE)
    axes.plot(
        x, values["slopes_before"][moving] * x + values["intercepts_before"][moving],
        color=drawing.SGD, linewidth=1.2, linestyle=(0, (4, 3)), zorder=2,
    )  # fmt: skip
    for at, (_, old, new) in zip(values["points"], _moved_outputs(values), strict=True):
        axes.plot(at, old, "o", color=drawing.INK, markerfacecolor="white", markersize=6, zorder=4)
        axes.annotate(
            "", (at, new), (at, old),
            arrowprops={"arrowstyle": "->", "color": drawing.INK, "shrinkA": 4, "shrinkB": 4},
        )  # fmt: skip


def _by_name(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    return dict(zip(values["names"], values[key], strict=True))


def _moved_outputs(values: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    return list(
        zip(values["names"], values["outputs_before"], values["outputs_after"], strict=True)
    )
