"""Conditional, random and no rehearsal with 100 per class."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from minout.paper.figures import comparison_figure, seeds
from minout.paper.figures.task import Claim
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw the three policies' accuracies."""
    return comparison_figure.draw(rows)


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Compare the paper's sentences about this picture with the runs."""
    conditional, uniform, none = (
        seeds.of_policy(rows, policy) for policy in ("conditional", "uniform", "none")
    )
    train, test = (100 * seeds.finals(conditional, name) for name in ("train", "test"))
    lost, random = (100 * seeds.finals(each, "train") for each in (none, uniform))
    behind = test - 100 * seeds.finals(uniform, "test")
    least = 100 * np.array([min(row.values["seen"]) for row in conditional])
    rise = np.array([_largest_fall(row.values["train"]) for row in conditional])
    return [
        Claim(
            "conditional rehearsal ends at 100 % of the training set",
            f"train {seeds.in_words(train, ' %')}, test {seeds.in_words(test, ' %')}",
            bool((train == 100).all()),
        ),
        Claim(
            "no forgetting is happening",
            f"accuracy over the examples seen so far, at its lowest: {seeds.in_words(least, ' %')}",
            bool((least == 100).all()),
        ),
        Claim(
            "without rehearsal it fails to learn (below 30 %)",
            f"train {seeds.in_words(lost, ' %')}",
            bool((lost < 30).all()),
        ),
        Claim(
            "random rehearsal is as good (test within 2 points)",
            f"train {seeds.in_words(random, ' %')}; conditional ahead on test by "
            f"{seeds.in_words(behind, ' points')}",
            bool(abs(behind.mean()) <= 2),
        ),
        Claim(
            "training accuracy rises monotonically",
            f"largest fall below an earlier value: {seeds.in_words(100 * rise, ' points')}",
            bool((rise == 0).all()),
        ),
    ]


def _largest_fall(curve: Sequence[float]) -> float:
    return float((np.maximum.accumulate(curve) - np.array(curve)).max())
