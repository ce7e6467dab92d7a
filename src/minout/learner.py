"""The public learner: teach one example at a time, predict, correct, forget."""

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from minout import engine, model_file
from minout._typing import Floats, Id, Ints, Label
from minout.codecs import Codec, Codes, OwnCodec, codec_of
from minout.engine import (
    NOTHING_MOVED,
    Audit,
    Certificate,
    Choice,
    Conflict,
    Consolidation,
    Delta,
    ExpectedAccuracy,
    Explanation,
    Inspection,
    LabelErrors,
    PairSeparator,
    Rollback,
    Sets,
    Settings,
    State,
    StepReport,
    Suspect,
    WhatIf,
)
from minout.engine.settings import Keep
from minout.engine.state import Move
from minout.errors import InvalidInputError, MinoutError
from minout.features import FeatureMap, Identity, UnknownMap, named
from minout.group_commit import keep_committing
from minout.inputs import (
    InputRows,
    checked_id,
    checked_label,
    checked_time,
    checked_weight,
    listed_ids,
    listed_labels,
)
from minout.model_folder import FileStore, holds_file, import_file, is_folder_file, open_store
from minout.model_reading import Loaded
from minout.model_store import Durability, FolderStore, Store, expect_settings
from minout.readwrite import ReadWriteLock, reads, writes
from minout.teaching import Example, checked_examples, clock, corrected, separable, step

Auto = Literal["auto"]
Time = float | datetime

LONG_CALL = 100
"""A call that teaches so many rows commits what earlier calls changed first."""
TRIM_EVERY = 128
"""Return freed memory after a refresh, and at every so many examples if a separator moved."""
_NOTHING_LEFT = "Every example has been forgotten; there is nothing to predict."


P = ParamSpec("P")
R = TypeVar("R")


def changes(
    method: Callable[Concatenate["Learner", P], R],
) -> Callable[Concatenate["Learner", P], R]:
    """Block other changes while a method runs, and commit what it changed.

    A learner in a folder first takes the folder's write lock and reads what other processes
    committed.
    """

    @writes
    @wraps(method)
    def changing(self: "Learner", /, *args: P.args, **kwargs: P.kwargs) -> R:
        has_begun = False
        try:
            self._begin()
            has_begun = True
            return method(self, *args, **kwargs)
        finally:
            self._end(has_begun=has_begun)

    in_ram = writes(method)

    @wraps(method)
    def in_turn(self: "Learner", /, *args: P.args, **kwargs: P.kwargs) -> R:
        if type(self._store) is Store:
            return in_ram(self, *args, **kwargs)
        with self._lock.turns:  # another thread may be in a block of `turn`
            return changing(self, *args, **kwargs)

    return in_turn


class Learner:
    """An online classifier that stores every example and reports what each one changed.

    There is one linear separator for each pair of labels, or several if labels have several regions
    (clusters of examples). The margin of an example is the value of a separator, positive on the
    side of the example's label. After every step each stored example is fitted (its margins are
    positive in all separators of its region) or listed in `misfits`. After `consolidate()` the
    model depends on the set of stored examples only, not on their order.

    New labels may appear at any time, and each example may have an id that you choose. The first
    row taught sets the number of features.

    Threads may share a learner: readers always see a consistent state, and can read while another
    thread computes a change.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Inverse strength of the regularisation, as in scikit-learn's `LinearSVC`: a high value fits
        what was taught more closely, a low one allows more misfits.
    whiten : bool or "auto", default="auto"
        Use the inverse of the within-class covariance as the metric (Mahalanobis distance).
    lda_prior : bool or "auto", default="auto"
        Regularise each separator towards the linear discriminant (LDA) of its two classes, instead
        of towards 0.
    standardize : bool or "auto", default="auto"
        Divide each column by its standard deviation first.
    regions : int or "auto", default="auto"
        Into how many regions the examples of a label are divided at most. Each region has its own
        separators, so a label may lie in several places or curve around others. "auto" is 1, 2, 4
        or 8, and at most 200 regions in all. A label with n examples has at most n/5 regions.
    expand : int, None or "auto", default="auto"
        How many hat functions of each column are added at most: piecewise-linear functions with
        their peaks at quantiles of the column, by which separators follow thresholds and bumps.
        None adds none. "auto" is none, 3 (up to 50 columns) or 9 (up to 20 columns), not counting
        those in blocks (`set_blocks`), which have none.
    features : str, FeatureMap or callable, default="identity"
        The fixed map that turns examples into rows of numbers: "identity", "scattering" (images),
        "random_fourier", "projection" (wide or sparse rows), "text" (strings), a map such as
        `Scattering(...)`, or a function of a batch that returns one row per example.
    refresh : {"auto", "manual"}, default="auto"
        With "auto", scale, covariance, discriminants and the settings that are "auto" are computed
        again from time to time while examples are taught; with "manual", by `consolidate()` only.
        Until the first one columns are then not scaled, "auto" settings are C=5 and False, labels
        have one region, columns are not expanded, probabilities are not calibrated, and
        `near_classes` has no effect.
    near_classes : int, "all" or "auto", default="auto"
        For how many of the nearest other labels each label has a separator with stored weights,
        once there are more labels than that. All other pairs of labels share one linear
        discriminant per label, corrected where a stored example needs it; the guarantees for stored
        examples are the same. "auto" is "all" up to 200 labels, and 32 above; "all" with more takes
        much time and memory.
    keep : "all", int, dict or str, default="all"
        The window: which examples stay stored. A number keeps the newest so many,
        `{"per_label": n}` so many of each label, and a time such as "30d" or "12h" (units s, m, h,
        d, w) those that are at most so much older than the latest one. When an example is taught,
        the oldest ones (by `at`, see `teach`) are forgotten as far as needed, and the certificate
        names them. A label without examples leaves the model. With a number, memory and file size
        stay constant.
    memory : "auto", "uint8", "uint4", "uint2" or Codec, default="auto"
        How rows are stored: as they are, as codes of 8, 4 or 2 bits per number, or by a codec such
        as `ScalarCodec.fit(sample, bits=4)`. Every row, also one to predict, is encoded and decoded
        before the model uses it, so all guarantees for stored examples hold for the rows as they
        were taught. "uint4" and "uint2" are for rows whose columns have one unit, such as pixels.
    missing : {"error", "mean"}, default="error"
        What NaN in a row means. With "mean" it is a missing value: it counts as the mean of its
        column, and an indicator column is added that says where it is missing, so that a separator
        can give missing values any other value. Means are computed again at every refresh.

    Notes
    -----
    Settings that are "auto" are chosen by cross-validation on stored examples. The folds do not
    depend on the order of the examples. `notes` is a dictionary for your own use; it is saved with
    the learner.

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
        regions: int | Auto = "auto",
        expand: int | Auto | None = "auto",
        features: str | FeatureMap | Callable[[Any], Any] = "identity",
        refresh: Literal["auto", "manual"] = "auto",
        near_classes: int | Literal["auto", "all"] = "auto",
        keep: Keep = "all",
        memory: str | Codec = "auto",
        missing: Literal["error", "mean"] = "error",
    ) -> None:
        settings = Settings(
            C, whiten, lda_prior, standardize, refresh, near_classes, regions, expand, keep, missing
        )
        found = named(features)
        self._state = State(settings, 0, found.dtype, codec_of(memory))
        self._inputs = _input_rows(found, self._state)
        self._lock = ReadWriteLock()
        self._store, self._holds_turn = Store(), False

    @changes
    def teach(
        self,
        x: Any,
        y: Label,
        id: Id | None = None,
        weight: float = 1.0,
        at: Time | None = None,
        *,
        widen: int = 0,
    ) -> StepReport:
        """Learn one example.

        If the call raises an error, the learner is unchanged. If it is interrupted (Ctrl-C), the
        example has been learned completely or not at all.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            The example, or any other input that the feature map takes.
        y : int or str
            Its label; a new label adds a class.
        id : int or str, optional
            An id for the example; by default the next free number. Teaching a stored id again with
            the same row and label, or with a label that was corrected since, changes nothing.
            With another row, label or weight it is an error: see `correct`.
        weight : float, default=1.0
            How much the example counts. After `consolidate()` an example with weight 2 is the same
            as two equal ones.
        at : float or datetime, optional
            Its time, in seconds since 1970 or as a datetime; by default now. A datetime without a
            time zone is local time, a NumPy datetime64 is UTC. A window (`keep`) forgets the
            earliest first. The time of an example that is stored already does not change.
        widen : int, default=0
            By how many columns x is longer than the rows so far, which have 0 in them: see `widen`.
            If the call raises an error, they do not get these columns.

        Returns
        -------
        StepReport
            Its `certificate` lists the separators that moved and the examples that became misfits.

        Raises
        ------
        InvalidInputError
            If an argument is not valid, or the id is stored with another row, label or weight.
        """
        state = self._widened(widen)
        row, label = self._inputs.row(x, state.widths), self._label(y)
        named = None if id is None else checked_id(id)
        when = clock() if at is None else checked_time(at)
        example = Example(row, label, named, checked_weight(weight), when)
        state = self._started(state, row)
        delta, report = step(state, example)
        if delta is not None:
            self._commit(state, self._with_widths(delta, x, row))
        return report

    @changes
    def teach_many(
        self,
        X: Any,
        y: Sequence[Label],
        ids: Sequence[Id] | None = None,
        weights: Sequence[float] | None = None,
        at: Time | Sequence[Time] | None = None,
        *,
        widen: int = 0,
        blocks: Sequence[tuple[int, int]] | None = None,
    ) -> list[StepReport]:
        """Learn examples one after the other.

        If the call raises an error, the learner is unchanged. If it is interrupted (Ctrl-C), the
        examples before the interruption stay taught. Other threads may read in between.

        Parameters
        ----------
        X : array-like of shape (n_examples, n_features)
            The examples; the feature map gets them as one batch.
        y : sequence of int or str
            Their labels.
        ids : sequence of int or str, optional
            One id per row; see `teach`.
        weights : sequence of float, optional
            One weight per row; see `teach`.
        at : float, datetime or sequence of them, optional
            One time for all rows, or one per row; see `teach`.
        widen : int, default=0
            By how many columns X is wider than the rows so far; see `teach`.
        blocks : sequence of (int, int), optional
            The blocks of columns from now on; see `set_blocks`. For the first rows, or together
            with new columns (`widen`). If the call raises an error, they stay as they were.

        Returns
        -------
        list of StepReport
            One per row; see `teach`.
        """
        if isinstance(y, Sized) and len(y) >= LONG_CALL:
            self._commit_earlier()
        before, wide = self._state, self._widened(widen)
        examples = checked_examples(self._inputs, wide, X, y, ids, weights, at)
        rows = np.array([each.row for each in examples[:1]])
        state = self._started(wide, rows, blocks)
        reports: list[StepReport] = []
        rollback = Rollback(before)
        for example in examples:
            try:
                delta, report = step(state, example)
            except Exception:  # also one that a codec of the user's own raises
                self._commit(before, rollback.delta())
                raise
            if delta is not None:
                if state is before:
                    rollback.record(delta)
                self._commit(state, self._with_widths(delta, X, rows))
            reports.append(report)
        return reports

    @reads
    def what_if(self, x: Any, y: Label, at: Time | None = None, *, id: Id | None = None) -> WhatIf:
        """Return which stored examples could be disturbed by teaching x as y; learn nothing.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            An example.
        y : int or str
            The label that it would have.
        at : float or datetime, optional
            When it happened: see `teach`.
        id : int or str, optional
            Its id. A stored id disturbs nothing, or is the same error as in `teach`.

        Returns
        -------
        WhatIf
            Its `interfered` lists the ids of the examples whose scores, clipped at 0, could change.
        """
        label, row = self._label(y), self._inputs.row(x, self._state.widths)
        when = clock() if at is None else checked_time(at)
        if id is not None and id in self:
            step(self._state, Example(row, label, id, 1.0, when))
            return WhatIf.nothing()
        if self._state.widths.row is None:
            return WhatIf.nothing()
        return engine.what_if(self._state, row, label, when)

    @changes
    def correct(self, id: Id, y: Label, weight: float | None = None) -> StepReport:
        """Give a stored example another label, in one step.

        With a window per label (`keep`), the oldest example of the new label is forgotten if there
        are too many; that may be this one. `certificate.forgotten` names it.

        Parameters
        ----------
        id : int or str
            The id of a stored example.
        y : int or str
            The new label.
        weight : float, optional
            Its new weight; by default unchanged.

        Returns
        -------
        StepReport
            What the change moved; see `teach`.
        """
        state = self._taught()
        place, label = self._place(id), self._label(y)
        new = None if weight is None else checked_weight(weight)
        delta, report = corrected(state, place, label, new)
        if delta is not None:
            self._commit(state, delta)
        return report

    @changes
    def correct_many(self, ids: Sequence[Id], y: Sequence[Label]) -> list[StepReport]:
        """Give stored examples other labels, one after the other.

        If the call raises an error, the learner is unchanged. If it is interrupted (Ctrl-C), the
        corrections before the interruption stay.

        Parameters
        ----------
        ids : sequence of int or str
            The ids of stored examples, each once.
        y : sequence of int or str
            Their labels.

        Returns
        -------
        list of StepReport
            One per id; see `correct`. If a correction lets another of the examples fall out of a
            window per label, that one is not corrected any more.

        Examples
        --------
        >>> learner = Learner()
        >>> reports = learner.teach_many([[0.0], [0.1], [1.0]], ["low", "high", "low"])
        >>> reports = learner.correct_many([1, 2], ["low", "high"])
        >>> [learner.example(id)[1] for id in learner.ids]
        ['low', 'low', 'high']
        """
        state = self._taught()
        named = [state.ids[self._place(each)] for each in listed_ids(ids)]
        labels = [self._label(each) for each in listed_labels(y)]
        if len(named) != len(labels):
            raise InvalidInputError(
                f"There are {len(named)} ids and {len(labels)} labels; pass one label per id."
            )
        twice = [each for each, count in Counter(named).items() if count > 1]
        if twice:
            raise InvalidInputError(f"The id {twice[0]!r} is named twice; name each example once.")
        reports: list[StepReport] = []
        rollback = Rollback(state)
        for example_id, label in zip(named, labels, strict=True):
            place = state.place_of.get(example_id)
            if place is None:  # fell out of the window
                reports.append(StepReport(example_id, label, NOTHING_MOVED))
                continue
            try:
                delta, report = corrected(state, place, label)
            except Exception:
                self._commit(state, rollback.delta())
                raise
            if delta is not None:
                rollback.record(delta)
                self._commit(state, delta)
            reports.append(report)
        return reports

    @changes
    def update(self, id: Id, x: Any) -> StepReport:
        """Give a stored example other features, in one step; it keeps label, weight and time.

        If the call raises an error, the learner is unchanged. It is the same as to forget the
        example and to teach it again: `ids` lists it last.

        Parameters
        ----------
        id : int or str
            The id of a stored example.
        x : array-like of shape (n_features,)
            The new example, or any other input that the feature map takes.

        Returns
        -------
        StepReport
            What the change moved; see `teach`.

        Examples
        --------
        >>> learner = Learner()
        >>> reports = learner.teach_many([[0.0], [1.0]], ["low", "high"], ids=["a", "b"])
        >>> report = learner.update("a", [0.2])
        >>> learner.example("a")[0].tolist(), learner.ids
        ([0.2], ['b', 'a'])
        """
        state = self._taught()
        place, row = self._place(id), self._inputs.row(x, state.widths)
        example_id, label = state.ids[place], state.label_at(place)
        if state.holds(place, row):
            return StepReport(example_id, label, NOTHING_MOVED)
        delta = separable(lambda: engine.update(state, place, row))
        self._commit(state, delta, action="update")
        return StepReport(example_id, label, delta.certificate, delta.refresh, delta.was_right)

    @changes
    def forget(self, ids: Id | Iterable[Id], *, log_ids: bool = False) -> Certificate:
        """Remove stored examples; separators that had them as support vectors are solved again.

        After `consolidate()` the model is identical, bit for bit, to one that was never taught
        them, and no trace of their rows is left. A class without examples is removed.

        Parameters
        ----------
        ids : int, str, or iterable of them
            The ids of the examples to remove.
        log_ids : bool, default=False
            For a learner in a folder: keep these ids in its log of changes. By default they are
            removed from it.

        Returns
        -------
        Certificate
            Which separators moved, and how many margins were checked.
        """
        self._taught()
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            ids = [ids]
        asked = listed_ids(ids, "one id or a list of ids")
        places = [self._place(each) for each in asked]
        if len(set(places)) < len(places):
            raise InvalidInputError("An id is named twice; name each example to forget once.")
        return self._forget(sorted(places), log_ids=log_ids)

    @changes
    def set_keep(self, keep: Keep) -> Certificate:
        """Set another window, and forget the examples that are outside it.

        Parameters
        ----------
        keep : "all", int, dict or str
            The window, as for the parameter `keep`.

        Returns
        -------
        Certificate
            Its `forgotten` names the examples that were forgotten.
        """
        state = self._state
        settings = replace(state.settings, keep=keep)
        delta = separable(lambda: engine.rewindow(state, settings))
        self._commit(state, delta)
        return delta.certificate

    @changes
    def set_blocks(self, blocks: Sequence[tuple[int, int]]) -> None:
        """Set the blocks of columns that are scaled as one where columns are standardized.

        All columns of a block are divided by the same number, the root of the sum of their
        variances, so a block has the weight of one column. Numbers that only mean something
        together, such as a hashed text or an embedding, would outweigh all other columns
        otherwise. Columns of a block have no hat functions.

        It takes effect at the next refresh or `consolidate()`. After `consolidate()` the model
        depends on the set of stored examples and on the blocks only. `Learner.settings.blocks` are
        the blocks, and they are saved with the learner.

        Parameters
        ----------
        blocks : sequence of (int, int)
            For each block the number of its first column, from 0, and that of the first column
            after it; ascending and without overlap. They replace the blocks so far. With a feature
            map, the columns are those of the rows that it makes.

        Raises
        ------
        InvalidInputError
            If the blocks are not such pairs, or if rows have fewer columns.

        Examples
        --------
        >>> learner = Learner()
        >>> reports = learner.teach_many([[20.0, 0.6, 0.8], [7.0, 0.8, 0.6]], ["a", "b"])
        >>> learner.set_blocks([(1, 3)])
        >>> learner.settings.blocks
        ((1, 3),)
        """
        state = self._state
        settings = _with_blocks(state, blocks)
        if settings != state.settings:
            self._commit(state, Delta(settings=settings), "blocks")

    @changes
    def forget_class(self, y: Label) -> Certificate:
        """Remove all examples of a label, and the label itself.

        Parameters
        ----------
        y : int or str
            A label that has stored examples.

        Returns
        -------
        Certificate
            Which separators moved, and how many margins were checked.
        """
        state, label = self._taught(), self._label(y)
        places = state.regions.places_of(label)
        if not len(places):
            raise InvalidInputError(f"No example has the label {label!r}.")
        return self._forget(places.tolist(), label)

    @changes
    def settle(self) -> Certificate:
        """Solve every separator in which examples are pending, so that none waits.

        A separator with many support vectors does not move for each example: those with a margin
        below 0.5 wait until they are a certain share of its candidate support vectors, and then it
        moves once. Meanwhile those with a margin of 0 or less are listed in `misfits`. Separators
        that still contain terms of examples that fell out of the window (`keep`) are solved again,
        too.

        Returns
        -------
        Certificate
            Which separators moved, and how the list of misfits changed.
        """
        state = self._taught()
        delta = separable(lambda: engine.settle_pending(state))
        if delta.separators:
            self._commit(state, delta)
        return delta.certificate

    @changes
    def consolidate(self) -> Consolidation:
        """Compute the model again from the set of stored examples.

        Everything that depends on their order is computed again, including the settings that are
        "auto", and every separator is solved to high precision. Afterwards the model depends on
        the set of stored examples only.

        Returns
        -------
        Consolidation
            A certificate, and the settings that were chosen.
        """
        self._commit_earlier()
        old = self._taught()
        new, done = separable(lambda: engine.consolidate(old))

        def put_in_place() -> None:
            self._state = new
            self._store.record(new, None, "consolidate")

        self._lock.write(put_in_place)
        self._store.note()
        return done

    @changes
    def widen(self, n: int) -> None:
        """Give all stored rows n more columns, in which they have 0.

        Later rows have that many more numbers. No margin of a stored example changes, and nothing
        is solved again. After `consolidate()` the model equals one whose rows had the columns from
        the start, to the last bit.

        Parameters
        ----------
        n : int
            The number of new columns.

        Raises
        ------
        InvalidInputError
            If n is not a whole number from 1, if nothing has been taught yet, or if rows go through
            a feature map or a codec.

        Examples
        --------
        >>> learner = Learner()
        >>> report = learner.teach([1.0, 0.0], "cat")
        >>> learner.widen(1)
        >>> report = learner.teach([0.0, 0.0, 1.0], "bird")
        >>> learner.predict([[1.0, 0.0, 0.0]]).tolist()
        ['cat']
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise InvalidInputError(f"n is a whole number from 1, not {n!r}.")
        if self._state.widths.row is None:
            raise InvalidInputError(
                "Nothing has been taught yet; the first row sets the number of columns."
            )
        new = self._widened(n)

        def put_in_place() -> None:
            self._state = new
            self._store.record(new, None, "widen")

        self._lock.write(put_in_place)
        self._store.note()

    @reads
    def audit(self) -> Audit:
        """Compute all margins of all stored examples again with plain NumPy, and compare.

        Returns
        -------
        Audit
            Its `ok` is True if nothing differs; otherwise `differences` lists the differences.
        """
        return engine.audit(self._taught())

    @reads
    def suspects(self, n: int | None = None, *, likely: bool = False) -> list[Suspect]:
        """Return the stored examples that are most likely to have a wrong label.

        Parameters
        ----------
        n : int, optional
            The maximum number of examples; by default 10, or all with `likely`.
        likely : bool, default=False
            Return only those whose label is wrong with a probability of 0.5 or more.

        Returns
        -------
        list of Suspect
            Examples that have slack, the highest probability of a wrong label first. How many
            wrong labels there are says `label_errors`.
        """
        if n is None:
            n = None if likely else 10
        elif not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 0:
            raise InvalidInputError(f"`n` must be a whole number, 0 or more, not {n!r}.")
        return engine.suspects(self._taught(), None if n is None else int(n), likely=likely)

    @reads
    def label_errors(self) -> LabelErrors:
        """Return how many labels are probably wrong, in all and per label.

        Each example is left out in turn, in closed form (see `expected_accuracy`). A model of
        wrong labels, with a rate for each pair of labels, is fitted to the scores; where labels
        merely overlap, it finds few. Random errors and errors between similar labels are told apart
        from right labels up to a rate of about 20 %; an error that all similar examples share is
        not found.

        Returns
        -------
        LabelErrors
            The expected number with a 95 % interval, and the same for the examples of each label.

        Examples
        --------
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
        return engine.label_errors(self._not_empty())

    @reads
    def conflicts(self) -> list[Conflict]:
        """Return pairs of stored examples with equal or nearly equal rows and different labels.

        At least one label of such a pair is wrong, or the features do not tell the labels apart.

        Returns
        -------
        list of Conflict
            For each example the nearest one of another label, if their distance in the metric of
            the separators is at most 1 % of the typical one. The nearest pair comes first.
        """
        return engine.conflicts(self._not_empty())

    @reads
    def find(self, x: Any) -> list[Id]:
        """Return the ids of the stored examples whose row equals x, whatever their labels.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            A row, or any other input that the feature map takes.

        Returns
        -------
        list of int or str
            The ids, in the order in which the examples were taught.

        Raises
        ------
        InvalidInputError
            If x has another number of features than the stored rows, or a value that is not a
            finite number.

        Examples
        --------
        >>> learner = Learner()
        >>> reports = learner.teach_many([[1.0], [2.0], [1.0]], ["cat", "dog", "dog"])
        >>> learner.find([1.0]), learner.find([3.0])
        ([0, 2], [])
        """
        state = self._state
        if state.widths.row is None:
            return []
        return self._named(state.examples.find(self._inputs.row(x, state.widths)))

    @reads
    def label_probabilities(self) -> Floats:
        """Return the probability that the true label of each stored example is this or that.

        It takes the present label into account, and how often labels are wrong: see `label_errors`.

        Returns
        -------
        ndarray of shape (n_examples, n_classes)
            Rows are in the order of `ids`, columns in the order of `classes`.
        """
        found = engine.true_labels(self._not_empty())
        return self._in_order(found.places, found.noise.posterior)

    @reads
    def left_out_probabilities(self) -> Floats:
        """Return the label probabilities that each stored example has when it is left out.

        They do not take its label into account, as those from cross-validation do not. The only
        example of a label is not left out.

        Returns
        -------
        ndarray of shape (n_examples, n_classes)
            Rows are in the order of `ids`, columns in the order of `classes`.
        """
        return self._in_order(*engine.left_out_probabilities(self._not_empty()))

    @reads
    def expected_accuracy(self) -> ExpectedAccuracy:
        """Return the accuracy to expect on new rows: each stored example is left out in turn.

        Nothing is solved again: the margins of an example at the separators made without it are
        computed in closed form, which presumes that their other support vectors stay the same.
        Settings, scale, covariance and discriminants are those of all examples. The new rows must
        be like the stored ones.

        Returns
        -------
        ExpectedAccuracy
            The accuracy with a 95 % interval, and the same for each label. The only example of a
            label counts as wrong, because the label goes with it. Equal rows count one by one:
            leaving one out leaves the others. With a single label, and more than one example, the
            accuracy is 1.

        Examples
        --------
        >>> learner = Learner()
        >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [0.1]]
        >>> reports = learner.teach_many(X, ["low", "low", "low", "high", "high", "high"])
        >>> expected = learner.expected_accuracy()
        >>> print(f"{expected.accuracy:.2f}, {expected.low:.2f} to {expected.high:.2f}")
        0.67, 0.30 to 0.90
        >>> {label: round(each.accuracy, 2) for label, each in expected.per_class.items()}
        {'high': 0.33, 'low': 1.0}
        """
        return engine.expected_accuracy(self._not_empty())

    @reads
    def partition(self) -> dict[tuple[Label, Label], Sets]:
        """Return the paper's sets S1, S2 and S3 for each neuron that the last `teach` moved.

        The sets divide the stored examples by whether the move could change the output of a label;
        see `Sets`. The separator of two regions is one neuron in the unit of each. With several
        regions, all neurons of a label against another are taken together.

        Returns
        -------
        dict of (label, label) to Sets
            The key is the label of the neuron's unit and the label that the neuron separates it
            from.

        Raises
        ------
        InvalidInputError
            If the last call moved nothing, removed or relabelled examples, or computed everything
            again with other regions or columns, or for very many labels.
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
            The label to return for rows whose scores are all 0 or less.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        if unknown is not None:
            unknown = checked_label(unknown, ())
        rows = self._inputs.rows(X, self._taught().widths)
        state = self._not_empty()
        found = engine.winners(state, rows)
        names = self.classes[state.regions.order.owner[found.regions]]
        if unknown is None:
            return np.asarray(names)
        if isinstance(unknown, str) != (names.dtype.kind == "U"):
            names = names.astype(object)
        elif isinstance(unknown, str):
            names = names.astype(np.promote_types(names.dtype, f"U{max(len(unknown), 1)}"))
        names[found.clipped] = unknown
        return np.asarray(names)

    @reads
    def scores(self, X: Any) -> Floats:
        """Return the smallest margin that each row would have with each label.

        If a label has several regions, it is the highest of their smallest margins.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns are in the order of `classes`. With a single class there is no separator, and
            scores are infinite.
        """
        state = self._taught()
        return state.scores(state.expanded(self._inputs.rows(X, state.widths)))

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
            Columns are in the order of `classes`.
        """
        return np.asarray(np.maximum(self.scores(X), 0.0))

    @reads
    def probabilities(self, X: Any) -> Floats:
        """Return a probability for each label: the softmax of sharpness times score.

        The sharpness (an inverse temperature) is chosen together with C: the value that maximises
        the likelihood of the labels of held-out rows. Probabilities assume that one of the labels
        is right.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns are in the order of `classes`.
        """
        state = self._not_empty()
        scores = self.scores(X)
        if scores.shape[1] == 1:
            return np.ones_like(scores)
        return engine.softmax(state.choice.sharpness * scores)

    @reads
    def explain(self, x: Any) -> Explanation:
        """Return the separator that decides the label of x, and its support vectors.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            An example.

        Returns
        -------
        Explanation
            The label, the runner-up, the margin between them, and the terms that add up to it.
        """
        state = self._not_empty()
        return engine.explain(state, self._inputs.row(x, state.widths))

    @reads
    def separator(self, a: Label, b: Label, regions: tuple[int, int] = (0, 0)) -> PairSeparator:
        """Return the separator between two labels: weights, bias and support vectors.

        Parameters
        ----------
        a, b : int or str
            Two labels; the separator is positive on the side of `a`.
        regions : (int, int), default=(0, 0)
            If labels have several regions: which of `a` and which of `b`, by their positions in
            `regions()[a]` and `regions()[b]`.

        Returns
        -------
        PairSeparator
            `weights @ x + bias` is the margin of x for `a` against `b`, where x is a row as
            `expanded` returns it; `supports` are the support vectors.

        Raises
        ------
        InvalidInputError
            If a label has no stored examples or no such region, or both labels are the same.

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
            raise InvalidInputError(f"A separator needs two labels, but both are {first!r}.")
        numbers = []
        for label, region in zip((first, second), _two_numbers(regions), strict=True):
            known = state.regions.of(label)
            if not 0 <= region < len(known):
                count = "one region" if len(known) == 1 else f"{len(known)} regions"
                raise InvalidInputError(
                    f"Label {label!r} has {count}, numbered from 0; there is no {region}."
                )
            numbers.append(known[region])
        return engine.pair_separator(state, *numbers)

    @reads
    def expanded(self, X: Any) -> Floats:
        """Return rows as the separators see them: with `expand`, followed by their hat functions.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, d)
            The output rows of the feature map, and the values of the hat functions, if any.
        """
        state = self._taught()
        return state.expanded(self._inputs.rows(X, state.widths))

    @reads
    def regions(self) -> dict[Label, list[tuple[Id, ...]]]:
        """Return the ids of the examples in each region of each label.

        A label has several regions if its examples lie in several clusters: see the parameter
        `regions`. Each region has its own separators, and the score of the label is the highest
        score of its regions.

        Returns
        -------
        dict of label to list of tuple of id
            For each label, in order, its regions; of each, the ids of its examples.
        """
        regions = self._state.regions
        return {
            label: [tuple(self._named(regions.members[c].places)) for c in regions.of(label)]
            for label in sorted(regions.names)
        }

    @reads
    def save(self, file: str | Path) -> None:
        """Write the learner to one file; a loaded copy continues with bit-identical results.

        Parameters
        ----------
        file : str or Path
            The file to write. An existing file is replaced only when the new one is complete.
        """
        if is_folder_file(Path(file)):
            raise InvalidInputError(
                f"{file} is in the folder of a model, and older models have a file of that name; "
                "choose another name."
            )
        model_file.write(Path(file), self.features, self._state)

    @classmethod
    def load(
        cls,
        file: str | Path,
        features: str | FeatureMap | Callable[[Any], Any] | None = None,
        memory: Codec | None = None,
    ) -> "Learner":
        """Read a learner from a file that `save` wrote.

        Parameters
        ----------
        file : str or Path
            The file.
        features : FeatureMap or callable, optional
            The feature map, if it is a function of your own: it is not saved. A map with another
            fingerprint is an error.
        memory : Codec, optional
            The codec, if it is your own: it is not saved. One with another fingerprint is an error.

        Returns
        -------
        Learner
            A learner in the state in which the other was saved.
        """
        mapped = None if features is None else named(features)
        codec = None if memory is None else codec_of(memory)
        found, state = model_file.read(Path(file), mapped, codec)
        learner = cls(features=found, memory=state.examples.codec or "auto")
        learner._state, learner._inputs = state, _input_rows(found, state)
        return learner

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        durability: Durability = "batch",
        read_only: bool = False,
        features: str | FeatureMap | Callable[[Any], Any] | None = None,
        memory: str | Codec | None = None,
        on_wait: Callable[[float], None] | None = None,
        **settings: Any,
    ) -> "Learner":
        """Open the model in a folder; all changes are committed to the folder.

        The folder holds an SQLite database. If there is no model yet, a new one is made. Other
        processes may use the same folder at the same time: a call that changes the model waits
        until no other process is changing it, and then begins with what the others committed.

        Parameters
        ----------
        folder : str or Path
            The folder; it is made if it does not exist.
        durability : {"batch", "example"}, default="batch"
            With "example", each call commits what it changed before it returns. With "batch", the
            changes of several calls are committed in one transaction (a group commit), about half a
            second after the first of them, or when there are 1,000. A crash or a power cut loses
            the changes since the last commit. `flush()` commits at once, and so do `close()` and
            the normal end of the program.
        read_only : bool, default=False
            Open the model only to read it, which needs no permission to write; `reload` reads what
            other processes have committed since.
        features : str, FeatureMap or callable, optional
            The feature map. For a new model, as in the constructor; for an existing one it is
            needed only if it is a function of your own.
        memory : str or Codec, optional
            The codec of the rows. For a new model, as in the constructor; for an existing one it is
            needed only if it is your own.
        on_wait : callable, optional
            Called repeatedly while a call waits for another process, with the seconds waited so
            far. An error that it raises ends the wait, and nothing has changed.
        **settings
            The other parameters of the constructor. For an existing model they must be those with
            which it was made.

        Returns
        -------
        Learner
            The learner; in a `with` statement it is closed at the end.

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with Learner.open(folder) as learner:
        ...     report = learner.teach([1.0, 0.0], "cat", id="a")
        >>> Learner.open(folder, read_only=True).ids
        ['a']
        """
        unknown = features if isinstance(features, UnknownMap) else None
        new = cls(
            features="identity" if features is None or unknown else features,
            memory="auto" if memory is None else memory,
            **settings,
        )
        store = open_store(
            Path(folder), durability=durability, read_only=read_only, on_wait=on_wait
        )
        given = unknown if unknown or features is None else new.features
        new._open(store, given, settings)
        return new

    def _open(
        self,
        store: FolderStore | FileStore,
        features: FeatureMap | None,
        settings: dict[str, Any],
    ) -> None:
        # Take over the state of a store, if it has one; its settings must be the given ones.
        wanted = {name: getattr(self.settings, name) for name in settings}
        try:
            if isinstance(store, FolderStore) and not store.read_only:
                import_file(store, features, self._state.examples.codec)
            if isinstance(store, FolderStore) and store.is_new:
                is_known = features is not None and not isinstance(features, UnknownMap)
                store.start(self._state, self.features, is_given=is_known, settings=wanted)
            else:
                loaded = store.load(features, self._state.examples.codec)
                expect_settings(store.folder, loaded.state.settings, wanted)
                store.adopt(loaded)
                inputs = _input_rows(loaded.features, loaded.state)
                self._inputs, self._state = inputs, loaded.state
        except BaseException:
            store.abandon()
            raise
        self._store = store
        if not store.read_only:
            self._keep_committing()

    @writes
    def store_in(self, folder: str | Path, *, durability: Durability = "batch") -> None:
        """Keep this learner in a folder from now on, as if it had been opened there; see `open`.

        Parameters
        ----------
        folder : str or Path
            The folder; it is made if it does not exist, and must not hold a model.
        durability : {"batch", "example"}, default="batch"
            See `open`.
        """
        if isinstance(self._store, FolderStore):
            raise InvalidInputError(f"This learner is kept in {self._store.folder} already.")
        taken = InvalidInputError(f"There is already a model in {folder}; name another folder.")
        if holds_file(Path(folder)):
            raise taken
        store = FolderStore(Path(folder), durability=durability)
        if not store.is_new:
            store.abandon()
            raise taken
        try:
            store.start(self._state, self.features, is_given=True)
            store.record(self._state, None, "store")
            store.flush(self._state)
        except BaseException:
            store.abandon()
            raise
        self._store = store
        self._keep_committing()

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Hold the folder's write lock during a `with` statement; see `open`.

        No other process and no other thread can change the model meanwhile. The block begins with
        the newest committed state. All its changes, and `notes`, are committed in one transaction.
        Do not call `flush` in the block: it commits and releases the lock.

        Returns
        -------
        context manager
            For a `with` statement. Its value is whether other processes have changed the model
            since this learner last read or changed it.
        """
        if type(self._store) is Store:
            yield False
            return
        with self._lock.turns:
            if self._holds_turn:  # a block in a block
                yield False
                return
            try:
                with self._lock.preparing():
                    is_newer = self._begin()
                    self._holds_turn = True
                yield is_newer
            finally:
                has_begun, self._holds_turn = self._holds_turn, False
                with self._lock.preparing():
                    self._end(has_begun=has_begun)

    @changes
    def flush(self) -> None:
        """Commit all changes, and return when they are on the disk; see `open`.

        It does nothing for a learner in RAM.
        """
        self._store.flush(self._state)

    def compact(self) -> None:
        """Consolidate, and leave no trace of forgotten examples in any file of the folder.

        See `open`. The database is written anew, which temporarily takes about as much space again
        on the disk. Labels that the model no longer has are removed from the log of changes.
        `notes` stay as they are; those of a table name its categories, which `minout compact`
        removes if no example has them.
        """
        if self._state.widths.row is not None:
            self.consolidate()
        self._compact()

    @writes
    def _compact(self) -> None:
        self._store.compact(self._state)

    @writes
    def close(self) -> None:
        """Commit all changes, and release the folder; see `open`.

        The learner can still be read, but not changed.
        """
        store = self._store
        if isinstance(store, FolderStore) and store.has_new_notes_only(self._state):
            self._begin()  # other processes may have changed the model, and other notes
        store.close(self._state)

    @writes
    def reload(self) -> bool:
        """Read what other processes have committed to the folder; see `open`.

        Returns
        -------
        bool
            Whether there was something new.
        """
        newer = self._store.newest(self._state, self.features)
        if newer is not None:
            self._adopt(newer)
        return newer is not None

    def __enter__(self) -> "Learner":
        """Return the learner."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the learner, even if its changes cannot be committed."""
        try:
            self.close()
        except MinoutError:
            self._store.abandon()
            raise

    def reading(self) -> AbstractContextManager[None]:
        """Block changes by other threads, so that several calls see the same state.

        Returns
        -------
        context manager
            For a `with` statement.
        """
        return self._lock.reading()

    @reads
    def example(self, id: Id) -> tuple[Floats, Label]:
        """Return a copy of a stored row, as the feature map made it, and its label.

        With `memory` it is the decoded row. A codec of your own may give the decoded row another
        code than the stored one; to pass the stored example to a method, use `code`.

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
    def code(self, id: Id) -> Codes:
        """Return the code of a stored example, which every method takes in place of its row.

        Parameters
        ----------
        id : int or str
            The id of a stored example.

        Returns
        -------
        Codes
            Its code; `np.asarray` of it is an array of uint8, shape (bytes,).

        Examples
        --------
        >>> learner = Learner(memory="uint8")
        >>> reports = learner.teach_many([[1.0, 0.1], [0.0, 9.0]], ["cat", "dog"], ids=["a", "b"])
        >>> learner.explain(learner.code("a")).label, learner.example("a")[0].tolist()
        ('cat', [1.0, 0.1015625])
        """
        state = self._taught()
        if state.examples.codec is None:
            raise InvalidInputError('Rows are stored as they are: `memory` is "auto".')
        return Codes(state.examples.given[self._place(id)])

    @reads
    def weight(self, id: Id) -> float:
        """Return the weight of a stored example.

        Parameters
        ----------
        id : int or str
            The id of a stored example.

        Returns
        -------
        float
            Its weight; see `teach`.
        """
        return float(self._taught().examples.weights[self._place(id)])

    @reads
    def time(self, id: Id) -> float:
        """Return the time of a stored example, in seconds since 1970.

        Parameters
        ----------
        id : int or str
            The id of a stored example.

        Returns
        -------
        float
            Its time: `at` of `teach`.
        """
        return float(self._taught().examples.times[self._place(id)])

    @reads
    def inspect(self) -> Inspection:
        """Return a copy of the engine's internal state, for tests and benchmarks.

        Returns
        -------
        Inspection
            Not part of the stable interface: it may change with the engine.
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
        """The ids of all stored examples, in the order in which they were taught."""
        return list(self._state.place_of)

    @property
    @reads
    def misfits(self) -> list[Id]:
        """The ids of the stored examples on the wrong side of a separator of their class.

        Of equal rows with two different labels at most one can be on the right side: both are
        listed.
        """
        return self._named(self._state.misfits())

    @property
    @reads
    def pending(self) -> list[Id]:
        """The ids of the stored examples that wait until a separator is solved again."""
        return self._named(self._state.pending())

    @property
    @reads
    def corrected(self) -> dict[Id, tuple[Label, ...]]:
        """The earlier labels of each stored example that was corrected."""
        return dict(self._state.corrected)

    @property
    @reads
    def is_consolidated(self) -> bool:
        """Whether nothing has changed since the last `consolidate()`."""
        return self._state.consolidated

    @property
    @reads
    def choice(self) -> Choice:
        """The settings in use: chosen from the data, or set by the user."""
        return self._taught().choice

    @property
    @reads
    def is_new(self) -> bool:
        """Whether nothing has been taught yet."""
        return self._state.widths.row is None

    @property
    @reads
    def width(self) -> int | None:
        """The number of columns of an example; None if nothing was taught, or it has none."""
        return self._state.widths.given

    @property
    def settings(self) -> Settings:
        """The settings as passed to the constructor: values or "auto"; and the blocks."""
        return self._state.settings

    @property
    def features(self) -> FeatureMap:
        """The fixed map that turns examples into rows."""
        return self._inputs.features

    @property
    def memory(self) -> Codec | None:
        """The codec of the stored rows; None if they are stored as they are."""
        codec = self._state.examples.codec
        return codec.codec if isinstance(codec, OwnCodec) else codec

    @property
    def notes(self) -> dict[str, Any]:
        """A dictionary for your own use, saved with the learner."""
        return self._state.notes

    @reads
    def __len__(self) -> int:
        """Return the number of stored examples."""
        return len(self._state.place_of)

    @reads
    def __contains__(self, id: Id) -> bool:
        """Return whether an id is stored."""
        if not isinstance(id, str | int | np.integer) or isinstance(id, bool):
            return False  # True and 1.0 are equal to 1 in Python
        return id in self._state.place_of

    def __getstate__(self) -> dict[str, Any]:
        """Return plain values and arrays that later teaching does not change.

        Used by pickle, copy and skops. Unlike in `save`, a feature map that is the user's own
        function is included, and so is the user's own codec.
        """
        described = model_file.describe_features(self.features)
        with self._lock.reading():
            state = self._state
            about, arrays = engine.packed(state)
            own = {} if "name" in about.get("memory", {"name": ""}) else {"memory": self.memory}
            plain = json.loads(json.dumps({**about, "notes": {}}))
            return {
                **own,
                "features": described if "name" in described else self.features,
                "about": {**plain, "notes": copy.deepcopy(state.notes)},
                "arrays": {name: np.array(array) for name, array in arrays.items()},
                "last_move": state.last_move and copy.deepcopy(tuple(state.last_move)),
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the learner from the result of `__getstate__`."""
        features, move = state["features"], state["last_move"]
        if isinstance(features, dict):
            features = model_file.make_features(features)
        # joblib may pass read-only memory maps.
        arrays = {
            name: np.require(np.asarray(each), requirements="W")
            for name, each in state["arrays"].items()
        }
        own = codec_of(state["memory"]) if "memory" in state else None
        self._state = engine.unpacked(state["about"], arrays, own)
        self._inputs = _input_rows(features, self._state)
        self._lock, self._store, self._holds_turn = ReadWriteLock(), Store(), False
        self._state.last_move = move and Move(*move)

    def _adopt(self, loaded: Loaded) -> None:
        # Continue with a state that was read. The dictionary of notes stays the same object.
        notes, now = self._state.notes, dict(loaded.state.notes)
        inputs = _input_rows(loaded.features, loaded.state)

        def put_in_place() -> None:
            notes.clear()
            notes.update(now)
            loaded.state.notes = notes
            self._store.adopt(loaded)
            self._inputs, self._state = inputs, loaded.state

        self._lock.write(put_in_place)

    def _begin(self) -> bool:
        # Take the write lock; return whether other processes have changed the state.
        newer = self._store.begin(self._state, self.features)
        if newer is not None:
            self._adopt(newer)
        return newer is not None

    def _commit_earlier(self) -> None:
        # What earlier calls changed does not wait for a call that may take long. To be called
        # before anything else: other processes may have changed the model when it returns.
        if isinstance(self._store, FolderStore) and not self._holds_turn:
            self._store.flush(self._state)
            self._begin()

    def _end(self, *, has_begun: bool) -> None:
        # If each call commits and this commit fails, the state before the call is restored.
        store = self._store
        if not isinstance(store, FolderStore):
            return
        self._lock.complete()  # finish applying a change that was interrupted
        if not has_begun:
            store.leave()
            return
        if self._holds_turn:
            store.note()
            return
        try:
            store.end(self._state)
        except MinoutError:
            self._adopt(store.restored(self._state, self.features))
            raise

    def _keep_committing(self) -> None:
        keep_committing(
            self, Learner._commit_group, Learner._flush_quietly, Learner.close, self._lock
        )

    def _commit_group(self) -> bool:
        # Make a group commit, if it is due; return whether the store is open.
        store = self._store
        assert isinstance(store, FolderStore)
        if self._holds_turn:
            return True
        if self._lock.pause(0.0):
            try:
                self._lock.complete()
                if not self._holds_turn:
                    store.commit_if_due(self._state)
            finally:
                self._lock.resume()
        elif store.commit_due():
            with self._lock.reading():
                if not self._holds_turn:
                    store.commit_meanwhile(self._state)
        return not store.is_closed

    def _flush_quietly(self) -> None:
        # Commit, so that the write lock is released; the next change reports a failure.
        assert isinstance(self._store, FolderStore)
        self._lock.complete()
        self._store.commit_if_due(self._state, is_due=True)

    def _commit(
        self, state: State, delta: Delta, action: str = "", *, log_ids: bool = False
    ) -> None:
        # Apply a change to a state, and make it the state of this learner.
        def put_in_place() -> None:
            engine.apply(state, delta)
            self._state = state
            self._store.record(state, delta, action, log_ids=log_ids)

        engine.make_room(state, delta)
        self._lock.write(put_in_place)
        self._store.note()
        moved = delta.separators and delta.examples is not None
        if delta.refresh is not None or (moved and state.taught % TRIM_EVERY == 0):
            engine.trim_heap()

    def _forget(
        self, listed: list[int], label: Label | None = None, *, log_ids: bool = False
    ) -> Certificate:
        # Earlier labels of forgotten examples, and a forgotten label itself, are dropped as well.
        state, places = self._state, np.array(listed, dtype=np.int64)
        delta = separable(lambda: engine.forget(state, places))
        gone = set(state.names(places))
        corrected = {
            example_id: () if example_id in gone else tuple(each for each in had if each != label)
            for example_id, had in state.corrected.items()
            if example_id in gone or label in had
        }
        self._commit(state, delta._replace(corrected=corrected), log_ids=log_ids)
        return delta.certificate

    def _widened(self, n: int) -> State:
        # The state, or a new one whose rows have n more columns; without rows, the state.
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise InvalidInputError(f"`widen` is a whole number from 0, not {n!r}.")
        if n == 0 or self._state.widths.row is None:
            return self._state
        if not isinstance(self.features, Identity) or self._state.examples.codec is not None:
            raise InvalidInputError(
                "Only rows that are stored as they were given can get more columns; this learner "
                "has a feature map or a codec."
            )
        return engine.widened(self._state, int(n))

    def _started(self, state: State, rows: Floats, blocks: Any = None) -> State:
        # The state to teach; before the first example, a new one for rows of this width.
        if not len(rows):
            return state
        if state.widths.row is None:
            state = self._first(state, rows)
            blocks = state.settings.blocks if blocks is None else blocks
        if blocks is None:
            return state
        settings = _with_blocks(state, blocks)
        if settings != state.settings:
            if state is self._state:
                raise InvalidInputError(
                    "`blocks` can be passed with the first rows or with new columns (`widen`); "
                    "for columns that there are, call `set_blocks`."
                )
            state.settings = settings
        return state

    def _first(self, state: State, rows: Floats) -> State:
        # A new state for rows of this width, with the settings and notes of one without rows.
        codec, width = state.examples.codec, rows.shape[-1]
        if codec is not None:
            if rows.dtype == np.uint8:  # codes
                width = codec.width or 0
            codec = codec.for_width(width)
        fresh = State(state.settings, width, self.features.dtype, codec)
        fresh.notes = state.notes
        return fresh

    def _with_widths(self, delta: Delta, X: Any, rows: Floats) -> Delta:
        if self._state.widths.row is not None:
            return delta
        return delta._replace(widths=self._inputs.widths(X, rows))

    def _named(self, places: Ints) -> list[Id]:
        # Ids in the order of teaching.
        return list(self._state.names(self._state.examples.in_order(places)))

    def _in_order(self, places: Ints, rows: Floats) -> Floats:
        # Rows of ascending places in the order of teaching.
        return rows[np.searchsorted(places, self._state.examples.in_order())]

    def _place(self, id: Id) -> int:
        if id in self:  # also an id of more than 64 bits, which older models may have
            return self._state.place_of[id]
        if not isinstance(id, int) or isinstance(id, bool) or id.bit_length() > 1000:
            checked_id(id)  # raises the error for this id
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


def _with_blocks(state: State, blocks: Any) -> Settings:
    # The settings with other blocks, which fit the rows of a state if it has any width yet.
    settings, width = replace(state.settings, blocks=blocks), state.examples.rows.shape[1]
    if width and settings.blocks and settings.blocks[-1][1] > width:
        start, stop = settings.blocks[-1]
        raise InvalidInputError(
            f"The block ({start}, {stop}) ends at column {stop}, but rows have {width} columns."
        )
    return settings


def _two_numbers(regions: Any) -> list[int]:
    numbers = list(regions) if isinstance(regions, tuple | list | np.ndarray) else []
    whole = [isinstance(each, int | np.integer) and not isinstance(each, bool) for each in numbers]
    if whole != [True, True]:
        raise InvalidInputError(f"`regions` must be two whole numbers, not {regions!r}.")
    return [int(each) for each in numbers]


def _input_rows(features: FeatureMap, state: State) -> InputRows:
    return InputRows(features, state.examples.codec, fills=state.settings.missing == "mean")
