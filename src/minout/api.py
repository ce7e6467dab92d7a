"""The methods that `Learner` and `MinoutClassifier` have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from minout import core, steps
from minout._typing import Bools, Floats, Id, Ints, Label
from minout.core import (
    Audit,
    Certificate,
    Conflict,
    Consolidation,
    Executor,
    ExpectedAccuracy,
    Explanation,
    LabelErrors,
    PairSeparator,
    State,
    StepReport,
    Suspect,
)
from minout.core.settings import Keep
from minout.errors import InvalidInputError
from minout.inputs import checked_weight, each_row, known_row, listed_labels, new_row
from minout.steps import Change, begun, not_empty, place_of

R = TypeVar("R")


class Methods(ABC):
    """What can be asked of stored examples and changed in them, whatever form labels have."""

    @property
    @abstractmethod
    def _state(self) -> State:
        """The present state; whoever reads takes it once."""

    @abstractmethod
    def _change(self, step: Callable[[State], Change[R]], *, is_long: bool = False) -> R:
        """Make the change that a step returns, and return its result.

        A long one is computed while others may change the model. Their changes are repeated on its
        result; where that is not possible, it is computed again.
        """

    @abstractmethod
    def _change_each(
        self, items: Callable[[State], list[Any]], step: Callable[..., Change[StepReport]]
    ) -> list[StepReport]:
        """Make the change of a step for each of some items, or none of them if one fails."""

    @abstractmethod
    def _known_label(self, y: Any, state: State) -> tuple[Label, State]:
        """Return a label as the learner stores it, and the state whose schema can give it back."""

    def correct(self, id: Id, y: Any, weight: float | None = None) -> StepReport:
        """Give a stored example another label, in one step.

        With a window per label (`keep`), the oldest example of the new label is forgotten if there
        are too many; that may be this one. `certificate.forgotten` names it.

        Parameters
        ----------
        id : int or str
        y : int or str
        weight : float, optional
            Its new weight. By default unchanged, or with `class_weight` as if it had been taught
            with the new label.

        Returns
        -------
        StepReport
        """
        new = None if weight is None else checked_weight(weight)

        def step(state: State) -> Change[StepReport]:
            place_of(begun(state), id)
            label, state = self._known_label(y, state)
            return steps.correct(state, id, label, new)

        return self._change(step)

    def correct_many(self, ids: Sequence[Id], y: Sequence[Any]) -> list[StepReport]:
        """Give stored examples other labels, one after the other.

        If the call raises an error or is interrupted (Ctrl-C), nothing has changed.

        Parameters
        ----------
        ids : sequence of int or str
            The ids of stored examples, each once.
        y : sequence of int or str

        Returns
        -------
        list of StepReport
            One per id; see `correct`. If a correction lets another of the examples fall out of a
            window per label, that one is not corrected any more.

        Examples
        --------
        >>> from minout import Learner
        >>> learner = Learner()
        >>> reports = learner.teach_many([[0.0], [0.1], [1.0]], ["low", "high", "low"])
        >>> reports = learner.correct_many([1, 2], ["low", "high"])
        >>> [learner.example(id)[1] for id in learner.ids]
        ['low', 'low', 'high']
        """

        def corrections(state: State) -> list[tuple[Id, Label]]:
            labels = each_row(lambda each: self._known_label(each, state)[0], listed_labels(y))
            return steps.checked_corrections(begun(state), ids, labels)

        return self._change_each(corrections, steps.correct_if_stored)

    def update(self, id: Id, x: Any) -> StepReport:
        """Give a stored example other features, in one step; it keeps label, weight and time.

        If the call raises an error, nothing has changed. It is the same as to forget the example
        and to teach it again: it is the last one in the order of teaching.

        Parameters
        ----------
        id : int or str
        x : one example
            The new example, in any form that `teach` takes. Columns of a table that a record does
            not have keep their values.

        Returns
        -------
        StepReport

        Examples
        --------
        >>> from minout import Learner
        >>> learner = Learner()
        >>> reports = learner.teach_many([[0.0], [1.0]], ["low", "high"], ids=["a", "b"])
        >>> report = learner.update("a", [0.2])
        >>> learner.example("a")[0].tolist(), learner.ids
        ([0.2], ['b', 'a'])
        """
        return self._change(lambda state: steps.update(state, id, x))

    def forget(self, ids: Id | Iterable[Id], *, log_ids: bool = False) -> Certificate:
        """Remove stored examples; separators that had them as support vectors are solved again.

        After `consolidate()` the model is identical, bit for bit, to one that was never taught
        them. In a file, SQLite may keep what was deleted until `compact()`. A class without
        examples is removed.

        Parameters
        ----------
        ids : int, str, or iterable of them
        log_ids : bool, default=False
            For a model in a file: keep these ids in its log of changes. By default they are
            removed from it.

        Returns
        -------
        Certificate
        """
        return self._change(lambda state: steps.forget(state, ids, log_ids=log_ids))

    def forget_class(self, y: Any) -> Certificate:
        """Remove all examples of a label, and the label itself.

        Parameters
        ----------
        y : int or str

        Returns
        -------
        Certificate
        """
        return self._change(
            lambda state: steps.forget_class(state, self._known_label(y, begun(state))[0])
        )

    def set_keep(self, keep: Keep) -> Certificate:
        """Set another window, and forget the examples that are outside it.

        Parameters
        ----------
        keep : "all", int, dict or str

        Returns
        -------
        Certificate
            Its `forgotten` names the examples that were forgotten.
        """
        return self._change(lambda state: steps.set_keep(state, keep))

    def set_blocks(self, blocks: Sequence[tuple[int, int]]) -> None:
        """Set the blocks of columns that are scaled as one where columns are standardized.

        All columns of a block are divided by the same number, the root of the sum of their
        variances, so a block has the weight of one column, or less if it tells little of the
        labels (docs/theory.md). Numbers that only mean something together, such as an embedding,
        would outweigh all other columns otherwise. Columns of a block have no hat functions. It
        takes effect at the next refresh or `consolidate()`. Text and categories in a table are
        blocks already.

        Parameters
        ----------
        blocks : sequence of (int, int)
            For each block the number of its first column, from 0, and that of the first column
            after it; ascending and without overlap. They replace the blocks so far. With a feature
            map, the columns are those of the rows that it makes.

        Examples
        --------
        >>> from minout import Learner
        >>> learner = Learner()
        >>> reports = learner.teach_many([[20.0, 0.6, 0.8], [7.0, 0.8, 0.6]], ["a", "b"])
        >>> learner.set_blocks([(1, 3)])
        >>> learner.settings.blocks
        ((1, 3),)
        """
        self._change(lambda state: steps.set_blocks(state, blocks))

    def set_column_kinds(self, kinds: Mapping[str, str]) -> None:
        """Set the kinds of columns of a table that have no features yet.

        These are columns that have not come yet, had no value, or were left out; in the rows so
        far, their values count as missing.

        Parameters
        ----------
        kinds : mapping of str to str
            By name of the column: "number", "boolean", "date", "day-first" or "month-first"
            (dates such as 3/4/2021), "category", "text" or "ignore".

        Raises
        ------
        InvalidInputError
            If rows were taught in which the column had another kind.
        """
        self._change(lambda state: steps.set_column_kinds(state, kinds))

    def settle(self) -> Certificate:
        """Solve every separator in which examples are pending, so that none waits.

        A separator with many support vectors does not move for each example: those with a margin
        below 0.5 wait until they are a certain share of its candidate support vectors, and then it
        moves once. Meanwhile those with a margin of 0 or less are listed as misfits. Separators
        that still contain terms of examples that fell out of the window (`keep`) are solved again,
        too.

        Returns
        -------
        Certificate
        """
        return self._change(steps.settle)

    def consolidate(self, executor: Executor | None = None) -> Consolidation:
        """Compute the model again from the set of stored examples.

        Everything that depends on their order is computed again, including the settings that are
        "auto", and every separator is solved to high precision. The columns of a table are sorted
        by name, and features that no stored row has are dropped. Afterwards the model depends on
        the set of stored examples only, unless others changed it meanwhile: what they taught,
        corrected or forgot is repeated on the result, and `is_consolidated` is False. If they
        changed settings, columns or categories, all is computed again, the third time while they
        wait.

        Parameters
        ----------
        executor : Executor, optional
            Processes that do most of the work: one of `minout.cluster`, such as `Local(8)`. The
            result is the same to the last bit.

        Returns
        -------
        Consolidation
            Its certificate does not include changes that were repeated.
        """
        return self._change(lambda state: steps.consolidate(state, executor), is_long=True)

    def audit(self) -> Audit:
        """Compute all margins of all stored examples again with plain NumPy, and compare.

        Returns
        -------
        Audit
            Its `ok` is True if nothing differs; otherwise `differences` lists the differences.
        """
        return core.audit(begun(self._state))

    def suspects(self, n: int | None = None, *, likely: bool = False) -> list[Suspect]:
        """Return the stored examples that are most likely to have a wrong label.

        Parameters
        ----------
        n : int, optional
            The maximum number of examples; by default 10, or all with `likely`.
        likely : bool, default=False
            Return only those whose label is wrong with a probability of 0.5 or more; none where
            `label_errors` is not reliable.

        Returns
        -------
        list of Suspect
            Examples with a margin below the target, 1, the highest probability of a wrong label
            first.
            `label_errors` estimates how many wrong labels there are; where it is not reliable, the
            probabilities are NaN and only the order means something.
        """
        if n is None:
            n = None if likely else 10
        elif not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 0:
            raise InvalidInputError(f"`n` must be a whole number, 0 or more, not {n!r}.")
        most = None if n is None else int(n)
        return core.suspects(begun(self._state), most, likely=likely)

    def label_errors(self) -> LabelErrors:
        """Return how many labels are probably wrong, in all and per label.

        Each example is left out in turn, in closed form (see `expected_accuracy`). A model of
        wrong labels, with a rate for each pair of labels, is fitted to the scores. It works while
        at most about 20 % of the labels are wrong. An error that all similar examples share is not
        found. Where more than a tenth of the examples look like another label though theirs is
        right, no number is given.

        Returns
        -------
        LabelErrors
            The expected number with a 95 % interval, and the same for the examples of each label;
            or, where that cannot be trusted, `reliable=False` and the reason.

        Examples
        --------
        >>> from minout import Learner
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 2)) + np.repeat([[0.0, 0.0], [6.0, 6.0]], 100, axis=0)
        >>> labels = ["a"] * 100 + ["b"] * 100
        >>> labels[7] = labels[70] = "b"
        >>> learner = Learner()
        >>> reports = learner.teach_many(X, labels)
        >>> errors = learner.label_errors()
        >>> round(errors.wrong), errors.likely, round(errors.per_class["b"].wrong)
        (2, 2, 2)
        >>> sorted(suspect.id for suspect in learner.suspects(likely=True))
        [7, 70]
        """
        return core.label_errors(not_empty(self._state))

    def conflicts(self) -> list[Conflict]:
        """Return pairs of stored examples with equal or nearly equal rows and different labels.

        At least one label of such a pair is wrong, or the features do not tell the labels apart.

        Returns
        -------
        list of Conflict
            For each example the nearest one of another label, if their distance in the metric of
            the separators is at most 1 % of the typical one. The nearest pair comes first.
        """
        return core.conflicts(not_empty(self._state))

    def find(self, x: Any) -> list[Id]:
        """Return the ids of the stored examples whose row equals x, whatever their labels.

        Parameters
        ----------
        x : one example

        Returns
        -------
        list of int or str
            The ids, in the order in which the examples were taught.

        Examples
        --------
        >>> from minout import Learner
        >>> learner = Learner()
        >>> reports = learner.teach_many([[1.0], [2.0], [1.0]], ["cat", "dog", "dog"])
        >>> learner.find([1.0]), learner.find([3.0])
        ([0, 2], [])
        """
        state = self._state
        if state.widths.row is None:
            return []
        schema, known = state.schema, known_row(x, state.schema, state)
        if schema.encoder is not None and new_row(x, schema, state).rows[0, len(known) :].any():
            return []  # it has a column or a category that no stored row has
        return in_order(state, state.examples.find(known))

    def expected_accuracy(self) -> ExpectedAccuracy:
        """Return the accuracy to expect on new rows: stored examples are left out in turn.

        Call `consolidate()` first: between refreshes the estimate may be several points too low.
        Each example, of 5,000 at most, is left out of separators, covariance and discriminants,
        with its equal rows, and with few rows together with one example of each other label.
        Settings, regions and scale are those of all examples, so with fewer than some hundred it
        can be a little too high. New rows must be like the stored ones.

        Returns
        -------
        ExpectedAccuracy
            The accuracy with a 95 % interval, and the same for each label. The only example of a
            label counts as wrong, because the label goes with it. With one label, fewer than 10
            different examples, or one example only of many labels there is no estimate: `reliable`
            is False and `reason` says why.

        Examples
        --------
        >>> from minout import Learner
        >>> learner = Learner()
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 2)) + np.repeat([[0.0, 0.0], [2.0, 2.0]], 100, axis=0)
        >>> reports = learner.teach_many(X, ["low"] * 100 + ["high"] * 100)
        >>> expected = learner.expected_accuracy()  # the best possible is 92 %
        >>> print(f"{expected.accuracy:.0%}, {expected.low:.0%} to {expected.high:.0%}")
        88%, 82% to 93%
        >>> {label: round(each.accuracy, 2) for label, each in expected.per_class.items()}
        {'high': 0.89, 'low': 0.88}
        """
        return core.expected_accuracy(not_empty(self._state))

    def explain(self, x: Any) -> Explanation:
        """Return the separator that decides the label of x, and its support vectors.

        Parameters
        ----------
        x : one example

        Returns
        -------
        Explanation
            The label, the runner-up, the margin between them, and the terms that add up to it.
        """
        state = not_empty(self._state)
        return core.explain(state, known_row(x, state.schema, state))

    def separator(self, a: Any, b: Any, regions: tuple[int, int] = (0, 0)) -> PairSeparator:
        """Return the separator between two labels: weights, bias and support vectors.

        Parameters
        ----------
        a, b : int or str
            Two labels; the separator is positive on the side of `a`.
        regions : (int, int), default=(0, 0)
            If labels have several regions: which of `a` and which of `b`, by their positions in
            `Learner.regions()[a]` and `Learner.regions()[b]`.

        Returns
        -------
        PairSeparator
            `weights @ x + bias` is the margin of x for `a` against `b`, where x is a row as
            `Learner.expanded` returns it; `supports` are the support vectors.

        Raises
        ------
        InvalidInputError
            If a label has no stored examples or no such region, or both labels are the same.

        Examples
        --------
        >>> from minout import Learner
        >>> learner = Learner(whiten=False, lda_prior=False)
        >>> reports = learner.teach_many([[1.0], [3.0]], ["low", "high"])
        >>> weights, bias, supports = learner.separator("high", "low")
        >>> bool(weights @ [2.9] + bias > 0), [each.label for each in supports]
        (True, ['low', 'high'])
        """
        state = not_empty(self._state)
        labels = [self._known_label(each, state)[0] for each in (a, b)]
        return core.pair_separator(state, *_region_numbers(state, labels, regions))


def in_order(state: State, places: Ints) -> list[Id]:
    """Return the ids at some places in the order of teaching."""
    return list(state.names(np.sort(places)))


def predicted(state: State, rows: Floats) -> tuple[NDArray[Any], Bools]:
    """Return the label of each row (n, d), and whether all its scores are 0 or less."""
    found = core.winners(not_empty(state), rows)
    names = np.array(sorted(state.labels))
    return names[state.regions.order.owner[found.regions]], found.clipped


def scores(state: State, rows: Floats) -> Floats:
    """Return the score of each row (n, d) for each label, in order."""
    return begun(state).scores(state.expanded(rows))


def probabilities(state: State, rows: Floats) -> Floats:
    """Return the probability of each label, in order, for each row (n, d)."""
    found = scores(not_empty(state), rows)
    if found.shape[1] == 1:
        return np.ones_like(found)
    return core.probabilities(found, state.choice)


def _region_numbers(state: State, labels: list[Label], regions: Any) -> list[int]:
    for label in labels:
        if label not in state.labels:
            raise InvalidInputError(f"No example has the label {label!r}.")
    if labels[0] == labels[1]:
        raise InvalidInputError(f"A separator needs two labels, but both are {labels[0]!r}.")
    listed = list(regions) if isinstance(regions, tuple | list | np.ndarray) else []
    whole = [isinstance(each, int | np.integer) and not isinstance(each, bool) for each in listed]
    if whole != [True, True]:
        raise InvalidInputError(f"`regions` must be two whole numbers, not {regions!r}.")
    numbers = []
    for label, region in zip(labels, listed, strict=True):
        known = state.regions.of(label)
        if not 0 <= region < len(known):
            count = "one region" if len(known) == 1 else f"{len(known)} regions"
            raise InvalidInputError(
                f"Label {label!r} has {count}, numbered from 0; there is no {region}."
            )
        numbers.append(known[region])
    return numbers
