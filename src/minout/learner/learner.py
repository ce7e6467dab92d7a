"""The learner's door: teach one example, ask, correct, take back, predict."""

import copy
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.features import FeatureMap, named
from minout.learner import _file
from minout.learner._audit import Audit, audit
from minout.learner._by_gradient import ByGradient
from minout.learner._consolidate import consolidated
from minout.learner._door import Door
from minout.learner._explain import Explanation, explain
from minout.learner._margin import Margin
from minout.learner._names import checked_id, checked_label, listed_ids
from minout.learner._reach import Interfered, Neuron, Sets, interfered, moved
from minout.learner._suspects import Suspect, suspects
from minout.learner._turns import Turns, changes, looks
from minout.learner.certificate import Certificate, Consolidation, Id, Label
from minout.learner.report import StepReport
from minout.maths import Layer, sigmoid
from minout.memory import RamMemory
from minout.rehearsal import Policy
from minout.rules import Choice, GradientRule, MarginRule, shares

T = TypeVar("T")


class Learner:
    """Learns one example at a time, keeps them all, and says what each one touched.

    With the margin rule, the default, labels may come at any time and every example may have an id
    of yours. The first row taught settles how many features a row has. After `consolidate()` the
    model is a function of the examples alone, whatever order they came in. With a GradientRule it
    is the paper's learner: it is made for the classes it is given, and the same seed, classes, rows
    and order give the same weights to the last bit.

    Threads may share a learner: who asks sees it between two calls that change it, never halfway,
    and two that change it take turns. `notes` is a dictionary of yours that is saved with it.

    >>> learner = Learner()
    >>> report = learner.teach([1.0, 0.0], "cat", id="a")
    >>> report = learner.teach([0.0, 1.0], "dog", id="b")
    >>> learner.predict([[1.0, 0.2], [0.1, 1.0]]).tolist()
    ['cat', 'dog']
    >>> report.certificate.moved
    (('cat', 'dog'),)
    """

    def __init__(
        self,
        classes: Sequence[Label] | NDArray[Any] | None = None,
        *,
        rule: MarginRule | GradientRule | None = None,
        policy: Policy | None = None,
        features: str | FeatureMap | Callable[[Any], Any] = "identity",
        seed: int = 0,
    ) -> None:
        self._rule = MarginRule() if rule is None else rule
        if not isinstance(self._rule, MarginRule | GradientRule):
            raise InvalidInputError(
                "`rule` must be a rule, such as MarginRule() or GradientRule()."
            )
        self._door = Door(named(features))
        self._margin: Margin | None = None
        self._gradient: ByGradient | None = None
        self._next_id = 0
        self._turns = Turns()
        self.notes: dict[str, Any] = {}
        if isinstance(self._rule, GradientRule):
            self._gradient = ByGradient(self._rule, classes, policy, seed, self._door)
        elif classes is not None or policy is not None:
            raise InvalidInputError(
                "`classes` and `policy` belong to a GradientRule; "
                "with the margin rule labels come as they come, and nobody is rehearsed."
            )

    @changes
    def teach(self, x: Any, y: Label, id: Id | None = None) -> StepReport:
        """Learns one example x under the label y and says what that did.

        Without an id of yours it gets the next free number. An id that is taught again with the
        same row and label changes nothing; with another one it is refused: see `correct`. If a call
        is refused or interrupted, nothing has changed.
        """
        if self._gradient is not None:
            if id is not None:
                raise InvalidInputError("A GradientRule numbers examples itself; leave out `id`.")
            return self._gradient.teach(x, y)
        row, label = self._door.row(x), self._label(y)
        return self._learn(row, label, id, self._door.lengths_of(x, row))

    def teach_many(
        self, X: Any, y: Sequence[Label], ids: Sequence[Id] | None = None
    ) -> list[StepReport]:
        """Learns examples one after the other, and says what each did.

        All of them are checked before the first is learned: if one is refused, nothing has
        changed. An interruption comes between two examples; those before it are kept. Rows go
        through the feature map together, and other threads may look in between.
        """
        with self._turns.preparing():
            if self._gradient is not None:
                return [self.teach(x, label) for x, label in zip(X, y, strict=True)]
            rows, labels, named_ids = self._checked(X, y, ids)
            lengths = self._door.lengths_of_many(X, rows)
            reports = []
            for row, label, each in zip(rows, labels, named_ids, strict=True):
                with self._turns.changing():
                    reports.append(self._learn(row, label, each, lengths))
            return reports

    @looks
    def interfered(self, x: Any, y: Label) -> Interfered | dict[Label, Ints]:
        """Says whom learning x as y would disturb, and learns nothing.

        With a GradientRule: for each class whose unit would move, the ids in Ŝ = S1 ∪ S2 of the
        neuron that moves first.
        """
        if self._gradient is not None:
            return self._gradient.interfered(x, y)
        label, row = self._label(y), self._door.row(x)
        if self._margin is None:
            return Interfered({}, refresh=False)
        return interfered(self._margin, row, label)

    @changes
    def correct(self, id: Id, y: Label) -> StepReport:
        """Gives a stored example another label, in one step."""
        margin = self._needs_margin("correct")
        place = self._place(margin, id)
        label = self._label(y)
        if margin.label_at(place) == label:
            return StepReport(id, label, certificate=Certificate((), 0, np.inf, (), ()))
        certificate, refresh = _separable(lambda: margin.relabel(place, label))
        return StepReport(id, label, certificate=certificate, refresh=refresh)

    @changes
    def forget(self, ids: Id | Iterable[Id]) -> Certificate:
        """Takes examples out; what rested on them is settled again.

        After `consolidate()` the model equals the one that never saw them, and no trace of their
        rows is left. A class whose last example is forgotten leaves the model.
        """
        margin = self._needs_margin("forget")
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            ids = [ids]
        asked = listed_ids(ids, "one id or a list of ids")
        places = [self._place(margin, each) for each in asked]
        if len(set(places)) < len(places):
            raise InvalidInputError("An id is named twice; name each example to forget once.")
        return _separable(lambda: margin.forget(np.array(sorted(places), dtype=np.int64)))

    @changes
    def forget_class(self, y: Label) -> Certificate:
        """Takes out every example of a label, and the label with them."""
        margin = self._needs_margin("forget_class")
        label = self._label(y)
        if label not in margin.class_of:
            raise InvalidInputError(f"No example has the label {label!r}.")
        places = np.sort(margin.members[margin.class_of[label]].places)
        return _separable(lambda: margin.forget(places))

    def consolidate(self) -> Consolidation:
        """Renews everything that depends on order and settles every separator tightly.

        Afterwards the model is a function of the examples alone.
        """
        with self._turns.preparing():
            margin = self._needs_margin("consolidate")
            new, certificate, refresh = _separable(lambda: consolidated(margin))
            with self._turns.changing():
                self._margin = new
        return Consolidation(certificate, refresh)

    @looks
    def audit(self) -> Audit:
        """Computes every margin of every stored example again, plainly, and compares."""
        return audit(self._needs_margin("audit"))

    @looks
    def suspects(self, n: int = 10) -> list[Suspect]:
        """Lists the n stored examples that lean most on their private parameter, the most first."""
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 0:
            raise InvalidInputError(f"`n` is a whole number from 0 on, not {n!r}.")
        return suspects(self._needs_margin("suspects"), int(n))

    @looks
    def partition(self) -> dict[Neuron, Sets]:
        """Gives the exact S1, S2 and S3 of each neuron that the last call moved.

        The key of a neuron is its unit's label and the label it stands against.
        """
        return moved(self._needs_margin("partition"))

    @looks
    def predict(self, X: Any, *, unknown: Label | None = None) -> NDArray[Any]:
        """Gives the class with the highest score for each row of X; ties go to the first.

        With `unknown`, that label is given where every unit is clipped: none of these.
        """
        scores = self.scores(X)
        if not len(self.classes):
            raise InvalidInputError(_NOTHING_LEFT)
        names = self.classes[scores.argmax(axis=1)]
        if unknown is None:
            return np.asarray(names)
        clipped = scores.max(axis=1) <= self.threshold
        if isinstance(unknown, str) != (names.dtype.kind == "U"):
            names = names.astype(object)
        elif isinstance(unknown, str):
            names = names.astype(np.promote_types(names.dtype, f"U{max(len(unknown), 1)}"))
        names[clipped] = unknown
        return np.asarray(names)

    @looks
    def scores(self, X: Any) -> Floats:
        """Gives the least activation of each class's neurons, unclipped, for ranking: (n, classes).

        With one class there is no neuron, and its score is infinite.
        """
        if self._gradient is not None:
            return self._gradient.scores(X)
        margin = self._needs_margin("scores")
        return margin.scores(self._door.rows(X))[:, self._sorted(margin)]

    def looking(self) -> AbstractContextManager[None]:
        """Keeps changes by other threads out meanwhile: all questions are about one state."""
        return self._turns.looking()

    @looks
    def probabilities(self, X: Any) -> Floats:
        """Gives a probability for each class, (n, classes): exp(sharpness · score), normalised.

        The sharpness is chosen together with the price, so that the labels of stored rows that
        were held out were likeliest. They presume that one of the classes is right.
        """
        margin = self._needs_margin("probabilities")
        if not margin.labels:
            raise InvalidInputError(_NOTHING_LEFT)
        sharpness, scores = margin.choice.sharpness, self.scores(X)
        return np.ones_like(scores) if scores.shape[1] == 1 else shares(sharpness * scores)

    @looks
    def explain(self, x: Any) -> Explanation:
        """Says which separator decides about x, by how much, and which stored examples bear it."""
        margin = self._needs_margin("explain")
        if not margin.labels:
            raise InvalidInputError(_NOTHING_LEFT)
        return explain(margin, self._door.row(x))

    @looks
    def save(self, file: str | Path) -> None:
        """Writes everything to one file: a learner that is loaded from it goes on to the same bits.

        The file is replaced as a whole; docs/format.md describes it.
        """
        if isinstance(self._rule, GradientRule):
            raise InvalidInputError("`save` needs the margin rule; this is a GradientRule.")
        _file.write(Path(file), self._whole(self._rule))

    @classmethod
    def load(
        cls, file: str | Path, features: str | FeatureMap | Callable[[Any], Any] | None = None
    ) -> "Learner":
        """Reads a learner that was saved.

        If it was taught with a function of yours as its feature map, pass that again; a map with
        another fingerprint is refused.
        """
        whole = _file.read(Path(file), None if features is None else named(features))
        learner = cls(rule=whole.rule, features=whole.features)
        learner._door.lengths, learner._next_id = whole.lengths, whole.next_id
        learner.notes, learner._margin = whole.notes, whole.margin
        return learner

    @looks
    def outputs(self, X: Any) -> Floats:
        """Gives the units' outputs, (n, classes): the scores, clipped.

        That is min_j max(a_j, 0), or min_j σ(a_j) for a GradientRule with the sigmoid clip.
        """
        scores = self.scores(X)
        if isinstance(self._rule, GradientRule) and self._rule.clip == "sigmoid":
            return sigmoid(scores)
        return np.asarray(np.maximum(scores, 0.0))

    @property
    @looks
    def classes(self) -> NDArray[Any]:
        """Lists the labels in the order of the columns of `scores`."""
        if self._gradient is not None:
            return self._gradient.classes
        return np.array([] if self._margin is None else sorted(self._margin.labels))

    @property
    @looks
    def ids(self) -> list[Id]:
        """Lists the ids of all that is stored, in the order in which they came."""
        if self._gradient is not None:
            return list(range(len(self._gradient)))
        return [] if self._margin is None else list(self._margin.place_of)

    @property
    @looks
    def exceptions(self) -> list[Id]:
        """Lists the stored examples that are on the wrong side of a separator of their class.

        Of equal rows under two labels one is wrong because the other is right: both are named.
        """
        margin = self._needs_margin("exceptions")
        return [margin.ids[place] for place in margin.exceptions().tolist()]

    @property
    @looks
    def choice(self) -> Choice:
        """Is what was chosen from the data, or pinned: metric, prior, columns and price."""
        return self._needs_margin("choice").choice

    @property
    def rule(self) -> MarginRule | GradientRule:
        """Is how the weights move."""
        return self._rule

    @property
    def threshold(self) -> float:
        """Is the score at and below which a unit counts as clipped."""
        return self._rule.threshold if isinstance(self._rule, GradientRule) else 0.0

    @property
    def features(self) -> FeatureMap:
        """Is the fixed map that examples go through before they are learned."""
        return self._door.features

    @property
    def policy(self) -> Policy:
        """Is who chooses whom to rehearse."""
        if self._gradient is None:
            raise InvalidInputError("The margin rule rehearses nobody, so there is no policy.")
        return self._gradient.policy

    @property
    @looks
    def layer(self) -> Layer:
        """Copies the weights of a GradientRule: W (classes, neurons, features), b likewise."""
        if self._gradient is None:
            raise InvalidInputError("This needs a GradientRule; the margin rule has separators.")
        return self._gradient.layer()

    @property
    def guarantee(self) -> str:
        """Says in a sentence what is certain about examples that a step does not look at."""
        return _FITTED if self._gradient is None else self._gradient.guarantee()

    @looks
    def example(self, id: Id) -> tuple[Floats, Label]:
        """Gives a copy of a stored row, as the feature map made it, and its label."""
        margin = self._needs_margin("example")
        place = self._place(margin, id)
        return margin.memory.rows([place])[0], margin.label_at(place)

    @looks
    def __len__(self) -> int:
        """Counts the stored examples."""
        if self._margin is not None:
            return len(self._margin.place_of)
        return 0 if self._gradient is None else len(self._gradient)

    @looks
    def __contains__(self, id: Id) -> bool:
        """Says whether an id is stored."""
        if not isinstance(id, str | int | np.integer) or isinstance(id, bool):
            return False  # to Python, True and 1.0 are the number 1
        return self._margin is not None and id in self._margin.place_of

    def __getstate__(self) -> dict[str, Any]:
        """Gives a state that later teaching does not change, without the turns.

        The feature map does not change either, and so it is not copied.
        """
        with self._turns.looking():
            state = {name: each for name, each in vars(self).items() if name != "_turns"}
            return copy.deepcopy(state, {id(self.features): self.features})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes over what was copied."""
        vars(self).update(state)
        self._turns = Turns()

    def _whole(self, rule: MarginRule) -> _file.Whole:
        door = self._door
        return _file.Whole(
            rule, door.features, door.lengths, self._next_id, self.notes, self._margin
        )

    def _check(self) -> None:
        """Asserts that everything kept tells one story."""
        if self._gradient is not None and self._gradient.paper is not None:
            self._gradient.paper.check()
        if self._margin is not None:
            found = audit(self._margin)
            assert found.ok, found.complaints

    def _learn(
        self, row: Floats, label: Label, id: Id | None, lengths: tuple[int | None, int | None]
    ) -> StepReport:
        assert isinstance(self._rule, MarginRule)
        margin = self._margin
        if margin is None:
            margin = Margin(self._rule, RamMemory(len(row), self._door.features.dtype))
        if id is None:
            example_id: Id = self._free_id(margin)
        else:
            example_id = checked_id(id)
            if example_id in margin.place_of:
                return self._again(margin, example_id, row, label)
        following = self._next_id if id is not None else int(example_id) + 1
        certificate, refresh = _separable(lambda: margin.learn(row, label, example_id))
        self._margin, self._door.lengths, self._next_id = margin, lengths, following
        return StepReport(example_id, label, certificate=certificate, refresh=refresh)

    def _checked(
        self, X: Any, y: Sequence[Label], ids: Sequence[Id] | None
    ) -> tuple[Floats, list[Label], list[Id | None]]:
        # What `teach_many` was given, if all of it can be learned.
        rows = self._door.rows(X)
        known = [] if self._margin is None else self._margin.labels
        labels: list[Label] = []
        for each in y:
            labels.append(checked_label(each, known or labels[:1]))
        named_ids: list[Id | None] = [None] * len(rows)
        if ids is not None:
            named_ids = [checked_id(each) for each in listed_ids(ids)]
        if not len(rows) == len(labels) == len(named_ids):
            raise InvalidInputError(
                f"There are {len(rows)} rows, {len(labels)} labels and {len(named_ids)} ids; "
                "give one label, and one id if any, for each row."
            )
        seen: set[Id] = set()
        for row, label, example_id in zip(rows, labels, named_ids, strict=True):
            if example_id is None:
                continue
            if example_id in seen:
                raise InvalidInputError(f"The id {example_id!r} is given to two rows.")
            seen.add(example_id)
            if self._margin is not None and example_id in self._margin.place_of:
                self._again(self._margin, example_id, row, label)
        return rows, labels, named_ids

    def _again(self, margin: Margin, example_id: Id, row: Floats, label: Label) -> StepReport:
        place = margin.place_of[example_id]
        same_row = np.array_equal(margin.memory.table[place], row)
        if not same_row or margin.label_at(place) != label:
            raise InvalidInputError(
                f"Example {example_id!r} is stored with another {'label' if same_row else 'row'}; "
                "use `correct` to change its label, or `forget` it first."
            )
        return StepReport(example_id, label, certificate=Certificate((), 0, np.inf, (), ()))

    def _free_id(self, margin: Margin) -> int:
        free = self._next_id
        while free in margin.place_of:
            free += 1
        return free

    def _place(self, margin: Margin, id: Id) -> int:
        if id in self:  # also one of a model from before ids had at most 64 bits
            return margin.place_of[id]
        if not isinstance(id, int) or isinstance(id, bool) or id.bit_length() > 1000:
            checked_id(id)  # says what is wrong with it
        raise InvalidInputError(f"There is no example {id!r}.")

    def _label(self, y: Label) -> Label:
        return checked_label(y, [] if self._margin is None else self._margin.labels)

    def _needs_margin(self, what: str) -> Margin:
        if isinstance(self._rule, GradientRule):
            raise InvalidInputError(f"`{what}` needs the margin rule; this is a GradientRule.")
        if self._margin is None:
            raise InvalidInputError("This learner has not been taught anything yet.")
        return self._margin

    def _sorted(self, margin: Margin) -> list[int]:
        return [margin.class_of[label] for label in self.classes.tolist()]


_FITTED = (
    "Every stored example is fitted, with a positive margin in every pair of its class, "
    "or listed in `exceptions`."
)
_NOTHING_LEFT = "Every example has been forgotten; there is nothing to predict."


def _separable(step: Callable[[], T]) -> T:
    try:
        return step()
    except ArithmeticError as error:
        raise InvalidInputError(
            "The numbers differ too much in size to be separated in double precision; "
            "scale the features first."
        ) from error
