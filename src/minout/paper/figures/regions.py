"""Fig. 10, an open question: how many examples a step concerns, against the number of units.

The exact engine with more and more regions per label. Half of the rows are stored and consolidated;
the others are taught one by one in random order, without a refresh.
"""

from typing import Any

import numpy as np

from minout.learner import Learner
from minout.metrics import accuracy
from minout.paper.data import Data, digits, shuffled
from minout.paper.figures import drawing
from minout.paper.figures.rows import Claim, Rows, Settings, combinations, known, sweep

SHARES = {"at_risk": "examples whose outputs a step could change", "checked": "margins it checks"}
# Clouds of points, as many of each label, anywhere in a cube. `rows` are taught, half of them
# before the measurement; of the digits, all or as many.
CLOUDS: Settings = {"clouds": 40, "labels": 4, "columns": 4, "spread": 0.15, "rows": 1_500}
REGIONS = combinations(CLOUDS, regions=(16, 8, 4, 2, 1), data=("clouds", "digits"))


def run(settings: Settings, seed: int) -> dict[str, Any]:
    """Teach one stream; of each step that moves something, measure the share it concerns."""
    data = _examples(settings, seed)
    learner = Learner(
        C=1.0, whiten=False, lda_prior=True, standardize=False, expand=None,
        regions=settings["regions"], refresh="manual",
    )  # fmt: skip
    half = len(data.rows) // 2
    learner.teach_many(data.rows[:half], data.labels[:half].tolist())
    learner.consolidate()
    shares = []
    for x, y in zip(data.rows[half:], data.labels[half:].tolist(), strict=True):
        stored, at_risk = len(learner), len(learner.what_if(x, y).interfered)
        certificate = learner.teach(x, y).certificate
        if certificate.moved:
            shares.append((at_risk / stored, certificate.checked / (stored + 1)))
    means = (100 * np.mean(shares, axis=0)).round(6).tolist()
    test = 100 * accuracy(learner.predict(data.test_rows), data.test_labels)
    return {**dict(zip(SHARES, means, strict=True)), "test": test}


def _examples(settings: Settings, seed: int) -> Data:
    """Return the rows of one run: a seed draws the clouds, or shuffles the digits."""
    n, clouds, columns = settings["rows"], settings["clouds"], settings["columns"]
    if settings["data"] == "digits":
        data = shuffled(digits(), np.random.default_rng(seed))
        return data._replace(rows=data.rows[:n], labels=data.labels[:n])
    rng = np.random.default_rng([seed, clouds])
    centres = rng.uniform(-1.0, 1.0, (clouds, columns))
    label_of = rng.permutation(np.arange(clouds) % settings["labels"])
    cloud = rng.integers(clouds, size=2 * n)
    rows = centres[cloud] + settings["spread"] * rng.normal(size=(2 * n, columns))
    labels = label_of[cloud]
    return Data(rows[:n], labels[:n], rows[n:], labels[n:])


def claims(rows: Rows) -> list[Claim]:
    """Check for each data set whether a step concerns fewer examples if there are more units."""
    regions, found = ", ".join(str(each) for each in known(rows, "regions")), []
    for data in known(rows, "data"):
        for name, what in SHARES.items():
            means = sweep(rows, name, "regions", data=data).mean(axis=1)
            words = (
                "open: how the number of rehearsed examples depends on the number of units "
                f"(we ask: with more regions per label fewer {what}; {data})"
            )
            shares = ", ".join(f"{mean:.1f}" for mean in means)
            measured = f"{shares} % of what is stored, with {regions} regions per label"
            found.append(Claim(words, measured, bool((np.diff(means) < 0).all())))
    return found


def draw(rows: Rows) -> "drawing.Figure":
    """Draw what a step concerns, and the test accuracy, against the regions per label."""
    ylabels = "per step that moves something,\nof what is stored (%)", "test accuracy (%)"
    names = known(rows, "data")
    xlabels = ["regions per label, at most"] * len(names)
    figure, grid = drawing.panels(9.6, 6.4, ylabels, xlabels, names)
    for (shares, test), data in zip(grid.T, names, strict=True):
        for axes, label, colour, name in (
            (shares, SHARES["at_risk"], drawing.CONDITIONAL, "at_risk"),
            (shares, SHARES["checked"], drawing.INK, "checked"),
            (test, "test accuracy", drawing.CLOSED, "test"),
        ):
            drawing.swept(axes, label, colour, rows, name, "regions", data=data)
    return figure
