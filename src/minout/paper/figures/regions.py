"""Fig. 10, an open question: how many examples a step concerns, against the number of units.

The exact engine with more and more regions per label. Half of the rows are stored and consolidated;
the others are taught one by one in random order, without a refresh.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from minout.learner import Learner
from minout.metrics import accuracy
from minout.paper.data import Data, digits, shuffled
from minout.paper.figures import drawing, measured
from minout.paper.figures.measured import Claim, Rows, Task, known, sweep
from minout.paper.figures.plot import Curve, Panel, draw_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES = {"at_risk": "examples whose outputs a step could change", "checked": "margins it checks"}


@dataclass(frozen=True)
class Settings(measured.Settings):
    """The regions per label; and clouds of points, as many of each label, anywhere in a cube.

    `rows` are taught, half of them before the measurement; of the digits, all or as many.
    """

    variants: tuple[str, ...] = ("clouds", "digits")
    most_seeds: int = 3
    regions: int = 1
    clouds: int = 40
    labels: int = 4
    columns: int = 4
    spread: float = 0.15
    rows: int = 1_500


PAPER = tuple(Settings(regions=regions) for regions in (16, 8, 4, 2, 1))
QUICK = tuple(Settings(regions=n, clouds=8, labels=2, columns=2, rows=300) for n in (4, 1))


def perform(task: Task) -> dict[str, Any]:
    """Teach one stream; of each step that moves something, measure the share it concerns."""
    data = _examples(task)
    learner = Learner(
        C=1.0,
        whiten=False,
        lda_prior=True,
        standardize=False,
        expand=None,
        regions=task.settings.regions,
        refresh="manual",
    )
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
    return {
        **dict(zip(SHARES, means, strict=True)),
        "test": 100 * accuracy(learner.predict(data.test_rows), data.test_labels),
    }


def _examples(task: Task) -> Data:
    """Return the rows of one run: a seed draws the clouds, or shuffles the digits."""
    settings: Settings = task.settings
    n = settings.rows
    if task.variant == "digits":
        data = shuffled(digits(), np.random.default_rng(task.seed))
        return data._replace(rows=data.rows[:n], labels=data.labels[:n])
    rng = np.random.default_rng([task.seed, settings.clouds])
    centres = rng.uniform(-1.0, 1.0, (settings.clouds, settings.columns))
    label_of = rng.permutation(np.arange(settings.clouds) % settings.labels)
    cloud = rng.integers(settings.clouds, size=2 * n)
    rows = centres[cloud] + settings.spread * rng.normal(size=(2 * n, settings.columns))
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


def draw(rows: Rows) -> "Figure":
    """Draw what a step concerns, and the test accuracy, against the regions per label."""
    at, columns = known(rows, "regions"), []
    ylabel = "per step that moves something,\nof what is stored (%)"
    for data in known(rows, "data"):
        at_risk, checked, test = (
            Curve(words, colour, at, sweep(rows, name, "regions", data=data))
            for name, words, colour in (
                ("at_risk", SHARES["at_risk"], drawing.CONDITIONAL),
                ("checked", SHARES["checked"], drawing.INK),
                ("test", "test accuracy", drawing.CLOSED),
            )
        )
        words = {"ticks": at, "xlabel": "regions per label, at most"}
        shares = Panel([at_risk, checked], {**words, "title": data, "ylabel": ylabel})
        columns.append([shares, Panel([test], {**words, "ylabel": "test accuracy (%)"})])
    return draw_panels(list(zip(*columns, strict=True)), 9.6, 6.4)
