"""The state of the paper's learner: weights, memory, index and activations in agreement."""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.paper.activations import Activations
from minout.paper.index import Index
from minout.paper.memory import Memory
from minout.paper.rehearsal import Policy
from minout.paper.report import UnitReport
from minout.paper.rule import GradientRule
from minout.paper.training import OVERFLOW, Parts, train_unit


class Units:
    """One minout unit per class, the stored examples, and the index of clipped examples."""

    def __init__(
        self, rule: GradientRule, policy: Policy, units: int, features: int, seed: int
    ) -> None:
        self.rule = rule
        self.rng = np.random.default_rng(seed)
        self.layer = rule.initial(units, features, self.rng)
        self.memory = Memory(features)
        self.index = Index(units, rule.neurons)
        self.activations = Activations(units, rule.neurons)
        self._parts = Parts(rule, policy, self.index, self.activations, self.rng)

    def learn(self, x: Floats, unit: int) -> list[UnitReport]:
        """Train every unit on x, a positive of `unit`, and store it. An error changes nothing."""
        end, randomness = len(self.memory), self.rng.bit_generator.state
        touched: dict[int, _Before] = {}
        try:
            a = self._activations_of(x)
            if not np.isfinite(a).all():
                raise InvalidInputError(OVERFLOW)
            self.activations.append(a, self.memory.products(x), _square(x))
            labels = np.append(self.memory.all_labels(), unit)
            reports = []
            for each in range(len(a)):
                if self.rule.loss(float(a[each].min()), each == unit) >= self.rule.stop_loss:
                    touched[each] = self._before(each)
                    reports.append(train_unit(self._parts, each, labels == each))
            self._store(x, unit, reports)
        except BaseException:
            self._put_back(end, touched)
            self.rng.bit_generator.state = randomness
            raise
        return reports

    def scores(self, X: Floats) -> Floats:
        """Return min_j a_j of every unit for every row: (n, units)."""
        return np.array([self._activations_of(x).min(axis=1) for x in X]).reshape(
            len(X), len(self.layer.b)
        )

    def losses(self, example_id: int) -> Floats:
        """Return the loss of a stored example at every unit."""
        label = int(self.memory.labels([example_id])[0])
        least = self.activations.of_row(example_id).min(axis=1).tolist()
        return np.array([self.rule.loss(a, unit == label) for unit, a in enumerate(least)])

    def interfered(self, x: Floats, unit: int) -> dict[int, Ints]:
        """Return Ŝ of the first step, for each unit that learning x would move."""
        a = self._activations_of(x)
        return {
            each: self.index.interfered(each, [int(a[each].argmin())])
            for each in range(len(a))
            if self.rule.loss(float(a[each].min()), each == unit) >= self.rule.stop_loss
        }

    def check(self) -> None:
        """Assert that memory, weights, activations and index agree."""
        self.index._check()
        ids = self.memory.ids()
        assert (ids == self.index.ids()).all(), "memory and index hold different ids"
        for example_id, x in zip(ids.tolist(), self.memory.rows(ids), strict=True):
            a = self._activations_of(x)
            kept = self.activations.of_row(example_id)
            near = 1e-9 * (1.0 + np.abs(kept).max())  # rounding; 0 for rows on the grid
            assert np.abs(a - kept).max() <= near, f"activations of {example_id} differ"
            said = self.index.clipped(example_id)
            assert (said == (kept <= self.rule.threshold)).all(), f"index of {example_id} differs"

    def _activations_of(self, x: Floats) -> Floats:
        """Return every neuron's activation at x: (units, neurons)."""
        W, b = self.layer
        out = np.empty(b.size)
        kernels.products(W.reshape(b.size, -1), x, out)
        return out.reshape(b.shape) + b

    def _store(self, x: Floats, unit: int, reports: list[UnitReport]) -> None:
        """Store x, move the weights as the reports say, and add x to the index."""
        example_id = self.memory.add(x, unit)
        for report in reports:
            neurons, ids, amounts = report.weight_changes
            self.memory.add_multiples(self.layer.W[report.unit], neurons, ids, amounts)
            np.add.at(self.layer.b[report.unit], neurons, amounts)
        self.index.add(example_id, self.activations.of_row(example_id) <= self.rule.threshold)

    def _before(self, unit: int) -> "_Before":
        """Copy a unit, to restore it if training fails."""
        W, b = self.layer
        return _Before(self.activations.copy_of_unit(unit), W[unit].copy(), b[unit].copy())

    def _put_back(self, end: int, touched: dict[int, "_Before"]) -> None:
        """Undo everything since the example with the id `end` was added."""
        for unit, before in touched.items():
            self.activations.put_back(unit, before.a)
            self.layer.W[unit], self.layer.b[unit] = before.W, before.b
        self.activations.truncate(end)
        self.memory.truncate(end)
        self.index.truncate(end)
        neurons = np.arange(self.rule.neurons)
        for unit in touched:
            clipped = self.activations.clipped(unit, neurons, self.rule.threshold, end)
            self.index.replace(unit, neurons, clipped)


class _Before(NamedTuple):
    """What a unit was before it was trained."""

    a: Floats
    W: Floats
    b: Floats


def _square(x: Floats) -> float:
    """Return x·x, summed like all other inner products."""
    out = np.empty(1)
    kernels.products(x.reshape(1, -1), x, out)
    return float(out[0])
