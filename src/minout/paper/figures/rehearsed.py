"""Fig. 7, how many examples are rehearsed and how many should be; Fig. 9, with ever more modes.

Fig. 7 is the appendix's open question: 30 examples per class of MNIST-ol, taught to more and more
units, and to units of more and more neurons. A step *leaks* if an example that was not rehearsed
changes sides. Fig. 9 is the paper's expectation: with more modes than rehearsed examples,
conditional wins; the settings of Fig. 4 and those of Fig. 5, which were not chosen for this.
"""

from typing import Any

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.metrics import accuracy
from minout.paper.data import Data, ordered
from minout.paper.figures import drawing, mnist
from minout.paper.figures.rows import (
    Claim,
    Rows,
    Settings,
    combinations,
    in_words,
    known,
    select,
    sweep,
    values,
)

THIRTY: Settings = {**mnist.PAPER, "per_class": 30}
PAIR = ("conditional", "closed")
SIZES = [
    *combinations(THIRTY, classes=range(2, 11), policy=PAIR),
    *combinations(THIRTY, neurons=(5, 10, 20, 100), policy=PAIR),
]
# A mode is a picture of `side` × `side` pixels, each 1 with probability `ink` and 0 otherwise. An
# example of it is that picture with each pixel inverted with probability `noise`. `side` and `ink`
# give rows like those of MNIST: squared length 87 (MNIST: 85), and a cosine of 0.39 between rows of
# different labels (0.38).
PICTURES: Settings = {
    "per_class": 200, "budget": 100, "side": 15, "ink": 0.38, "noise": 0.05, "test_rows": 1_000,
}  # fmt: skip
MODES = [
    each
    for learner in (mnist.PAPER, mnist.FEW)
    for each in combinations(
        {**learner, **PICTURES},
        modes=(1_000, 300, 100, 30, 10),
        policy=("conditional", "random", "none"),
    )
]


def run7(settings: Settings, seed: int) -> dict[str, Any]:
    """Teach MNIST-ol once; average the sets of a step over its units, then over the examples."""
    data, learner = mnist.examples(settings, seed), mnist.learner_for(settings, seed)
    sizes, weights, steps, leaks = [], [], 0, 0
    for report in mnist.teach_all(learner, data):
        for unit in report.units:
            own = (data.labels[: report.example_id] == unit.unit).sum()
            sizes.append([own, unit.mean_rehearsed, unit.mean_exact, unit.mean_missed])
            weights.append(1 / len(report.units))
            steps, leaks = steps + unit.steps, leaks + unit.leaks
    means = np.average(sizes, axis=0, weights=weights).round(6).tolist()
    inside = learner.scores(data.rows) > learner.rule.threshold
    return {
        **dict(zip(("own_class", "rehearsed", "exact", "missed"), means, strict=True)),
        "leaks": 100 * leaks / steps,
        "inside": float(inside.sum(axis=0).mean()),
        "test": 100 * accuracy(learner.predict(data.test_rows), data.test_labels),
    }


def claims7(rows: Rows) -> list[Claim]:
    """Check the sizes of the sets with the most units, and what a step can really disturb."""
    most, per_class = known(rows, "classes")[-1], rows[0].settings["per_class"]
    chosen = select(rows, classes=most, neurons=rows[0].settings["neurons"])
    asked, exact, missed, leaks, inside = (
        values(chosen, name, policy="conditional")
        for name in ("rehearsed", "exact", "missed", "leaks", "inside")
    )
    more = values(chosen, "rehearsed", policy="closed") / asked
    tight = values(rows, "leaks", policy="closed")
    share = inside / (most * per_class)
    return [
        Claim(
            f"S1 is about one in {most} of the training examples (we ask: within a tenth)",
            in_words(100 * share, " %") + " at the end",
            bool(np.abs(share * most - 1).max() <= 0.1),
        ),
        Claim(
            "only S1 and S2 of the new example's neuron are interfered",
            f"of {in_words(exact)} within reach of a step, {in_words(missed)} are not rehearsed; "
            f"{in_words(leaks, ' %')} of the steps leak",
            bool((leaks == 0).all()),
        ),
        Claim(
            "not in the paper: closed rehearses all that its steps can disturb; none leaks",
            f"{in_words(tight, ' %')} leak; {in_words(more)} times as many rehearsed",
            bool((tight == 0).all()),
        ),
    ]


def draw7(rows: Rows) -> "drawing.Figure":
    """Draw the sets, the leaks and the test accuracy over units and over neurons."""
    fixed = {"neurons": rows[0].settings["neurons"], "classes": known(rows, "classes")[-1]}
    ylabels = "examples per step of a unit", "steps that leak (%)", "test accuracy (%)"
    titles = [f"{held}: {value}" for held, value in fixed.items()]
    figure, grid = drawing.panels(9.6, 8.4, ylabels, ("classes", "neurons"), titles)
    for (sets, leaks, test), held, knob in zip(grid.T, fixed, ("classes", "neurons"), strict=True):
        runs = select(rows, **{held: fixed[held]})
        for policy in PAIR:
            for axes, name in ((sets, "rehearsed"), (leaks, "leaks"), (test, "test")):
                label, colour = f"{policy} rehearses", drawing.POLICIES[policy]
                drawing.swept(axes, label, colour, runs, name, knob, policy=policy)
        for label, colour, name in (
            ("within reach of a step", drawing.CONDITIONAL, "exact"),
            ("the unit's own class, S1", drawing.INK, "own_class"),
        ):
            drawing.swept(sets, label, colour, runs, name, knob, dashed=True, policy="conditional")
    return figure


def run9(settings: Settings, seed: int) -> dict[str, Any]:
    """Teach one stream; measure accuracies at the end, and the sets of a step."""
    data, learner = generate(settings, seed), mnist.learner_for(settings, seed, capped=True)
    units = [unit for report in mnist.teach_all(learner, data) for unit in report.units]
    sizes = [(unit.mean_rehearsed, unit.mean_interfered) for unit in units]
    means = np.average(sizes, axis=0, weights=[unit.steps for unit in units]).round(6).tolist()
    return {
        "train": 100 * accuracy(learner.predict(data.rows), data.labels),
        "test": 100 * accuracy(learner.predict(data.test_rows), data.test_labels),
        "rehearsed": means[0],
        "at_risk": means[1],
    }


def generate(settings: Settings, seed: int) -> Data:
    """Draw modes, give each label as many of them, and draw rows from all modes in turn.

    The seed is used with the number of modes: the draws are not those of a learner's weights.
    """
    modes, classes = settings["modes"], settings["classes"]
    rng = np.random.default_rng([seed, modes])
    centres = rng.random((modes, settings["side"] ** 2)) < settings["ink"]
    label_of = rng.permutation(np.arange(modes) % classes)
    order = rng.permutation(settings["per_class"] * classes)
    train, labels = _examples(centres, label_of, len(order), settings["noise"], rng)
    test = _examples(centres, label_of, settings["test_rows"], settings["noise"], rng)
    return ordered(Data(train[order], labels[order], *test))


def _examples(
    centres: Bools, label_of: Ints, count: int, noise: float, rng: np.random.Generator
) -> tuple[Floats, Ints]:
    mode = np.arange(count) % len(centres)
    inverted = rng.random((count, centres.shape[1])) < noise
    return (centres[mode] ^ inverted).astype(np.float64), label_of[mode]


def claims9(rows: Rows) -> list[Claim]:
    """Check for each learner whether conditional is ahead where modes outnumber the budget."""
    found = []
    for reduction in ("sum", "mean"):
        runs = select(rows, reduction=reduction)
        modes, rate = np.array(known(runs, "modes")), runs[0].settings["learning_rate"]
        many = modes > runs[0].settings["budget"]
        conditional, random = (
            sweep(runs, "test", "modes", policy=policy)[many]
            for policy in ("conditional", "random")
        )
        lead = conditional - random
        ahead = lead.mean(axis=1) > 2
        words = (
            "conditional is advantageous where there are more modes than rehearsed examples (we "
            "ask: by more than 2 points of test accuracy; "
            f"rate {rate}, rehearsal losses: {reduction})"
        )
        measured = (
            f"ahead by {' and '.join(in_words(each) for each in lead)} points "
            f"with {' and '.join(f'{n:,}' for n in modes[many])} modes"
        )
        holds = bool(ahead.all()) if ahead.all() == ahead.any() else None
        found.append(Claim(words, measured, holds))
    return found


def draw9(rows: Rows) -> "drawing.Figure":
    """Draw accuracies and the number rehearsed against the number of modes."""
    names = {
        "train": "training accuracy (%)",
        "test": "test accuracy (%)",
        "rehearsed": "examples rehearsed\nper step of a unit",
    }
    columns = [select(rows, reduction=reduction) for reduction in ("sum", "mean")]
    titles = [
        "rate {learning_rate}, rehearsal losses: {reduction}".format(**runs[0].settings)
        for runs in columns
    ]
    figure, grid = drawing.panels(9.6, 8.4, list(names.values()), ["modes"] * 2, titles)
    for column, runs in zip(grid.T, columns, strict=True):
        for axes, name in zip(column, names, strict=True):
            for policy in known(runs, "policy"):
                colour = drawing.POLICIES[policy]
                drawing.swept(axes, policy, colour, runs, name, "modes", policy=policy)
            axes.axvline(rows[0].settings["budget"], color=drawing.NONE, linestyle="--", zorder=0)
    return figure
