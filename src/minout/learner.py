"""The learner: teach one example at a time, ask, correct, forget, predict."""

import copy
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from minout import engine, model_file
from minout._typing import Floats, Id, Label
from minout.engine import (
    NOTHING_MOVED,
    Audit,
    Certificate,
    Choice,
    Consolidation,
    Delta,
    Explanation,
    Inspection,
    PairSeparator,
    Sets,
    Settings,
    State,
    StepReport,
    Suspect,
    WayBack,
    WhatIf,
)
from minout.engine.state import Move
from minout.errors import InvalidInputError
from minout.features import FeatureMap, named
from minout.inputs import InputRows, checked_id, checked_label, listed_ids
from minout.readwrite import ReadWriteLock, reads, writes
from minout.teaching import checked_examples, separable, step

Auto = Literal["auto"]

TRIM_EVERY = 128
"""One in so many examples that move a separator, and every refresh, returns freed memory."""
_NOTHING_LEFT = "Every example has been forgotten; there is nothing to predict."


class Learner:
    """An online classifier that keeps every example and says what each one changed.

    Labels may appear at any time, and every example may have an id of yours. The first row taught
    sets how many features a row has. At every moment each stored example is fitted (it has a
    positive margin in every separator of its class) or listed in `misfits`. After `consolidate()`
    the model is a function of the set of examples, whatever order they came in.

    Threads may share a learner: readers always see a consistent state, and a change is prepared
    while others read.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Inverse strength of the regularisation, as in scikit-learn's `LinearSVC`: a high value fits
        what was taught more closely, a low one allows more misfits.
    whiten : bool or "auto", default="auto"
        Measure rows in the inverse of the within-class covariance.
    lda_prior : bool or "auto", default="auto"
        Start each separator from the linear discriminant between its two classes.
    standardize : bool or "auto", default="auto"
        Divide each column by its standard deviation first.
    features : str, FeatureMap or callable, default="identity"
        The fixed map that examples go through before they are learned: "identity", "scattering"
        (images), "random_fourier", a map such as `Scattering(...)`, or a function of yours that
        turns a batch into rows of numbers.
    refresh : {"auto", "manual"}, default="auto"
        With "manual", origin, scale, metric and the settings that are "auto" are renewed by
        `consolidate()` only, never while an example is taught.

    Notes
    -----
    "auto" chooses from what was taught, by cross-validation that does not depend on the order.
    `notes` is a dictionary of yours that is saved with the learner.

    Examples
    --------
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
        *,
        C: float | Auto = "auto",
        whiten: bool | Auto = "auto",
        lda_prior: bool | Auto = "auto",
        standardize: bool | Auto = "auto",
        features: str | FeatureMap | Callable[[Any], Any] = "identity",
        refresh: Literal["auto", "manual"] = "auto",
    ) -> None:
        settings = Settings(C, whiten, lda_prior, standardize, refresh)
        self._inputs = InputRows(named(features))
        self._state = State(settings, 0, self._inputs.features.dtype)
        self._lock = ReadWriteLock()

    @writes
    def teach(self, x: Any, y: Label, id: Id | None = None) -> StepReport:
        """Learn one example.

        If the call is refused, nothing has changed; if it is interrupted, all of it has happened
        or nothing.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            The example, or whatever the feature map takes.
        y : int or str
            Its label; a label that is new adds a class.
        id : int or str, optional
            A name of yours for the example; otherwise it gets the next free number. Teaching an id
            again with the same row and label, or with a label that was corrected since, changes
            nothing; with another row or label the call is refused: see `correct`.

        Returns
        -------
        StepReport
            Its `certificate` says what moved and what was checked.

        Raises
        ------
        InvalidInputError
            If x, y or id is not valid.
        """
        row, label = self._inputs.row(x, self._state.widths), self._label(y)
        state = self._started(row)
        delta, report = step(state, row, label, id)
        if delta is not None:
            self._commit(state, self._with_widths(delta, x, row))
        return report

    @writes
    def teach_many(
        self, X: Any, y: Sequence[Label], ids: Sequence[Id] | None = None
    ) -> list[StepReport]:
        """Learn examples one after the other.

        If the call is refused, nothing has changed. If it is interrupted, the examples before the
        interruption are kept. Other threads may read in between.

        Parameters
        ----------
        X : array-like of shape (n_examples, n_features)
            The examples; they go through the feature map together.
        y : sequence of int or str
            Their labels.
        ids : sequence of int or str, optional
            Names of yours, one per row.

        Returns
        -------
        list of StepReport
            One per row; see `teach`.
        """
        rows, labels, named_ids = checked_examples(self._inputs, self._state, X, y, ids)
        before = self._state
        state = self._started(rows)
        reports: list[StepReport] = []
        way_back = WayBack(before)
        for row, label, each in zip(rows, labels, named_ids, strict=True):
            try:
                delta, report = step(state, row, label, each)
            except InvalidInputError:
                self._commit(before, way_back.delta())
                raise
            if delta is not None:
                if state is before:
                    way_back.note(delta)
                self._commit(state, self._with_widths(delta, X, rows))
            reports.append(report)
        return reports

    @reads
    def what_if(self, x: Any, y: Label) -> WhatIf:
        """Return which stored examples teaching x as y could disturb; learn nothing.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            An example.
        y : int or str
            The label that it would have.

        Returns
        -------
        WhatIf
            Its `interfered` lists the ids.
        """
        label, row = self._label(y), self._inputs.row(x, self._state.widths)
        if self._state.widths.row is None:
            return WhatIf({}, refresh=False)
        return engine.what_if(self._state, row, label)

    @writes
    def correct(self, id: Id, y: Label) -> StepReport:
        """Give a stored example another label, in one step.

        Parameters
        ----------
        id : int or str
            The id of a stored example.
        y : int or str
            The label that is right.

        Returns
        -------
        StepReport
            What that changed.
        """
        state = self._taught()
        place, label = self._place(id), self._label(y)
        old, example_id = state.label_at(place), state.ids[place]  # not a number of NumPy's
        if old == label:
            return StepReport(example_id, label, NOTHING_MOVED)
        delta = separable(lambda: engine.relabel(state, place, label))
        earlier = [each for each in state.corrected.get(id, ()) if each not in (old, label)]
        self._commit(state, delta._replace(corrected={example_id: (*earlier, old)}))
        return StepReport(example_id, label, delta.certificate, delta.refresh)

    @writes
    def forget(self, ids: Id | Iterable[Id]) -> Certificate:
        """Remove stored examples; separators that rested on them are settled again.

        After `consolidate()` the model equals the one that never saw them, and no trace of their
        rows is left. A class whose last example is forgotten leaves the model.

        Parameters
        ----------
        ids : int, str, or iterable of them
            The examples to forget.

        Returns
        -------
        Certificate
            What moved and what was checked.
        """
        self._taught()
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            ids = [ids]
        asked = listed_ids(ids, "one id or a list of ids")
        places = [self._place(each) for each in asked]
        if len(set(places)) < len(places):
            raise InvalidInputError("An id is named twice; name each example to forget once.")
        return self._forget(sorted(places))

    @writes
    def forget_class(self, y: Label) -> Certificate:
        """Remove every example of a label, and the label with them.

        Parameters
        ----------
        y : int or str
            A label that is stored.

        Returns
        -------
        Certificate
            What moved and what was checked.
        """
        state, label = self._taught(), self._label(y)
        places = state.places_of(label)
        if not len(places):
            raise InvalidInputError(f"No example has the label {label!r}.")
        return self._forget(places.tolist(), label)

    @writes
    def consolidate(self) -> Consolidation:
        """Make the model anew from the stored examples alone.

        Everything that depends on the order is renewed, settings included, and every separator is
        solved tightly. Afterwards the model is a function of the set of examples.

        Returns
        -------
        Consolidation
            What was checked and chosen.
        """
        old = self._taught()
        new, done = separable(lambda: engine.consolidate(old))
        self._lock.write(lambda: setattr(self, "_state", new))
        return done

    @reads
    def audit(self) -> Audit:
        """Compute every margin of every stored example again, plainly, and compare.

        Returns
        -------
        Audit
            Its `ok` says whether every promise holds.
        """
        return engine.audit(self._taught())

    @reads
    def suspects(self, n: int = 10) -> list[Suspect]:
        """Return the stored examples that are most likely to have a wrong label.

        Parameters
        ----------
        n : int, default=10
            How many at most.

        Returns
        -------
        list of Suspect
            Those with the largest slack, the largest first.
        """
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 0:
            raise InvalidInputError(f"`n` is a whole number from 0 on, not {n!r}.")
        return engine.suspects(self._taught(), int(n))

    @reads
    def partition(self) -> dict[tuple[Label, Label], Sets]:
        """Return the paper's S1, S2 and S3 of each neuron that the last call moved.

        Returns
        -------
        dict of (label, label) to Sets
            The key is the label of the neuron's unit and the label that it stands against.
        """
        return engine.partition(self._taught())

    @reads
    def predict(self, X: Any, *, unknown: Label | None = None) -> NDArray[Any]:
        """Return the label with the highest score for each row; ties go to the first label.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.
        unknown : int or str, optional
            The label for rows that no class accepts: every score is 0 or less.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        scores = self.scores(X)
        if not len(self.classes):
            raise InvalidInputError(_NOTHING_LEFT)
        names = self.classes[scores.argmax(axis=1)]
        if unknown is None:
            return np.asarray(names)
        if isinstance(unknown, str) != (names.dtype.kind == "U"):
            names = names.astype(object)
        elif isinstance(unknown, str):
            names = names.astype(np.promote_types(names.dtype, f"U{max(len(unknown), 1)}"))
        names[scores.max(axis=1) <= 0.0] = unknown
        return np.asarray(names)

    @reads
    def scores(self, X: Any) -> Floats:
        """Return the least margin that each row would have under each label.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes`. With one class there is no separator: infinite.
        """
        state = self._taught()
        order = sorted(range(len(state.labels)), key=state.labels.__getitem__)
        return state.scores(self._inputs.rows(X, state.widths))[:, order]

    @reads
    def outputs(self, X: Any) -> Floats:
        """Return the scores, clipped at 0: the outputs of the paper's minout units.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes`.
        """
        return np.asarray(np.maximum(self.scores(X), 0.0))

    @reads
    def probabilities(self, X: Any) -> Floats:
        """Return a probability for each label: the softmax of sharpness times score.

        The sharpness is chosen together with C, so that the labels of held-out rows were
        likeliest. Probabilities presume that one of the labels is right.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes`.
        """
        state = self._not_empty()
        scores = self.scores(X)
        if scores.shape[1] == 1:
            return np.ones_like(scores)
        return engine.softmax(state.choice.sharpness * scores)

    @reads
    def explain(self, x: Any) -> Explanation:
        """Return which separator decides about x, and which stored examples it rests on.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            An example.

        Returns
        -------
        Explanation
            The label, the runner-up, the margin and its parts.
        """
        state = self._not_empty()
        return engine.explain(state, self._inputs.row(x, state.widths))

    @reads
    def separator(self, a: Label, b: Label) -> PairSeparator:
        """Return the separator between two labels: its weights, and what it rests on.

        Parameters
        ----------
        a, b : int or str
            Two labels; the separator is positive on the side of `a`.

        Returns
        -------
        PairSeparator
            `weights @ x + bias`, for a row x as the feature map makes it, is the margin of x for
            `a` against `b`; `supports` are the stored examples that the separator rests on.

        Raises
        ------
        InvalidInputError
            If a label is not stored, or the two are the same.

        Examples
        --------
        >>> learner = Learner(whiten=False, lda_prior=False)
        >>> reports = learner.teach_many([[1.0], [3.0]], ["low", "high"])
        >>> weights, bias, supports = learner.separator("high", "low")
        >>> bool(weights @ [2.9] + bias > 0), [each.label for each in supports]
        (True, ['low', 'high'])
        """
        state = self._not_empty()
        first, second = self._label(a), self._label(b)
        for label in (first, second):
            if label not in state.labels:
                raise InvalidInputError(f"No example has the label {label!r}.")
        if first == second:
            raise InvalidInputError(f"A separator is between two labels, but both are {first!r}.")
        labels = state.labels
        return engine.pair_separator(state, labels.index(first), labels.index(second))

    @reads
    def save(self, file: str | Path) -> None:
        """Write everything to one file; a learner loaded from it goes on to the same bits.

        Parameters
        ----------
        file : str or Path
            Where to; a file that is there is replaced as a whole.
        """
        model_file.write(Path(file), self.features, self._state)

    @classmethod
    def load(
        cls, file: str | Path, features: str | FeatureMap | Callable[[Any], Any] | None = None
    ) -> "Learner":
        """Read a learner that was saved.

        Parameters
        ----------
        file : str or Path
            What `save` wrote.
        features : FeatureMap or callable, optional
            The function of yours that it was taught with, if it was; a map with another
            fingerprint is refused.

        Returns
        -------
        Learner
            A learner that goes on where the other stood.
        """
        found, state = model_file.read(Path(file), None if features is None else named(features))
        learner = cls(features=found)
        learner._state = state
        return learner

    def reading(self) -> AbstractContextManager[None]:
        """Keep changes by other threads out, so that several calls see one state.

        Returns
        -------
        context manager
            For a `with` statement.
        """
        return self._lock.reading()

    @reads
    def example(self, id: Id) -> tuple[Floats, Label]:
        """Return a copy of a stored row, as the feature map made it, and its label.

        Parameters
        ----------
        id : int or str
            The id of a stored example.

        Returns
        -------
        (ndarray of shape (d,), label)
            The row and its label.
        """
        state = self._taught()
        place = self._place(id)
        return state.row_at(place).copy(), state.label_at(place)

    @reads
    def inspect(self) -> Inspection:
        """Return a copy of what the engine holds, for tests and benchmarks.

        Returns
        -------
        Inspection
            Not part of the stable interface: it changes with the engine.
        """
        return engine.inspect(self._taught())

    @property
    @reads
    def classes(self) -> NDArray[Any]:
        """The labels, sorted: the order of the columns of `scores`."""
        return np.array(sorted(self._state.labels))

    @property
    @reads
    def ids(self) -> list[Id]:
        """The ids of all stored examples, in the order in which they came."""
        return list(self._state.place_of)

    @property
    @reads
    def misfits(self) -> list[Id]:
        """The ids of the stored examples on the wrong side of a separator of their class.

        Of equal rows under two labels one is wrong because the other is right: both are listed.
        """
        state = self._taught()
        return list(state.names(state.misfits()))

    @property
    @reads
    def corrected(self) -> dict[Id, tuple[Label, ...]]:
        """For each corrected example that is stored, the labels that it had before."""
        return dict(self._state.corrected)

    @property
    @reads
    def choice(self) -> Choice:
        """The settings in force: chosen from the data, or pinned."""
        return self._taught().choice

    @property
    def settings(self) -> Settings:
        """The settings that were pinned, or "auto"."""
        return self._state.settings

    @property
    def features(self) -> FeatureMap:
        """The fixed map that examples go through before they are learned."""
        return self._inputs.features

    @property
    def notes(self) -> dict[str, Any]:
        """A dictionary of yours that is saved with the learner."""
        return self._state.notes

    @reads
    def __len__(self) -> int:
        """Return the number of stored examples."""
        return len(self._state.place_of)

    @reads
    def __contains__(self, id: Id) -> bool:
        """Return whether an id is stored."""
        if not isinstance(id, str | int | np.integer) or isinstance(id, bool):
            return False  # to Python, True and 1.0 are the number 1
        return id in self._state.place_of

    def __getstate__(self) -> dict[str, Any]:
        """Return plain values and arrays that later teaching does not change.

        Pickles, copies and skops use them. Unlike `save`, a feature map that is a function of
        yours is part of them.
        """
        described = model_file.describe_features(self.features)
        with self._lock.reading():
            state = self._state
            about, arrays = engine.packed(state)
            plain = json.loads(json.dumps({**about, "notes": {}}))
            return {
                "features": described if "name" in described else self.features,
                "about": {**plain, "notes": copy.deepcopy(state.notes)},
                "arrays": {name: np.array(array) for name, array in arrays.items()},
                "last_move": state.last_move and copy.deepcopy(tuple(state.last_move)),
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what `__getstate__` returned."""
        features, move = state["features"], state["last_move"]
        if isinstance(features, dict):
            features = model_file.make_features(features)
        # joblib may pass arrays as read-only maps of a file.
        arrays = {
            name: np.require(np.asarray(each), requirements="W")
            for name, each in state["arrays"].items()
        }
        self._inputs, self._lock = InputRows(features), ReadWriteLock()
        self._state = engine.unpacked(state["about"], arrays)
        self._state.last_move = move and Move(*move)

    def _commit(self, state: State, delta: Delta) -> None:
        # Put a change of a state in place, and the state in place of the present one.
        def put_in_place() -> None:
            try:
                engine.apply(state, delta)
            finally:  # also if it was interrupted, once it is in place
                if delta.widths is None or state.widths == delta.widths:
                    self._state = state

        self._lock.write(put_in_place)
        moved = delta.separators and delta.examples is not None
        if delta.refresh is not None or (moved and len(state.ids) % TRIM_EVERY == 0):
            engine.trim_heap()

    def _forget(self, listed: list[int], label: Label | None = None) -> Certificate:
        # Of forgotten examples, and of a forgotten label, no note of a correction stays either.
        state, places = self._state, np.array(listed, dtype=np.int64)
        delta = separable(lambda: engine.forget(state, places))
        gone = set(state.names(places))
        corrected = {
            example_id: () if example_id in gone else tuple(each for each in had if each != label)
            for example_id, had in state.corrected.items()
            if example_id in gone or label in had
        }
        self._commit(state, delta._replace(corrected=corrected))
        return delta.certificate

    def _started(self, rows: Floats) -> State:
        # The state to teach; while nothing has been taught, a new one for rows of this width.
        state = self._state
        if state.widths.row is not None or not len(rows):
            return state
        fresh = State(state.settings, rows.shape[-1], rows.dtype)
        fresh.notes = state.notes
        return fresh

    def _with_widths(self, delta: Delta, X: Any, rows: Floats) -> Delta:
        if self._state.widths.row is not None:
            return delta
        return delta._replace(widths=self._inputs.widths(X, rows))

    def _place(self, id: Id) -> int:
        if id in self:  # also one of a model from before ids had at most 64 bits
            return self._state.place_of[id]
        if not isinstance(id, int) or isinstance(id, bool) or id.bit_length() > 1000:
            checked_id(id)  # says what is wrong with it
        raise InvalidInputError(f"There is no example {id!r}.")

    def _label(self, y: Label) -> Label:
        return checked_label(y, self._state.labels)

    def _taught(self) -> State:
        if self._state.widths.row is None:
            raise InvalidInputError("This learner has not been taught anything yet.")
        return self._state

    def _not_empty(self) -> State:
        state = self._taught()
        if not state.labels:
            raise InvalidInputError(_NOTHING_LEFT)
        return state
