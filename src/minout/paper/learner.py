"""The paper's learner: one minout unit per class, taught one example at a time with rehearsal."""

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Ints, Label
from minout.errors import InvalidInputError
from minout.paper.data import checked_rows
from minout.paper.equations import GRID, activations, cross_entropy
from minout.paper.index import Index
from minout.paper.report import PaperReport, UnitReport, WeightChanges
from minout.paper.rule import POLICIES, GradientRule, Layer, initial_layer

LIMIT = 20_000
"""The largest number of stored rows: the table of inner products (n² numbers) takes 3.2 GB."""


class PaperLearner:
    """Learn one example at a time by gradient steps with rehearsal, as the paper does.

    The learner has one minout unit per class. It keeps every example that it is taught and numbers
    them 0, 1, 2, …. The first row that is taught fixes the number of features. The same classes,
    settings, seed, rows and order give the same weights to the last bit.

    Parameters
    ----------
    classes : sequence of int or of str
        All labels, in the order of the columns of `scores`. Others cannot be taught later.
    policy : {"conditional", "closed", "random", "random-once", "none"}, default="conditional"
        Which stored examples are rehearsed at each step. "conditional" is the paper's: Ŝ of the one
        neuron that the new example moves. "closed" adds Ŝ of the neurons that the rehearsed
        examples move, until nothing is added. "random" draws `budget` examples at every step,
        "random-once" once for all steps of a unit on an example.
    budget : int, optional
        The most examples that a step rehearses. The random policies need it; if Ŝ of "conditional"
        is larger, that many are drawn from it.
    rule : GradientRule, default=GradientRule()
        How a unit is trained: neurons per unit, learning rate, loss, clip.
    seed : int, default=0
        Seed of the initial weights and of the random draws.

    Notes
    -----
    Rows are plain numbers and should be scaled to about -1 … 1. The learner keeps the inner
    products of all stored rows and stops at 20,000 of them. It must not be shared by threads.

    Examples
    --------
    >>> learner = PaperLearner(["cat", "dog"], rule=GradientRule(neurons=4, learning_rate=0.5))
    >>> report = learner.teach([1.0, 0.0], "cat")
    >>> report = learner.teach([0.0, 1.0], "dog")
    >>> learner.predict([[1.0, 0.1], [0.1, 1.0]]).tolist()
    ['cat', 'dog']
    >>> report.example_id, len(learner)
    (1, 2)
    """

    def __init__(
        self,
        classes: Sequence[Label] | NDArray[Any],
        *,
        policy: str = "conditional",
        budget: int | None = None,
        rule: GradientRule = GradientRule(),
        seed: int = 0,
    ) -> None:
        self.classes = _checked_classes(classes)
        self._numbers = {label: number for number, label in enumerate(self.classes.tolist())}
        if policy not in POLICIES:
            raise InvalidInputError(f"`policy` must be one of {POLICIES}, not {policy!r}.")
        if (budget is None and "random" in policy) or (budget is not None and budget < 0):
            raise InvalidInputError(f"`budget` must be a number from 0, not {budget!r}.")
        if budget is not None and policy in ("none", "closed"):
            raise InvalidInputError(f"The policy {policy!r} has no budget; leave it out.")
        self.policy, self.budget, self.rule = policy, budget, rule
        self._rng = np.random.default_rng(seed)
        self._state: _State | None = None  # made with the first row, which sets the features

    def teach(self, x: Any, y: Label) -> PaperReport:
        """Learn one example.

        A call that raises an error has changed nothing. If it is interrupted (Ctrl-C), it has
        learned the example completely or not at all.

        Parameters
        ----------
        x : array-like of shape (features,)
        y : int or str

        Returns
        -------
        PaperReport
            What moved, which stored examples were at risk, and which were rehearsed.
        """
        row, own = self._row(x), self._unit(y)
        state = _with_room(self._state_for(row))
        n = state.n
        # Without a budget nothing is drawn.
        rng = state.rng if self.budget is None else copy.deepcopy(state.rng)
        state.rows[n], state.labels[n] = row, own
        products = _products(state.rows[: n + 1], row) + 1.0
        _check_finite(products)
        state.products[n, : n + 1] = state.products[: n + 1, n] = products
        units, reports = list(state.units), []
        at_new = np.array([_products(W, row) + b for W, b, _ in units])
        _check_finite(at_new)
        clipped = at_new <= self.rule.threshold
        counters = clipped.sum(axis=1)
        for number, (_, _, table) in enumerate(units):
            table.a[:, n], table.clipped[:, n] = at_new[number], clipped[number]
            table.counters[n] = counters[number]
        least, is_own = at_new.min(axis=1), np.arange(len(units)) == own
        fits = cross_entropy(least, is_own) < self.rule.stop_loss
        for number in np.flatnonzero(~fits).tolist():
            units[number], report = self._train(state, number, rng)
            reports.append(report)
            least[number] = units[number].table.a[:, n].min()
        losses = cross_entropy(least, is_own)
        self._state = state._replace(n=n + 1, units=tuple(units), rng=rng)
        return PaperReport(n, self.classes[own].item(), tuple(reports), losses)

    def interfered(self, x: Any, y: Label) -> dict[Label, Ints]:
        """Return the stored examples that learning x as y would put at risk; learn nothing.

        Parameters
        ----------
        x : array-like of shape (features,)
        y : int or str

        Returns
        -------
        dict
            For each label whose unit would move, the ids in Ŝ = S1 ∪ S2 of the neuron that moves
            first.
        """
        row, own = self._row(x), self._unit(y)
        found: dict[Label, Ints] = {}
        for number, unit in enumerate(self._state_for(row).units):
            a = activations(unit.W, unit.b, row)
            if not self._fits(a, number == own):
                label = self.classes[number].item()
                found[label] = self.index(label).interfered([int(a.argmin())])
        return found

    def index(self, y: Label) -> Index:
        """Return which neurons of a label's unit clip which stored example.

        Parameters
        ----------
        y : int or str

        Returns
        -------
        Index
        """
        number, n = self._unit(y), len(self)
        if self._state is None:
            return Index(np.empty((self.rule.neurons, 0), bool), np.empty(0, np.int64))
        _, clipped, counters = self._state.units[number].table
        return Index(clipped[:, :n].copy(), counters[:n].copy())

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label with the highest score for each row; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n, features)

        Returns
        -------
        array of shape (n,)
        """
        return np.asarray(self.classes[self.scores(X).argmax(axis=1)])

    def scores(self, X: Any) -> Floats:
        """Return the least activation of each unit's neurons, min_j a_j, unclipped.

        Parameters
        ----------
        X : array-like of shape (n, features)

        Returns
        -------
        float64 array of shape (n, classes)
        """
        units = zip(*self.layer, strict=True)
        rows = checked_rows(X, self._features)
        return np.stack([activations(W, b, rows).min(axis=1) for W, b in units], axis=1)

    @property
    def layer(self) -> Layer:
        """A copy of the weights: W (classes, neurons, features) and b (classes, neurons)."""
        if self._state is None:
            raise InvalidInputError("This learner has not been taught anything yet.")
        W, b, _ = zip(*self._state.units, strict=True)
        return Layer(np.stack(W), np.stack(b))

    @property
    def guarantee(self) -> str:
        """The guarantee for examples that a step does not rehearse, as a sentence."""
        if self.policy != "closed":
            return "None: a step may move neurons whose examples were not rehearsed."
        if self.rule.clip == "hard":
            return (
                "The output of an example that is not rehearsed does not change: "
                "in no bit for rows in multiples of 1/256, by rounding only for others."
            )
        return "The output of an example that is not rehearsed stays below 0.1."

    def __len__(self) -> int:
        return 0 if self._state is None else self._state.n

    def __getstate__(self) -> dict[str, Any]:
        # A deep copy, so that `copy.copy` also makes an independent learner.
        return copy.deepcopy(vars(self))

    def _fits(self, a: Floats, positive: bool) -> bool:
        return bool(cross_entropy(a.min(), np.array(positive)) < self.rule.stop_loss)

    def _train(
        self, state: "_State", number: int, rng: np.random.Generator
    ) -> tuple["_Unit", UnitReport]:
        """Return a trained copy of a unit, and what it did."""
        rule, n = self.rule, state.n
        W, b, (a, clipped, counters) = state.units[number]
        W, b = W.copy(), b.copy()
        table = kernels.UnitTable(a.copy(), clipped.copy(), counters.copy())
        positive = state.labels[: n + 1] == number
        lesson = kernels.Lesson(
            n, state.products, positive, float(rule.learning_rate), rule.reduction == "mean",
            float(rule.stop_loss), rule.max_steps, rule.threshold, GRID,
            POLICIES.index(self.policy), -1 if self.budget is None else self.budget,
        )  # fmt: skip
        log = kernels.Log(
            np.zeros((len(b), n + 1)), np.zeros((3, n), np.bool_), np.zeros(5, np.int64)
        )
        bits = rng.bit_generator
        with bits.lock:
            steps, loss = kernels.train_unit(table, lesson, bits, log)
        neurons, ids = np.divmod(np.flatnonzero(log.changes != 0.0), n + 1)
        changes = WeightChanges(neurons, ids, log.changes[neurons, ids])
        kernels.add_multiples(W, neurons, state.rows, ids, changes.amounts)
        np.add.at(b, neurons, changes.amounts)
        _check_finite(W)
        _check_finite(loss)
        inside = table.a[:, :n].min(axis=0) > 0.0
        interfered, exact, rehearsed = (np.flatnonzero(each) for each in log.sets)
        means = (log.sums[:4] / steps).tolist()
        report = UnitReport(
            number, steps, bool(loss >= rule.stop_loss), interfered, exact, rehearsed,
            means[0], means[1], means[2], means[3], int(log.sums[4]),
            np.flatnonzero(inside != positive[:n]), changes,
        )  # fmt: skip
        return _Unit(W, b, table), report

    def _state_for(self, row: Floats) -> "_State":
        """Return the state, or a new one if nothing has been taught yet."""
        if self._state is not None:
            return self._state
        rng, none = copy.deepcopy(self._rng), np.zeros((self.rule.neurons, 0))
        layer = initial_layer(len(self.classes), len(row), self.rule, rng)
        table = kernels.UnitTable(none, none.astype(np.bool_), np.zeros(0, np.int64))
        units = tuple(_Unit(W, b, table) for W, b in zip(*layer, strict=True))
        rows, labels = np.zeros((0, len(row))), np.zeros(0, np.int64)
        return _State(0, rows, labels, np.zeros((0, 0)), units, rng)

    @property
    def _features(self) -> int | None:
        return None if self._state is None else self._state.rows.shape[1]

    def _row(self, x: Any) -> Floats:
        if np.ndim(x) != 1:
            raise InvalidInputError("`x` must be one row: a list or an array of numbers.")
        row: Floats = checked_rows([x], self._features)[0]
        return row

    def _unit(self, y: Label) -> int:
        """Return the number of the unit of a label."""
        if y not in self._numbers:
            raise InvalidInputError(f"The label {y!r} is not one of the classes of this learner.")
        return self._numbers[y]


class _Unit(NamedTuple):
    """One minout unit: W (k, d), b (k,), and its activations and index at the stored rows."""

    W: Floats
    b: Floats
    table: kernels.UnitTable


class _State(NamedTuple):
    """All that is kept; teaching makes another one and copies the units that it trains.

    The buffers hold n rows and spare ones behind them, which teaching writes first.
    """

    n: int
    rows: Floats
    labels: Ints
    products: Floats
    units: tuple[_Unit, ...]
    rng: np.random.Generator


def _with_room(state: _State) -> _State:
    """Return the state with room for one more row; double the buffers if there is none."""
    n = state.n
    if n == LIMIT:
        raise InvalidInputError(f"This learner stops at {LIMIT:,} examples; nothing was learned.")
    if n < len(state.rows):
        return state
    more, none = (0, min(max(n, 8), LIMIT - n)), (0, 0)
    return state._replace(
        rows=np.pad(state.rows, [more, none]),
        labels=np.pad(state.labels, [more]),
        products=np.pad(state.products, [more, more]),
        units=tuple(
            _Unit(W, b, kernels.UnitTable(
                np.pad(a, [none, more]), np.pad(clipped, [none, more]), np.pad(counters, [more])
            ))
            for W, b, (a, clipped, counters) in state.units
        ),
    )  # fmt: skip


def _products(rows: Floats, x: Floats) -> Floats:
    """Return rows·x, each summed in the order of the features."""
    out = np.empty(len(rows))
    kernels.products(rows, x, out)
    return out


def _check_finite(numbers: Floats | float) -> None:
    if not np.isfinite(numbers).all():
        raise InvalidInputError(
            "The steps overflowed; take a smaller learning rate or scale the features."
        )


def _checked_classes(classes: Sequence[Label] | NDArray[Any]) -> NDArray[Any]:
    """Return the labels as a read-only array; raise an error if they are not valid."""
    labels = list(classes)
    array = np.array(labels)
    mixed = len({isinstance(each, str) for each in labels}) > 1
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuU" or mixed:
        raise InvalidInputError("`classes` must be whole numbers or strings, at least one.")
    if len(np.unique(array)) < array.size:
        raise InvalidInputError("`classes` names a label twice.")
    array.flags.writeable = False
    return array
