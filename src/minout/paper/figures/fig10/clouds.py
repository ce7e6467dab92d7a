"""Generated points in clouds: each label has as many of them, anywhere between the others."""

from dataclasses import dataclass

import numpy as np

from minout._typing import Floats, Ints


@dataclass(frozen=True)
class Clouds:
    """How points are generated.

    The centres are uniform in a cube of side 2, and the points of a cloud are normal about its
    centre with a standard deviation of `spread`.
    """

    count: int = 40
    labels: int = 4
    columns: int = 4
    spread: float = 0.15


def generate(clouds: Clouds, rows: int, seed: int) -> tuple[Floats, Ints]:
    """Draw the clouds, their labels, and rows from all clouds in random order."""
    rng = np.random.default_rng([seed, clouds.count])
    centres = rng.uniform(-1.0, 1.0, (clouds.count, clouds.columns))
    label_of = rng.permutation(np.arange(clouds.count) % clouds.labels)
    cloud = rng.integers(clouds.count, size=rows)
    noise = clouds.spread * rng.normal(size=(rows, clouds.columns))
    return centres[cloud] + noise, label_of[cloud]
