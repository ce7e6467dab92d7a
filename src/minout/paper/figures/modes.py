"""Fig. 9, the paper's expectation: with more modes than rehearsed examples, conditional wins.

2,000 generated rows in label order with more and more modes, and at most 100 rehearsed examples per
step; the settings of Fig. 4 and those of Fig. 5, which were not chosen for this.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.metrics import accuracy
from minout.paper.data import Data, ordered
from minout.paper.figures import drawing, mnist
from minout.paper.figures.measured import Claim, Rows, Task, in_words, known, select, sweep
from minout.paper.figures.plot import COLOURS, Curve, Panel, draw_panels
from minout.paper.learner import PaperLearner

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLOSE = 2.0
"""Points of test accuracy within which one policy is as good as the other, as in Fig. 4."""


@dataclass(frozen=True)
class Settings(mnist.Settings):
    """What is taught, and how pictures are generated.

    A mode is a picture of `side` × `side` pixels, each 1 with probability `ink` and 0 otherwise. An
    example of it is that picture with each pixel inverted with probability `noise`. `side` and
    `ink` give rows like those of MNIST: squared length 87 (MNIST: 85), and a cosine of 0.39 between
    rows of different labels (0.38).
    """

    most_seeds: int = 3
    per_class: int = 200
    modes: int = 10
    side: int = 15
    ink: float = 0.38
    noise: float = 0.05
    test_rows: int = 1_000


LEARNERS = (Settings(rule=mnist.FIG4.rule), Settings(rule=mnist.FIG5.rule))
PAPER = tuple(replace(each, modes=n) for each in LEARNERS for n in (1_000, 300, 100, 30, 10))
QUICK = tuple(
    replace(mnist.quick(each), classes=3, modes=n, side=6, test_rows=24)
    for each in LEARNERS
    for n in (12, 3)
)


def perform(task: Task) -> dict[str, Any]:
    """Teach one stream; measure accuracies at the end, and the sets of a step."""
    settings: Settings = task.settings
    data, policy = generate(settings, task.seed), task.variant
    budget = None if policy == "none" else settings.budget
    learner = PaperLearner(
        range(settings.classes), policy=policy, budget=budget, rule=settings.rule, seed=task.seed
    )
    units = [
        unit
        for x, y in zip(data.rows, data.labels.tolist(), strict=True)
        for unit in learner.teach(x, y).units
    ]
    sizes = [(unit.mean_rehearsed, unit.mean_interfered) for unit in units]
    means = np.average(sizes, axis=0, weights=[unit.steps for unit in units])
    return {
        "train": 100 * accuracy(learner.predict(data.rows), data.labels),
        "test": 100 * accuracy(learner.predict(data.test_rows), data.test_labels),
        "rehearsed": round(float(means[0]), 6),
        "at_risk": round(float(means[1]), 6),
    }


def generate(settings: Settings, seed: int) -> Data:
    """Draw modes, give each label as many of them, and draw rows from all modes in turn.

    The rows of a label come in random order. The seed is used with the number of modes, so that the
    draws are not those of a learner's weights.
    """
    modes, rows = settings.modes, settings.per_class * settings.classes
    rng = np.random.default_rng([seed, modes])
    centres = rng.random((modes, settings.side**2)) < settings.ink
    label_of = rng.permutation(np.arange(modes) % settings.classes)
    order = rng.permutation(rows)
    train, labels = _examples(centres, label_of, rows, settings.noise, rng)
    test, test_labels = _examples(centres, label_of, settings.test_rows, settings.noise, rng)
    return ordered(Data(train[order], labels[order], test, test_labels))


def _examples(
    centres: Bools, label_of: Ints, count: int, noise: float, rng: np.random.Generator
) -> tuple[Floats, Ints]:
    mode = np.arange(count) % len(centres)
    inverted = rng.random((count, centres.shape[1])) < noise
    return (centres[mode] ^ inverted).astype(np.float64), label_of[mode]


def claims(rows: Rows) -> list[Claim]:
    """Check for each learner whether conditional is ahead where modes outnumber the budget."""
    found = []
    for reduction in ("sum", "mean"):
        runs = select(rows, reduction=reduction)
        conditional, random = (
            sweep(runs, "test", "modes", policy=policy) for policy in ("conditional", "random")
        )
        modes, rate = np.array(known(runs, "modes")), runs[0].settings["learning_rate"]
        many = modes > runs[0].settings["budget"]
        lead = (conditional - random)[many]
        ahead = lead.mean(axis=1) > CLOSE
        found.append(
            Claim(
                "conditional is advantageous where there are more modes than rehearsed examples "
                f"(we ask: by more than {CLOSE:.0f} points of test accuracy; rate {rate}, "
                f"rehearsal losses: {reduction})",
                f"ahead by {' and '.join(in_words(each) for each in lead)} points "
                f"with {' and '.join(f'{n:,}' for n in modes[many])} modes",
                bool(ahead.all()) if ahead.all() == ahead.any() else None,
            )
        )
    return found


def draw(rows: Rows) -> "Figure":
    """Draw accuracies and the number rehearsed against the number of modes."""
    names = {
        "train": "training accuracy (%)",
        "test": "test accuracy (%)",
        "rehearsed": "examples rehearsed\nper step of a unit",
    }
    grid = []
    for name, ylabel in names.items():
        line = []
        for reduction in ("sum", "mean"):
            runs = select(rows, reduction=reduction)
            at, rate = known(runs, "modes"), runs[0].settings["learning_rate"]
            curves = [
                Curve(policy, COLOURS[policy], at, sweep(runs, name, "modes", policy=policy))
                for policy in known(runs, "policy")
            ]
            title = f"rate {rate}, rehearsal losses: {reduction}" if name == "train" else ""
            words = {"title": title, "ylabel": ylabel, "ticks": at, "xlabel": "modes"}
            line.append(Panel(curves, words))
        grid.append(line)
    figure = draw_panels(grid, 9.6, 8.4)
    for axes in figure.axes:
        axes.axvline(rows[0].settings["budget"], color=drawing.NONE, linestyle="--", zorder=0)
    return figure
