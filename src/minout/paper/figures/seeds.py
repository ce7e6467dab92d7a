"""Several seeds as one number in words, and as one curve with a band."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from minout._typing import Floats
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def of_policy(rows: Sequence[Row], policy: str) -> list[Row]:
    """Return the runs of one policy, one per seed."""
    return [row for row in rows if row.settings["policy"] == policy]


def finals(rows: Sequence[Row], name: str) -> Floats:
    """Return the last value of a curve for each run."""
    return np.array([row.values[name][-1] for row in rows], dtype=np.float64)


def means(rows: Sequence[Row], name: str) -> Floats:
    """Return the mean of a curve over the examples that moved a unit, for each run."""
    return np.array([np.nanmean(np.array(row.values[name], dtype=np.float64)) for row in rows])


def in_words(values: Floats, unit: str = "", digits: int = 1) -> str:
    """Return mean ± standard deviation over the seeds, as text.

    >>> in_words(np.array([99.0, 100.0]), " %")
    '99.5 ± 0.7 %'
    """
    spread = f" ± {values.std(ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{spread}{unit}"


def band(axes: "Axes", curves: Floats, colour: str, *, wide: bool = False) -> None:
    """Draw curves (seeds, n) as their mean, with a band that reaches every seed.

    A wide line drawn first stays visible under a thin one that covers it.
    """
    taught = np.arange(1, curves.shape[1] + 1)
    axes.plot(taught, curves.mean(axis=0), color=colour, linewidth=3.0 if wide else 1.5)
    low, high = curves.min(axis=0), curves.max(axis=0)
    axes.fill_between(taught, low, high, color=colour, alpha=0.15, linewidth=0)
