"""Conditional rehearsal against random with 10 per class."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from minout.paper.figures import comparison_figure, seeds
from minout.paper.figures.task import Claim
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(rows: Sequence[Row]) -> "Figure":
    """Draw the four policies' accuracies."""
    return comparison_figure.draw(rows)


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Compare "by a big margin" with the runs; the margin is computed per seed."""
    conditional = seeds.of_policy(rows, "conditional")
    claims = []
    for policy, name in (("uniform", "fresh draws"), ("uniform-once", "one draw per example")):
        other = seeds.of_policy(rows, policy)
        train, test = (
            100 * (seeds.finals(conditional, part) - seeds.finals(other, part))
            for part in ("train", "test")
        )
        claims.append(
            Claim(
                f"conditional beats random ({name}) by a big margin (8 points of training)",
                f"ahead by {seeds.in_words(train)} points of training accuracy and "
                f"{seeds.in_words(test)} of test",
                bool(train.mean() >= 8 and test.mean() > 0),
            )
        )
    train, test = (100 * seeds.finals(conditional, part) for part in ("train", "test"))
    rehearsed = seeds.means(conditional, "rehearsed")
    claims.append(
        Claim(
            "with about 10 examples rehearsed",
            f"{seeds.in_words(rehearsed)} per unit; conditional ends at train "
            f"{seeds.in_words(train, ' %')}, test {seeds.in_words(test, ' %')}",
            bool(5 <= rehearsed.mean() <= 20),
        )
    )
    return claims
