"""The style of all figures: colours, axes, and files in both formats."""

from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minout.errors import MissingExtraError
from minout.store import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# One colour per thing, in every figure (Okabe and Ito's palette, safe for colour-blind readers).
CONDITIONAL = "#0072B2"
CLOSED = "#009E73"
UNIFORM = "#E69F00"
NONE = "#999999"
SGD = "#D55E00"
S1 = "#F4B6C2"
S2 = "#F6E58D"
S3 = "#BFE3F2"
INK = "#222222"


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of `width` × `height` inches; no window is opened."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            'Figures need matplotlib: pip install ".[figures]" in a checkout of minout.'
        ) from error
    with rc_context(_LOOK):
        return Figure(figsize=(width, height), layout="constrained")


def save(figure: "Figure", folder: Path, name: str) -> list[Path]:
    """Write `name`.png and `name`.svg into `folder` and return their paths."""
    from matplotlib import rc_context

    with suppress(OSError):  # the write below raises the error
        folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    for path in paths:
        picture = BytesIO()
        with rc_context(_LOOK):
            if path.suffix == ".png":
                figure.savefig(picture, format="png", dpi=150)
            else:
                figure.savefig(picture, format="svg", metadata={"Date": None})
        atomic_write(path, picture.getvalue(), "A picture")
    return paths


_LOOK: dict[Any, Any] = {
    "svg.hashsalt": "minout",
    "svg.fonttype": "path",
}


def tidy(axes: object) -> None:
    """Remove the upper and right frame and draw a light grid behind the curves."""
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
