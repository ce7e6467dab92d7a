"""Thirty per class, taught in label order to every point of the line."""

from dataclasses import dataclass

from minout.experiments import comparison

MINOUT = comparison.Settings(max_steps=2_000)


@dataclass(frozen=True)
class Settings:
    """Says what is taught, where on the line, and how long each point may take its steps.

    `groups` are the sizes of the tables by group, `neurons` those of the minout units, whose other
    knobs (`minout`) are those of Fig. 4.
    """

    per_class: int = 30
    groups: tuple[int, ...] = (300, 100, 30, 10, 3)
    neurons: tuple[int, ...] = (50, 20, 5, 1)
    hidden: int = 128
    table_rate: float = 0.01
    network_rate: float = 0.03
    max_steps: int = 2_000
    minout: comparison.Settings = MINOUT


PAPER = Settings()
TESTING = Settings(per_class=3, groups=(30, 3), neurons=(8, 1), hidden=16)
