"""The learner's door: teach one example, ask, predict."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.learner._paper import Paper
from minout.learner.report import StepReport
from minout.learner.rows import many_rows, one_row
from minout.maths import Layer, sigmoid
from minout.rehearsal import Closed, Conditional, Policy
from minout.rules import GradientRule

Label = int | str


class Learner:
    """Learns one example at a time, keeps them all, and says what each one disturbed.

    One minout unit per class. The first row taught settles how many features a row has. The same
    seed, classes, rows and order give the same weights to the last bit.

    >>> learner = Learner([0, 1], rule=GradientRule(neurons=3, learning_rate=0.1))
    >>> report = learner.teach([1.0, 0.0], 0)
    >>> report = learner.teach([0.0, 1.0], 1)
    >>> learner.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        classes: Sequence[Label] | NDArray[Any],
        *,
        rule: GradientRule | None = None,
        policy: Policy | None = None,
        seed: int = 0,
    ) -> None:
        self._classes = _checked_classes(classes)
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise InvalidInputError(f"`seed` is a whole number from 0 on, not {seed!r}.")
        self._rule = GradientRule() if rule is None else rule
        if not isinstance(self._rule, GradientRule):
            raise InvalidInputError("`rule` must be a GradientRule, such as GradientRule().")
        self._policy: Policy = Conditional() if policy is None else policy
        if isinstance(policy, type) or not hasattr(self._policy, "choose"):
            raise InvalidInputError("`policy` must be a policy, such as Closed().")
        self._seed = seed
        self._unit_of = {label: unit for unit, label in enumerate(self.classes.tolist())}
        self._paper: Paper | None = None

    def teach(self, x: ArrayLike, y: Label) -> StepReport:
        """Learns one row x (d,) under the label y and says what that did.

        If it is refused or interrupted, nothing has changed.
        """
        unit = self._unit(y)
        paper, row = self._open(x)
        reports = paper.learn(row, unit)
        self._paper = paper
        example_id = paper.memory.end - 1
        return StepReport(
            example_id, self.classes[unit].item(), tuple(reports), paper.losses(example_id)
        )

    def interfered(self, x: ArrayLike, y: Label) -> dict[Label, Ints]:
        """Says whom learning x as y would disturb first, and learns nothing.

        For each class whose unit would move: the ids in Ŝ = S1 ∪ S2 of the neuron that moves.
        """
        unit = self._unit(y)
        paper, row = self._open(x)
        return {self.classes[each].item(): ids for each, ids in paper.interfered(row, unit).items()}

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Gives the class with the highest score for each row of X (n, d); ties go to the first."""
        return np.asarray(self.classes[self.scores(X).argmax(axis=1)])

    def scores(self, X: ArrayLike) -> Floats:
        """Gives min_j a_j, before any clipping, of each class: (n, classes), for ranking."""
        paper = self._taught()
        return paper.scores(many_rows(X, paper.memory.features))

    def outputs(self, X: ArrayLike) -> Floats:
        """Gives the units' outputs, (n, classes): min_j σ(a_j), or min_j max(a_j, 0) if hard."""
        scores = self.scores(X)
        return np.maximum(scores, 0.0) if self.rule.clip == "hard" else sigmoid(scores)

    @property
    def classes(self) -> NDArray[Any]:
        """Lists the labels in the order of the units."""
        return self._classes

    @property
    def rule(self) -> GradientRule:
        """Is how the weights move."""
        return self._rule

    @property
    def policy(self) -> Policy:
        """Is who chooses whom to rehearse."""
        return self._policy

    @property
    def layer(self) -> Layer:
        """Copies the weights: W (classes, neurons, features), b (classes, neurons)."""
        return Layer(*(array.copy() for array in self._taught().layer))

    @property
    def guarantee(self) -> str:
        """Says in a sentence what is certain about examples that are not rehearsed."""
        if type(self.policy) is not Closed:
            return "None: a step may move neurons whose examples were not rehearsed."
        if self.rule.clip == "hard":
            return _NO_BIT
        return "The output of an example that is not rehearsed stays below 0.1."

    def __len__(self) -> int:
        """Counts the examples taught."""
        return 0 if self._paper is None else len(self._paper.memory)

    def _check(self) -> None:
        """Asserts that everything kept tells one story."""
        if self._paper is not None:
            self._paper.check()

    def _unit(self, y: Label) -> int:
        try:
            return self._unit_of[y]
        except TypeError:
            raise InvalidInputError(
                f"A label is a whole number or a string, not a {type(y).__name__}."
            ) from None
        except KeyError:
            raise InvalidInputError(
                f"The label {y!r} is not one of the {len(self.classes)} classes "
                "that this learner was made for."
            ) from None

    def _open(self, x: ArrayLike) -> tuple[Paper, Floats]:
        # The first row settles the width; until it is learned, the learner stays as it was.
        if self._paper is not None:
            return self._paper, one_row(x, self._paper.memory.features)
        row = one_row(x, None)
        units = len(self.classes)
        return Paper(self.rule, self.policy, units, len(row), self._seed), row

    def _taught(self) -> Paper:
        if self._paper is None:
            raise InvalidInputError("This learner has not been taught anything yet.")
        return self._paper


_NO_BIT = (
    "The output of an example that is not rehearsed does not change: "
    "in no bit for rows in multiples of 1/256, by rounding only for others."
)


def _checked_classes(classes: Sequence[Label] | NDArray[Any]) -> NDArray[Any]:
    try:
        array = np.array(classes)
    except ValueError as error:
        raise InvalidInputError("`classes` must be a list of labels, not of lists.") from error
    if array.ndim != 1 or array.size == 0:
        raise InvalidInputError("`classes` must be a list of at least one label.")
    if array.dtype.kind not in "iuU" or len({isinstance(each, str) for each in classes}) > 1:
        raise InvalidInputError("`classes` must be all whole numbers or all strings.")
    if len(np.unique(array)) < array.size:
        raise InvalidInputError("`classes` names a label twice.")
    array.flags.writeable = False
    return array
