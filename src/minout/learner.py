"""The public learner: teach one example at a time, predict, correct, forget."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from minout import api, core, steps
from minout._typing import Floats, Id, Label
from minout.codecs import Codec, codec_of
from minout.core import Settings, State, StepReport, WhatIf
from minout.core.settings import Keep
from minout.errors import InvalidInputError
from minout.features import FeatureMap, HashedText, Identity, named
from minout.inputs import (
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
from minout.kept import Kept, in_turn
from minout.steps import Batch, Change, Example, begun, not_empty

Auto = Literal["auto"]
Time = float | datetime

R = TypeVar("R")


class Learner(Kept):
    """An online classifier that stores every example and reports what each one changed.

    There is one linear separator for each pair of labels, or several if labels have several regions
    (clusters of examples). The margin of an example is the value of a separator, positive on the
    side of the example's label. After every step each stored example is fitted (its margins are
    positive in all separators of its region) or listed in `misfits`. After `consolidate()` the
    model depends on the set of stored examples only, not on their order.

    New labels may appear at any time, and each example may have an id that you choose. The first
    row taught sets the number of features.

    Threads may share a learner: a call that reads never waits, and sees the state before or after
    a change that another thread makes.

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
        or 8, and at most 200 regions in all. A label with n different
        examples has at most n/5 regions.
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
        With "auto", scale, covariance and discriminants are computed again when the number of
        examples has doubled, and sometimes the "auto" settings are chosen again. With "manual",
        only `consolidate()` does this. Before the first one a manual learner has unscaled columns,
        C=5, one region per label, and no whitening, prior, hat functions or calibrated
        probabilities; `near_classes` has no effect.
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
        as `ScalarCodec.fit(sample, bits=4)`. "auto" is "uint8" for texts, and as they are for other
        rows. Every row, also one to predict, is encoded and decoded before the model uses it, so
        all guarantees for stored examples hold for the rows as they were taught.
    missing : {"error", "mean"}, default="error"
        What NaN in a row means. With "mean" it is a missing value: it counts as the mean of its
        column, and an indicator column is added that says where it is missing, so that a separator
        can give missing values any other value. Means are computed again at every refresh. For
        tables (see Notes) it is "mean".
    column_kinds : dict, optional
        The kinds of columns of a table, by name: "number", "boolean", "date", "day-first" or
        "month-first" (dates such as 3/4/2021), "category", "text" or "ignore". The kinds of the
        other columns are inferred from dtypes and values; see `Learner.schema` and
        `MinoutClassifier.columns_`.

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
        mapped = named(features)
        is_plain = isinstance(memory, str) and memory == "auto"
        codec = codec_of("uint8" if is_plain and isinstance(mapped, HashedText) else memory)
        if missing == "mean" and not (isinstance(mapped, Identity) and codec is None):
            raise InvalidInputError(
                '`missing="mean"` is for rows that are stored as they were given: leave `features` '
                'at "identity" and `memory` at "auto".'
            )
        encoder = TableEncoder(checked_kinds(column_kinds)) if column_kinds else None
        schema = Schema(mapped, encoder=encoder)
        width = (codec and codec.width) or 0
        self._start(State(settings, width, mapped.dtype, codec).replaced(schema=schema), {})

    @in_turn
    def teach(
        self,
        x: Any,
        y: Label,
        id: Id | None = None,
        weight: float = 1.0,
        at: Time | None = None,
    ) -> StepReport:
        """Learn one example.

        If the call raises an error or is interrupted (Ctrl-C), the learner is unchanged.

        Parameters
        ----------
        x : array-like of shape (n_features,), record or str
            The example: numbers, a record (a mapping of column names to values), a text, or any
            other input that the feature map takes. A batch with one row is taken, too.
        y : int or str
            Its label; a new label adds a class.
        id : int or str, optional
            An id for the example; by default the next free number. Teaching a stored id again with
            the same row and weight, and its present or an earlier label, changes nothing; otherwise
            it is an error: see `correct` and `update`.
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
        new, label = new_row(x, state.schema, state), checked_label(y, state.labels)
        named = None if id is None else checked_id(id)
        when = steps.clock() if at is None else checked_time(at)
        example = Example(new.rows[0], label, named, checked_weight(weight), when)
        state = steps.prepared(state, new)
        return self._accept(steps.teach(state, example))

    def teach_many(
        self,
        X: Any,
        y: Sequence[Label],
        ids: Sequence[Id] | None = None,
        weights: Sequence[float] | None = None,
        at: Time | Sequence[Time] | None = None,
    ) -> list[StepReport]:
        """Learn examples one after the other.

        If the call raises an error or is interrupted (Ctrl-C), the learner is unchanged: it has
        learned all rows or none.

        Parameters
        ----------
        X : array-like of shape (n_examples, n_features), data frame, list of records or of str
            The examples. A data frame of pandas, polars or another library, and a list of records
            (mappings of column names to values), may have columns of any kind: see `Notes` of this
            class. A SciPy sparse matrix needs `features="projection"` if it is wide.
        y : sequence of int or str
        ids, weights, at : sequences, optional
            One id, weight and time per row, or one time for all; see `teach`.

        Returns
        -------
        list of StepReport

        Raises
        ------
        InvalidInputError
            As for `teach`. Its attribute `row` is the index of the row that is at fault, or None.
        """

        def prepare(state: State, schema: Schema) -> tuple[Batch, Schema]:
            return Batch(X, steps.checked_labels(y, state), ids, weights, at), schema

        return self._teach(prepare)

    @in_turn
    def _teach(self, prepare: Callable[[State, Schema], tuple[Batch, Schema]]) -> list[StepReport]:
        # Teach a batch that is prepared for the newest schema.
        before = self._state
        examples, schema = self._prepared(prepare)
        start = self._next
        reports = self._each(steps.teach, [(example,) for example in examples])
        if reports and self._next is start:  # all are stored already: no columns are added
            self._next = before if schema is before.schema else before.replaced(schema=schema)
        return reports

    @in_turn
    def _store(self, prepare: Callable[[State, Schema], tuple[Batch, Schema]]) -> None:
        # Store a first batch, without a model.
        examples, _ = self._prepared(prepare)
        self._accept(steps.store(self._next, examples))

    def _prepared(
        self, prepare: Callable[[State, Schema], tuple[Batch, Schema]]
    ) -> tuple[list[Example], Schema]:
        # The examples, for which the next state has columns, and the schema without these.
        batch, schema = prepare(self._state, self._state.schema)
        new = new_rows(batch.X, schema, self._state)
        self._next = steps.prepared(self._state, new)
        return steps.checked_examples(batch, new.rows, self._next), schema

    def _known_label(self, y: Any, state: State) -> tuple[Label, State]:
        return checked_label(y, state.labels), state

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
        decimal : {".", ","}, optional
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

        def step(state: State) -> Change[None]:
            source = checked_source(state.schema.source._replace(**named))
            return Change(None, state.replaced(schema=replace(state.schema, source=source)))

        self._change(step)

    def infer(self, X: Any) -> None:
        """Infer the columns of a table from rows without teaching them.

        Later rows are encoded by these columns. It is of use before the first rows are taught, if
        they come in small batches: the kinds of columns are then inferred from all of X.

        Parameters
        ----------
        X : data frame or list of records

        Examples
        --------
        >>> learner = Learner()
        >>> learner.infer([{"size": "3", "colour": "red"}, {"size": "?", "colour": "blue"}])
        >>> sorted(learner.schema.described())
        ['colour', 'size']
        """
        self._change(
            lambda state: Change(
                None, state.replaced(schema=new_rows(X, state.schema, state).schema)
            )
        )

    def widen(self, n: int) -> None:
        """Give all stored rows n more columns, in which they have 0.

        Later rows have that many more numbers. No margin of a stored example changes, and nothing
        is solved again. After `consolidate()` the model equals one whose rows had the columns from
        the start, to the last bit. Tables get new columns by themselves.

        Parameters
        ----------
        n : int

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
        self._change(lambda state: steps.widen(state, n))

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
        state = self._state
        schema, label = state.schema, checked_label(y, state.labels)
        when = steps.clock() if at is None else checked_time(at)
        new = None if weight is None else checked_weight(weight)
        if state.widths.row is None:
            new_row(x, schema, state)  # raises if it cannot be taught
            return WhatIf.nothing()
        row = known_row(x, schema, state)
        if id is None or not steps.is_stored(state, id):
            return core.what_if(state, row, label, when)
        stored = float(state.examples.weights[steps.place_of(state, id)])
        steps.teach(state, Example(row, label, id, stored if new is None else new, when))
        return WhatIf.nothing()

    def predict(self, X: Any, *, unknown: Label | None = None) -> NDArray[Any]:
        """Return the label with the highest score for each row; ties go to the first label.

        Parameters
        ----------
        X : batch of examples
        unknown : int or str, optional
            The label to return for rows whose scores are all 0 or less.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        if unknown is not None:
            unknown = checked_label(unknown, ())
        state = not_empty(self._state)
        names, is_unknown = api.predicted(state, known_rows(X, state.schema, state, is_read=True))
        return names if unknown is None else with_unknown(names, is_unknown, unknown)

    def scores(self, X: Any) -> Floats:
        """Return the smallest margin that each row would have with each label.

        If a label has several regions, it is the highest of their smallest margins.

        Parameters
        ----------
        X : batch of examples

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns are in the order of `classes`. With a single class there is no separator, and
            scores are infinite.
        """
        state = begun(self._state)
        return api.scores(state, known_rows(X, state.schema, state, is_read=True))

    def outputs(self, X: Any) -> Floats:
        """Return the scores, clipped at 0: the outputs of the paper's minout units.

        Parameters
        ----------
        X : batch of examples

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns are in the order of `classes`.
        """
        return np.asarray(np.maximum(self.scores(X), 0.0))

    def probabilities(self, X: Any) -> Floats:
        """Return a probability for each label: the softmax of sharpness times score.

        With its sharpness (an inverse temperature) the labels of left-out examples are most
        probable: `consolidate()` leaves them out one by one, a refresh that chooses settings in
        folds. Probabilities assume that one of the labels is right.

        Parameters
        ----------
        X : batch of examples

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns are in the order of `classes`.
        """
        state = not_empty(self._state)
        return api.probabilities(state, known_rows(X, state.schema, state, is_read=True))
