"""Runs, and what the paper says beside what was measured: the one way to compare the two."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Floats
from minout.paper.results import Row

Rows = Sequence[Row]


@dataclass(frozen=True)
class Settings:
    """What the settings of every figure have: the variants to run, and the most seeds to take."""

    variants: tuple[str, ...] = ("",)
    most_seeds: int = 1_000


class Task(NamedTuple):
    """One independent run."""

    settings: Any
    variant: str
    seed: int

    def told(self, name: str) -> dict[str, Any]:
        """Return the settings by name, flat, with the variant under `name`."""
        found = {**asdict(self.settings), name: self.variant}
        del found["variants"], found["most_seeds"]
        return {**found, **found.pop("rule", {})}


class Claim(NamedTuple):
    """What the paper says beside what was measured; `holds` is None if neither yes nor no."""

    paper: str
    measured: str
    holds: bool | None


def plan(settings: Sequence[Settings], seeds: int) -> list[Task]:
    """Return a run for each of the settings, variant and seed."""
    return [
        Task(each, variant, seed)
        for each in settings
        for variant in each.variants
        for seed in range(min(seeds, each.most_seeds))
    ]


def select(rows: Rows, **settings: Any) -> list[Row]:
    """Return the runs with these settings."""
    return [row for row in rows if settings.items() <= row.settings.items()]


def values(rows: Rows, name: str, **settings: Any) -> Floats:
    """Return one value of every run with these settings: (seeds,), or (seeds, n) for curves."""
    return np.array([row.values[name] for row in select(rows, **settings)], dtype=np.float64)


def known(rows: Rows, name: str) -> list[Any]:
    """Return the different values of a setting, ascending."""
    return sorted({row.settings[name] for row in rows})


def sweep(rows: Rows, name: str, knob: str, **settings: Any) -> Floats:
    """Return one value for each value of a setting: (values of the setting, seeds)."""
    chosen = select(rows, **settings)
    return np.array([values(chosen, name, **{knob: at}) for at in known(chosen, knob)])


def in_words(numbers: Floats, unit: str = "") -> str:
    """Return mean ± standard deviation over the seeds, as text.

    >>> in_words(np.array([99.0, 100.0]), " %")
    '99.5 ± 0.7 %'
    """
    spread = f" ± {numbers.std(ddof=1):.1f}" if len(numbers) > 1 else ""
    return f"{numbers.mean():.1f}{spread}{unit}"
