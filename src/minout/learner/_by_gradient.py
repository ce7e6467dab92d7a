"""The paper's learner behind the door: classes known beforehand, gradient steps, rehearsal."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.learner._door import Door
from minout.learner._names import checked_classes
from minout.learner._paper import Paper
from minout.learner.certificate import Label
from minout.learner.report import StepReport
from minout.maths import Layer
from minout.rehearsal import Closed, Conditional, Policy
from minout.rules import GradientRule

_NO_BIT = (
    "The output of an example that is not rehearsed does not change: "
    "in no bit for rows in multiples of 1/256, by rounding only for others."
)


class ByGradient:
    """Is made for the classes it is given; `paper` is there once a first row is learned."""

    def __init__(
        self,
        rule: GradientRule,
        classes: Sequence[Label] | NDArray[Any] | None,
        policy: Policy | None,
        seed: int,
        door: Door,
    ) -> None:
        if classes is None:
            raise InvalidInputError("A GradientRule needs `classes`, the list of all labels.")
        self.classes = checked_classes(classes)
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise InvalidInputError(f"`seed` is a whole number from 0 on, not {seed!r}.")
        self.policy: Policy = Conditional() if policy is None else policy
        if isinstance(policy, type) or not hasattr(self.policy, "choose"):
            raise InvalidInputError("`policy` must be a policy, such as Closed().")
        self.rule = rule
        self.paper: Paper | None = None
        self._seed = seed
        self._door = door
        self._unit_of = {label: unit for unit, label in enumerate(self.classes.tolist())}

    def teach(self, x: Any, y: Label) -> StepReport:
        """Learns one example and says what that did."""
        unit = self._unit(y)
        paper, row = self._open(x)
        lengths = self._door.lengths_of(x, row)
        reports = paper.learn(row, unit)
        self.paper, self._door.lengths = paper, lengths
        example_id = paper.memory.end - 1
        label = self.classes[unit].item()
        return StepReport(example_id, label, tuple(reports), paper.losses(example_id))

    def interfered(self, x: Any, y: Label) -> dict[Label, Ints]:
        """Gives, for each class whose unit would move, the ids in Ŝ of the neuron that moves."""
        unit = self._unit(y)
        paper, row = self._open(x)
        at_risk = paper.interfered(row, unit)
        return {self.classes[each].item(): ids for each, ids in at_risk.items()}

    def scores(self, X: Any) -> Floats:
        """Gives the least activation of each class's neurons: (n, classes)."""
        return self.taught().scores(self._door.rows(X))

    def layer(self) -> Layer:
        """Copies the weights."""
        return Layer(*(array.copy() for array in self.taught().layer))

    def guarantee(self) -> str:
        """Says in a sentence what is certain about examples that a step does not look at."""
        if type(self.policy) is not Closed:
            return "None: a step may move neurons whose examples were not rehearsed."
        if self.rule.clip == "hard":
            return _NO_BIT
        return "The output of an example that is not rehearsed stays below 0.1."

    def taught(self) -> Paper:
        """Is what has been learned, if anything has."""
        if self.paper is None:
            raise InvalidInputError("This learner has not been taught anything yet.")
        return self.paper

    def __len__(self) -> int:
        """Counts the stored examples."""
        return 0 if self.paper is None else len(self.paper.memory)

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

    def _open(self, x: Any) -> tuple[Paper, Floats]:
        # The first row settles the width; until it is learned, the learner stays as it was.
        row = self._door.row(x).astype(np.float64)
        if self.paper is not None:
            return self.paper, row
        return Paper(self.rule, self.policy, len(self.classes), len(row), self._seed), row
