"""The public learner: teach one example at a time, predict, correct, forget."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from minout import api, engine, model_file, steps
from minout._typing import Floats, Id, Label
from minout.codecs import Codec, OwnCodec, codec_of
from minout.engine import Delta, Rollback, Settings, State, StepReport, WhatIf
from minout.engine.settings import Keep
from minout.engine.state import Move
from minout.errors import InvalidInputError, MinoutError
from minout.features import FeatureMap, Identity, UnknownMap, named
from minout.group_commit import keep_committing
from minout.inputs import (
    NOTE,
    Schema,
    TableEncoder,
    checked_id,
    checked_kinds,
    checked_label,
    checked_source,
    checked_time,
    checked_weight,
    known_row,
    known_rows,
    new_row,
    new_rows,
)
from minout.inputs.labels import with_unknown
from minout.model_reading import Loaded
from minout.model_store import Durability, FolderStore, Store, expect_settings
from minout.readwrite import ReadWriteLock, reads, writes
from minout.steps import Batch, Change, Example, begun, not_empty
from minout.views import Views

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


class Learner(Views):
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
        "projection" (wide or sparse rows), "text" (strings), a map such as `Scattering(...)`, or a
        function of a batch that returns one row per example.
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
    memory : "auto", "uint8" or Codec, default="auto"
        How rows are stored: as they are, as codes of a byte per number, or by a codec such
        as `ScalarCodec.fit(sample, bits=4)`. Every row, also one to predict, is encoded and decoded
        before the model uses it, so all guarantees for stored examples hold for the rows as they
        were taught.
    missing : {"error", "mean"}, default="error"
        What NaN in a row means. With "mean" it is a missing value: it counts as the mean of its
        column, and an indicator column is added that says where it is missing, so that a separator
        can give missing values any other value. Means are computed again at every refresh. For
        tables (see Notes) it is "mean".
    column_kinds : dict, optional
        The kinds of columns of a table, by name: "number", "boolean", "date", "category", "text" or
        "ignore". The kinds of the other columns are inferred from dtypes and values; see
        `Learner.schema` and `MinoutClassifier.columns_`.

    Notes
    -----
    Settings that are "auto" are chosen by cross-validation on stored examples. The folds do not
    depend on the order of the examples. `notes` is a dictionary for your own use; it is saved with
    the learner.

    Examples are arrays of numbers, texts or images for a feature map, or the rows of a *table*: a
    data frame of pandas or polars, or records (mappings of column names to values), with numbers,
    categories, booleans, dates, text and missing values in any mix. A frame of numbers and
    booleans, none missing, is used as an array with names. The rows of any other table are encoded
    as numbers. Categories and columns may appear at any time;
    one that is new in a row to predict counts as 0.

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
        column_kinds: Mapping[str, str] | None = None,
    ) -> None:
        settings = Settings(
            C, whiten, lda_prior, standardize, refresh, near_classes, regions, expand, keep, missing
        )
        self._features, codec = named(features), codec_of(memory)
        if missing == "mean" and not (isinstance(self._features, Identity) and codec is None):
            raise InvalidInputError(
                '`missing="mean"` is for rows that are stored as they were given: leave `features` '
                'at "identity" and `memory` at "auto".'
            )
        self._state = State(settings, 0, self._features.dtype, codec)
        self._lock = ReadWriteLock()
        self._store, self._holds_turn = Store(), False
        self._noted: tuple[Any, Schema] = (None, Schema(self._features))
        self._noted_before: Any = None  # the entry of the schema when the last change began
        if column_kinds:
            encoder = TableEncoder(checked_kinds(column_kinds))
            schema = Schema(self._features, encoder=encoder)
            self._note(schema.to_notes(), schema)

    @changes
    def teach(
        self,
        x: Any,
        y: Label,
        id: Id | None = None,
        weight: float = 1.0,
        at: Time | None = None,
    ) -> StepReport:
        """Learn one example.

        If the call raises an error, the learner is unchanged. If it is interrupted (Ctrl-C), the
        example has been learned completely or not at all.

        Parameters
        ----------
        x : array-like of shape (n_features,), record or str
            The example: numbers, a record (a mapping of column names to values), a text, or any
            other input that the feature map takes. A batch with one row is taken, too.
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

        Returns
        -------
        StepReport
            Its `certificate` lists the separators that moved and the examples that became misfits.

        Raises
        ------
        InvalidInputError
            If an argument is not valid, or the id is stored with another row, label or weight.
        """
        state = self._state
        new, label = new_row(x, self._schema(), state), checked_label(y, state.labels)
        named = None if id is None else checked_id(id)
        when = steps.clock() if at is None else checked_time(at)
        example = Example(new.rows, label, named, checked_weight(weight), when)
        state = steps.prepared(state, new)
        delta, report = steps.taught(state, new.schema, example)
        if delta is not None:
            widths = new.widths if state.widths != new.widths else None
            self._commit(state, delta._replace(widths=widths), new.schema)
        return report

    def teach_many(
        self,
        X: Any,
        y: Sequence[Label],
        ids: Sequence[Id] | None = None,
        weights: Sequence[float] | None = None,
        at: Time | Sequence[Time] | None = None,
    ) -> list[StepReport]:
        """Learn examples one after the other.

        If the call raises an error, the learner is unchanged. If it is interrupted (Ctrl-C), the
        examples before the interruption stay taught. Other threads may read in between.

        Parameters
        ----------
        X : array-like of shape (n_examples, n_features), data frame, list of records or of str
            The examples. A data frame of pandas, polars or another library, and a list of records
            (mappings of column names to values), may have columns of any kind: see `Notes` of this
            class. A SciPy sparse matrix needs `features="projection"` if it is wide.
        y : sequence of int or str
            Their labels.
        ids : sequence of int or str, optional
            One id per row; see `teach`.
        weights : sequence of float, optional
            One weight per row; see `teach`.
        at : float, datetime or sequence of them, optional
            One time for all rows, or one per row; see `teach`.

        Returns
        -------
        list of StepReport
            One per row; see `teach`.

        Raises
        ------
        InvalidInputError
            As for `teach`. Its attribute `row` is the index of the row that is at fault, or None.
        """
        batch, reports = Batch(X, y, ids, weights, at), list[StepReport]()
        self._teach(lambda _, schema: (batch, schema), reports, is_long=_is_long(y))
        return reports

    @changes
    def _teach(
        self,
        prepare: Callable[[State, Schema], tuple[Batch, Schema]],
        reports: list[StepReport],
        *,
        is_long: bool = False,
    ) -> None:
        # Teach a batch that is prepared for the newest schema; reports are appended one by one.
        if is_long:
            self._commit_earlier()
        batch, schema = prepare(self._state, self._schema())
        new = new_rows(batch.X, schema, self._state)
        state = steps.prepared(self._state, new)
        examples = steps.checked_examples(batch, new.rows, state, new.schema)

        def step(example: Example) -> tuple[Delta | None, StepReport]:
            delta, report = steps.taught(state, new.schema, example)
            if delta is not None and state.widths != new.widths:
                delta = delta._replace(widths=new.widths)
            return delta, report

        has_changed = self._step_each(state, new.schema, step, examples, reports)
        if not has_changed and schema is not self._schema():
            self._commit(self._state, None, schema)

    @changes
    def _change_each(
        self,
        items: Callable[[State, Schema], list[Any]],
        step: Callable[..., tuple[Delta | None, StepReport]],
    ) -> list[StepReport]:
        state, schema, reports = self._state, self._schema(), list[StepReport]()
        listed = items(state, schema)
        self._step_each(state, schema, lambda item: step(state, schema, *item), listed, reports)
        return reports

    def _step_each(
        self,
        state: State,
        schema: Schema,
        step: Callable[[Any], tuple[Delta | None, StepReport]],
        items: list[Any],
        reports: list[StepReport],
    ) -> bool:
        # Make one change for each item, or none if one fails; return whether there was any.
        before, known, has_changed = self._state, self._schema(), False
        rollback = Rollback(before)
        for row, item in enumerate(items):
            try:
                delta, report = step(item)
            except Exception as error:  # also one that a codec of the user's own raises
                if isinstance(error, InvalidInputError):
                    error.row = row
                reports.clear()
                self._commit(before, rollback.delta(), known)
                raise
            if delta is not None:
                if state is before:
                    rollback.record(delta)
                self._commit(state, delta, schema)
                has_changed = True
            reports.append(report)
        return has_changed

    @changes
    def _change(self, step: Callable[[State, Schema], Change[R]], *, is_long: bool = False) -> R:
        if is_long:
            self._commit_earlier()
        change = step(self._state, self._schema())
        state = self._state if change.state is None else change.state
        if change.delta is not None or change.schema is not None or state is not self._state:
            self._commit(state, change.delta, change.schema, change.action, log_ids=change.log_ids)
        return change.result

    @reads
    def _read(self, query: Callable[[State, Schema], R]) -> R:
        return query(self._state, self._schema())

    def _known_label(self, y: Any, state: State, schema: Schema) -> tuple[Label, Schema]:
        return checked_label(y, state.labels), schema

    def set_source(
        self,
        *,
        label: str | None = None,
        id: str | None = None,
        decimal: str | None = None,
        image_shape: Sequence[int] | None = None,
        size: Sequence[int] | None = None,
    ) -> None:
        """Record what later readers of files need to know; `schema.source` has it.

        What is not passed stays as it was.

        Parameters
        ----------
        label, id : str, optional
            The names of the columns of labels and of ids.
        decimal : {".", ","}, optional
            The decimal mark of numbers.
        image_shape : sequence of int, optional
            The shape of images: (height, width) or (height, width, channels).
        size : sequence of int, optional
            The height and width to which images are resized.
        """
        given = {
            "label": label,
            "id": id,
            "decimal": decimal,
            "image_shape": image_shape,
            "size": size,
        }
        named: dict[str, Any] = {name: each for name, each in given.items() if each is not None}

        def step(_: State, schema: Schema) -> Change[None]:
            source = checked_source(schema.source._replace(**named))
            return Change(None, schema=replace(schema, source=source))

        self._change(step)

    def infer(self, X: Any) -> None:
        """Infer the columns of a table from rows without teaching them.

        Later rows are encoded by these columns. It is of use before the first rows are taught, if
        they come in small batches: the kinds of columns are then inferred from all of X.

        Parameters
        ----------
        X : data frame or list of records
            The rows.

        Examples
        --------
        >>> learner = Learner()
        >>> learner.infer([{"size": "3", "colour": "red"}, {"size": "?", "colour": "blue"}])
        >>> sorted(learner.schema.described())
        ['colour', 'size']
        """
        self._change(lambda state, schema: Change(None, schema=new_rows(X, schema, state).schema))

    def widen(self, n: int) -> None:
        """Give all stored rows n more columns, in which they have 0.

        Later rows have that many more numbers. No margin of a stored example changes, and nothing
        is solved again. After `consolidate()` the model equals one whose rows had the columns from
        the start, to the last bit. Tables get new columns by themselves.

        Parameters
        ----------
        n : int
            The number of new columns.

        Raises
        ------
        InvalidInputError
            If n is not a whole number from 1, if nothing has been taught yet, if rows go through a
            feature map or a codec, or if columns have names.

        Examples
        --------
        >>> learner = Learner()
        >>> report = learner.teach([1.0, 0.0], "cat")
        >>> learner.widen(1)
        >>> report = learner.teach([0.0, 0.0, 1.0], "bird")
        >>> learner.predict([[1.0, 0.0, 0.0]]).tolist()
        ['cat']
        """
        self._change(lambda state, schema: steps.widen(state, schema, n))

    @reads
    def what_if(
        self,
        x: Any,
        y: Label,
        at: Time | None = None,
        *,
        id: Id | None = None,
        weight: float | None = None,
    ) -> WhatIf:
        """Return which stored examples could be disturbed by teaching x as y; learn nothing.

        Parameters
        ----------
        x : one example
            An example, in any form that `teach` takes. A category that is new counts as 0.
        y : int or str
            The label that it would have.
        at : float or datetime, optional
            When it happened: see `teach`.
        id : int or str, optional
            Its id. A stored id disturbs nothing, or is the same error as in `teach`.
        weight : float, optional
            Its weight; by default 1, or that of the stored example with this id.

        Returns
        -------
        WhatIf
            Its `interfered` lists the ids of the examples whose scores, clipped at 0, could change.
        """
        state, schema = self._state, self._schema()
        label = checked_label(y, state.labels)
        when = steps.clock() if at is None else checked_time(at)
        new = None if weight is None else checked_weight(weight)
        if state.widths.row is None:
            new_row(x, schema, state)  # raises if it cannot be taught
            return WhatIf.nothing()
        row = known_row(x, schema, state)
        if id is None or not steps.is_stored(state, id):
            return engine.what_if(state, row, label, when)
        stored = float(state.examples.weights[steps.place_of(state, id)])
        example = Example(row, label, id, stored if new is None else new, when)
        steps.taught(state, schema, example)
        return WhatIf.nothing()

    @property
    def settings(self) -> Settings:
        """The settings as passed to the constructor: values or "auto"; and the blocks."""
        return self._state.settings

    @property
    def features(self) -> FeatureMap:
        """The fixed map that turns examples into rows."""
        return self._features

    @property
    def memory(self) -> Codec | None:
        """The codec of the stored rows; None if they are stored as they are."""
        codec = self._state.examples.codec
        return codec.codec if isinstance(codec, OwnCodec) else codec

    @property
    def is_read_only(self) -> bool:
        """Whether the folder of this learner was opened only to read it; see `open`."""
        return isinstance(self._store, FolderStore) and self._store.read_only

    @property
    def notes(self) -> dict[str, Any]:
        """A dictionary for your own use, saved with the learner."""
        return self._state.notes

    @reads
    def predict(self, X: Any, *, unknown: Label | None = None) -> NDArray[Any]:
        """Return the label with the highest score for each row; ties go to the first label.

        Parameters
        ----------
        X : batch of examples
            Examples, in any form that `teach_many` takes.
        unknown : int or str, optional
            The label to return for rows whose scores are all 0 or less.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        if unknown is not None:
            unknown = checked_label(unknown, ())
        rows = known_rows(X, self._schema(), not_empty(self._state))
        names, is_unknown = api.predicted(self._state, rows)
        return names if unknown is None else with_unknown(names, is_unknown, unknown)

    @reads
    def scores(self, X: Any) -> Floats:
        """Return the smallest margin that each row would have with each label.

        If a label has several regions, it is the highest of their smallest margins.

        Parameters
        ----------
        X : batch of examples
            Examples, in any form that `teach_many` takes.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns are in the order of `classes`. With a single class there is no separator, and
            scores are infinite.
        """
        return api.scores(self._state, known_rows(X, self._schema(), begun(self._state)))

    @reads
    def outputs(self, X: Any) -> Floats:
        """Return the scores, clipped at 0: the outputs of the paper's minout units.

        Parameters
        ----------
        X : batch of examples
            Examples, in any form that `teach_many` takes.

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
        X : batch of examples
            Examples, in any form that `teach_many` takes.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns are in the order of `classes`.
        """
        rows = known_rows(X, self._schema(), not_empty(self._state))
        return api.probabilities(self._state, rows)

    @reads
    def save(self, file: str | Path) -> None:
        """Write the learner to one file; a loaded copy continues with bit-identical results.

        Parameters
        ----------
        file : str or Path
            The file to write. An existing file is replaced only when the new one is complete.
        """
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
        learner._state = state
        learner._schema()  # checks what was read
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
        column_kinds: Mapping[str, str] | None = None,
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
            second after the first of them, or when there are 1,000, but not while a call is still
            running. A crash or a power cut loses the changes since the last commit. `flush()`
            commits at once, and so do `close()` and the normal end of the program.
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
        column_kinds : dict of str to str, optional
            The kinds of columns of a table. For a new model, as in the constructor; for an existing
            one they must be those with which it was made.
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
            column_kinds=column_kinds,
            **settings,
        )
        store = FolderStore(
            Path(folder), durability=durability, read_only=read_only, on_wait=on_wait
        )
        given = unknown if unknown or features is None else new.features
        new._open(store, given, settings, column_kinds)
        return new

    def _open(
        self,
        store: FolderStore,
        features: FeatureMap | None,
        settings: dict[str, Any],
        column_kinds: Mapping[str, str] | None,
    ) -> None:
        # Take over the state of a store, if it has one; its settings must be the given ones.
        wanted = {name: getattr(self.settings, name) for name in settings}
        try:
            if store.is_new:
                is_known = features is not None and not isinstance(features, UnknownMap)
                store.start(self._state, self.features, is_given=is_known, settings=wanted)
            else:
                loaded = store.load(features, self._state.examples.codec)
                expect_settings(store.folder, loaded.state.settings, wanted)
                store.adopt(loaded)
                self._features, self._state = loaded.features, loaded.state
                self._require_kinds(store.folder, column_kinds)
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
        store = FolderStore(Path(folder), durability=durability)
        if not store.is_new:
            store.abandon()
            raise InvalidInputError(f"There is already a model in {folder}; name another folder.")
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
        `notes` stay as they are.
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
        self._features, self._noted, self._noted_before = features, (None, Schema(features)), None
        self._lock, self._store, self._holds_turn = ReadWriteLock(), Store(), False
        self._state.last_move = move and Move(*move)

    def _adopt(self, loaded: Loaded) -> None:
        # Continue with a state that was read. The dictionary of notes stays the same object.
        notes, now = self._state.notes, dict(loaded.state.notes)

        def put_in_place() -> None:
            notes.clear()
            notes.update(now)
            loaded.state.notes = notes
            self._store.adopt(loaded)
            self._features, self._state = loaded.features, loaded.state

        self._lock.write(put_in_place)

    def _begin(self) -> bool:
        # Take the write lock; return whether other processes have changed the state.
        newer = self._store.begin(self._state, self.features)
        if newer is not None:
            self._adopt(newer)
        if not self._holds_turn:
            self._noted_before = self._state.notes.get(NOTE)
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
            restored = store.restored(self._state, self.features)
            restored.state.notes[NOTE] = self._noted_before
            if self._noted_before is None:
                del restored.state.notes[NOTE]
            self._adopt(restored)
            raise

    def _keep_committing(self) -> None:
        keep_committing(
            self, Learner._commit_group, Learner._flush_quietly, Learner.close, self._lock
        )

    def _commit_group(self) -> bool:
        # Make a group commit, if it is due; return whether the store is open.
        store = self._store
        assert isinstance(store, FolderStore)
        if not self._holds_turn and self._lock.pause(0.0):
            try:
                self._lock.complete()
                if not self._holds_turn:
                    store.commit_if_due(self._state)
            finally:
                self._lock.resume()
        return not store.is_closed

    def _flush_quietly(self) -> None:
        # Commit, so that the write lock is released; the next change reports a failure.
        assert isinstance(self._store, FolderStore)
        self._lock.complete()
        self._store.commit_if_due(self._state, is_due=True)

    def _commit(
        self,
        state: State,
        delta: Delta | None,
        schema: Schema | None = None,
        action: str = "",
        *,
        log_ids: bool = False,
    ) -> None:
        # Apply a change to a state, and make it the state of this learner, with a schema.
        noted = self._noted if schema is None else (self._entry(schema), schema)
        is_new = state is not self._state

        def put_in_place() -> None:
            if delta is not None:
                engine.apply(state, delta)
            self._state = state
            self._note(*noted)
            if delta is not None or is_new:
                self._store.record(state, delta, action, log_ids=log_ids)

        if delta is not None:
            engine.make_room(state, delta)
        self._lock.write(put_in_place)
        self._store.note()
        moved = delta is not None and delta.separators and delta.examples is not None
        if (delta is not None and delta.refresh is not None) or (
            moved and state.taught % TRIM_EVERY == 0
        ):
            engine.trim_heap()

    def _schema(self) -> Schema:
        # What the notes describe; read again if another process has replaced them.
        entry, width = self._state.notes.get(NOTE), self._state.widths.given
        known, schema = self._noted
        is_same = entry is known and (width is None or schema.width == width)
        if not is_same or schema.features is not self._features:
            schema = Schema.from_notes({} if entry is None else entry, self._features, width)
            self._noted = entry, schema
        return schema

    def _entry(self, schema: Schema) -> dict[str, Any] | None:
        # The entry in the notes that describes a schema; None if there is nothing to describe.
        entry, known = self._noted
        return entry if schema is known else schema.to_notes() or None

    def _note(self, entry: Any, schema: Schema) -> None:
        if entry is None:
            self._state.notes.pop(NOTE, None)
        else:
            self._state.notes[NOTE] = entry
        self._noted = entry, schema

    def _require_kinds(self, folder: Path, wanted: Mapping[str, str] | None) -> None:
        has = self._schema().column_kinds
        if wanted is not None and checked_kinds(wanted) != has:
            raise InvalidInputError(
                f"The model in {folder} was made with column_kinds={has or None!r}, not "
                f"{wanted!r}; pass the same, or leave it out."
            )


def _is_long(y: Any) -> bool:
    return isinstance(y, Sized) and len(y) >= LONG_CALL
