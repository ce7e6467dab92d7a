"""Thirty per class, taught to more and more units, and to units of more and more neurons.

Rate, reduction and initial scale are those of Fig. 4. Each sweep turns one knob of `base`.
"""

from dataclasses import dataclass

from minout.experiments import comparison

BASE = comparison.Settings(per_class=30)


@dataclass(frozen=True)
class Settings:
    """Says from where the sweeps start, and through which classes and neurons they go."""

    base: comparison.Settings = BASE
    classes: tuple[int, ...] = tuple(range(2, 11))
    neurons: tuple[int, ...] = (5, 10, 20, 50, 100)


PAPER = Settings()
TESTING = Settings(
    base=comparison.Settings(per_class=4, classes=4, neurons=8, max_steps=500),
    classes=(2, 4),
    neurons=(4, 8),
)
