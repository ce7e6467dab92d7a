"""The learner that a classifier holds, in RAM or in a file, and the rows and labels for it."""

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import fields
from itertools import compress
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from minout._typing import Floats, Id, Label
from minout.api import Methods
from minout.core import Certificate, Choice, Refresh, Settings, State, StepReport
from minout.errors import InvalidInputError, UnwritableError, plural
from minout.features import Projection, Scattering, batch_size, is_sparse, refuse_masked, takes_rows
from minout.inputs import Schema, checked_time, each_row, listed_ids, listed_times
from minout.inputs.labels import LabelCodec, to_array
from minout.inputs.tables import frame_table, from_frame, is_frame, is_records
from minout.inputs.weights import (
    BALANCED,
    ClassWeights,
    balanced,
    check_class_weight,
    check_sample_weight,
    is_balanced,
)
from minout.learner import Learner
from minout.steps import Batch, Change
from minout.store import Durability, holds_model

R = TypeVar("R")

SETTINGS = [each.name for each in fields(Settings) if each.name not in ("missing", "blocks")]
"""The parameters that are passed on to the learner as they are."""
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class LastCall(NamedTuple):
    """What the last `fit` or `partial_fit` taught, and the reports of the last change."""

    ids: list[Id]
    reports: list[StepReport]
    certificates: list[Certificate]


NOTHING_YET = LastCall([], [], [])


class HeldLearner(Methods, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Hold a learner for a classifier, whose parameters are set by its `__init__`."""

    features: Any
    image_shape: Any
    memory: Any
    column_kinds: Mapping[str, str] | None
    class_weight: Any
    store: str | Path | None
    durability: Durability

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a model, here or in the file."""
        return self._opened() is not None

    def __getstate__(self) -> dict[str, Any]:
        """Return values and arrays, no types of minout, so that skops can store them."""
        with self._changing():
            state = {name: each for name, each in super().__getstate__().items() if name != "_lock"}
            if "_model" in state:
                learner, last = state["_model"]
                state["_model"] = learner.__getstate__(), _plain(last)
            return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the classifier from the result of `__getstate__`."""
        super().__setstate__(state)
        if "_model" in state:
            learner = Learner.__new__(Learner)
            learner.__setstate__(state["_model"][0])
            self._model = learner, _last_call(state["_model"][1])

    # The hooks of `Methods`

    @property
    def _state(self) -> State:
        return self._fitted()._state

    def _change(self, step: Callable[[State], Change[R]], *, is_long: bool = False) -> R:
        return self._changed(lambda learner: learner._change(step, is_long=is_long))

    def _change_each(
        self, items: Callable[[State], list[Any]], step: Callable[..., Change[StepReport]]
    ) -> list[StepReport]:
        return self._changed(lambda learner: learner._change_each(items, step))

    def _changed(self, change: Callable[[Learner], R]) -> R:
        with self._changing():
            learner = self._fitted(to_change=True)
            result = change(learner)
            results = result if isinstance(result, list) else [result]
            self._model = learner, _after(self._last(), results, learner)
        return result

    def _known_label(self, y: Any, state: State) -> tuple[Label, State]:
        schema: Schema = state.schema
        label, codec = schema.label_codec(state.labels).encode_one(y)
        wider = schema.with_labels(codec, schema.class_weights)
        return label, state if wider is schema else state.replaced(schema=wider)

    # The learner of this classifier, in RAM or in a file

    def _changing(self) -> AbstractContextManager[object]:
        # The lock for calls that change the model. Made on first use: scikit-learn estimators only
        # store parameters in __init__.
        lock: AbstractContextManager[object] = self.__dict__.setdefault("_lock", RLock())
        return lock

    def _new_learner(self) -> Learner:
        if self.store is None and self.durability != "normal":
            raise InvalidInputError(
                "`durability` is for a model in a file; name the file as `store`, or leave "
                "`durability` out."
            )
        return Learner(**self._parameters())

    def _parameters(self) -> dict[str, Any]:
        features = self.features
        if isinstance(features, str) and features == "scattering":
            features = Scattering(self.image_shape)
        settings = {name: getattr(self, name) for name in SETTINGS}
        others = {"memory": self.memory, "column_kinds": self.column_kinds}
        return {**settings, **others, "features": features}

    def _require_empty_store(self) -> None:
        learner = self._stored()
        if learner is not None:
            learner.close()
            raise InvalidInputError(
                f"There is already a model in {self.store}, and `fit` starts a new one; use "
                "`partial_fit` to teach it more, or name another file."
            )

    def _stored(self, *, to_change: bool = False) -> Learner | None:
        # The model in the file; unless it is to be changed, one that cannot be written to is
        # opened to be read only.
        if self.store is None or not holds_model(Path(self.store)):
            return None
        try:
            return self._open(read_only=False)
        except UnwritableError:
            if to_change:
                raise
            return self._open(read_only=True)

    def _open(self, *, read_only: bool) -> Learner | None:
        assert self.store is not None
        learner = Learner.open(
            self.store, durability=self.durability, read_only=read_only, **self._parameters()
        )
        try:
            if learner.is_new:
                learner.close()
                return None
            self._require_class_weight(learner)
        except BaseException:
            learner.close()
            raise
        return learner

    def _require_class_weight(self, learner: Learner) -> None:
        wanted, schema = self.class_weight, learner.schema
        codec, has = schema.label_codec(learner.classes.tolist()), schema.class_weights
        if is_balanced(wanted):
            is_same = has.are_balanced
        else:
            is_same = check_class_weight(wanted, codec) == has
        if not is_same:
            raise InvalidInputError(
                f"The model in {self.store} was made with "
                f"class_weight={has.as_setting(codec)!r}, not {wanted!r}; pass the same."
            )

    def _keep(self, learner: Learner, last: LastCall) -> None:
        # Make a learner that of this classifier, and keep it in the file, if there is one.
        if self.store is not None:
            learner.store_in(self.store, durability=self.durability)
        self._model = learner, last

    def _learner_or_none(self) -> Learner | None:
        model: tuple[Learner, LastCall] | None = vars(self).get("_model")
        return None if model is None else model[0]

    def _last(self) -> LastCall:
        last: LastCall = vars(self)["_model"][1]
        return last

    def _learner_or_stored(self, *, to_change: bool = False) -> Learner | None:
        # The learner of this classifier, or the one in its file; call it under the lock.
        learner = self._learner_or_none()
        if learner is None or (to_change and learner.is_read_only):
            learner = self._stored(to_change=to_change)
            if learner is not None:
                self._model = learner, NOTHING_YET
        return learner

    def _opened(self, *, to_change: bool = False) -> Learner | None:
        learner = self._learner_or_none()
        if self.store is None or (learner is not None and not to_change):
            return learner
        with self._changing():
            return self._learner_or_stored(to_change=to_change)

    def _fitted(self, *, to_change: bool = False) -> Learner:
        learner = self._opened(to_change=to_change)
        if learner is None:
            check_is_fitted(self)  # raises scikit-learn's NotFittedError
            raise AssertionError
        return learner

    def _has(self, attribute: str) -> Learner:
        learner = self._opened()
        if learner is None:
            raise AttributeError(f"This classifier has not been fitted; it has no `{attribute}`.")
        return learner


def _after(last: LastCall, results: list[Any], learner: Learner) -> LastCall:
    # What is kept of a change: no id of a forgotten example.
    def stored(ids: tuple[Id, ...]) -> tuple[Id, ...]:
        return tuple(each for each in ids if each in learner)

    reports = [each for each in results if isinstance(each, StepReport)]
    found = [getattr(each, "certificate", each) for each in results]
    certificates = [
        each._replace(misfits=stored(each.misfits), cleared=stored(each.cleared), forgotten=())
        for each in found
        if isinstance(each, Certificate)
    ]
    return LastCall([each for each in last.ids if each in learner], reports, certificates)


def _plain(last: LastCall) -> tuple[list[Any], ...]:
    # As tuples, which name no type of minout.
    reports = []
    for example_id, label, certificate, refresh, was_right in last.reports:
        plain = refresh and (refresh.seconds, tuple(refresh.choice), refresh.chose_settings)
        reports.append((example_id, label, tuple(certificate), plain, was_right))
    return last.ids, reports, [tuple(each) for each in last.certificates]


def _last_call(plain: Any) -> LastCall:
    ids, listed, certificates = plain
    reports = []
    for example_id, label, certificate, refresh, was_right in listed:
        made = refresh and Refresh(refresh[0], Choice(*refresh[1]), *refresh[2:])
        reports.append(StepReport(example_id, label, Certificate(*certificate), made, was_right))
    return LastCall(list(ids), reports, [Certificate(*each) for each in certificates])


class RowFacts(NamedTuple):
    """The arguments of a call about its rows: labels to announce, weights, ids and times."""

    classes: Any = None
    sample_weight: Any = None
    ids: Any = None
    at: Any = None


def batch_of(
    X: Any, y: Any, facts: RowFacts, class_weight: Any, *, is_fit: bool
) -> Callable[[State, Schema], tuple[Batch, Schema]]:
    """Return a function that checks the input of `fit` or `partial_fit` for the newest schema."""

    def prepare(state: State, schema: Schema) -> tuple[Batch, Schema]:
        rows, labels, codec = checked_rows_and_labels(X, y, state, schema)
        sample_weight = check_sample_weight(facts.sample_weight, len(labels))
        weights_of = schema.class_weights
        if state.widths.row is None:
            weights_of = _first_weights(class_weight, codec, labels, sample_weight, is_fit=is_fit)
        elif weights_of.are_balanced:
            check_class_weight(BALANCED, codec)  # raises
        if facts.classes is not None:
            codec = codec.announce(facts.classes)
        weights = weights_of.of_rows(labels, sample_weight)
        batch = _without_weight_0(Batch(rows, labels, facts.ids, weights, facts.at))
        return batch, schema.with_labels(codec, weights_of)

    return prepare


def checked_rows_and_labels(
    X: Any, y: Any, state: State, schema: Schema
) -> tuple[Any, list[Label], LabelCodec]:
    """Return rows and labels for a learner, and the codec of the labels."""
    labels: NDArray[Any] = y if is_plain_column(y) else validate_data(InputColumns(), y=to_array(y))
    rows = checked_rows(X, schema)
    if batch_size(rows) != len(labels):
        check_consistent_length(rows, labels)  # raises
    return rows, *schema.label_codec(state.labels).encode(labels)


def checked_rows(X: Any, schema: Schema) -> Any:
    """Return rows for a learner, checked as scikit-learn does."""
    # The most common input: scikit-learn's checks take longer than a prediction.
    if is_plain_array(X, schema.width) and schema.columns is None:
        return X
    if is_records(X):  # columns in any order, perhaps with others
        return X
    columns = InputColumns.of(schema)
    has_columns = takes_rows(schema.features) or isinstance(schema.features, Projection)
    if is_frame(X):
        return _checked_frame(X, schema, columns if has_columns else None)
    if schema.is_table:
        raise InvalidInputError(
            "This classifier was taught a table with named columns; pass a data frame with "
            f"the same columns, not a {type(X).__name__}."
        )
    if not has_columns:
        return _not_empty(X.to_numpy() if hasattr(X, "to_numpy") else X)
    refuse_masked(X)
    try:
        return validate_data(columns, X, reset=columns.is_first, accept_sparse="csr")
    except OverflowError as error:
        raise InvalidInputError(
            "X holds a whole number that is too large; scale the features first."
        ) from error


def _checked_frame(X: Any, schema: Schema, columns: "InputColumns | None") -> Any:
    # A frame whose columns, if they count, have the names and the order of the first.
    _not_empty(X)
    if columns is None:
        return X
    is_first = columns.is_first
    validate_data(columns, X, reset=is_first, skip_check_array=True)
    has_names = hasattr(columns, "feature_names_in_")
    if is_first and not has_names and not schema.column_kinds and frame_table(X).is_plain:
        return X.to_numpy()  # numbers of pandas are no names
    return X


def _not_empty(X: Any) -> Any:
    if isinstance(X, str) or not batch_size(X):
        raise InvalidInputError(
            f"X has no rows, but is a {type(X).__name__}; pass a list, an array or a frame of them."
        )
    return X


class InputColumns(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The number and names of the columns of X, as scikit-learn's checks set and compare them."""

    @classmethod
    def of(cls, schema: Schema) -> "InputColumns":
        """Return the columns that a schema has."""
        known, names = cls(), schema.columns
        if names is not None:
            known.feature_names_in_ = np.array(names, dtype=object)
        if schema.columns_in is not None:
            known.n_features_in_ = schema.columns_in
        return known

    @property
    def is_first(self) -> bool:
        """Whether there are no columns yet: the first table sets them."""
        return not hasattr(self, "n_features_in_")


InputColumns.__name__ = "MinoutClassifier"  # the name in scikit-learn's messages


def is_plain_array(X: Any, width: int | None) -> bool:
    """Return whether X is an array (n, width) of finite floats, n at least 1."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[1] == width
        and X.shape[0] > 0
        and X.dtype in FLOATS
        and math.isfinite(np.vdot(X, X))  # then all are; otherwise scikit-learn decides
    )


def is_plain_column(y: Any) -> bool:
    """Return whether y is an array (n,) of whole numbers, booleans or strings, n at least 1."""
    return type(y) is np.ndarray and y.ndim == 1 and len(y) > 0 and y.dtype.kind in "iubU"


def _first_weights(
    setting: Any,
    codec: LabelCodec,
    labels: list[Label],
    sample_weight: Floats | None,
    *,
    is_fit: bool,
) -> ClassWeights:
    if is_fit and is_balanced(setting):
        return balanced(labels, sample_weight)
    class_weights = check_class_weight(setting, codec)
    if is_fit:
        class_weights.require_labels(labels)
    return class_weights


def _without_weight_0(batch: Batch) -> Batch:
    # The rows that have a weight, with their ids and times.
    X, y, ids, weights, at = batch
    if weights is None or weights.all():
        return batch
    kept = weights > 0.0

    def only(values: list[Any], name: str) -> list[Any]:
        if len(values) != len(kept):
            given = f"{plural(len(kept), 'row')}, but {plural(len(values), name)}"
            raise InvalidInputError(f"Got {given}; pass one per row.")
        return list(compress(values, kept))

    if is_frame(X):
        X = from_frame(X).filter(kept.tolist()).to_native()
    elif isinstance(X, np.ndarray) or is_sparse(X):
        X = X[kept]
    else:
        X = list(compress(X, kept))
    ids = None if ids is None else only(listed_ids(ids), "id")
    if at is not None:
        at = only(each_row(checked_time, listed_times(at, len(kept))), "time")
    return Batch(X, only(y, "label"), ids, weights[kept], at)
