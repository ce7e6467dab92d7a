"""Fig. 7, the appendix's open question: how many examples are rehearsed, and how many should be.

30 examples per class of MNIST-ol, taught to more and more units, and to units of more and more
neurons. A step *leaks* if an example that was not rehearsed changes sides.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from minout.metrics import accuracy
from minout.paper.figures import drawing, mnist
from minout.paper.figures.measured import Claim, Rows, Task, in_words, known, select, sweep, values
from minout.paper.figures.plot import COLOURS, Curve, Panel, draw_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETS = ("own_class", "rehearsed", "exact", "missed")


def _points(base: mnist.Settings, classes: Any, neurons: Any) -> tuple[mnist.Settings, ...]:
    """Return the points of two sweeps, which share one."""
    base = replace(base, variants=("conditional", "closed"))
    units = [replace(base, classes=each) for each in classes]
    sizes = [replace(base, rule=replace(base.rule, neurons=each)) for each in neurons]
    return tuple(dict.fromkeys([*units, *sizes]))


PAPER = _points(mnist.Settings(per_class=30), range(2, 11), (5, 10, 20, 50, 100))
QUICK = _points(replace(mnist.quick(mnist.FIG4), classes=4), (2, 4), (4, 8))


def perform(task: Task) -> dict[str, Any]:
    """Teach MNIST-ol once; average the sets of a step over its units, then over the examples.

    `inside` is the size of S1 at the end, the mean over the units.
    """
    data, learner = mnist.examples(task), mnist.learner_for(task)
    sizes, weights, steps, leaks = [], [], 0, 0
    for x, y in zip(data.rows, data.labels.tolist(), strict=True):
        report = learner.teach(x, y)
        for unit in report.units:
            own = (data.labels[: report.example_id] == unit.unit).sum()
            sizes.append([own, unit.mean_rehearsed, unit.mean_exact, unit.mean_missed])
            weights.append(1 / len(report.units))
            steps, leaks = steps + unit.steps, leaks + unit.leaks
    means = np.average(sizes, axis=0, weights=weights).round(6).tolist()
    inside = learner.scores(data.rows) > task.settings.rule.threshold
    return {
        **dict(zip(SETS, means, strict=True)),
        "leaks": 100 * leaks / steps,
        "inside": float(inside.sum(axis=0).mean()),
        "test": 100 * accuracy(learner.predict(data.test_rows), data.test_labels),
    }


def claims(rows: Rows) -> list[Claim]:
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


def draw(rows: Rows) -> "Figure":
    """Draw the sets, the leaks and the test accuracy over units and over neurons."""
    columns = []
    fixed = {"classes": known(rows, "classes")[-1], "neurons": rows[0].settings["neurons"]}
    for knob, held in (("classes", "neurons"), ("neurons", "classes")):
        runs = select(rows, **{held: fixed[held]})
        at = known(runs, knob)
        curves = [
            Curve(label, colour, at, sweep(runs, name, knob, policy=policy), dashed)
            for label, name, policy, colour, dashed in (
                ("within reach of a step", "exact", "conditional", drawing.CONDITIONAL, True),
                ("conditional rehearses", "rehearsed", "conditional", drawing.CONDITIONAL, False),
                ("closed rehearses", "rehearsed", "closed", drawing.CLOSED, False),
                ("the unit's own class, S1", "own_class", "conditional", drawing.INK, True),
            )
        ]
        words = {"title": f"{held}: {fixed[held]}", "ylabel": "examples per step of a unit"}
        column = [Panel(curves, words)]
        for name, ylabel in (("leaks", "steps that leak (%)"), ("test", "test accuracy (%)")):
            both = [
                Curve(policy, COLOURS[policy], at, sweep(runs, name, knob, policy=policy))
                for policy in ("conditional", "closed")
            ]
            column.append(Panel(both, {"ylabel": ylabel, "xlabel": knob, "ticks": at}))
        columns.append(column)
    return draw_panels(list(zip(*columns, strict=True)), 9.6, 8.4)
