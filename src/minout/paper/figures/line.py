"""Fig. 6, plain SGD fails in label order; Fig. 8, the line from T[x] to one θ, and minout on it.

Rates were chosen on training rows that are not taught. In fig6 those from 0.005 to 0.02 learn the
shuffled stream equally well, and in label order every rate from 0.001 ends at chance.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from minout._typing import Floats, Ints
from minout.metrics import accuracy, forgetting_from_best
from minout.paper import sharing
from minout.paper.data import Data, mnist_sample, ordered, pick_per_class, shuffled
from minout.paper.figures import drawing, mnist
from minout.paper.figures.rows import Claim, Rows, Settings, combinations, in_words, values

STREAMS = {"ordered": drawing.SGD, "shuffled": drawing.INK}
PASSES = combinations(
    {"hidden": 128, "learning_rate": 0.01, "per_class": None, "points": 100}, stream=list(STREAMS)
)


def run6(settings: Settings, seed: int) -> dict[str, Any]:
    """Teach one pass; the seed draws the order and the weights, the same for both streams."""
    data = mnist_sample()
    weights_rng, order_rng = np.random.default_rng(seed).spawn(2)
    if settings["per_class"] is not None:
        data = pick_per_class(data, settings["per_class"], order_rng)
    data = shuffled(data, order_rng)
    if settings["stream"] == "ordered":
        data = ordered(data)
    net = sharing.initial_network((data.rows.shape[1], settings["hidden"], 10), weights_rng)
    stops = np.linspace(0, len(data.rows), settings["points"] + 1).round().astype(int).tolist()
    found: dict[str, list[float]] = {"taught": stops, "train": [], "test": []}
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        for x, y in zip(data.rows[start:stop], data.labels[start:stop].tolist(), strict=True):
            sharing.sgd_step(net, x, y, settings["learning_rate"])
        found["train"].append(accuracy(sharing.predictions(net, data.rows), data.labels))
        found["test"].append(accuracy(sharing.predictions(net, data.test_rows), data.test_labels))
    return found


def claims6(rows: Rows) -> list[Claim]:
    """Compare "fails utterly" with the final test accuracy; a bound must hold for all seeds."""
    ended, learned = (100 * values(rows, "test", stream=stream)[:, -1] for stream in STREAMS)
    return [
        Claim(
            "SGD fails utterly on MNIST-ol (we ask: below 20 % of the test set at the end)",
            in_words(ended, " %"),
            bool((ended < 20).all()),
        ),
        Claim(
            "the same network learns the shuffled stream (we ask: above 80 %)",
            in_words(learned, " %"),
            bool((learned > 80).all()),
        ),
    ]


def draw6(rows: Rows) -> "drawing.Figure":
    """Draw test accuracy solid and training accuracy dashed, for both streams."""
    figure, ((axes,),) = drawing.panels(6.4, 3.8, ["accuracy (%)"], ["examples taught"])
    for stream, colour in STREAMS.items():
        for part in ("train", "test"):
            y = 100 * values(rows, part, stream=stream).T
            x, label = rows[0].values["taught"], f"{stream}, {part}"
            drawing.curve(axes, label, colour, x, y, dashed=part == "train")
    return figure


FAMILIES = {
    "tables": (drawing.INK, ("T[x]", "groups", "one θ")),
    "minout": (drawing.CONDITIONAL, ("minout",)),
    "network": (drawing.SGD, ("network",)),
}

LINE: Settings = {
    "per_class": 30, "prototypes": 300, "table_rate": 0.01, "network_rate": 0.03,
    "max_steps": 2_000,
}  # fmt: skip
# From nothing shared to everything shared, then the others. The size is the number of groups, of
# neurons per unit, or of hidden neurons.
POINTS = [
    {**LINE, "kind": kind, "size": size, "how": how}
    for kind, sizes in {
        "T[x]": [0], "groups": [300, 100, 30, 10, 3], "one θ": [1],
        "minout": [50, 20, 5, 1], "network": [128],
    }.items()
    for size in sizes
    for how in ("rehearsed", "alone")
]  # fmt: skip

# Of one example: for each θ or unit that moved, how many stored examples the paper says it can
# disturb; and how many different ones were rehearsed.
Told = tuple[list[float], int]
# How to teach one example, and how to predict.
Learner = tuple[Callable[[Floats, int], Told], Callable[[Floats], Ints]]


def run8(settings: Settings, seed: int) -> dict[str, Any]:
    """Teach one stream to one point; measure it on the test set after every label."""
    data, prototypes = _examples(settings, seed)
    make = {"minout": _minout, "network": _network}.get(settings["kind"], _table)
    teach, predict = make(settings, settings["how"] == "rehearsed", seed, prototypes)
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
    data = shuffled(mnist_sample(), np.random.default_rng(seed))
    taught = np.zeros(len(data.labels), dtype=np.bool_)
    for label in range(10):
        taught[np.flatnonzero(data.labels == label)[: settings["per_class"]]] = True
    stream = ordered(data._replace(rows=data.rows[taught], labels=data.labels[taught]))
    return stream, data.rows[~taught][: settings["prototypes"]]


def _table(settings: Settings, rehearse: bool, seed: int, prototypes: Floats) -> Learner:
    """Make a table by row, by group or with one θ for all."""
    del seed  # a table starts at 0
    nearest = sharing.by_nearest(prototypes[: settings["size"]])
    group = {"T[x]": sharing.by_row, "groups": nearest, "one θ": sharing.for_all}[settings["kind"]]
    rate, most = settings["table_rate"], settings["max_steps"]
    table = sharing.TableLearner(group, 10, rehearse=rehearse, learning_rate=rate, max_steps=most)

    def teach(x: Floats, y: int) -> Told:
        report = table.teach(x, y)
        return [report.at_risk] if report.steps else [], report.rehearsed

    return teach, table.predict


def _minout(settings: Settings, rehearse: bool, seed: int, _: Floats) -> Learner:
    """Make one minout unit per class: what moves is a unit, and at risk is the paper's Ŝ."""
    policy = "conditional" if rehearse else "none"
    point = {**mnist.PAPER, "neurons": settings["size"], "policy": policy}
    learner = mnist.learner_for(point, seed)

    def teach(x: Floats, y: int) -> Told:
        report = learner.teach(x, y)
        return [unit.mean_interfered for unit in report.units], len(report.rehearsed)

    return teach, learner.predict


def _network(settings: Settings, rehearse: bool, seed: int, _: Floats) -> Learner:
    """Make one θ for all; rehearsing is a step on each stored example after each on the new one."""
    rng, rate = np.random.default_rng(seed), settings["network_rate"]
    net = sharing.initial_network((784, settings["size"], 10), rng)
    stored: list[tuple[Floats, int]] = []

    def teach(x: Floats, y: int) -> Told:
        steps, others = 0, len(stored)
        while sharing.loss(net, x, y) >= 0.1 and steps < settings["max_steps"]:
            sharing.sgd_step(net, x, y, rate)
            for i in rng.permutation(others) if rehearse else ():
                old, label = stored[i]
                sharing.sgd_step(net, old, label, rate)
            steps += 1
        stored.append((x, y))
        return ([others], others * rehearse) if steps else ([], 0)

    return teach, lambda X: sharing.predictions(net, X)


def claims8(rows: Rows) -> list[Claim]:
    """Check both ends of the line, the points in between, and what rehearsal does."""
    by_row, one, network = (
        values(rows, "forgetting", kind=kind, how="alone") for kind in ("T[x]", "one θ", "network")
    )
    test = values(rows, "test", kind="T[x]", how="alone")
    theta = values(rows, "test", kind="one θ", how="rehearsed")
    tables, units = (
        _line(rows, "forgetting", "alone", FAMILIES[family][1])[1].mean(axis=1)
        for family in ("tables", "minout")
    )
    most = min(one.min(), network.min())
    return [
        Claim(
            "T[x] forgets nothing and generalises nothing; a θ shared by all forgets most",
            f"forgetting without rehearsal: T[x] {in_words(by_row)} points, one θ "
            f"{in_words(one)}, network {in_words(network)}; test: T[x] "
            f"{in_words(test, ' %')}, one θ with rehearsal {in_words(theta, ' %')}",
            bool((by_row == 0).all() and (test <= 15).all() and most > 50),
        ),
        Claim(
            "reducing the level of parameter sharing reduces forgetting",
            f"without rehearsal, {tables[0]:.0f} to {tables[-1]:.0f} points along the tables, "
            f"{units[0]:.0f} to {units[-1]:.0f} along the minouts",
            bool((np.diff(tables) > 0).all() and (np.diff(units) > 0).all()),
        ),
    ]


def draw8(rows: Rows) -> "drawing.Figure":
    """Draw test accuracy, forgetting and rehearsal against the share that is at risk."""
    names = {
        "test": "test accuracy (%)",
        "forgetting": "forgetting from best (points)",
        "rehearsed": "different examples rehearsed\nper example taught",
    }
    xlabel = "share of the stored examples that is at risk"
    figure, grid = drawing.panels(8.2, 9.2, list(names.values()), [xlabel])
    for axes, name in zip(grid[:, 0], names, strict=True):
        for family, (colour, kinds) in FAMILIES.items():
            for how in ("rehearsed", "alone"):
                x, y = _line(rows, name, how, kinds)
                drawing.curve(axes, f"{family}, {how}", colour, x, y, dashed=how == "alone")
    return figure


def _line(rows: Rows, name: str, how: str, kinds: tuple[str, ...]) -> tuple[list[float], Floats]:
    """Return how much each point of some kinds shares, and a value of each (points, seeds)."""
    points = dict.fromkeys((row.settings["kind"], row.settings["size"]) for row in rows)
    asked = [{"kind": kind, "size": size} for kind, size in points if kind in kinds]
    shared = [float(values(rows, "shared", how="rehearsed", **point).mean()) for point in asked]
    return shared, np.array([values(rows, name, how=how, **point) for point in asked])
