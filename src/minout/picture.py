"""Draw why an image or a row of a table gets its label: what decides, and which examples."""

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats, Id, Label
from minout.engine import Explanation, Support
from minout.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

HEIGHT, IMAGE, SUPPORTS, TABLE = 4.4, 2.95, 6.0, 10.0
"""Inches: the height of a picture, and the widths of an image, the support vectors and a table."""
SHOWN, BARS = 5, 12
"""How many support vectors are drawn for each label, and how many bars."""
FOR, AGAINST, INK, FAINT = "#0072B2", "#D55E00", "#222222", "#777777"

Images = Mapping[Id, ArrayLike]
Picture: TypeAlias = "Figure"


def draw(
    explanation: Explanation,
    x: ArrayLike,
    image_shape: Sequence[int] | None = None,
    images: Images | None = None,
) -> Picture:
    """Draw an explanation: the image, the separator and its support vectors.

    Parameters
    ----------
    explanation : Explanation
        What `Learner.explain` or `MinoutClassifier.explain` returned for x.
    x : array-like
        The image, or its row. The separator is drawn only if it has one weight per number of x.
    image_shape : sequence of int, optional
        The shape of the image in a row, (height, width) or (height, width, channels). By default a
        row whose length is a square is a grey image.
    images : mapping of id to image, optional
        The images of stored examples; of those that are missing, the label is drawn.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with `savefig`.

    Raises
    ------
    InvalidInputError
        If x is not an image of `image_shape`.
    MissingExtraError
        If matplotlib is not installed.
    """
    image = _image(x, image_shape)
    if explanation.runner_up is None:
        _draw_decision(figure := _new_figure(IMAGE), explanation, image, None)
        return figure
    weights = explanation.separator if explanation.separator.size == image.size else None
    half = IMAGE if weights is None else 2.0 * IMAGE
    figure = _new_figure(half + SUPPORTS)
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(half, SUPPORTS))[0]
    _draw_decision(left, explanation, image, weights)
    for sign in (1.0, -1.0):
        _draw_side(right, explanation, sign, images or {}, image_shape)
    return figure


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
    figure = _new_figure(TABLE)
    figure.text(0.04, 0.93, _short(explanation.label, 40), size=20, weight="bold", color=INK)
    figure.text(0.04, 0.86, _verdict(explanation), size=10, color=INK)
    if explanation.runner_up is None:
        return figure
    parts = zip(names, values, explanation.columns.tolist(), strict=True)
    columns = [(f"{_short(name, 22)} = {_value(value)}", part) for name, value, part in parts]
    columns.sort(key=lambda bar: -abs(bar[1]))
    supports = [
        (f"{_short(each.id, 16)} ({_short(each.label, 10)})", each.weight)
        for each in explanation.supports
    ]
    _draw_bars(figure, 0.24, "what the columns contribute", columns)
    _draw_bars(figure, 0.75, "what stored examples contribute", supports)
    figure.text(0.04, 0.04, _table_sum(explanation), size=9, color=FAINT)
    return figure


def _new_figure(width: float) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            'Pictures need matplotlib; in the folder of minout\'s source: pip install ".[figures]".'
        ) from error
    return Figure(figsize=(width, HEIGHT), facecolor="white")


def _draw_decision(
    part: "Figure | SubFigure",
    explanation: Explanation,
    image: NDArray[Any],
    weights: NDArray[Any] | None,
) -> None:
    """Draw the label, the image, and the weights of the separator beside it."""
    from matplotlib.colors import LinearSegmentedColormap

    share = 1.0 if weights is None else 0.5
    left, label, other = 0.07 * share, explanation.label, explanation.runner_up
    part.text(left, 0.92, _short(label, 18), size=20, weight="bold", color=INK, va="center")
    part.text(left, 0.83, _verdict(explanation), size=10, color=INK, va="center")
    part.text(left, 0.08, _sum(explanation), size=9, color=FAINT, va="center", linespacing=1.5)
    axes = part.add_axes((left, 0.21, 0.88 * share, 0.57), anchor="NW")
    _show(axes, image)
    axes.set_xlabel("the example", size=9, color=FAINT, labelpad=4)
    if weights is not None:
        beside = part.add_axes((0.5 + left, 0.21, 0.88 * share, 0.57), anchor="NW")
        colors = LinearSegmentedColormap.from_list("sides", [AGAINST, "white", FOR])
        grey = weights.reshape(*image.shape[:2], -1).sum(axis=2)
        most = float(np.abs(grey).max()) or 1.0
        beside.imshow(grey, cmap=colors, vmin=-most, vmax=most, interpolation="nearest")
        _bare(beside)
        title = f"what decides: blue for {_short(label, 8)}, orange for {_short(other, 8)}"
        beside.set_xlabel(title, size=9, color=FAINT, labelpad=4)


def _draw_side(
    part: "SubFigure",
    explanation: Explanation,
    sign: float,
    images: Images,
    image_shape: Sequence[int] | None,
) -> None:
    """Draw the support vectors of one label: those with weights of this sign."""
    top, color = (0.91, FOR) if sign > 0.0 else (0.43, AGAINST)
    label = explanation.label if sign > 0.0 else explanation.runner_up
    side = [each for each in explanation.supports if sign * each.weight > 0.0]
    part.text(0.06, top, f"speak for {_short(label, 24)}", size=11, color=color, va="center")
    part.text(0.98, top, _count(side), size=9, color=FAINT, va="center", ha="right")
    for column, support in enumerate(side[:SHOWN]):
        axes = part.add_axes((0.06 + 0.186 * column, top - 0.325, 0.176, 0.28))
        if support.id in images:
            _show(axes, _image(images[support.id], image_shape))
        else:
            axes.set(xlim=(0, 1), ylim=(0, 1), facecolor="#F2F2F2")
            name = _short(support.label, 8)
            axes.text(0.5, 0.5, name, size=12, color=INK, ha="center", va="center")
            _bare(axes)
        caption = (
            f"{_signed(support.weight)}   {_short(support.label, 8)}\n{_short(support.id, 16)}"
        )
        axes.set_xlabel(caption, size=8.5, color=INK, labelpad=3)
        for spine in axes.spines.values():
            spine.set(visible=True, color=color, linewidth=1.6)


def _draw_bars(figure: "Figure", left: float, title: str, bars: list[tuple[str, float]]) -> None:
    axes: Axes = figure.add_axes((left, 0.21, 0.2, 0.56))
    figure.text(left, 0.79, title, size=10, color=FAINT)
    if len(bars) > BARS + 1:
        rest = bars[BARS:]
        bars = [*bars[:BARS], (f"{len(rest)} others", sum(part for _, part in rest))]
    sizes = [part for _, part in bars]
    axes.barh(range(len(bars)), sizes, color=[FOR if part > 0 else AGAINST for part in sizes])
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(bars)), [name for name, _ in bars], size=8.5, color=INK)
    axes.set_ylim(max(len(bars), 4) - 0.4, -0.6)
    axes.margins(x=0.4)
    for n, part in enumerate(sizes):
        side, gap = ("left", 3) if part >= 0.0 else ("right", -3)
        axes.annotate(
            _signed(part), (part, n), (gap, 0), textcoords="offset points",
            size=8, color=INK, ha=side, va="center",
        )  # fmt: skip
    axes.tick_params(axis="x", labelsize=8, colors=FAINT)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color("#CCCCCC")


def _image(x: ArrayLike, shape: Sequence[int] | None) -> NDArray[Any]:
    image = np.asarray(x, dtype=np.float64)
    if image.ndim in (2, 3) and image.shape[0] > 1:
        return image
    numbers = image.reshape(-1)
    if shape is None:
        shape = (isqrt(numbers.size), isqrt(numbers.size))
    if numbers.size == 0 or int(np.prod(shape)) != numbers.size or len(shape) not in (2, 3):
        raise InvalidInputError(
            f"A row of {numbers.size} numbers is no image of shape {tuple(shape)}; "
            "pass image_shape=(height, width) or (height, width, channels)."
        )
    return numbers.reshape(tuple(shape))


def _show(axes: "Axes", image: NDArray[Any]) -> None:
    span = float(image.max() - image.min())
    bright = (image - image.min()) / span if span > 0.0 else np.zeros_like(image)
    if image.shape[2:] != (3,):
        bright = bright.reshape(*image.shape[:2], -1).mean(axis=2)
    axes.imshow(bright, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
    _bare(axes)


def _bare(axes: "Axes") -> None:
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(color="#CCCCCC", linewidth=0.8)


def _verdict(explanation: Explanation) -> str:
    """Return by how much the label won against the runner-up."""
    other = _short(explanation.runner_up, 16)
    if explanation.runner_up is None:
        return "there is no other class"
    if explanation.margin <= 0.0:
        return f"comes nearest, but is {-explanation.margin:.2f} short against {other}"
    return f"and not {other}, by a margin of {explanation.margin:.2f}"


def _sum(explanation: Explanation) -> str:
    if explanation.runner_up is None:
        return ""
    weights = [each.weight for each in explanation.supports]
    parts = [
        (explanation.prior, "discriminant"),
        (explanation.bias, "bias"),
        (sum(each for each in weights if each > 0.0), f"for {_short(explanation.label, 8)}"),
        (sum(each for each in weights if each < 0.0), f"for {_short(explanation.runner_up, 8)}"),
    ]
    terms = [f"{_signed(number)} {name}" for number, name in parts if number != 0.0]
    return f"{_signed(explanation.margin)}  =  {'  '.join(terms[:-2])}\n{'  '.join(terms[-2:])}"


def _table_sum(explanation: Explanation) -> str:
    supports = sum(each.weight for each in explanation.supports)
    others = explanation.prior + explanation.bias + explanation.forgotten
    return (
        f"margin {_signed(explanation.margin)}  =  {_signed(explanation.at_mean)} with the mean of "
        f"every column  {_signed(float(explanation.columns.sum()))} by the columns  =  "
        f"{_signed(others)} discriminant and bias  {_signed(supports)} by stored examples\n"
        f"blue supports {_short(explanation.label, 16)}, "
        f"orange {_short(explanation.runner_up, 16)}"
    )


def _count(side: list[Support]) -> str:
    total = _signed(sum(each.weight for each in side)) if side else "none"
    rest = side[SHOWN:]
    if not rest:
        return total
    others = f"{len(rest)} other{'s' if len(rest) > 1 else ''}"
    return f"{total} in all, {_signed(sum(each.weight for each in rest))} by {others}"


def _value(value: Any) -> str:
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return "missing" if np.isnan(value) else f"{value:.4g}"
    return "missing" if value is None else _short(value, 16)


def _signed(number: float) -> str:
    digits = 2 if abs(number) >= 0.1 else 3
    return f"{'+' if number >= 0.0 else chr(0x2212)}{abs(number):.{digits}f}"  # a minus, no hyphen


def _short(name: Label | None, most: int) -> str:
    """Return a name in at most so many characters."""
    text = " ".join(str(name).split())
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return text.replace("$", "\\$")  # matplotlib reads a dollar as the start of a formula
