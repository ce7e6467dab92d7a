"""Fig. 1 and Fig. 2: one gradient step of a maxout unit, plain and clipped, and who is moved."""

from typing import TYPE_CHECKING, Any

import numpy as np

from minout import maths
from minout._typing import Floats
from minout.paper import equations as eq
from minout.paper.figures import drawing
from minout.paper.figures.rows import Claim, Rows, Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

X_NEW = r"x_{\mathrm{new}}"

# Three lines, the points x1, x_new and x2; all in eighths, so that sums are exact.
LINES: Settings = {
    "slopes": (-1.0, 0.125, 1.25),
    "intercepts": (-1.5, 0.5, -1.0),
    "points": (-0.75, 0.5, 1.625),
    "target": 2.0,
    "learning_rate": 0.5,
}
# Six lines (angle of the normal in degrees, distance from the origin), and a cloud of points. A
# neuron is negative on the origin's side of its line, and clipped on the other.
CLOUD: Settings = {
    "lines": ((15.0, 0.75), (62.0, 1.4), (125.0, 1.4), (185.0, 1.6), (250.0, 1.5), (315.0, 1.4)),
    "x_new": (0.375, -0.25),
    "target": -1.5,
    "learning_rate": 0.5,
    "points": 400,
    "half_width": 2.5,
}


def _step(W: Floats, b: Floats, x: Floats, h: Floats, settings: Settings) -> tuple[Floats, Floats]:
    """Move the winner at x down the slope of (h - target)² / 2; no other neuron moves."""
    winner = eq.maxout_winner(eq.activations(W, b, x))
    step = -settings["learning_rate"] * (h - settings["target"])
    W, b = W.copy(), b.copy()
    W[winner] += step * x
    b[winner] += step
    return W, b


def run1(settings: Settings, seed: int) -> dict[str, Any]:
    """Take the step; the row holds lines, outputs and winners, each before and after."""
    del seed  # nothing is drawn
    W, b = np.array(settings["slopes"])[:, None], np.array(settings["intercepts"])
    points = np.array(settings["points"])[:, None]
    h_new = eq.maxout(eq.activations(W, b, points[1]))
    moments = [(W, b), _step(W, b, points[1], h_new, settings)]
    a = [eq.activations(W, b, points) for W, b in moments]
    return {
        "slopes": [W[:, 0].tolist() for W, _ in moments],
        "intercepts": [b.tolist() for _, b in moments],
        "outputs": [eq.maxout(each).tolist() for each in a],
        "winners": [eq.maxout_winner(each).tolist() for each in a],
    }


def claims1(rows: Rows) -> list[Claim]:
    """Compare the caption of Fig. 1 with the row; the paper counts lines from 1."""
    was, now = rows[0].values["winners"]
    before, after = rows[0].values["outputs"]
    return [
        Claim(
            "G(x_new) = G(x1) = 2, G(x2) = 3; learning x_new pushes line 2 up, and G(x2) = 2",
            f"h(x2) goes from {before[2]:.3f} to {after[2]:.3f}, "
            f"its winner from line {was[2] + 1} to line {now[2] + 1}",
            was == [1, 1, 2] and now[2] == 1 and after[1] > before[1] and after[2] != before[2],
        )
    ]


def draw1(rows: Rows) -> "drawing.Figure":
    """Draw the lines and the outputs at the three points, before and after."""
    found, points = rows[0].values, rows[0].settings["points"]
    titles = ("Before the update", f"After learning ${X_NEW}$")
    figure, grid = drawing.panels(7.6, 3.3, ["output $h(x)$"], ["", ""], titles)
    x = np.linspace(-3.0, 3.2, 801)
    for when, axes in enumerate(grid[0]):
        lines = np.outer(found["slopes"][when], x) + np.array(found["intercepts"][when])[:, None]
        axes.plot(x, lines.max(axis=0), color=drawing.SETS[2], linewidth=7)
        for j, line in enumerate(lines):
            axes.plot(x, line, color=drawing.SGD if j == 1 else drawing.INK, linewidth=1.4)
        axes.plot(points, found["outputs"][when], "o", color=drawing.INK)
        labels = zip(("$x_1$", f"${X_NEW}$", "$x_2$"), found["winners"][when], strict=True)
        axes.set_xticks(points, [f"{name}\n$G={winner + 1}$" for name, winner in labels])
        axes.set(xlim=(-3.0, 3.2), ylim=(-0.8, 3.2))
    return figure


def run2(settings: Settings, seed: int) -> dict[str, Any]:
    """Divide the points into S1, S2 and S3, take the step, and find the outputs that moved."""
    angles, distances = np.array(settings["lines"]).T
    W, b = np.stack([np.cos(np.deg2rad(angles)), np.sin(np.deg2rad(angles))], axis=1), -distances
    x_new, half = np.array(settings["x_new"]), settings["half_width"]
    points = np.random.default_rng(seed).uniform(-half, half, (settings["points"], 2))
    a, at_new = eq.activations(W, b, points), eq.activations(W, b, x_new)
    neuron = int(eq.maxout_winner(at_new))
    W2, b2 = _step(W, b, x_new, eq.clipped_maxout(at_new), settings)
    before, after = eq.clipped_maxout(a), eq.clipped_maxout(eq.activations(W2, b2, points))
    moved = before.view(np.uint64) != after.view(np.uint64)  # bits, not values
    sets = maths.partition(eq.clipped_above(a), neuron)
    return {
        "W": [W.tolist(), W2.tolist()],
        "b": [b.tolist(), b2.tolist()],
        "neuron": neuron,
        "points": points.tolist(),
        "moved": moved.tolist(),
        "members": [int(each.sum()) for each in sets],
        "moved_members": [int(moved[each].sum()) for each in sets],
    }


def claims2(rows: Rows) -> list[Claim]:
    """Compare what the paper says of the three sets with the counts of the row."""
    sizes, moved = rows[0].values["members"], rows[0].values["moved_members"]
    counts = [f"{m} of {n} in S{i}" for i, (m, n) in enumerate(zip(moved, sizes, strict=True), 1)]
    return [
        Claim(
            "only examples in S1 and S2 are interfered; examples in S3 will not be",
            f"moved: {', '.join(counts)}, compared bit by bit",
            moved[0] > 0 and moved[1] > 0 and moved[2] == 0 and sizes[2] > 0,
        )
    ]


def draw2(rows: Rows) -> "drawing.Figure":
    """Shade S1, S2 and S3; draw lines and points, those whose output moved in red."""
    found, half_width = rows[0].values, rows[0].settings["half_width"]
    points, moved = np.array(found["points"]), np.array(found["moved"])
    figure = drawing.new_figure(7.6, 4.15)
    titles = f"Before: ${X_NEW}$ (star) moves the line", f"After learning ${X_NEW}$"
    told = ("stored points: ", found["members"]), ("outputs moved: ", found["moved_members"])
    for when, axes in enumerate(figure.subplots(1, 2)):
        _shade(axes, np.array(found["W"][when]), np.array(found["b"][when]), found["neuron"])
        axes.set(xlim=(-half_width, half_width), ylim=(-half_width, half_width), aspect="equal")
        axes.set(xticks=[], yticks=[])
        red = moved & (when == 1)
        axes.plot(*points[~red].T, "o", color=drawing.INK, markersize=2.4, alpha=0.55)
        axes.plot(*points[red].T, "o", color=drawing.SGD, markersize=4.5)
        axes.plot(*rows[0].settings["x_new"], "*", color=drawing.INK, markersize=10)
        axes.set_title(titles[when], fontsize=10, loc="left")
        what, counts = told[when]
        words = ", ".join(f"{n} in $\\mathcal{{S}}_{i}$" for i, n in enumerate(counts, 1))
        axes.set_xlabel(what + words)
    return figure


def _shade(axes: "Axes", W: Floats, b: Floats, neuron: int) -> None:
    """Shade each pixel by its set, S1 pink, S2 yellow, S3 light blue; draw the lines."""
    grid = np.linspace(-2.5, 2.5, 501)
    pixels = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    a = eq.activations(W, b, pixels)
    s1, s2, _ = maths.partition(eq.clipped_above(a), neuron)
    shades = np.full(len(pixels), 2)
    shades[s1], shades[s2] = 0, 1
    axes.contourf(grid, grid, shades.reshape(501, 501), [-0.5, 0.5, 1.5, 2.5], colors=drawing.SETS)
    places = pixels[s1].mean(axis=0), pixels[s2].mean(axis=0), (2.0, 2.0)
    for number, (x, y) in enumerate(places, 1):
        axes.text(x, y, f"$\\mathcal{{S}}_{number}$", fontsize=12)
    for j in range(len(W)):
        colour = drawing.SGD if j == neuron else drawing.INK
        axes.contour(grid, grid, a[:, j].reshape(501, 501), [0.0], colors=colour, linewidths=1.4)
