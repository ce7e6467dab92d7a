"""Draw why an image gets its label: the separator and its support vectors."""

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Id, Label
from minout.engine import Explanation, Support
from minout.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

HEIGHT = 4.4
WIDTH = 2.95
REST = 6.0
SHOWN = 5
"""How many examples are drawn for each label."""
FOR = "#0072B2"
AGAINST = "#D55E00"
INK = "#222222"
FAINT = "#777777"
PAPER = "#F2F2F2"
MINUS = "\N{MINUS SIGN}"

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
        _draw_decision(figure := new_figure(WIDTH), explanation, image, None)
        return figure
    weights = explanation.separator if explanation.separator.size == image.size else None
    half = WIDTH if weights is None else 2.0 * WIDTH
    figure = new_figure(half + REST)
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(half, REST))[0]
    _draw_decision(left, explanation, image, weights)
    _draw_supports(right, explanation, image_shape, {} if images is None else images)
    return figure


def new_figure(width: float) -> "Figure":
    """Return an empty figure; raise MissingExtraError if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            'Pictures need matplotlib: pip install "minout[figures]".'
        ) from error
    return Figure(figsize=(width, HEIGHT), facecolor="white")


def _draw_decision(
    part: "Figure | SubFigure",
    explanation: Explanation,
    image: NDArray[Any],
    weights: NDArray[Any] | None,
) -> None:
    label, other = explanation.label, explanation.runner_up
    share = 1.0 if weights is None else 0.5
    axes = part.add_axes((0.07 * share, 0.21, 0.88 * share, 0.57), anchor="NW")
    _show(axes, image)
    axes.set_xlabel("the example", size=9, color=FAINT, labelpad=4)
    left = 0.07 * share
    part.text(left, 0.92, short(label, 18), size=20, weight="bold", color=INK, va="center")
    part.text(left, 0.83, verdict(explanation), size=10, color=INK, va="center")
    part.text(left, 0.08, _sum(explanation), size=9, color=FAINT, va="center", linespacing=1.5)
    if weights is not None:
        beside = part.add_axes((0.5 + left, 0.21, 0.88 * share, 0.57), anchor="NW")
        _show_weights(beside, weights.reshape(image.shape))
        title = f"what decides: blue for {short(label, 8)}, orange for {short(other, 8)}"
        beside.set_xlabel(title, size=9, color=FAINT, labelpad=4)


def _draw_supports(
    part: "SubFigure", explanation: Explanation, image_shape: Sequence[int] | None, images: Images
) -> None:
    sides = (
        (f"speak for {short(explanation.label, 24)}", FOR, 1.0),
        (f"speak for {short(explanation.runner_up, 24)}", AGAINST, -1.0),
    )
    for row, (title, color, sign) in enumerate(sides):
        supports = [each for each in explanation.supports if sign * each.weight > 0.0]
        top = 0.91 - 0.48 * row
        part.text(0.06, top, title, size=11, color=color, va="center")
        part.text(0.98, top, _count(supports), size=9, color=FAINT, va="center", ha="right")
        for column, support in enumerate(supports[:SHOWN]):
            axes = part.add_axes((0.06 + 0.186 * column, top - 0.325, 0.176, 0.28))
            if support.id in images:
                _show(axes, _image(images[support.id], image_shape))
            else:
                _show_label(axes, support.label)
            axes.set_xlabel(_caption(support), size=8.5, color=INK, labelpad=3)
            for spine in axes.spines.values():
                spine.set(visible=True, color=color, linewidth=1.6)


def _show(axes: "Axes", image: NDArray[Any]) -> None:
    span = float(image.max() - image.min())
    bright = (image - image.min()) / span if span > 0.0 else np.zeros_like(image)
    if image.ndim == 3 and image.shape[2] == 3:
        axes.imshow(bright, interpolation="nearest")
    else:
        gray = bright.reshape(*image.shape[:2], -1).mean(axis=2)
        axes.imshow(gray, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
    _bare(axes)


def _show_weights(axes: "Axes", weights: NDArray[Any]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("sides", [AGAINST, "white", FOR])
    gray = weights.reshape(*weights.shape[:2], -1).sum(axis=2)
    most = float(np.abs(gray).max()) or 1.0
    axes.imshow(gray, cmap=colors, vmin=-most, vmax=most, interpolation="nearest")
    _bare(axes)


def _show_label(axes: "Axes", label: Label) -> None:
    axes.set(xlim=(0, 1), ylim=(0, 1), facecolor=PAPER)
    axes.text(0.5, 0.5, short(label, 8), size=12, color=INK, ha="center", va="center")
    _bare(axes)


def _bare(axes: "Axes") -> None:
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(color="#CCCCCC", linewidth=0.8)


def _image(x: ArrayLike, shape: Sequence[int] | None) -> NDArray[Any]:
    image = np.asarray(x, dtype=np.float64)
    if image.ndim in (2, 3) and image.shape[0] > 1:
        return image
    numbers = image.reshape(-1)
    if shape is None:
        side = isqrt(numbers.size)
        shape = (side, side)
    if numbers.size == 0 or int(np.prod(shape)) != numbers.size or len(shape) not in (2, 3):
        raise InvalidInputError(
            f"A row of {numbers.size} numbers is no image of shape {tuple(shape)}; "
            "pass image_shape=(height, width) or (height, width, channels)."
        )
    return numbers.reshape(tuple(shape))


def verdict(explanation: Explanation) -> str:
    """Return by how much the label won against the runner-up."""
    other = short(explanation.runner_up, 16)
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
        (sum(each for each in weights if each > 0.0), f"for {short(explanation.label, 8)}"),
        (sum(each for each in weights if each < 0.0), f"for {short(explanation.runner_up, 8)}"),
    ]
    terms = [f"{signed(number)} {name}" for number, name in parts if number != 0.0]
    return f"{signed(explanation.margin)}  =  {'  '.join(terms[:-2])}\n{'  '.join(terms[-2:])}"


def _count(supports: list[Support]) -> str:
    total = sum(each.weight for each in supports)
    rest = supports[SHOWN:]
    if not rest:
        return signed(total) if supports else "none"
    others = f"{len(rest)} other{'s' if len(rest) > 1 else ''}"
    return f"{signed(total)} in all, {signed(sum(each.weight for each in rest))} by {others}"


def _caption(support: Support) -> str:
    return f"{signed(support.weight)}   {short(support.label, 8)}\n{short(support.id, 16)}"


def signed(number: float) -> str:
    """Return a number with its sign."""
    digits = 2 if abs(number) >= 0.1 else 3
    return f"{'+' if number >= 0.0 else MINUS}{abs(number):.{digits}f}"


def short(name: Label | None, most: int) -> str:
    """Return a name in at most so many characters."""
    text = " ".join(str(name).split())
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return text.replace("$", "\\$")  # matplotlib reads a dollar as the start of a formula
