"""Fig. 3, 4 and 5: the paper's experiment on MNIST-ol, policy beside policy.

100 examples per class, then 10. The paper does not say its rate, reduction and initial scale: see
docs/paper.md, "the map".
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats
from minout.paper.data import Data, first_classes, mnist_sample, ordered, pick_per_class
from minout.paper.figures import drawing, measured
from minout.paper.figures.measured import Claim, Rows, Task, in_words, values
from minout.paper.figures.plot import COLOURS, Curve, Panel, draw_panels
from minout.paper.learner import PaperLearner
from minout.paper.report import PaperReport
from minout.paper.specification import GradientRule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT = GradientRule()
CURVES = {"train": "whole training set", "seen": "examples seen so far", "test": "test set"}


@dataclass(frozen=True)
class Settings(measured.Settings):
    """The paper's experiment; the variants are policies, `classes` teaches only the first labels.

    `budget` is how many examples the random policies rehearse; the paper sets it to `per_class`.
    """

    variants: tuple[str, ...] = ("conditional", "random", "none")
    per_class: int = 100
    classes: int = 10
    budget: int = 100
    rule: GradientRule = DEFAULT


FIG3 = Settings(variants=("conditional",))
FIG4 = Settings()
# 14 at random: as many as the conditional policy rehearses on average. With 10, as in the paper, or
# with 20 the random policies end within 4 points of this.
FIG5 = Settings(
    variants=("conditional", "random", "random-once", "none"),
    per_class=10,
    budget=14,
    rule=GradientRule(learning_rate=0.1, reduction="mean"),
)


def quick(settings: Any) -> Any:
    """Return the same for tests: less to teach, smaller units."""
    return replace(settings, per_class=4, budget=4, rule=replace(settings.rule, neurons=8))


def examples(task: Task) -> Data:
    """Draw the training examples with the seed and put them in label order."""
    data = first_classes(mnist_sample(), task.settings.classes)
    return ordered(pick_per_class(data, task.settings.per_class, np.random.default_rng(task.seed)))


def learner_for(task: Task) -> PaperLearner:
    """Make the paper's learner; the seed draws its weights and random examples."""
    settings, policy = task.settings, task.variant
    budget = settings.budget if "random" in policy else None
    return PaperLearner(
        range(settings.classes), policy=policy, budget=budget, rule=settings.rule, seed=task.seed
    )


def perform(task: Task) -> dict[str, Any]:
    """Run one policy over MNIST-ol; "test … after learning of every example", as the paper does."""
    data, learner = examples(task), learner_for(task)
    labels, n = np.concatenate([data.labels, data.test_labels]), len(data.labels)
    curves: dict[str, list[float | None]] = {name: [] for name in (*CURVES, "steps", "rehearsed")}
    for taught, (report, predicted) in enumerate(watch(learner, data), 1):
        right = predicted == labels
        for name, part in zip(CURVES, (right[:n], right[:taught], right[n:]), strict=True):
            curves[name].append(round(float(part.mean()), 6))
        counts = [unit.mean_rehearsed for unit in report.units]
        curves["rehearsed"].append(round(float(np.mean(counts)), 6) if counts else None)
        curves["steps"].append(report.steps)
    return curves


def watch(learner: PaperLearner, data: Data) -> Iterator[tuple[PaperReport, NDArray[Any]]]:
    """Teach the data; yield each report and the labels then predicted for all rows.

    W[j] += amount·x(id) and b[j] += amount move a_j(x) by amount·(x(id)·x + 1): n multiplications
    for a change, where evaluating the neuron again would take n·d.
    """
    rows = np.concatenate([data.rows, data.test_rows])
    products = data.rows @ rows.T + 1.0
    a: list[Floats] = []
    for x, y in zip(data.rows, data.labels.tolist(), strict=True):
        report = learner.teach(x, y)
        if not a:
            a = [W @ rows.T + b[:, None] for W, b in zip(*learner.layer, strict=True)]
        else:
            for unit in report.units:
                neurons, ids, amounts = unit.changes
                kernels.add_multiples(a[unit.unit], neurons, products, ids, amounts)
        yield report, learner.classes[np.array([unit.min(axis=0) for unit in a]).argmax(axis=0)]


def draw3(rows: Rows) -> "Figure":
    """Draw the number rehearsed per step and unit, averaged over the last 25 examples."""
    counts, per_class = values(rows, "rehearsed"), rows[0].settings["per_class"]
    n = counts.shape[1]
    means = [[_mean(run[max(0, i - 25) : i]) for run in counts] for i in range(1, n + 1)]
    expected = np.full((n, 1), per_class)
    curves = [
        Curve("conditional", drawing.CONDITIONAL, range(n), np.array(means)),
        Curve("the paper: about one class", drawing.NONE, range(n), expected, dashed=True),
    ]
    words = {"xlabel": "examples taught, in label order", "ylabel": "examples rehearsed per unit"}
    return draw_panels([[Panel(curves, words)]], 6.4, 3.6)


def claims3(rows: Rows) -> list[Claim]:
    """Compare "fluctuates around 100" with the mean over training."""
    rehearsed, per_class = _rehearsed(rows), rows[0].settings["per_class"]
    return [
        Claim(
            f"each unit rehearses around {per_class} examples (we ask: half to twice that)",
            in_words(rehearsed),
            bool((rehearsed >= per_class / 2).all() and (rehearsed <= 2 * per_class).all()),
        )
    ]


def draw_policies(rows: Rows) -> "Figure":
    """Draw the accuracies of all policies: whole training set, seen so far, test set."""
    panels = []
    for name, title in CURVES.items():
        curves = [
            Curve(policy, colour, range(1, runs.shape[1] + 1), 100 * runs.T)
            for policy, colour in COLOURS.items()
            if len(runs := values(rows, name, policy=policy))
        ]
        words = {"title": title, "xlabel": "examples taught", "ylabel": "accuracy (%)"}
        panels.append(Panel(curves, words))
    return draw_panels([panels], 10.0, 3.8)


def claims4(rows: Rows) -> list[Claim]:
    """Compare what Section 3.2 says about Fig. 4 with the runs."""
    train, test = (_final(rows, name, "conditional") for name in ("train", "test"))
    none, random = (_final(rows, "train", policy) for policy in ("none", "random"))
    ahead = test - _final(rows, "test", "random")
    least = 100 * values(rows, "seen", policy="conditional").min(axis=1)
    falls = []
    for name in ("train", "test"):
        curves = values(rows, name, policy="conditional")
        falls.append(100 * (np.maximum.accumulate(curves, axis=1) - curves).max(axis=1))
    return [
        Claim(
            "conditional rehearsal ends at 100 % of the training set",
            f"train {in_words(train, ' %')}, test {in_words(test, ' %')}",
            bool((train == 100).all()),
        ),
        Claim(
            "no forgetting is happening",
            f"accuracy over the examples seen so far, at its lowest: {in_words(least, ' %')}",
            bool((least == 100).all()),
        ),
        Claim(
            "without rehearsal it fails to learn (we ask: below 30 %)",
            f"train {in_words(none, ' %')}",
            bool((none < 30).all()),
        ),
        Claim(
            "random rehearsal is as good (we ask: test within 2 points)",
            f"train {in_words(random, ' %')}; conditional ahead on test by "
            f"{in_words(ahead, ' points')}",
            bool(abs(ahead.mean()) <= 2),
        ),
        Claim(
            "training and test accuracy rise monotonically",
            f"largest fall below an earlier value: {in_words(falls[0])} points of training, "
            f"{in_words(falls[1])} of test",
            bool(max(fall.max() for fall in falls) == 0),
        ),
    ]


def claims5(rows: Rows) -> list[Claim]:
    """Compare "by a big margin" with the runs; the margin is computed per seed."""
    found = []
    for policy in ("random", "random-once"):
        train, test = (
            _final(rows, name, "conditional") - _final(rows, name, policy)
            for name in ("train", "test")
        )
        words = f"conditional beats {policy} by a big margin (we ask: 8 points of training)"
        ahead = f"ahead by {in_words(train)} points of training and {in_words(test)} of test"
        holds = bool(train.mean() >= 8 and test.mean() > 0)
        found.append(Claim(words, f"{ahead}, with {in_words(_rehearsed(rows))} rehearsed", holds))
    return found


def _final(rows: Rows, name: str, policy: str) -> Floats:
    """Return the last accuracy of a curve in %, for each seed."""
    return 100 * values(rows, name, policy=policy)[:, -1]


def _rehearsed(rows: Rows) -> Floats:
    """Return the mean number rehearsed over the examples that moved a unit, for each seed."""
    return np.array([_mean(run) for run in values(rows, "rehearsed", policy="conditional")])


def _mean(counts: Floats) -> float:
    """Return the mean over the examples that moved a unit; 0 if none did."""
    moved = counts[~np.isnan(counts)]
    return float(moved.mean()) if len(moved) else 0.0
