"""An experiment is settings → rows → claims and a drawing; the latter see rows, never a learner."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minout._typing import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Settings = dict[str, Any]


class Row(NamedTuple):
    """One run: its settings and seed, and what was measured."""

    settings: Settings
    seed: int
    values: dict[str, Any]


Rows = Sequence[Row]


class Claim(NamedTuple):
    """What the paper says beside what was measured; `holds` is None if neither yes nor no."""

    paper: str
    measured: str
    holds: bool | None


class Experiment(NamedTuple):
    """A figure: the settings of its runs, its functions, and at most how many seeds."""

    settings: Sequence[Settings]
    run: Callable[[Settings, int], dict[str, Any]]
    draw: Callable[[Rows], "Figure"]
    claims: Callable[[Rows], list[Claim]]
    seeds: int = 1_000


def combinations(base: Settings, **options: Sequence[Any]) -> list[Settings]:
    """Return the settings for each combination of options; the last option changes fastest."""
    return [
        {**base, **dict(zip(options, each, strict=True))} for each in product(*options.values())
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
