"""The paper's learner: its public methods, and the checks of their arguments."""

import copy
from collections.abc import Iterable, Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints, Label
from minout.errors import InvalidInputError
from minout.inputs import checked_label, many_rows, one_row
from minout.maths import Layer, sigmoid
from minout.paper.activations import check_room
from minout.paper.rehearsal import Closed, Conditional, Policy
from minout.paper.report import PaperReport
from minout.paper.rule import GradientRule
from minout.paper.units import Units


class PaperLearner:
    """Learn one example at a time by gradient steps with rehearsal, as the paper does.

    The learner has one minout unit per class. It keeps every example that it is taught and numbers
    them 0, 1, 2, …. The first row that is taught fixes the number of features. The same classes,
    rule, policy, seed, rows and order give the same weights to the last bit.

    Parameters
    ----------
    classes : sequence of int or of str
        All labels, in the order of the columns of `scores`. Others cannot be taught later.
    rule : GradientRule, default=GradientRule()
        How a unit is trained: neurons per unit, learning rate, loss, clip.
    policy : Policy, default=Conditional()
        Which stored examples are rehearsed: `Conditional`, `Closed`, `Uniform` or `NoRehearsal`,
        or an object of your own with a method ``choose(at_risk, rng)``.
    seed : int, default=0
        Seed of the initial weights and of the policy's random draws.

    Raises
    ------
    InvalidInputError
        If a parameter has the wrong type or value.

    Notes
    -----
    Rows are plain numbers and should be scaled to about -1 … 1. The learner keeps the inner
    products of all stored rows and stops at 20,000 of them.

    A learner must not be shared by threads: it has no locks. A copy or a pickle of it does not
    change when the original is taught more.

    Examples
    --------
    >>> learner = PaperLearner(["cat", "dog"], rule=GradientRule(neurons=4, learning_rate=0.5))
    >>> report = learner.teach([1.0, 0.0], "cat")
    >>> report = learner.teach([0.0, 1.0], "dog")
    >>> learner.predict([[1.0, 0.1], [0.1, 1.0]]).tolist()
    ['cat', 'dog']
    >>> report.example_id, learner.ids, 1 in learner
    (1, [0, 1], True)
    """

    def __init__(
        self,
        classes: Sequence[Label] | NDArray[Any],
        *,
        rule: GradientRule = GradientRule(),
        policy: Policy = Conditional(),
        seed: int = 0,
    ) -> None:
        self._classes = _checked_classes(classes)
        if not isinstance(rule, GradientRule):
            raise InvalidInputError("`rule` must be a rule, such as GradientRule().")
        if isinstance(policy, type) or not hasattr(policy, "choose"):
            raise InvalidInputError("`policy` must be a policy, such as Closed().")
        if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
            raise InvalidInputError(f"`seed` must be a whole number, 0 or more, not {seed!r}.")
        self._rule = rule
        self._policy = policy
        self._seed = seed
        self._unit_of = {label: unit for unit, label in enumerate(self._classes.tolist())}
        self._units: Units | None = (
            None  # made with the first row, which sets the number of features
        )

    def teach(self, x: Any, y: Label) -> PaperReport:
        """Learn one example.

        If the call raises an error, the learner is unchanged. If it is interrupted (Ctrl-C), the
        example has been learned completely or not at all.

        Parameters
        ----------
        x : array-like of shape (features,)
            One row of numbers.
        y : int or str
            Its label, one of `classes`.

        Returns
        -------
        PaperReport
            What moved, which stored examples were at risk, and which were rehearsed.

        Raises
        ------
        InvalidInputError
            If `x` or `y` cannot be learned, if the policy names examples that are not stored, or
            if the gradient steps overflow.
        """
        unit = self._unit(y)
        return self._learn(self._row(x), unit)

    def teach_many(self, X: Any, y: Iterable[Label]) -> list[PaperReport]:
        """Learn examples one after the other.

        All rows and labels are checked before the first is learned. Gradient steps that overflow
        keep the examples before and nothing of the one that was being learned. So does an
        interruption, unless it comes after that one has been learned completely.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Rows of numbers.
        y : iterable of n labels
            The label of each row.

        Returns
        -------
        list of PaperReport
            One report for each row.

        Raises
        ------
        InvalidInputError
            If a row or a label cannot be learned, or if their numbers differ.

        Examples
        --------
        >>> learner = PaperLearner([0, 1])
        >>> reports = learner.teach_many([[1.0, 0.0], [0.0, 1.0]], [0, 1])
        >>> [report.example_id for report in reports]
        [0, 1]
        """
        labels = _listed(y)
        if isinstance(X, Sized) and len(X) == 0 and not labels:
            return []
        rows = self._rows(X)
        if len(rows) != len(labels):
            raise InvalidInputError(
                f"There are {len(rows)} rows and {len(labels)} labels; give one label for each row."
            )
        units = [self._unit(label) for label in labels]
        check_room(len(self), len(rows))
        return [self._learn(row, unit) for row, unit in zip(rows, units, strict=True)]

    def interfered(self, x: Any, y: Label) -> dict[Label, Ints]:
        """Return the stored examples that learning x as y would put at risk; learn nothing.

        Parameters
        ----------
        x : array-like of shape (features,)
            One row of numbers.
        y : int or str
            Its label, one of `classes`.

        Returns
        -------
        dict
            For each label whose unit would move, the ids in Ŝ = S1 ∪ S2 of the neuron that moves
            first.

        Raises
        ------
        InvalidInputError
            If `x` or `y` could not be learned.
        """
        unit = self._unit(y)
        row = self._row(x)
        at_risk = self._units_for(row).interfered(row, unit)
        return {self._classes[each].item(): ids for each, ids in at_risk.items()}

    def predict(self, X: Any, *, unknown: Label | None = None) -> NDArray[Any]:
        """Return the label with the highest score for each row; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Rows of numbers.
        unknown : int or str, optional
            The label to return where every unit is clipped.

        Returns
        -------
        array of shape (n,)
            The labels.

        Raises
        ------
        InvalidInputError
            If nothing has been taught yet, if `X` is not rows like those that were taught, or if
            `unknown` is not a label.
        """
        if unknown is not None:
            unknown = checked_label(unknown, ())
        scores = self.scores(X)
        labels = self._classes[scores.argmax(axis=1)]
        if unknown is None:
            return np.asarray(labels)
        if isinstance(unknown, str) != (labels.dtype.kind == "U"):
            labels = labels.astype(object)
        elif isinstance(unknown, str):
            labels = labels.astype(np.promote_types(labels.dtype, f"U{max(len(unknown), 1)}"))
        elif not np.iinfo(labels.dtype).min <= unknown <= np.iinfo(labels.dtype).max:
            labels = labels.astype(np.int64)
        labels[scores.max(axis=1) <= self.threshold] = unknown
        return np.asarray(labels)

    def scores(self, X: Any) -> Floats:
        """Return the least activation of each unit's neurons, min_j a_j, unclipped.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Rows of numbers.

        Returns
        -------
        float64 array of shape (n, classes)
            The scores.

        Raises
        ------
        InvalidInputError
            If nothing has been taught yet, or if `X` is not rows like those that were taught.
        """
        units = self._taught()
        return units.scores(self._rows(X))

    def outputs(self, X: Any) -> Floats:
        """Return the outputs of the units: min_j σ(a_j), or min_j max(a_j, 0) with the hard clip.

        Parameters
        ----------
        X : array-like of shape (n, features)
            Rows of numbers.

        Returns
        -------
        float64 array of shape (n, classes)
            The outputs.

        Raises
        ------
        InvalidInputError
            If nothing has been taught yet, or if `X` is not rows like those that were taught.
        """
        scores = self.scores(X)
        return sigmoid(scores) if self._rule.clip == "sigmoid" else np.maximum(scores, 0.0)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, in the order of the columns of `scores` (read-only array)."""
        return self._classes

    @property
    def ids(self) -> list[int]:
        """The ids of the stored examples, in the order in which they were taught."""
        return list(range(len(self)))

    @property
    def layer(self) -> Layer:
        """A copy of the weights: W (classes, neurons, features) and b (classes, neurons)."""
        return Layer(*(array.copy() for array in self._taught().layer))

    @property
    def rule(self) -> GradientRule:
        """How the units are trained."""
        return self._rule

    @property
    def policy(self) -> Policy:
        """How the examples to rehearse are chosen."""
        return self._policy

    @property
    def threshold(self) -> float:
        """The score at and below which a unit counts as clipped."""
        return self._rule.threshold

    @property
    def guarantee(self) -> str:
        """The guarantee for examples that a step does not rehearse, as a sentence."""
        if type(self._policy) is not Closed:
            return "None: a step may move neurons whose examples were not rehearsed."
        if self._rule.clip == "hard":
            return _NO_BIT
        return "The output of an example that is not rehearsed stays below 0.1."

    def __len__(self) -> int:
        return 0 if self._units is None else len(self._units.memory)

    def __contains__(self, id: object) -> bool:
        if not isinstance(id, int | np.integer) or isinstance(id, bool):
            return False  # in Python, True and 1.0 equal the number 1
        return 0 <= int(id) < len(self)

    def __getstate__(self) -> dict[str, Any]:
        # A deep copy, so that `copy.copy` also makes an independent learner.
        return copy.deepcopy(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def _check(self) -> None:
        """Assert that weights, memory, index and activations agree."""
        if self._units is not None:
            self._units.check()

    def _learn(self, row: Floats, unit: int) -> PaperReport:
        """Learn a row that was checked, as a positive of one unit."""
        units = self._units_for(row)
        reports = units.learn(row, unit)
        self._units = units
        example_id = len(units.memory) - 1
        label = self._classes[unit].item()
        return PaperReport(example_id, label, tuple(reports), units.losses(example_id))

    def _units_for(self, row: Floats) -> Units:
        """Return the units, or new ones if nothing has been taught yet."""
        if self._units is not None:
            return self._units
        return Units(self._rule, self._policy, len(self._classes), len(row), self._seed)

    def _taught(self) -> Units:
        """Return the units, if something has been taught."""
        if self._units is None:
            raise InvalidInputError("This learner has not been taught anything yet.")
        return self._units

    def _row(self, x: Any) -> Floats:
        """Check and copy one row; -0.0 becomes 0.0."""
        return one_row(x, self._width()) + 0.0

    def _rows(self, X: Any) -> Floats:
        """Check and copy rows; -0.0 becomes 0.0."""
        return many_rows(X, self._width()) + 0.0

    def _width(self) -> int | None:
        """Return the number of features, or None before the first example."""
        return None if self._units is None else self._units.memory.features

    def _unit(self, y: Label) -> int:
        """Return the number of the unit of a label."""
        unit = self._unit_of.get(checked_label(y, ()))
        if unit is None:
            raise InvalidInputError(
                f"The label {y!r} is not one of the {len(self._classes)} classes "
                "that this learner was made for."
            )
        return unit


_NO_BIT = (
    "The output of an example that is not rehearsed does not change: "
    "in no bit for rows in multiples of 1/256, by rounding only for others."
)


def _checked_classes(classes: Sequence[Label] | NDArray[Any]) -> NDArray[Any]:
    """Return the labels as a read-only array; raise an error if they are not valid."""
    try:
        array = np.array(classes)
    except ValueError as error:
        raise InvalidInputError("`classes` must be a list of labels, not of lists.") from error
    if array.ndim != 1 or array.size == 0:
        raise InvalidInputError("`classes` must be a list of at least one label.")
    if array.dtype.kind not in "iuU" or len({isinstance(each, str) for each in classes}) > 1:
        raise InvalidInputError("`classes` must be all whole numbers or all strings.")
    for each in classes:
        checked_label(each, ())
    if len(np.unique(array)) < array.size:
        raise InvalidInputError("`classes` names a label twice.")
    array.flags.writeable = False
    return array


def _listed(y: Any) -> list[Any]:
    """Return the labels given to `teach_many` as a list."""
    if isinstance(y, str | bytes) or not isinstance(y, Iterable) or getattr(y, "ndim", 1) != 1:
        raise InvalidInputError(
            f"`y` is a list with one label for each row, but got {type(y).__name__}."
        )
    return list(y)
