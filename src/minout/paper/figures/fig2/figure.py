"""Two panels, before and after: what some other line clips stays as it was."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minout import drawing
from minout._typing import Floats
from minout.paper.figures.task import Claim
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SETS = (r"$\mathcal{S}_1$", r"$\mathcal{S}_2$", r"$\mathcal{S}_3$")
ROOM_IN_S1, ROOM_IN_S3 = (-0.1, 0.85), (2.15, 1.9)  # for a letter, where the cloud is thin
X_NEW = r"x_{\mathrm{new}}"


def draw(rows: Sequence[Row]) -> "Figure":
    """Shade S1, S2 and S3 and draw lines and points; points that moved are larger."""
    values, half_width = rows[0].values, rows[0].settings["half_width"]
    figure = drawing.new_figure(7.6, 4.15)
    before, after = figure.subplots(1, 2)
    for axes, when in ((before, "before"), (after, "after")):
        axes.set(xlim=(-half_width, half_width), ylim=(-half_width, half_width), aspect="equal")
        axes.set(xticks=[], yticks=[])
        _regions(axes, values, when, half_width)
        _other_lines(axes, values, half_width)
        _moving_line(axes, values, "before", half_width, style=(0, (4, 2)))
        axes.plot(*values["x_new"], "*", color=drawing.INK, markersize=10)
        _write(axes, f"${X_NEW}$", np.add(values["x_new"], [0.26, -0.02]), drawing.S1, size=9)
    _moving_line(after, values, "after", half_width, style="-")
    moved = np.array(values["moved"])
    points = np.array(values["points"])
    _dots(before, points)
    _dots(after, points[~moved])
    after.plot(*points[moved].T, "o", color=drawing.SGD, markersize=4.8, markeredgecolor="white")
    before.set_title(f"Before: the dashed line is neuron $G({X_NEW})$", fontsize=10, loc="left")
    after.set_title(f"After learning ${X_NEW}$", fontsize=10, loc="left")
    before.set_xlabel(f"stored points: {_listed(values['members'])}")
    after.set_xlabel(f"outputs moved: {_listed(values['moved_members'])}", color=drawing.SGD)
    return figure


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Compare what the paper says of the three sets with the counts of the row."""
    sizes, moved = rows[0].values["members"], rows[0].values["moved_members"]
    return [
        Claim(
            paper="examples in S3 will not be interfered",
            measured=f"{moved[2]} of {sizes[2]} points of S3 moved, compared bit by bit",
            holds=moved[2] == 0 and sizes[2] > 0,
        ),
        Claim(
            paper="only examples in S1 and S2 will be interfered",
            measured=f"moved: {moved[0]} of {sizes[0]} in S1, {moved[1]} of {sizes[1]} in S2",
            holds=moved[0] > 0 and moved[1] > 0 and moved[2] == 0,
        ),
    ]


def _listed(counts: Sequence[int]) -> str:
    return ", ".join(f"{count} in {name}" for count, name in zip(counts, SETS, strict=True))


def _regions(axes: "Axes", values: Mapping[str, Any], when: str, half_width: float) -> None:
    """Shade all as S3, and in it the convex set of the other lines, which the moving one cuts."""
    W, b = np.array(values[f"W_{when}"]), np.array(values[f"b_{when}"])
    j = values["neuron"]
    enclosed = half_width * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    for other in np.delete(np.arange(len(W)), j):
        enclosed = _cut(enclosed, W[other], b[other])
    s1, s2 = _cut(enclosed, W[j], b[j]), _cut(enclosed, -W[j], -b[j])
    axes.set_facecolor(drawing.S3)
    axes.fill(*s1.T, color=drawing.S1, linewidth=0, zorder=0)
    axes.fill(*s2.T, color=drawing.S2, linewidth=0, zorder=0)
    places = (np.array(ROOM_IN_S1), s2.mean(axis=0), np.array(ROOM_IN_S3))
    for name, place, colour in zip(SETS, places, (drawing.S1, drawing.S2, drawing.S3), strict=True):
        _write(axes, name, place, colour, size=15)


def _cut(polygon: Floats, w: Floats, b: float) -> Floats:
    """Return the part of a convex polygon, corners (n, 2), where w·x + b ≤ 0."""
    kept = []
    for p, q in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        at_p, at_q = w @ p + b, w @ q + b
        if at_p <= 0:
            kept.append(p)
        if at_p * at_q < 0:
            kept.append(p + (q - p) * at_p / (at_p - at_q))
    return np.array(kept).reshape(-1, 2)


def _other_lines(axes: "Axes", values: Mapping[str, Any], half_width: float) -> None:
    for j, (w, b) in enumerate(zip(values["W_before"], values["b_before"], strict=True)):
        if j != values["neuron"]:
            axes.plot(*_line(w, b, half_width), color=drawing.INK, linewidth=1.0)


def _moving_line(
    axes: "Axes", values: Mapping[str, Any], when: str, half_width: float, *, style: Any
) -> None:
    w, b = (values[f"{name}_{when}"][values["neuron"]] for name in ("W", "b"))
    axes.plot(*_line(w, b, half_width), color=drawing.SGD, linewidth=2.0, linestyle=style)


def _line(w: Sequence[float], b: float, half_width: float) -> Floats:
    """Return two points of w·x + b = 0 outside the picture, as a row of x and a row of y."""
    normal = np.array(w)
    foot = -b * normal / (normal @ normal)
    along = 4 * half_width * np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
    return np.stack([foot - along, foot + along], axis=1)


def _dots(axes: "Axes", points: Floats) -> None:
    axes.plot(*points.T, "o", color=drawing.INK, markersize=2.4, alpha=0.55, markeredgewidth=0)


def _write(axes: "Axes", text: str, at: Floats, background: str, *, size: float) -> None:
    """Write over points and lines, with an outline in the colour of the background."""
    from matplotlib.patheffects import withStroke

    rim = [withStroke(linewidth=2, foreground=background)]
    axes.text(
        at[0], at[1], text, fontsize=size, color=drawing.INK, ha="center", va="center",
        path_effects=rim, zorder=6,
    )  # fmt: skip
