"""Accuracy, forgetting and rehearsal along the line from nothing shared to everything shared."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from minout._typing import Floats
from minout.experiments import ink
from minout.experiments.seeds import in_words
from minout.experiments.task import Claim
from minout.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#666666"
FAMILIES = {
    "tables": (("rows", "groups", "all"), ink.INK, "o"),
    "minout": (("minout",), ink.CONDITIONAL, "s"),
    "network": (("network",), ink.SGD, "D"),
}


def draw(rows):
    figure = ink.new_figure(8.0, 9.0)
    top, middle, bottom = figure.subplots(3, 1, sharex=True, height_ratios=[1.3, 1, 1])
    for axes in (top, middle, bottom):
        ink.tidy(axes)
        axes.set_xscale("function", functions=(np.sqrt, np.square))
    for axes, name, scale in ((top, "test", 100), (middle, "forgetting", 100), (bottom, "rehearsed", 1)):
        for kinds, colour, marker in FAMILIES.values():
            for rehearsing in (True, False):
                if axes is bottom and not rehearsing: continue
                points = {}
                for row in rows:
                    v = row.values
                    if v["kind"] in kinds and v["rehearsing"] == rehearsing:
                        points.setdefault((v["kind"], v["size"]), []).append(v)
                xs = [np.mean([v["shared"] for v in p]) for p in points.values()]
                ys = [scale * np.mean([v[name] for v in p]) for p in points.values()]
                axes.plot(xs, ys, marker=marker, color=colour, mfc=colour if rehearsing else "white", ls="-" if rehearsing else (0,(4,2)))
    return figure


def claims(rows):
    return []
