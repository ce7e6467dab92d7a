"""`minout demo`: digits in label order beside SGD; wrong labels found; one example forgotten."""

import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from minout import MinoutClassifier
from minout.cli.output import command
from minout.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SGD_SETTINGS = {"alpha": 0.01, "random_state": 0}
"""Of 1e-5, 1e-4, … 1 this `alpha` is the best for both streams, by accuracy on a fifth of the
training rows."""
OURS, SGD, SHUFFLED = "minout, in label order", "SGD, in label order", "SGD, shuffled"
LINES: dict[str, Any] = {
    OURS: {"color": "#0072B2", "linestyle": "-", "linewidth": 2.2},
    SGD: {"color": "#D55E00", "linestyle": "-", "linewidth": 1.8},
    SHUFFLED: {"color": "#666666", "linestyle": "--", "linewidth": 1.2},
}
SHADES = " ░▒▓█"

Array = NDArray[Any]


class Digits(NamedTuple):
    """Digits sorted by their labels `y`, some of which are wrong, and digits that are held out."""

    ids: list[str]
    X: Array
    y: Array
    right: Array
    X_test: Array
    y_test: Array


class Curve(NamedTuple):
    """The share predicted correctly after each example: of those taught so far, and held out."""

    taught: list[float]
    held_out: list[float]


@command
def demo(
    out: Annotated[Path, typer.Option(help="The folder for the picture.")] = Path("demo"),
) -> None:
    """Show in a minute what minout does: digits in label order, compared with SGD.

    Teach scikit-learn's digits one by one, some with a wrong label; find and correct the wrong
    labels; forget an example, and prove that nothing is left of it.

    Example: minout demo --out demo
    """
    show(load(), out)


def load(per_class: int | None = None, wrong: int = 20) -> Digits:
    """Return the digits: the last fifth of each class is held out, some labels are made wrong."""
    from sklearn.datasets import load_digits

    X, right = load_digits(return_X_y=True)
    place = np.array([(right[:n] == label).sum() for n, label in enumerate(right)])
    is_test = place >= 4 * np.bincount(right)[right] // 5
    kept = np.flatnonzero(~is_test & (True if per_class is None else place < per_class))
    rng, y = np.random.default_rng(0), right[kept].copy()
    chosen = rng.choice(len(y), wrong, replace=False)
    y[chosen] = (y[chosen] + rng.integers(1, 10, wrong)) % 10
    order = np.argsort(y, kind="stable")
    ids = [f"scan-{number:04}" for number in order]
    return Digits(ids, X[kept[order]], y[order], right[kept[order]], X[is_test], right[is_test])


def show(digits: Digits, out: Path) -> None:
    """Run the demo, print what it finds, and draw it."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import StandardScaler

    figure = _new_figure()  # fails at once if matplotlib is missing
    is_wrong = digits.y != digits.right
    out.mkdir(parents=True, exist_ok=True)
    print(
        f"{len(digits.y):,} handwritten digits, all zeros first, all nines last, are taught one by "
        f"one. {is_wrong.sum()} of them have a wrong label; {len(digits.y_test)} others are held "
        "out."
    )
    model, in_order = MinoutClassifier(), np.arange(len(digits.y))
    scaler = StandardScaler().fit(digits.X)  # an advantage for SGD: in a stream it is not known
    scaled = digits._replace(X=scaler.transform(digits.X), X_test=scaler.transform(digits.X_test))
    shuffled = np.random.default_rng(0).permutation(len(digits.y))
    curves = {
        OURS: _curve(OURS, model, digits, in_order),
        SGD: _curve(SGD, SGDClassifier(**SGD_SETTINGS), scaled, in_order),
        SHUFFLED: _curve(SHUFFLED, SGDClassifier(**SGD_SETTINGS), scaled, shuffled),
    }
    draw(figure, digits, curves)
    figure.savefig(out / "demo.png", dpi=150)
    model.consolidate()
    ends = {name: (curve.taught[-1], curve.held_out[-1]) for name, curve in curves.items()}
    ends["minout, consolidated"] = _shares(model, digits)
    print(f"\n{'right in the end':25}  of what was taught  of what was held out")
    for name, (taught, held_out) in ends.items():
        print(f"{name:25} {taught:19.1%} {held_out:21.1%}")
    print(f"(Of what was taught, {1 - is_wrong.mean():.1%} has a right label.)\n")
    _find_wrong_labels(model, digits)
    _forget_one(model, digits)
    audit = model.audit()
    print(
        f"Audit: {audit.margins:,} margins computed again by plain arithmetic; "
        f"{'everything agrees' if audit.ok else '; '.join(audit.differences)}.\n"
        f"The picture: {out / 'demo.png'}"
    )


def _curve(name: str, model: Any, digits: Digits, order: Array) -> Curve:
    """Teach one digit after the other, and measure after each."""
    curve = Curve([], [])
    with typer.progressbar(order.tolist(), label=f"{name:22}", file=sys.stderr) as places:
        for count, place in enumerate(places, 1):
            is_ours = isinstance(model, MinoutClassifier)  # SGD has to know all labels in advance
            more = {"ids": [digits.ids[place]]} if is_ours else {"classes": range(10)}
            model.partial_fit(digits.X[[place]], digits.y[[place]], **more)
            seen = digits._replace(X=digits.X[order[:count]], y=digits.y[order[:count]])
            for share, shares in zip(_shares(model, seen), curve, strict=True):
                shares.append(share)
    return curve


def _shares(model: Any, digits: Digits) -> tuple[float, float]:
    """Return the share predicted correctly of what was taught, and of what is held out."""
    found = model.predict(np.vstack([digits.X, digits.X_test]))
    is_right = found == np.concatenate([digits.y, digits.y_test])
    return float(is_right[: len(digits.y)].mean()), float(is_right[len(digits.y) :].mean())


def _find_wrong_labels(model: MinoutClassifier, digits: Digits) -> None:
    wrong = {digits.ids[n]: n for n in np.flatnonzero(digits.y != digits.right)}
    found = [each for each in model.suspects(len(wrong)) if each.id in wrong]
    by_chance = len(wrong) ** 2 / len(digits.y)
    print(
        f"Suspects: of the {len(wrong)} examples most likely to be wrong, {len(found)} have a "
        f"wrong label; by chance it would be {by_chance:.1f}."
    )
    if found:
        print(f"The first is {found[0].id}, with the label {found[0].label}. Look:\n")
        for line in digits.X[wrong[str(found[0].id)]].reshape(8, 8):
            print("    " + "".join(2 * SHADES[int(pixel) // 4] for pixel in line))
    for each in found:
        model.correct(each.id, digits.right[wrong[str(each.id)]])
    model.consolidate()
    taught, held_out = _shares(model, digits._replace(y=_labels(model, digits)))
    print(
        f"\nThese labels are corrected: {taught:.1%} of what was taught is right now, and "
        f"{held_out:.1%} of what was held out."
    )


def _labels(model: MinoutClassifier, digits: Digits) -> Array:
    """Return the labels that are stored now."""
    return np.array([model.learner_.example(id)[1] for id in digits.ids])


def _forget_one(model: MinoutClassifier, digits: Digits) -> None:
    """Forget the first suspect that is left, and compare with a model that never saw it."""
    labels = _labels(model, digits)
    suspects = [str(each.id) for each in model.suspects(1)]
    leaving = digits.ids.index((suspects or digits.ids)[0])
    certificate = model.forget(digits.ids[leaving])
    model.consolidate()
    twin = MinoutClassifier()
    for n in reversed(range(len(labels))):
        if n != leaving:
            twin.partial_fit(digits.X[[n]], labels[[n]], ids=[digits.ids[n]])
    twin.consolidate()
    ours, its = (each.decision_function(digits.X_test) for each in (model, twin))
    print(
        f"Forgotten: {digits.ids[leaving]}; {len(certificate.moved)} separators moved. Is the "
        "model, to the last bit, one that was taught the others backwards and never saw it? "
        f"{'Yes' if np.array_equal(ours, its) else 'No'}."
    )


def _new_figure() -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("The demo needs matplotlib; install it with pip.") from error
    return Figure(figsize=(9.0, 6.4), layout="constrained")


def draw(figure: "Figure", digits: Digits, curves: dict[str, Curve]) -> None:
    """Draw the accuracy on what was taught above that on held-out digits, with a band per digit."""
    count, wrong = len(digits.y), int((digits.y != digits.right).sum())
    edges = [*np.unique(digits.y, return_index=True)[1].tolist(), count]
    strip, *panels = figure.subplots(3, 1, sharex=True, height_ratios=(0.2, 1.0, 1.0))
    titles = (
        f"of everything taught so far, as labelled: {wrong} of {count:,} labels are wrong",
        "of the digits held out",
    )
    for part, (axes, title) in enumerate(zip(panels, titles, strict=True)):
        axes.set(xlim=(0, count), ylim=(0, 102), ylabel="right (%)")
        axes.set_title(title, loc="left", fontsize=10, color="#222222")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25, linewidth=0.6)
        axes.set_axisbelow(True)
        for start, end in zip(edges[0::2], edges[1::2], strict=False):
            axes.axvspan(start, end, color="#F3F3F3", linewidth=0, zorder=0)
        for name, curve in reversed(curves.items()):
            steps = np.arange(1, count + 1)
            axes.plot(steps, 100 * np.array(curve[part]), label=name, **LINES[name])
        _write_ends(axes, {name: 100 * curve[part][-1] for name, curve in curves.items()})
    most = 100 * np.cumsum(np.bincount(digits.y_test)) / len(digits.y_test)
    panels[1].stairs(most, edges, color="#999999", linestyle=":", linewidth=1.2, baseline=None)
    panels[1].text(
        edges[-2] - 6, most[-2] + 2, "labels taught so far", color="#666666", fontsize=9,
        ha="right", va="bottom",
    )  # fmt: skip
    panels[1].set_xlabel("examples taught")
    panels[1].xaxis.set_major_formatter("{x:,.0f}")
    strip.axis("off")
    for label, (start, end) in enumerate(pairwise(edges)):
        inset = strip.inset_axes((start / count, 0.0, (end - start) / count, 1.0))
        mean = digits.X[digits.y == label].mean(axis=0).reshape(8, 8)
        inset.imshow(mean, cmap="gray_r", interpolation="nearest")
        inset.axis("off")
    look = {"ncols": 3, "frameon": False, "labelcolor": "linecolor"}
    figure.legend(handles=panels[0].lines[::-1], loc="outside upper left", **look)


def _write_ends(axes: "Axes", ends: dict[str, float]) -> None:
    """Write the last value of each curve beside its end, without overlap."""
    ceiling = 110.0
    for name, end in sorted(ends.items(), key=lambda each: -each[1]):
        ceiling = min(end, ceiling - 7.0)
        axes.annotate(
            f"{end:.1f}", (1.01, ceiling), xycoords=("axes fraction", "data"), fontsize=10,
            color=LINES[name]["color"], va="center", annotation_clip=False,
        )  # fmt: skip
