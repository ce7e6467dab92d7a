"""Made streams whose classes change: labels that swap, rotating classes, new classes; and some that
do not change, for false alarms.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.data import Array, Ints


class Stream(NamedTuple):
    """Rows (n, d) and labels (n,) in the order in which they come."""

    rows: Array
    labels: Ints


def flipped(count: int, rng: np.random.Generator) -> Stream:
    """Return four Gaussians in 8 columns; after half of the rows each has the label of the next."""
    means = 2.0 * rng.normal(size=(4, 8))
    number = rng.integers(4, size=count)
    later = np.arange(count) >= count // 2
    return Stream(means[number] + rng.normal(size=(count, 8)), (number + later) % 4)


def rotating(count: int, rng: np.random.Generator) -> Stream:
    """Return four Gaussians on a circle in 8 columns; they go round it once."""
    number = rng.integers(4, size=count)
    angle = 2.0 * np.pi * (number / 4.0 + np.arange(count) / count)
    rows = rng.normal(size=(count, 8))
    rows[:, 0] += 3.0 * np.cos(angle)
    rows[:, 1] += 3.0 * np.sin(angle)
    return Stream(rows, number)


def new_classes(count: int, rng: np.random.Generator) -> Stream:
    """Return 20 Gaussians in 16 columns, one more after each twentieth of the rows."""
    means = 1.5 * rng.normal(size=(20, 16))
    number = rng.integers(1 + 20 * np.arange(count) // count)
    return Stream(means[number] + rng.normal(size=(count, 16)), number)


CHANGING: dict[str, Callable[[int, np.random.Generator], Stream]] = {
    "labels swapped half-way": flipped,
    "rotating classes": rotating,
    "a new class after each twentieth": new_classes,
}
STATIONARY = ("easy", "overlapping", "label order")


def stationary(kind: str, count: int, rng: np.random.Generator) -> Stream:
    """Return 2 to 10 Gaussians in 2 to 8 columns that do not change.

    They are "easy" or "overlapping", in random order, or either of them in "label order". How
    frequent a class is, is drawn too.
    """
    if kind not in STATIONARY:
        raise ValueError(f"There is no kind {kind!r}.")
    classes, columns = int(rng.choice([2, 3, 5, 10])), int(rng.choice([2, 4, 8]))
    is_easy = kind == "easy" or (kind == "label order" and rng.random() < 0.5)
    means = float(rng.choice([2.0, 4.0] if is_easy else [0.5, 1.0])) * rng.normal(
        size=(classes, columns)
    )
    number = rng.choice(classes, size=count, p=rng.dirichlet(np.full(classes, 5.0)))
    if kind == "label order":
        number.sort()
    return Stream(means[number] + rng.normal(size=(count, columns)), number)
