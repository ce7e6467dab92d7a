"""Where conditional rehearsal is ahead of random, and where neither works."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minout import drawing
from minout._typing import Floats
from minout.paper.figures.task import Claim
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

BIG, CLOSE, LEARNED = 8.0, 2.0, 98.0
"""Points: a big margin; as good as; and the training accuracy at which something was learned."""


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw a panel per size and reduction; the colour of a cell shows the better policy."""
    sizes = _values(rows, "per_class")
    reductions = _values(rows, "reduction")
    figure = drawing.new_figure(1.2 + 3.6 * len(reductions), 0.9 + 2.7 * len(sizes))
    panels = figure.subplots(len(sizes), len(reductions), squeeze=False)
    for line, size in zip(panels, sizes, strict=True):
        for axes, reduction in zip(line, reductions, strict=True):
            chosen = [
                row
                for row in rows
                if (row.settings["per_class"], row.settings["reduction"]) == (size, reduction)
            ]
            _panel(axes, chosen)
            axes.set_title(
                f"{size} per class, rehearsal loss: {reduction}", fontsize=10, loc="left"
            )
    figure.supxlabel("learning rate", fontsize=10)
    figure.supylabel("initial scale of the weights", fontsize=10)
    figure.suptitle(
        "training accuracy (%): conditional / random with fresh draws / with one draw\n"
        "blue: conditional ahead, orange: random (fresh) ahead",
        fontsize=10,
    )
    return figure


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Check whether one setting gives both of the paper's comparisons."""
    small, large = (_table(rows, size) for size in _values(rows, "per_class"))
    both = [
        knobs
        for knobs in small
        if small[knobs][0] - max(small[knobs][1:]) >= BIG
        and large[knobs][0] >= LEARNED
        and abs(large[knobs][0] - large[knobs][1]) <= CLOSE
    ]
    margins = {knobs: accuracies[0] - accuracies[1] for knobs, accuracies in small.items()}
    best = max(margins, key=lambda knobs: margins[knobs])
    return [
        Claim(
            "one setting shows both: random as good at 100 per class, clearly worse at 10",
            f"{len(both)} of {len(small)} settings do ({LEARNED:.0f} % or more at 100 per class)"
            + (f": {both}" if both else ""),
            bool(both),
        ),
        Claim(
            "conditional beats random by a big margin at 10 per class",
            f"in {sum(m >= BIG for m in margins.values())} of {len(margins)} settings; most "
            f"({margins[best]:.0f} points) with {_in_words(best)}",
            bool(margins[best] >= BIG),
        ),
    ]


Knobs = tuple[str, float, float]


def _in_words(knobs: Knobs) -> str:
    return f"reduction {knobs[0]}, rate {knobs[1]}, scale {knobs[2]}"


def _table(rows: Sequence[Row], size: int) -> dict[Knobs, Floats]:
    """Return each setting's mean training accuracy over the seeds, in % (policies,)."""
    found: dict[Knobs, dict[str, list[float]]] = {}
    for row in rows:
        s = row.settings
        if s["per_class"] == size:
            knobs = (s["reduction"], s["learning_rate"], s["initial_scale"])
            found.setdefault(knobs, {}).setdefault(s["policy"], []).append(row.values["train"])
    order = ("conditional", "uniform", "uniform-once")
    return {
        knobs: np.array([100 * np.mean(policies[policy]) for policy in order])
        for knobs, policies in found.items()
    }


def _panel(axes: "Axes", rows: Sequence[Row]) -> None:
    table = _table(rows, rows[0].settings["per_class"])
    rates, scales = _values(rows, "learning_rate"), _values(rows, "initial_scale")
    reduction = rows[0].settings["reduction"]
    lead = np.array(
        [
            [table[reduction, rate, scale][0] - table[reduction, rate, scale][1] for rate in rates]
            for scale in scales
        ]
    )
    axes.imshow(lead, cmap=_colours(), vmin=-50, vmax=50, aspect="auto", origin="lower")
    for i, scale in enumerate(scales):
        for j, rate in enumerate(rates):
            words = " / ".join(f"{value:.0f}" for value in table[reduction, rate, scale])
            axes.text(j, i, words, ha="center", va="center", fontsize=8.5, color=drawing.INK)
    axes.set_xticks(range(len(rates)), [str(rate) for rate in rates])
    axes.set_yticks(range(len(scales)), [str(scale) for scale in scales])
    axes.spines[:].set_visible(False)


def _colours() -> "Colormap":
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("lead", [drawing.UNIFORM, "#F7F7F7", "#6FB1DC"])


def _values(rows: Sequence[Row], name: str) -> list[Any]:
    return sorted({row.settings[name] for row in rows}, reverse=name == "reduction")
