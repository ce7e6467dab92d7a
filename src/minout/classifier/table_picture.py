"""Draw why a row of a table gets its label: what its columns and the support vectors contribute."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minout._typing import Floats
from minout.classifier.picture import (
    AGAINST,
    FAINT,
    FOR,
    INK,
    Picture,
    new_figure,
    short,
    signed,
    verdict,
)
from minout.engine import Explanation
from minout.errors import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 12
"""How many columns, and how many support vectors, are drawn."""
WIDTH = 10.0

Bar = tuple[str, float]


def draw_table(
    explanation: Explanation, x: Sequence[Any] | Floats, names: Sequence[str] | None = None
) -> Picture:
    """Draw an explanation of a row: bars for its columns and for the support vectors.

    Parameters
    ----------
    explanation : Explanation
        What `Learner.explain` or `MinoutClassifier.explain` returned for x.
    x : sequence of length d
        The value of each column, to show beside its bar: numbers, strings, booleans; None and NaN
        are shown as "missing".
    names : sequence of str, optional
        The names of the columns; by default their numbers.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with `savefig`.

    Raises
    ------
    InvalidInputError
        If x or `names` has not one entry for each column.
    MissingExtraError
        If matplotlib is not installed.
    """
    values = np.asarray(x).reshape(-1).tolist() if isinstance(x, np.ndarray) else list(x)
    names = [f"column {n}" for n in range(len(values))] if names is None else list(names)
    if not len(values) == len(names) == len(explanation.columns):
        raise InvalidInputError(
            f"The explanation is of {len(explanation.columns)} columns, but there are "
            f"{len(values)} values and {len(names)} names."
        )
    figure = new_figure(WIDTH)
    figure.text(0.04, 0.93, short(explanation.label, 40), size=20, weight="bold", color=INK)
    figure.text(0.04, 0.86, verdict(explanation), size=10, color=INK)
    if explanation.runner_up is None:
        return figure
    columns = [
        (f"{short(name, 22)} = {_value(value)}", float(part))
        for name, value, part in zip(names, values, explanation.columns, strict=True)
    ]
    supports = [
        (f"{short(each.id, 16)} ({short(each.label, 10)})", each.weight)
        for each in explanation.supports
    ]
    columns.sort(key=lambda bar: -abs(bar[1]))
    _draw_bars(figure, 0.24, "what the columns contribute", columns)
    _draw_bars(figure, 0.75, "what stored examples contribute", supports)
    figure.text(0.04, 0.04, _sums(explanation), size=9, color=FAINT)
    return figure


def _draw_bars(figure: "Figure", left: float, title: str, bars: list[Bar]) -> None:
    axes: Axes = figure.add_axes((left, 0.21, 0.2, 0.56))
    figure.text(left, 0.79, title, size=10, color=FAINT)
    most = SHOWN if len(bars) > SHOWN + 1 else len(bars)
    shown, rest = bars[:most], bars[most:]
    if rest:
        shown = [*shown, (f"{len(rest)} others", sum(part for _, part in rest))]
    sizes = [part for _, part in shown]
    axes.barh(range(len(shown)), sizes, color=[FOR if part > 0 else AGAINST for part in sizes])
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(shown)), [name for name, _ in shown], size=8.5, color=INK)
    axes.set_ylim(max(len(shown), 4) - 0.4, -0.6)
    axes.margins(x=0.4)
    for n, part in enumerate(sizes):
        side, gap = ("left", 3) if part >= 0.0 else ("right", -3)
        axes.annotate(
            signed(part), (part, n), (gap, 0), textcoords="offset points",
            size=8, color=INK, ha=side, va="center",
        )  # fmt: skip
    axes.tick_params(axis="x", labelsize=8, colors=FAINT)
    axes.tick_params(axis="y", length=0)
    for name in ("top", "right", "left"):
        axes.spines[name].set_visible(False)
    axes.spines["bottom"].set_color("#CCCCCC")


def _value(value: Any) -> str:
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return "missing" if np.isnan(value) else f"{value:.4g}"
    return "missing" if value is None else short(value, 16)


def _sums(explanation: Explanation) -> str:
    supports = sum(each.weight for each in explanation.supports)
    others = explanation.prior + explanation.bias + explanation.forgotten
    label, other = short(explanation.label, 16), short(explanation.runner_up, 16)
    return (
        f"margin {signed(explanation.margin)}  =  {signed(explanation.at_mean)} with the mean of "
        f"every column  {signed(float(explanation.columns.sum()))} by the columns  =  "
        f"{signed(others)} discriminant and bias  {signed(supports)} by stored examples\n"
        f"blue supports {label}, orange {other}"
    )
