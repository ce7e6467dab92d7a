"""Draw why an image or a row of a table gets its label: what decides, and which examples."""

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats, Id, Label
from minout.core import Explanation, Support
from minout.errors import InvalidInputError, import_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT, IMAGE, SUPPORTS, TABLE = 4.4, 2.95, 6.0, 10.0
"""Inches: the height of a picture, and the widths of an image, the support vectors and a table."""
SHOWN, BARS = 5, 12
"""How many support vectors are drawn for each label, and how many bars."""
FOR, AGAINST, FAINT = "#0072B2", "#D55E00", "#777777"

Images = Mapping[Id, ArrayLike]
Picture: TypeAlias = "Figure"


def draw(
    explanation: Explanation,
    x: ArrayLike,
    image_shape: Sequence[int] | None = None,
    images: Images | None = None,
) -> Picture:
    """Draw an explanation of x: the image, the separator and its support vectors.

    The separator is drawn only if it has one weight per number of x. By default a row whose length
    is a square is a grey image. `images` are those of stored examples; of others, the label is
    drawn.
    """
    image, label, other = _image(x, image_shape), explanation.label, explanation.runner_up
    has_weights = other is not None and explanation.separator.size == image.size
    half = IMAGE * (1 + has_weights)
    figure = _new_figure(half if other is None else half + SUPPORTS, explanation)
    if other is None:
        _show(figure.subplots(), image, "the example")
        return figure
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(half, SUPPORTS))[0]
    first, *rest = left.subplots(1, 1 + has_weights, squeeze=False)[0]
    _show(first, image, "the example")
    if rest:
        weights = explanation.separator.reshape(*image.shape[:2], -1).sum(axis=2)
        title = f"what decides: blue for {_short(label, 8)}, orange for {_short(other, 8)}"
        _show(rest[0], weights, title, has_sides=True)
    for row, sign in zip(right.subplots(2, SHOWN), (1.0, -1.0), strict=True):
        name = f"speak for {_short(label if sign > 0.0 else other, 24)}"
        row[0].set_title(name, size=11, color=FOR if sign > 0.0 else AGAINST, loc="left")
        side = [each for each in explanation.supports if sign * each.weight > 0.0]
        _draw_side(row, side, images or {}, image_shape)
    return figure


def _draw_side(
    row: "list[Axes]", side: list[Support], images: Images, image_shape: Sequence[int] | None
) -> None:
    for axes in row[len(side) :]:
        axes.axis("off")
    for axes, support in zip(row, side, strict=False):
        name, id = _short(support.label, 8), _short(support.id, 16)
        if support.id in images:
            _show(axes, _image(images[support.id], image_shape), "")
        else:
            axes.text(0.5, 0.5, name, size=12, ha="center", va="center")
            axes.set(xticks=[], yticks=[])
        axes.set_xlabel(f"{_signed(support.weight)}   {name}\n{id}", size=8.5)


def draw_table(
    explanation: Explanation, x: Sequence[Any] | Floats, names: Sequence[str]
) -> Picture:
    """Draw an explanation of a row: bars for its columns, with their values x, and the supports."""
    values = np.asarray(x).reshape(-1).tolist() if isinstance(x, np.ndarray) else list(x)
    if not len(values) == len(names) == len(explanation.columns):
        raise InvalidInputError(
            f"The explanation is of {len(explanation.columns)} columns, but there are "
            f"{len(values)} values and {len(names)} names."
        )
    figure = _new_figure(TABLE, explanation)
    if explanation.runner_up is None:
        return figure
    parts = zip(names, values, explanation.columns.tolist(), strict=True)
    columns = [(f"{_short(name, 22)} = {_value(value)}", part) for name, value, part in parts]
    supports = [
        (f"{_short(each.id, 16)} ({_short(each.label, 10)})", each.weight)
        for each in explanation.supports
    ]
    left, right = figure.subplots(1, 2)
    columns.sort(key=lambda bar: -abs(bar[1]))
    _draw_bars(left, "what the columns contribute", columns)
    _draw_bars(right, "what stored examples contribute", supports)
    return figure


def _new_figure(width: float, explanation: Explanation) -> "Figure":
    """Return a figure with the label, by how much it won, and how its margin adds up."""
    import_extra("matplotlib.figure", "figures", "Pictures need matplotlib")
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(h_pad=0.1, rect=(0.0, 0.1, 1.0, 0.73))
    figure = Figure(figsize=(width, HEIGHT), facecolor="white", layout=layout)
    left = 0.1 / width
    figure.text(left, 0.91, _short(explanation.label, 18), size=20, weight="bold")
    figure.text(left, 0.85, _verdict(explanation), size=10)
    if explanation.runner_up is not None:
        weights = sum(each.weight for each in explanation.supports)
        others = explanation.prior + explanation.bias + explanation.forgotten
        margin, parts = _signed(explanation.margin), _signed(others)
        text = f"margin {margin}  =  {parts} discriminant and bias  {_signed(weights)} by examples"
        figure.text(left, 0.03, text, size=9, color=FAINT)
    return figure


def _draw_bars(axes: "Axes", title: str, bars: list[tuple[str, float]]) -> None:
    if len(bars) > BARS + 1:
        rest = bars[BARS:]
        bars = [*bars[:BARS], (f"{len(rest)} others", sum(part for _, part in rest))]
    names, sizes = zip(*bars, strict=True)
    rows = range(len(bars))
    drawn = axes.barh(rows, sizes, color=[FOR if part > 0.0 else AGAINST for part in sizes])
    axes.bar_label(drawn, [_signed(part) for part in sizes], padding=3, size=8)
    axes.set_yticks(rows, names)
    axes.set_title(title, size=10, color=FAINT, loc="left")
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.margins(x=0.3)
    axes.tick_params(labelsize=8.5)
    axes.spines[["top", "right", "left"]].set_visible(False)


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


def _show(axes: "Axes", image: NDArray[Any], caption: str, *, has_sides: bool = False) -> None:
    """Draw an image from dark to bright, or, if it has two sides, from orange to blue."""
    from matplotlib.colors import LinearSegmentedColormap

    if has_sides:
        most = float(np.abs(image).max()) or 1.0
        colors = LinearSegmentedColormap.from_list("sides", [AGAINST, "white", FOR])
        axes.imshow(image, cmap=colors, vmin=-most, vmax=most, interpolation="nearest")
    else:
        span = float(np.ptp(image))
        bright = (image - image.min()) / span if span > 0.0 else np.zeros_like(image)
        if image.shape[2:] != (3,):
            bright = bright.reshape(*image.shape[:2], -1).mean(axis=2)
        axes.imshow(bright, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    axes.set_xlabel(caption, size=9, color=FAINT)


def _verdict(explanation: Explanation) -> str:
    other = _short(explanation.runner_up, 16)
    if explanation.runner_up is None:
        return "there is no other class"
    if explanation.margin <= 0.0:
        return f"comes nearest, but is {-explanation.margin:.2f} short against {other}"
    return f"and not {other}, by a margin of {explanation.margin:.2f}"


def _value(value: Any) -> str:
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return "missing" if np.isnan(value) else f"{value:.4g}"
    return "missing" if value is None else _short(value, 16)


def _signed(number: float) -> str:
    digits = 2 if abs(number) >= 0.1 else 3
    return f"{'+' if number >= 0.0 else chr(0x2212)}{abs(number):.{digits}f}"  # a minus, no hyphen


def _short(name: Label | None, most: int) -> str:
    text = " ".join(str(name).split())
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return text.replace("$", "\\$")  # matplotlib reads a dollar as the start of a formula
