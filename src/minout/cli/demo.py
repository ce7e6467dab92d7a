"""`minout demo`: digits in label order beside SGD; wrong labels found; one example forgotten."""

import sys
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from minout import MinoutClassifier
from minout.cli.output import command
from minout.errors import import_extra

ALPHA = 0.01  # of 1e-5, 1e-4, … 1 the best for SGD on both streams
OURS, SGD, SHUFFLED = "minout, in label order", "SGD, in label order", "SGD, shuffled"
LINES = {OURS: ("#0072B2", "-"), SGD: ("#D55E00", "-"), SHUFFLED: ("#666666", "--")}
Array = NDArray[Any]
Curve = list[tuple[float, float]]  # shares predicted correctly: of what was taught, and held out


class Digits(NamedTuple):
    """Digits sorted by their labels `y`, some of which are wrong, and digits that are held out."""

    ids: list[str]
    X: Array
    y: Array
    right: Array
    X_test: Array
    y_test: Array


@command
def demo(
    out: Annotated[Path, typer.Option(help="The folder for the picture.")] = Path("demo"),
) -> None:
    """Show what minout does: digits in label order, beside SGD.

    Teach scikit-learn's digits one by one, some with a wrong label; find and correct the wrong
    labels; forget an example, and prove that nothing is left of it.

    Example: minout demo --out demo
    """
    tell(load(), out)


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


def tell(digits: Digits, out: Path) -> None:
    """Run the demo, print what it finds, and draw it."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import StandardScaler

    drawing = import_extra("matplotlib.figure", "figures", "The demo needs matplotlib")
    out.mkdir(parents=True, exist_ok=True)
    is_wrong = digits.y != digits.right
    print(
        f"{len(digits.y):,} handwritten digits, all zeros first, all nines last, are taught one by "
        f"one. {is_wrong.sum()} of them have a wrong label; {len(digits.y_test)} others are held "
        "out."
    )
    model, in_order = MinoutClassifier(), np.arange(len(digits.y))
    scaler = StandardScaler().fit(digits.X)  # an advantage for SGD: in a stream it is not known
    scaled = digits._replace(X=scaler.transform(digits.X), X_test=scaler.transform(digits.X_test))
    shuffled = np.random.default_rng(0).permutation(len(digits.y))
    sgd, other = (SGDClassifier(alpha=ALPHA, random_state=0) for _ in range(2))
    curves = {
        OURS: _curve(OURS, model, digits, in_order),
        SGD: _curve(SGD, sgd, scaled, in_order),
        SHUFFLED: _curve(SHUFFLED, other, scaled, shuffled),
    }
    figure = drawing.Figure(figsize=(9.0, 6.0), layout="constrained")
    draw(figure, digits, curves)
    figure.savefig(out / "demo.png", dpi=150)
    model.consolidate()
    ends = {name: curve[-1] for name, curve in curves.items()}
    ends["minout, consolidated"] = _shares(model, digits)
    print(f"\n{'right in the end':25}  of what was taught  of what was held out")
    for name, (taught, held_out) in ends.items():
        print(f"{name:25} {taught:19.1%} {held_out:21.1%}")
    print(f"(Of what was taught, {1 - is_wrong.mean():.1%} has a right label.)\n")
    _forget_one(model, _correct_suspects(model, digits))
    audit = model.audit()
    agrees = "everything agrees" if audit.ok else "; ".join(audit.differences)
    print(f"Audit: {audit.margins:,} margins computed again by plain arithmetic; {agrees}.")
    print(f"The picture: {out / 'demo.png'}")


def _curve(name: str, model: Any, digits: Digits, order: Array) -> Curve:
    """Teach one digit after the other, and measure after each."""
    curve = []
    with typer.progressbar(order.tolist(), label=f"{name:22}", file=sys.stderr) as places:
        for count, place in enumerate(places, 1):
            is_ours = isinstance(model, MinoutClassifier)  # SGD has to know all labels in advance
            more = {"ids": [digits.ids[place]]} if is_ours else {"classes": range(10)}
            model.partial_fit(digits.X[[place]], digits.y[[place]], **more)
            seen = digits._replace(X=digits.X[order[:count]], y=digits.y[order[:count]])
            curve.append(_shares(model, seen))
    return curve


def _shares(model: Any, digits: Digits) -> tuple[float, float]:
    """Return the share predicted correctly of what was taught, and of what is held out."""
    found = model.predict(np.vstack([digits.X, digits.X_test]))
    is_right = found == np.concatenate([digits.y, digits.y_test])
    return float(is_right[: len(digits.y)].mean()), float(is_right[len(digits.y) :].mean())


def _correct_suspects(model: MinoutClassifier, digits: Digits) -> Digits:
    """Correct the suspects that have a wrong label; return the digits with their new labels."""
    wrong = {digits.ids[n]: n for n in np.flatnonzero(digits.y != digits.right)}
    found = [each for each in model.suspects(len(wrong)) if each.id in wrong]
    print(
        f"Suspects: of the {len(wrong)} examples most likely to be wrong, {len(found)} have a "
        f"wrong label; by chance it would be {len(wrong) ** 2 / len(digits.y):.1f}."
    )
    labels = digits.y.copy()
    for place in (wrong[str(each.id)] for each in found):
        labels[place] = digits.right[place]
        model.correct(digits.ids[place], labels[place])
    model.consolidate()
    digits = digits._replace(y=labels)
    taught, held_out = _shares(model, digits)
    print(
        f"These labels are corrected: {taught:.1%} of what was taught is right now, and "
        f"{held_out:.1%} of what was held out."
    )
    return digits


def _forget_one(model: MinoutClassifier, digits: Digits) -> None:
    """Forget the first suspect that is left, and compare with a model that never saw it."""
    suspects = [str(each.id) for each in model.suspects(1)]
    leaving = digits.ids.index((suspects or digits.ids)[0])
    certificate = model.forget(digits.ids[leaving])
    model.consolidate()
    twin = MinoutClassifier()
    for n in reversed(range(len(digits.y))):
        if n != leaving:
            twin.partial_fit(digits.X[[n]], digits.y[[n]], ids=[digits.ids[n]])
    twin.consolidate()
    ours, its = (each.decision_function(digits.X_test) for each in (model, twin))
    print(
        f"Forgotten: {digits.ids[leaving]}; {len(certificate.moved)} separators moved. Is the "
        "model, to the last bit, one that was taught the others backwards and never saw it? "
        f"{'Yes' if np.array_equal(ours, its) else 'No'}."
    )


def draw(figure: Any, digits: Digits, curves: dict[str, Curve]) -> None:
    """Draw the accuracy on what was taught above that on held-out digits, with a band per digit."""
    count, wrong = len(digits.y), int((digits.y != digits.right).sum())
    edges = [*np.unique(digits.y, return_index=True)[1].tolist(), count]
    titles = (
        f"of everything taught so far, as labelled: {wrong} of {count:,} labels are wrong",
        "of the digits held out (dotted: labels taught so far)",
    )
    panels = figure.subplots(2, 1, sharex=True)
    for part, (axes, title) in enumerate(zip(panels, titles, strict=True)):
        axes.set(xlim=(0, count), ylim=(0, 102), ylabel="right (%)")
        axes.set_title(title, loc="left", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        for start, end in zip(edges[0::2], edges[1::2], strict=False):
            axes.axvspan(start, end, color="#F3F3F3", linewidth=0, zorder=0)
        for name, curve in reversed(curves.items()):
            shares, (color, style) = [100 * each[part] for each in curve], LINES[name]
            label = f"{name}: {shares[-1]:.1f}"
            axes.plot(range(1, count + 1), shares, label=label, color=color, linestyle=style)
        axes.legend(loc="lower right", fontsize=9, reverse=True)
    most = 100 * np.cumsum(np.bincount(digits.y_test)) / len(digits.y_test)
    panels[1].stairs(most, edges, color="#999999", linestyle=":", baseline=None)
    panels[1].set_xlabel("examples taught, first all zeros, then all ones, …")
