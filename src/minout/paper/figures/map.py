"""The map: for which rates, reductions and initial scales does conditional rehearsal beat random?

The paper does not say them. Judged by training rows only; the test set is not read.
"""

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from minout._typing import Floats
from minout.metrics import accuracy
from minout.paper.figures import drawing, mnist
from minout.paper.figures.measured import Claim, Rows, Task, known, values
from minout.paper.specification import GradientRule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POLICIES = ("conditional", "random", "random-once")
BIG, CLOSE, LEARNED = 8.0, 2.0, 98.0
"""Points: a big margin; as good as; and the training accuracy at which something was learned."""


def _cell(size: int, reduction: Any, rate: float, scale: float, neurons: int) -> mnist.Settings:
    rule = GradientRule(neurons, rate, reduction, initial_scale=scale)
    return mnist.Settings(variants=POLICIES, most_seeds=2, per_class=size, budget=size, rule=rule)


GRID = product((10, 100), ("sum", "mean"), (0.01, 0.03, 0.1), (0.1, 0.3, 1.0))
PAPER = tuple(_cell(*cell, neurons=50) for cell in GRID)
QUICK = tuple(_cell(*cell, 0.1, 0.3, neurons=6) for cell in product((2, 3), ("sum", "mean")))


def perform(task: Task) -> dict[str, Any]:
    """Teach one cell; measure it on what was taught."""
    data, learner = mnist.examples(task), mnist.learner_for(task)
    for x, y in zip(data.rows, data.labels.tolist(), strict=True):
        learner.teach(x, y)
    return {"train": accuracy(learner.predict(data.rows), data.labels)}


def claims(rows: Rows) -> list[Claim]:
    """Check whether one setting gives both of the paper's comparisons."""
    small, large = (_cells(rows, size) for size in known(rows, "per_class"))
    both = [
        cell
        for cell in small
        if small[cell][0] - small[cell][1:].max() >= BIG
        and large[cell][0] >= LEARNED
        and abs(large[cell][0] - large[cell][1]) <= CLOSE
    ]
    margins = {cell: means[0] - means[1] for cell, means in small.items()}
    best = max(margins, key=lambda cell: margins[cell])
    return [
        Claim(
            "one setting shows both: random as good at 100 per class, clearly worse at 10",
            f"{len(both)} of {len(small)} settings do; at 10 per class the margin is widest "
            f"({margins[best]:.0f} points) with reduction {best[0]}, rate {best[1]}, "
            f"scale {best[2]}",
            bool(both),
        )
    ]


def draw(rows: Rows) -> "Figure":
    """Draw a panel per size and reduction; blue cells: conditional ahead, orange: random."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("lead", [drawing.UNIFORM, "#F7F7F7", "#6FB1DC"])
    rates, scales = known(rows, "learning_rate"), known(rows, "initial_scale")
    figure = drawing.new_figure(8.4, 6.3)
    panels = product(known(rows, "per_class"), ("sum", "mean"))
    for axes, (size, reduction) in zip(figure.subplots(2, 2).flat, panels, strict=True):
        cells = _cells(rows, size)
        means = np.array([[cells[reduction, rate, scale] for rate in rates] for scale in scales])
        lead = means[:, :, 0] - means[:, :, 1]
        axes.imshow(lead, cmap=colours, vmin=-50, vmax=50, aspect="auto", origin="lower")
        for (i, j), _ in np.ndenumerate(lead):
            words = " / ".join(f"{mean:.0f}" for mean in means[i, j])
            axes.text(j, i, words, ha="center", va="center", fontsize=8.5)
        axes.set_xticks(range(len(rates)), [f"rate {rate}" for rate in rates])
        axes.set_yticks(range(len(scales)), [f"scale {scale}" for scale in scales])
        axes.set_title(f"{size} per class, rehearsal loss: {reduction}", fontsize=10, loc="left")
    words = f"training accuracy (%): {' / '.join(POLICIES)}"
    figure.suptitle(f"{words}; blue: conditional ahead, orange: random", fontsize=10)
    return figure


def _cells(rows: Rows, size: int) -> dict[tuple[str, float, float], Floats]:
    """Return the mean training accuracy in % of each policy, for each setting."""
    found: dict[tuple[str, float, float], Floats] = {}
    names = ("reduction", "learning_rate", "initial_scale")
    for cell in product(*(known(rows, name) for name in names)):
        setting = {**dict(zip(names, cell, strict=True)), "per_class": size}
        means = [values(rows, "train", policy=each, **setting).mean() for each in POLICIES]
        found[cell] = 100 * np.array(means)
    return found
