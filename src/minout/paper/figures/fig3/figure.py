"""Examples rehearsed per unit through training, beside the paper's expectation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from minout import drawing
from minout._typing import Floats
from minout.paper.figures import seeds
from minout.paper.figures.task import Claim
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WINDOW = 25
"""Examples over which the curve is averaged; most examples move no unit, a few move several."""


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw the mean number rehearsed per step and unit, averaged over the last examples."""
    figure = drawing.new_figure(6.4, 3.6)
    axes = figure.subplots()
    drawing.tidy(axes)
    per_class = rows[0].settings["per_class"]
    curves = np.array([_smooth(row.values["rehearsed"]) for row in rows])
    seeds.band(axes, curves, drawing.CONDITIONAL)
    axes.axhline(per_class, color=drawing.NONE, linestyle=":", linewidth=1.2)
    axes.text(
        0.99 * curves.shape[1], per_class, f"the paper's expectation: {per_class}, one class ",
        ha="right", va="top", color="#666666", fontsize=9,
    )  # fmt: skip
    axes.set(xlim=(0, curves.shape[1]), ylim=(0, None), xlabel="examples taught, in label order")
    axes.set_ylabel("examples rehearsed per unit")
    return figure


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Compare "around 100" with the mean over training."""
    per_class = rows[0].settings["per_class"]
    rehearsed = seeds.means(rows, "rehearsed")
    return [
        Claim(
            paper=f"each unit rehearses around {per_class} examples (we ask: half to twice that)",
            measured=seeds.in_words(rehearsed),
            holds=bool((rehearsed >= per_class / 2).all() and (rehearsed <= 2 * per_class).all()),
        )
    ]


def _smooth(values: Sequence[float | None]) -> Floats:
    # The mean over the examples of the last WINDOW that moved a unit; before the first, 0.
    known = np.array([value is not None for value in values])
    sums = np.cumsum([value or 0.0 for value in values])
    counts = np.cumsum(known)
    sums[WINDOW:] -= sums[:-WINDOW].copy()
    counts[WINDOW:] -= counts[:-WINDOW].copy()
    smooth = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    for i in np.flatnonzero(np.isnan(smooth)):
        smooth[i] = smooth[i - 1] if i else 0.0
    return np.asarray(smooth)
