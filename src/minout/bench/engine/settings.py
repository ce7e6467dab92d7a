"""What is measured, how large and with which seeds; nothing here is chosen by looking at a test."""

from dataclasses import dataclass, replace

import numpy as np

from minout.streams import Data


@dataclass(frozen=True)
class Settings:
    """Says how large each part is; the learner itself always has its defaults.

    `features` are those of all parts but `small`, `tables` and `many`. `grown` lists at how many
    stored examples the cost of one is told, and over how many before it. `medium` examples per
    class are taught in `order`, `forget` and `noise`; `paper` to the paper's learner in `noise`.
    `spread` is the length of the noise around a centre of length 1 in `many`; with 4.25 about nine
    in ten held-out rows can be named. `warm` compiles everything before anything is timed.
    """

    warm: bool = True
    seed: int = 0
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    features: str = "scattering"
    audits: int = 20
    grown: tuple[tuple[int, int], ...] = ((1_000, 500), (6_000, 1_000), (60_000, 3_000))
    small: tuple[int, ...] = (10, 100)
    small_features: tuple[str, ...] = ("scattering", "raw")
    medium: int = 600
    paper: int = 100
    forgotten: float = 0.01
    wrong: float = 0.05
    table_rows: int = 20_000
    table_test: int = 5_000
    sets: tuple[str, ...] = ("breast_cancer", "wine", "digits")
    classes: int = 150
    examples: int = 100
    held_out: int = 20
    dimensions: int = 384
    spread: float = 4.25
    class_counts: tuple[int, ...] = (25, 50, 100, 150, 300)
    examples_each: int = 20


FULL = Settings()
SAMPLE = Settings(grown=((250, 125), (1_000, 250), (4_000, 1_000)), medium=200)
TESTING = Settings(
    warm=False,
    seeds=(0, 1),
    features="raw",
    audits=2,
    grown=((40, 20), (80, 20)),
    small=(3,),
    medium=8,
    paper=3,
    forgotten=0.05,
    table_rows=60,
    table_test=40,
    sets=("wine",),
    classes=5,
    examples=6,
    held_out=4,
    dimensions=12,
    class_counts=(3,),
    examples_each=3,
)


def settings_for(data: Data) -> Settings:
    """Gives the sizes that suit a data set: the full ones where it is as large as MNIST."""
    rarest = int(np.unique(data.labels, return_counts=True)[1].min())
    if len(data.labels) >= 60_000 and rarest >= FULL.medium:
        return FULL
    return replace(
        SAMPLE,
        small=tuple(per_class for per_class in SAMPLE.small if per_class <= rarest),
        medium=min(SAMPLE.medium, rarest),
        paper=min(SAMPLE.paper, rarest),
    )
