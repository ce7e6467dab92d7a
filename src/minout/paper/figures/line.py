"""Fig. 8: the line from nothing shared to everything shared, T[x] to one θ, and minout on it.

30 examples per class of MNIST-ol, with and without rehearsal. Rates were chosen on training rows
that are not taught: for tables the largest that changes nothing, for the network the best.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from minout._typing import Floats, Ints
from minout.metrics import accuracy, forgetting_from_best
from minout.paper.data import Data, mnist_sample, ordered
from minout.paper.figures import drawing, measured, mnist
from minout.paper.figures.measured import Claim, Rows, Task, in_words, values
from minout.paper.figures.plot import Curve, Panel, draw_panels
from minout.paper.network import initial_network, loss, predictions, sgd_step
from minout.paper.sharing import TableLearner, by_nearest, by_row, for_all

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAMILIES = {
    "tables": (drawing.INK, ("T[x]", "groups", "one θ")),
    "minout": (drawing.CONDITIONAL, ("minout",)),
    "network": (drawing.SGD, ("network",)),
}


@dataclass(frozen=True)
class Settings(measured.Settings):
    """A point of the line, with and without rehearsal.

    `size` is the number of groups, of neurons per unit, or of hidden neurons.
    """

    variants: tuple[str, ...] = ("rehearsed", "alone")
    kind: str = "groups"
    size: int = 1
    per_class: int = 30
    prototypes: int = 300
    table_rate: float = 0.01
    network_rate: float = 0.03
    max_steps: int = 2_000


def _points(groups: Any, neurons: Any, hidden: int, **others: Any) -> tuple[Settings, ...]:
    """Return the points of the line, from nothing shared to everything shared, then the others."""
    named = [("T[x]", 0), *product(["groups"], groups), ("one θ", 1), *product(["minout"], neurons)]
    return tuple(Settings(kind=k, size=n, **others) for k, n in (*named, ("network", hidden)))


PAPER = _points((300, 100, 30, 10, 3), (50, 20, 5, 1), hidden=128)
QUICK = _points((30, 3), (8, 1), hidden=16, per_class=3, prototypes=30)


Told = tuple[list[float], int]
"""Of one example: for each θ or unit that moved, the stored examples that the paper says it can
disturb; and how many different ones were rehearsed."""

Learner = tuple[Callable[[Floats, int], Told], Callable[[Floats], Ints]]
"""How to teach one example, and how to predict."""


def perform(task: Task) -> dict[str, Any]:
    """Teach one stream to one point; measure it on the test set after every label."""
    data, prototypes = _examples(task.settings, task.seed)
    teach, predict = _learner(task, prototypes)
    told, matrix = [], []
    for label in range(10):
        told += [teach(x, label) for x in data.rows[data.labels == label]]
        right = predict(data.test_rows) == data.test_labels
        matrix.append([right[data.test_labels == each].mean() for each in range(10)])
    shares = [n / stored for stored, (at_risk, _) in enumerate(told) if stored for n in at_risk]
    return {
        "test": 100 * float(np.mean(matrix[-1])),
        "train": 100 * accuracy(predict(data.rows), data.labels),
        "forgetting": 100 * forgetting_from_best(np.array(matrix)),
        "shared": round(float(np.mean(shares)), 6),
        "rehearsed": round(float(np.mean([rehearsed for _, rehearsed in told])), 6),
    }


def _examples(settings: Settings, seed: int) -> tuple[Data, Floats]:
    """Draw the stream, then the prototypes of groups from the other rows, ignoring labels."""
    data = mnist_sample()
    order = np.random.default_rng(seed).permutation(len(data.labels))
    rows, labels = data.rows[order], data.labels[order]
    taught = np.zeros(len(labels), dtype=np.bool_)
    for label in range(10):
        taught[np.flatnonzero(labels == label)[: settings.per_class]] = True
    data = ordered(data._replace(rows=rows[taught], labels=labels[taught]))
    return data, rows[~taught][: settings.prototypes]


def _learner(task: Task, prototypes: Floats) -> Learner:
    """Make the learner at one point; the seed draws its weights."""
    settings, rehearse = task.settings, task.variant == "rehearsed"
    if settings.kind == "minout":
        return _minout(settings.size, "conditional" if rehearse else "none", task.seed)
    if settings.kind == "network":
        return _network(settings, rehearse, task.seed)
    groups = {"T[x]": by_row, "groups": by_nearest(prototypes[: settings.size]), "one θ": for_all}
    rate, most = settings.table_rate, settings.max_steps
    G = groups[settings.kind]
    table = TableLearner(G, 10, rehearse=rehearse, learning_rate=rate, max_steps=most)

    def teach(x: Floats, y: int) -> Told:
        report = table.teach(x, y)
        return [report.at_risk] if report.steps else [], report.rehearsed

    return teach, table.predict


def _minout(neurons: int, policy: str, seed: int) -> Learner:
    """Make one minout unit per class: what moves is a unit, and at risk is the paper's Ŝ."""
    settings = replace(mnist.FIG4, rule=replace(mnist.FIG4.rule, neurons=neurons))
    learner = mnist.learner_for(Task(settings, policy, seed))

    def teach(x: Floats, y: int) -> Told:
        report = learner.teach(x, y)
        return [unit.mean_interfered for unit in report.units], len(report.rehearsed)

    return teach, learner.predict


def _network(settings: Settings, rehearse: bool, seed: int) -> Learner:
    """Make one θ for all, with a hidden layer: SGD until the loss is small.

    Rehearsing is one step on each stored example, in random order, after each on the new one.
    """
    rng, rate = np.random.default_rng(seed), settings.network_rate
    net = initial_network((784, settings.size, 10), rng)
    stored: list[tuple[Floats, int]] = []

    def teach(x: Floats, y: int) -> Told:
        steps = 0
        while loss(net, x, y) >= 0.1 and steps < settings.max_steps:
            sgd_step(net, x, y, rate)
            for i in rng.permutation(len(stored)) if rehearse else ():
                old, label = stored[i]
                sgd_step(net, old, label, rate)
            steps += 1
        stored.append((x, y))
        others = len(stored) - 1
        return ([others], others * rehearse) if steps else ([], 0)

    return teach, lambda X: predictions(net, X)


def claims(rows: Rows) -> list[Claim]:
    """Check both ends of the line, the points in between, and what rehearsal does."""
    alone = {
        kind: values(rows, "forgetting", kind=kind, how="alone")
        for kind in ("T[x]", "one θ", "network")
    }
    shared = [alone["one θ"], alone["network"]]
    test = values(rows, "test", kind="T[x]", how="alone")
    theta = values(rows, "test", kind="one θ", how="rehearsed")
    tables, units = (
        _line(rows, "forgetting", "alone", FAMILIES[family][1])[1].mean(axis=1)
        for family in ("tables", "minout")
    )
    kept = values(rows, "train", how="rehearsed")
    return [
        Claim(
            "T[x] forgets nothing and generalises nothing; a θ shared by all forgets most",
            f"forgetting without rehearsal: T[x] {in_words(alone['T[x]'])} points, one θ "
            f"{in_words(alone['one θ'])}, network {in_words(alone['network'])}; test: T[x] "
            f"{in_words(test, ' %')}, one θ with rehearsal {in_words(theta, ' %')}",
            bool((alone["T[x]"] == 0).all() and (test <= 15).all() and np.min(shared) > 50),
        ),
        Claim(
            "reducing the level of parameter sharing reduces forgetting",
            f"without rehearsal, {tables[0]:.0f} to {tables[-1]:.0f} points along the tables, "
            f"{units[0]:.0f} to {units[-1]:.0f} along the minouts",
            bool((np.diff(tables) > 0).all() and (np.diff(units) > 0).all()),
        ),
        Claim(
            "rehearsing the interfered examples prevents forgetting (we ask: training 100 %)",
            f"at least {kept.min():.1f} % of the training examples at every point and seed",
            bool(kept.min() == 100),
        ),
    ]


def draw(rows: Rows) -> "Figure":
    """Draw test accuracy, forgetting and rehearsal against the share that is at risk."""
    names = {
        "test": "test accuracy (%)",
        "forgetting": "forgetting from best (points)",
        "rehearsed": "different examples rehearsed\nper example taught",
    }
    panels = []
    for name, ylabel in names.items():
        curves = [
            Curve(f"{family}, {how}", colour, *_line(rows, name, how, kinds), how == "alone")
            for family, (colour, kinds) in FAMILIES.items()
            for how in ("rehearsed", "alone")
        ]
        words = {"ylabel": ylabel, "xlabel": "share of the stored examples that is at risk"}
        panels.append([Panel(curves, words)])
    return draw_panels(panels, 8.2, 9.2)


def _line(rows: Rows, name: str, how: str, kinds: tuple[str, ...]) -> tuple[list[float], Floats]:
    """Return how much each point of some kinds shares, and a value of each (points, seeds)."""
    points = dict.fromkeys((row.settings["kind"], row.settings["size"]) for row in rows)
    asked = [{"kind": kind, "size": size} for kind, size in points if kind in kinds]
    shared = [float(values(rows, "shared", how="rehearsed", **point).mean()) for point in asked]
    return shared, np.array([values(rows, name, how=how, **point) for point in asked])
