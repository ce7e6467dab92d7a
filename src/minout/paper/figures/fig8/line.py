"""The points of the sharing line, as learners that report what each example could disturb."""

from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.maths import perceptron
from minout.maths.perceptron import Perceptron
from minout.maths.sharing import by_nearest, by_row, for_all
from minout.paper import PaperLearner, TableLearner
from minout.paper.figures import comparison
from minout.paper.figures.fig8.settings import Settings


class ExampleReport(NamedTuple):
    """The report on one example.

    `at_risk` has a number for each thing that moved (a θ, a unit): how many stored examples the
    paper says it can disturb, the mean over its steps; `exact` is the same by the rule for all
    neurons that moved. `rehearsed` counts different examples, over all that moved.
    """

    at_risk: tuple[float, ...]
    exact: tuple[float, ...]
    rehearsed: int
    caps: int


class Point(Protocol):
    """A learner that reports on each example."""

    def teach(self, x: Floats, y: int) -> ExampleReport:
        """Learn one row x (d,) under the label y."""
        ...

    def predict(self, X: Floats) -> NDArray[Any]:
        """Return a label for each row of X (n, d)."""
        ...


def point(
    settings: Settings, kind: str, size: int, *, rehearse: bool, prototypes: Floats, seed: int
) -> Point:
    """Make the learner at one point; the seed draws its weights.

    `size` is the number of groups, of neurons per unit, or of hidden neurons.
    """
    classes = settings.minout.classes
    if kind == "minout":
        knobs = replace(settings.minout, neurons=size)
        return Minout(comparison.learner_for(knobs, "conditional" if rehearse else "none", seed))
    if kind == "network":
        rng = np.random.default_rng(seed)
        return Network(
            perceptron.initial((prototypes.shape[1], size, classes), rng),
            rehearse=rehearse,
            learning_rate=settings.network_rate,
            max_steps=settings.max_steps,
            rng=rng,
        )
    groups = {"rows": by_row, "groups": by_nearest(prototypes[:size]), "all": for_all}
    return Table(
        TableLearner(
            groups[kind],
            classes,
            rehearse=rehearse,
            learning_rate=settings.table_rate,
            max_steps=settings.max_steps,
        )
    )


class ReportLog:
    """Teach one example after the other and collect the reports."""

    def __init__(self, point: Point) -> None:
        self.reports: list[ExampleReport] = []
        self.predict = point.predict
        self._point = point

    def teach(self, x: Floats, y: int) -> None:
        """Learn one row x (d,) under the label y."""
        self.reports.append(self._point.teach(x, y))


class Table:
    """The table T[G(x)]: what moves is the θ of the new example's group."""

    def __init__(self, learner: TableLearner) -> None:
        self.predict = learner.predict
        self._learner = learner

    def teach(self, x: Floats, y: int) -> ExampleReport:
        """Learn one row; the rest of its group is at risk."""
        report = self._learner.teach(x, y)
        at_risk = (float(report.at_risk),) if report.steps else ()
        return ExampleReport(at_risk, at_risk, report.rehearsed, int(report.reached_max_steps))


class Minout:
    """One minout unit per class: what moves is a unit, and at risk is the paper's Ŝ."""

    def __init__(self, learner: PaperLearner) -> None:
        self.predict = learner.predict
        self._learner = learner

    def teach(self, x: Floats, y: int) -> ExampleReport:
        """Learn one row; examples that are not rehearsed are still at risk."""
        report = self._learner.teach(x, y)
        exact = tuple(unit.mean_exact for unit in report.units)
        rehearsed = tuple(unit.mean_rehearsed for unit in report.units)
        # Without rehearsal a step moves one neuron, and the two sets are the same.
        at_risk = rehearsed if len(report.rehearsed) else exact
        return ExampleReport(
            at_risk,
            exact,
            len(report.rehearsed),
            sum(unit.reached_max_steps for unit in report.units),
        )


class Network:
    """One θ for all, with a hidden layer: SGD until the loss is small; all or none rehearsed.

    Rehearsing is one step on each stored example, in random order, after each on the new one.
    """

    def __init__(
        self,
        net: Perceptron,
        *,
        rehearse: bool,
        learning_rate: float,
        max_steps: int,
        rng: np.random.Generator,
        stop_loss: float = 0.1,
    ) -> None:
        self.net = net
        self.rehearse = rehearse
        self.learning_rate = learning_rate
        self.max_steps = max_steps
        self.stop_loss = stop_loss
        self.rng = rng
        self._stored: list[tuple[Floats, int]] = []

    def teach(self, x: Floats, y: int) -> ExampleReport:
        """Learn one row; everything stored is at risk."""
        steps = 0
        while (unfit := self._loss(x, y) >= self.stop_loss) and steps < self.max_steps:
            self._step(x, y)
            steps += 1
        stored = len(self._stored)
        self._stored.append((x.copy(), y))
        at_risk = (float(stored),) if steps else ()
        return ExampleReport(at_risk, at_risk, stored if steps and self.rehearse else 0, int(unfit))

    def predict(self, X: Floats) -> Ints:
        """Return the most probable class for each row of X (n, d)."""
        return perceptron.predictions(self.net, X)

    def _loss(self, x: Floats, y: int) -> float:
        return perceptron.loss(self.net, x, y)

    def _step(self, x: Floats, y: int) -> None:
        perceptron.sgd_step(self.net, x, y, self.learning_rate)
        if self.rehearse:
            for i in self.rng.permutation(len(self._stored)):
                old, label = self._stored[i]
                perceptron.sgd_step(self.net, old, label, self.learning_rate)
