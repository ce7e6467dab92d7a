"""Draw docs/pictures/regions.png: regions and separators before and after one example is taught.

`make pictures` runs this. The other pictures are those of `minout reproduce` and `minout demo`.
"""

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D

from minout import Learner
from minout.paper.figures import drawing

FOLDER = Path(__file__).with_name("pictures")
COLOURS = (drawing.CONDITIONAL, drawing.UNIFORM, drawing.CLOSED)
MARKERS = ("o", "s", "^")
SHADES = (0.14, 0.24, 0.34)
NEW, LABEL = (1.45, 1.92), 0
SIDE = 600
LIMITS = (-0.12, 3.12)


class Moment(NamedTuple):
    """A learner at one moment: its outputs at the stored rows, its separators, a map of regions.

    `best` (SIDE, SIDE) is the number of the region with the highest score, -1 where all are 0 or
    less; `values` has the value of each separator on the same grid.
    """

    outputs: Any
    best: Any
    values: dict[tuple[int, int, int, int], Any]


def main(folder: Path = FOLDER) -> Any:
    """Teach, draw and write the picture; return what moved, was at risk and changed."""
    X, y = _board(np.random.default_rng(0))
    learner = Learner(
        regions=3, expand=None, C=1_000.0, whiten=False, lda_prior=False, standardize=False,
        refresh="manual",
    )  # fmt: skip
    learner.teach_many(X, y.tolist())
    learner.consolidate()
    regions = _region_of(learner)
    said, before = learner.what_if(NEW, LABEL), _moment(learner, X)
    learner.teach(NEW, LABEL)
    after = _moment(learner, X)
    assert not learner.misfits  # so every label is kept
    changed = (before.outputs != after.outputs).any(axis=1)
    at_risk = np.isin(np.arange(len(X)), said.interfered)
    assert not (changed & ~at_risk).any()
    moved = [key for key in before.values if (before.values[key] != after.values[key]).any()]
    figure = drawing.new_figure(10.6, 6.15)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    _panel(left, before, before, moved)
    _panel(right, after, before, moved)
    for axes, ringed in ((left, at_risk), (right, changed)):
        _points(axes, X, regions, ringed)
    left.set_title(f"before: {at_risk.sum()} of {len(X)} stored examples are at risk", fontsize=11)
    right.set_title(
        f"after: {changed.sum()} of them have another output, none another label", fontsize=11
    )
    _explain(figure)
    drawing.save(figure, folder, "regions")
    (folder / "regions.svg").unlink()
    return len(moved), int(at_risk.sum()), int(changed.sum())


def _board(rng: np.random.Generator) -> tuple[Any, Any]:
    # Nine squares, three of each label, none beside one of its own label.
    squares = np.array(list(product(range(3), repeat=2)))
    X = np.concatenate([square + rng.uniform(0.14, 0.86, (22, 2)) for square in squares])
    return X, np.repeat(squares.sum(axis=1) % 3, 22)


def _region_of(learner: Learner) -> Any:
    # The label and the number of the region of each example, by id.
    found = {
        i: (label, n)
        for label, groups in learner.regions().items()
        for n, ids in enumerate(groups)
        for i in ids
    }
    return [found[i] for i in range(len(found))]


def _moment(learner: Learner, X: Any) -> Moment:
    rows = np.stack(_grid(), axis=-1).reshape(-1, 2)
    names = [(y, i) for y, each in learner.regions().items() for i in range(len(each))]
    least, values = np.full((len(names), len(rows)), np.inf), {}
    for (n, (a, i)), (m, (b, j)) in product(enumerate(names), repeat=2):
        if a < b:
            weights, bias, _ = learner.separator(a, b, regions=(i, j))
            f = rows @ weights + bias
            values[a, i, b, j] = f.reshape(SIDE, SIDE)
            least[n], least[m] = np.minimum(least[n], f), np.minimum(least[m], -f)
    best = np.where(least.max(axis=0) > 0.0, least.argmax(axis=0), -1)
    return Moment(learner.outputs(X), best.reshape(SIDE, SIDE), values)


def _grid() -> list[Any]:
    return list(np.meshgrid(*2 * [np.linspace(*LIMITS, SIDE)]))


def _panel(axes: Any, moment: Moment, before: Moment, moved: list[Any]) -> None:
    shades = [
        1.0 - shade * (1.0 - np.array(to_rgb(colour))) for colour in COLOURS for shade in SHADES
    ]
    picture = np.array([*shades, np.ones(3)])[moment.best]
    axes.imshow(picture, extent=2 * LIMITS, origin="lower", interpolation="nearest")
    for key, values in moment.values.items():
        if key not in moved:
            axes.contour(*_grid(), values, [0.0], colors="white", linewidths=0.6)
    for key in moved:
        if moment is not before:
            look = {"linewidths": 1.2, "linestyles": "dashed"}
            axes.contour(*_grid(), before.values[key], [0.0], colors=drawing.INK, **look)
        axes.contour(*_grid(), moment.values[key], [0.0], colors=drawing.INK, linewidths=1.8)
    axes.set(xlim=LIMITS, ylim=LIMITS, xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _points(axes: Any, X: Any, regions: Any, ringed: Any) -> None:
    for label, colour in enumerate(COLOURS):
        for region, marker in enumerate(MARKERS):
            some = np.array([each == (label, region) for each in regions])
            axes.scatter(*X[some].T, s=22, c=colour, marker=marker, linewidths=0, zorder=3)
    rings = {"facecolors": "none", "edgecolors": drawing.INK, "linewidths": 1.0}
    axes.scatter(*X[ringed].T, s=80, zorder=4, **rings)
    axes.scatter(
        *NEW, s=300, marker="*", c=COLOURS[LABEL], edgecolors="white", linewidths=1.2, zorder=5
    )


def _explain(figure: Any) -> None:
    def line(label: str, **look: Any) -> Line2D:
        return Line2D([], [], label=label, **look)

    markers = {
        f"region {n} of its label": {"marker": marker, "color": drawing.NONE}
        for n, marker in enumerate(MARKERS)
    }
    ring = {"marker": "o", "color": drawing.INK, "markerfacecolor": "none", "markersize": 9}
    new = {"marker": "*", "color": COLOURS[LABEL], "markersize": 14}
    handles = [
        *(line(words, linestyle="", **look) for words, look in markers.items()),
        line("the new example", linestyle="", **new),
        line("at risk (left), another output (right)", linestyle="", **ring),
        line("the separator that moves", color=drawing.INK, linewidth=1.8),
        line("where it was", color=drawing.INK, linewidth=1.2, linestyle="--"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)


if __name__ == "__main__":
    main()
