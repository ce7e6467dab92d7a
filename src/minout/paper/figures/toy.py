"""Fig. 1 and Fig. 2: one gradient step of a maxout unit, plain and clipped, and who is moved."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from minout import maths
from minout._typing import Floats
from minout.paper.equations import (
    activations,
    clipped_above,
    clipped_maxout,
    maxout,
    maxout_winner,
)
from minout.paper.figures import drawing, measured
from minout.paper.figures.measured import Claim, Rows, Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

X_NEW = r"x_{\mathrm{new}}"


@dataclass(frozen=True)
class Fig1(measured.Settings):
    """Three lines, two stored points and a new one; all in eighths, so that sums are exact."""

    most_seeds: int = 1
    slopes: tuple[float, ...] = (-1.0, 0.125, 1.25)
    intercepts: tuple[float, ...] = (-1.5, 0.5, -1.0)
    points: tuple[float, ...] = (-0.75, 0.5, 1.625)  # x1, x_new, x2
    target: float = 2.0
    learning_rate: float = 0.5


@dataclass(frozen=True)
class Fig2(measured.Settings):
    """Six lines (angle of the normal in degrees, distance from the origin), and a cloud of points.

    A neuron is negative on the origin's side of its line, and clipped on the other.
    """

    most_seeds: int = 1
    lines: tuple[tuple[float, float], ...] = (
        (15.0, 0.75), (62.0, 1.4), (125.0, 1.4), (185.0, 1.6), (250.0, 1.5), (315.0, 1.4),
    )  # fmt: skip
    x_new: tuple[float, float] = (0.375, -0.25)
    target: float = -1.5
    learning_rate: float = 0.5
    points: int = 400
    half_width: float = 2.5


def learned(W: Floats, b: Floats, x: Floats, h: Floats, settings: Any) -> tuple[Floats, Floats]:
    """Move the winner at x down the slope of (h - target)² / 2; no other neuron moves."""
    winner = maxout_winner(activations(W, b, x))
    step = -settings.learning_rate * (h - settings.target)
    W, b = W.copy(), b.copy()
    W[winner] += step * x
    b[winner] += step
    return W, b


def perform1(task: Task) -> dict[str, Any]:
    """Take the step; the row holds lines, outputs and winners, each before and after."""
    settings: Fig1 = task.settings
    W, b = np.array(settings.slopes)[:, None], np.array(settings.intercepts)
    points = np.array(settings.points)[:, None]
    a = activations(W, b, points)
    W2, b2 = learned(W, b, points[1], maxout(a[1]), settings)
    a2 = activations(W2, b2, points)
    return {
        "slopes": [W[:, 0].tolist(), W2[:, 0].tolist()],
        "intercepts": [b.tolist(), b2.tolist()],
        "outputs": [maxout(a).tolist(), maxout(a2).tolist()],
        "winners": [maxout_winner(a).tolist(), maxout_winner(a2).tolist()],
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


def draw1(rows: Rows) -> "Figure":
    """Draw the lines and the outputs at the three points, before and after."""
    found, points = rows[0].values, rows[0].settings["points"]
    figure = drawing.new_figure(7.6, 3.3)
    x = np.linspace(-3.0, 3.2, 801)
    titles = ("Before the update", f"After learning ${X_NEW}$")
    for when, axes in enumerate(figure.subplots(1, 2, sharey=True)):
        lines = np.outer(found["slopes"][when], x) + np.array(found["intercepts"][when])[:, None]
        axes.plot(x, lines.max(axis=0), color=drawing.S3, linewidth=7)
        for j, line in enumerate(lines):
            axes.plot(x, line, color=drawing.SGD if j == 1 else drawing.INK, linewidth=1.4)
        axes.plot(points, found["outputs"][when], "o", color=drawing.INK)
        drawing.tidy(axes)
        names = ("$x_1$", f"${X_NEW}$", "$x_2$")
        labels = zip(names, found["winners"][when], strict=True)
        axes.set_xticks(points, [f"{name}\n$G={winner + 1}$" for name, winner in labels])
        axes.set(xlim=(-3.0, 3.2), ylim=(-0.8, 3.2))
        axes.set_title(titles[when], fontsize=10, loc="left")
    figure.axes[0].set_ylabel("output $h(x)$")
    return figure


def perform2(task: Task) -> dict[str, Any]:
    """Divide the points into S1, S2 and S3, take the step, and find the outputs that moved."""
    settings: Fig2 = task.settings
    angles, distances = np.array(settings.lines).T
    W, b = np.stack([np.cos(np.deg2rad(angles)), np.sin(np.deg2rad(angles))], axis=1), -distances
    x_new, half_width = np.array(settings.x_new), settings.half_width
    rng = np.random.default_rng(task.seed)
    points = rng.uniform(-half_width, half_width, (settings.points, 2))
    a, at_new = activations(W, b, points), activations(W, b, x_new)
    neuron = int(maxout_winner(at_new))
    W2, b2 = learned(W, b, x_new, clipped_maxout(at_new), settings)
    before, after = clipped_maxout(a), clipped_maxout(activations(W2, b2, points))
    moved = before.view(np.uint64) != after.view(np.uint64)  # bits, not values
    sets = maths.partition(clipped_above(a), neuron)
    return {
        "W": [W.tolist(), W2.tolist()],
        "b": [b.tolist(), b2.tolist()],
        "neuron": neuron,
        "points": points.tolist(),
        "moved": moved.tolist(),
        "members": [int(each.sum()) for each in sets],
        "moved_members": [int((each & moved).sum()) for each in sets],
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


def draw2(rows: Rows) -> "Figure":
    """Shade S1, S2 and S3; draw lines and points, those whose output moved in red."""
    found, half_width = rows[0].values, rows[0].settings["half_width"]
    points, moved = np.array(found["points"]), np.array(found["moved"])
    figure = drawing.new_figure(7.6, 4.15)
    for when, axes in enumerate(figure.subplots(1, 2)):
        W, b = np.array(found["W"][when]), np.array(found["b"][when])
        _shade(axes, W, b, found["neuron"])
        axes.set(xlim=(-half_width, half_width), ylim=(-half_width, half_width), aspect="equal")
        axes.set(xticks=[], yticks=[])
        still = ~moved if when else np.ones(len(points), dtype=bool)
        axes.plot(*points[still].T, "o", color=drawing.INK, markersize=2.4, alpha=0.55)
        axes.plot(*points[~still].T, "o", color=drawing.SGD, markersize=4.5)
        axes.plot(*rows[0].settings["x_new"], "*", color=drawing.INK, markersize=10)
        title = f"After learning ${X_NEW}$" if when else f"Before: ${X_NEW}$ (star) moves the line"
        axes.set_title(title, fontsize=10, loc="left")
        counts = found["moved_members" if when else "members"]
        words = ", ".join(f"{n} in $\\mathcal{{S}}_{i}$" for i, n in enumerate(counts, 1))
        axes.set_xlabel(("outputs moved: " if when else "stored points: ") + words)
    return figure


def _shade(axes: "Axes", W: Floats, b: Floats, neuron: int) -> None:
    """Shade each pixel by its set, S1 pink, S2 yellow, S3 light blue; draw the lines."""
    grid = np.linspace(-2.5, 2.5, 501)
    pixels = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    a = activations(W, b, pixels)
    s1, s2, _ = maths.partition(clipped_above(a), neuron)
    colours = np.select([s1, s2], [0, 1], default=2).reshape(501, 501)
    axes.contourf(
        grid, grid, colours, [-0.5, 0.5, 1.5, 2.5], colors=[drawing.S1, drawing.S2, drawing.S3]
    )
    for number, members in enumerate((s1, s2), 1):
        x, y = pixels[members].mean(axis=0)
        axes.text(x, y, f"$\\mathcal{{S}}_{number}$", fontsize=12)
    axes.text(2.0, 2.0, r"$\mathcal{S}_3$", fontsize=12)
    for j in range(len(W)):
        colour = drawing.SGD if j == neuron else drawing.INK
        axes.contour(grid, grid, a[:, j].reshape(501, 501), [0.0], colors=colour, linewidths=1.4)
