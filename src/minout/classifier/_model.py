"""A learner together with the classifier's own state: columns, labels, the last call."""

import re
from collections.abc import Callable, Iterable
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Id, Label
from minout.classifier._inputs import (
    InputColumns,
    check_batch,
    check_ids,
    check_record,
    check_times,
    is_plain_array,
    new_encoder,
    single_id,
    single_label,
)
from minout.classifier._labels import INT64, STRINGS, LabelCodec, encode_labels
from minout.classifier._weights import (
    BALANCED,
    NO_CLASS_WEIGHTS,
    ClassWeights,
    balanced,
    check_class_weight,
    check_sample_weight,
    kept_rows,
)
from minout.codecs import memory_name
from minout.engine import Certificate, Explanation, StepReport, WhatIf
from minout.errors import InvalidInputError
from minout.features import FeatureMap, Identity, RandomFourier, Scattering, refuse_masked
from minout.learner import Learner
from minout.store import holds_model
from minout.tables import NOTE as TABLE
from minout.tables import TableEncoder, is_frame

T = TypeVar("T")

SETTINGS = (
    "C",
    "whiten",
    "lda_prior",
    "standardize",
    "regions",
    "expand",
    "refresh",
    "near_classes",
    "keep",
)
"""The parameters that are passed on to the learner as they are."""
NOTES = "classifier"
"""The key of the classifier's entry in a learner's notes."""
FILES = "files"
"""The key under which the command line notes the columns that it taught."""


class LastCall(NamedTuple):
    """The ids that the last call taught, and the certificate of each step."""

    ids: list[Id]
    certificates: list[Certificate]


class RowFacts(NamedTuple):
    """What a call says of its rows beside their labels: weights, ids and times, as given."""

    sample_weight: Any = None
    ids: Any = None
    at: Any = None


class Batch(NamedTuple):
    """The checked input of one call: what the learner is taught, and the new codec.

    Without ids the learner numbers the rows. Rows of weight 0 are left out. The encoder of a table
    is a new one, which knows the categories of these rows.
    """

    rows: Any
    labels: list[Label]
    ids: list[Id] | None
    weights: list[float] | None
    at: Any
    codec: LabelCodec
    encoder: TableEncoder | None = None


class Model:
    """One learner, the columns of its tables, and the codec of its labels.

    The codec can always decode the labels of the learner, also with several threads: teaching
    replaces `codec` before the learner changes, and predicting reads it after the scores.

    With an encoder, rows of a data frame are encoded. It is never changed, but replaced before the
    learner changes. Rows that are encoded by an older or a newer one only differ in the numbers at
    their end, and are brought to the width of the learner: see `to_width`.
    """

    def __init__(
        self,
        learner: Learner,
        columns: InputColumns,
        codec: LabelCodec,
        class_weights: ClassWeights = NO_CLASS_WEIGHTS,
        encoder: TableEncoder | None = None,
    ) -> None:
        self.learner = learner
        self.columns = columns
        self.class_weights = class_weights
        self.takes_numbers = takes_numbers(learner.features)
        self.plain_width: int | None = None
        """The width of arrays that need no further checks; None if all need them."""
        if encoder is None and self.takes_numbers and not hasattr(columns, "feature_names_in_"):
            self.plain_width = getattr(columns, "n_features_in_", None)
        self.last = LastCall([], [])
        self._codec, self._entry = codec, learner.notes.get(NOTES)
        self._encoder, self._table = encoder, learner.notes.get(TABLE)
        self.set_codec(codec)
        if encoder is not None and self._table is None:
            self.set_encoder(encoder)

    @classmethod
    def from_learner(cls, learner: Learner) -> "Model":
        """Return a model around a learner that was saved by any part of minout."""
        notes, files = learner.notes.get(NOTES, {}), learner.notes.get(FILES, {})
        for key, are_valid in ((NOTES, _are_ours(notes)), (FILES, _are_columns(files))):
            if not are_valid:
                raise _not_ours(key)
        encoder = _noted_encoder(learner)
        if encoder is not None and encoder.width != learner.width:
            raise _not_ours(TABLE)
        names = (notes or {"names": files.get("columns")}).get("names")
        if names is None and not notes and encoder is not None:
            names = encoder.columns
        columns = InputColumns()
        width = notes.get("width") if names is None else len(names)
        if (
            not notes
            and encoder is None
            and isinstance(learner.features, Identity)
            and len(learner)
        ):
            width = len(learner.example(learner.ids[0])[0])
        if width is not None:
            columns.n_features_in_ = width
        if names is not None:
            columns.feature_names_in_ = np.array(names, dtype=object)
        codec = _noted_codec(learner)
        class_weights = ClassWeights.from_notes(notes.get("class_weight"))
        return cls(learner, columns, codec, class_weights, encoder)

    def get_state(self) -> dict[str, Any]:
        """Return plain values for a pickle; the notes of the learner hold columns and codec."""
        return {
            "learner": self.learner.__getstate__(),
            "ids": list(self.last.ids),
            "certificates": [tuple(each) for each in self.last.certificates],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Model":
        """Return the model that `get_state` described."""
        learner = Learner.__new__(Learner)
        learner.__setstate__(state["learner"])
        model = cls.from_learner(learner)
        certificates = [Certificate(*each) for each in state["certificates"]]
        model.last = LastCall(list(state["ids"]), certificates)
        return model

    @property
    def codec(self) -> LabelCodec:
        """The codec of the labels; the one in the notes, if another process has replaced them."""
        entry = self.learner.notes.get(NOTES)
        if entry is not self._entry:
            self._codec, self._entry = _noted_codec(self.learner), entry
        return self._codec

    @property
    def encoder(self) -> TableEncoder | None:
        """The encoder of a table; the one in the notes, if another process has replaced them."""
        table = self.learner.notes.get(TABLE)
        if table is not self._table:
            self._encoder, self._table = _noted_encoder(self.learner), table
        return self._encoder

    def set_encoder(self, encoder: TableEncoder) -> None:
        """Replace the encoder, and store it in the notes of the learner, so that it is saved."""
        self._encoder, self._table = encoder, encoder.described()
        self.learner.notes[TABLE] = self._table

    def set_codec(self, codec: LabelCodec) -> None:
        """Replace the codec, and store it in the notes of the learner, so that it is saved."""
        names = getattr(self.columns, "feature_names_in_", None)
        entry = {
            "width": getattr(self.columns, "n_features_in_", None),
            "names": None if names is None else names.tolist(),
            "dtype": codec.dtype.str,
            "announced": list(codec.announced),
        }
        if (noted := self.class_weights.to_notes()) is not None:
            entry["class_weight"] = noted
        self._codec, self._entry = codec, entry
        self.learner.notes[NOTES] = entry

    def with_codec(
        self,
        codec: LabelCodec,
        call: Callable[[], T],
        has_happened: Callable[[], bool],
        encoder: TableEncoder | None = None,
    ) -> T:
        """Return the result of a call that changes the learner and needs another codec or encoder.

        If the call raises an error or is interrupted before it has happened, both stay.
        """
        before, encoded_before = self.codec, self.encoder
        try:
            self.set_codec(codec)
            if encoder is not None and encoder is not encoded_before:
                self.set_encoder(encoder)
            return call()
        except BaseException:
            if not has_happened():
                self.set_codec(before)
                if encoded_before is not None:
                    self.set_encoder(encoded_before)
            raise

    def drop_forgotten(self) -> None:
        """Drop the ids of examples that are no longer stored."""
        stored = set(self.learner.ids)

        def only(ids: Iterable[Id]) -> list[Id]:
            return [each for each in ids if each in stored]

        certificates = [
            each._replace(
                misfits=tuple(only(each.misfits)), cleared=tuple(only(each.cleared)), forgotten=()
            )
            for each in self.last.certificates
        ]
        self.last = LastCall(only(self.last.ids), certificates)

    def set_certificate(self, certificate: Certificate | None) -> None:
        """Keep the certificate of a change that taught nothing."""
        self.last = LastCall(self.last.ids, [] if certificate is None else [certificate])

    def check_rows(self, X: Any) -> Any:
        """Return checked rows to predict."""
        if is_plain_array(X, self.plain_width):
            return X
        if (encoder := self.encoder) is not None:
            return encoder.encode_known_many(self.columns.check_frame(X))
        return self.columns.check_table(X) if self.takes_numbers else check_batch(X)

    def check_row(self, x: Any) -> Any:
        """Return one row from a row (columns,) or from a table with one row."""
        if not self.takes_numbers:
            return x
        if (encoder := self.encoder) is not None and not is_frame(x):
            return encoder.encode_known(check_record(x))
        refuse_masked(x, "x holds")
        if isinstance(x, list | tuple):
            try:
                x = np.asarray(x)
            except ValueError as error:
                raise InvalidInputError(
                    "One row of numbers was expected, but its rows differ in length."
                ) from error
        if len(getattr(x, "shape", (1,))) == 1:
            return np.asarray(x)
        rows = self.check_rows(x)
        if len(rows) != 1:
            raise InvalidInputError(f"One row was expected, but x has {len(rows)}.")
        return rows[0]

    def check_rows_and_labels(self, X: Any, y: Any) -> tuple[Any, list[Label], LabelCodec]:
        """Return rows, their labels, and a codec that can decode the labels.

        The rows of a table are still a data frame.
        """
        if self.encoder is not None:
            rows, labels = self.columns.check_frame_and_labels(X, y)
        elif self.takes_numbers:
            rows, labels = self.columns.check_table_and_labels(X, y)
        else:
            rows, labels = self.columns.check_batch_and_labels(X, y)
        return rows, *self.codec.encode(labels)

    def to_width(self, rows: Any) -> Any:
        """Return encoded rows with as many numbers as the learner has; call it while reading.

        Categories of which it has no example are left out; those of which an older encoder does
        not know are 0.
        """
        width = self.learner.width
        if self.encoder is None or width is None or rows.shape[-1] == width:
            return rows
        wide = np.zeros((*rows.shape[:-1], width))
        both = min(width, rows.shape[-1])
        wide[..., :both] = rows[..., :both]
        return wide

    def class_weight(self) -> Any:
        """Return the parameter of a classifier that has these class weights."""
        if self.class_weights.are_balanced:
            return BALANCED
        labels, weights = [*self.class_weights.of], self.class_weights.of.values()
        named = self.codec.decode(labels).tolist() if labels else []
        return dict(zip(named, weights, strict=True)) or None

    def corrected_weight(self, id: Id, label: Label) -> float | None:
        """Return the weight that an example gets with another label; None if it stays."""
        if not self.class_weights.of:
            return None
        _, now = self.learner.example(id)
        before, after = self.class_weights.at(now), self.class_weights.at(label)
        return None if before == after else self.learner.weight(id) / before * after

    def check_call(self, X: Any, y: Any, classes: Any, facts: RowFacts) -> Batch:
        """Check the input of `partial_fit`."""
        if self.class_weights.are_balanced:
            check_class_weight(BALANCED, self.codec)  # raises
        rows, labels, codec = self.check_rows_and_labels(X, y)
        weight = check_sample_weight(facts.sample_weight, len(labels))
        weights = self.class_weights.of_rows(labels, weight)
        encoder = self.encoder
        return _batch(rows, labels, codec, classes, weights, facts, encoder and encoder.copy())

    def teach_plain(self, X: Any, y: Any, facts: RowFacts) -> bool:
        """Teach one plain row and return True; otherwise change nothing and return False."""
        sample_weight, ids, at = facts
        if sample_weight is not None or at is not None or self.class_weights.of:
            return False
        label, id = single_label(y, self.codec.dtype), single_id(ids)
        if label is None or (id is None and ids is not None):
            return False
        if not is_plain_array(X, self.plain_width) or len(X) != 1:
            return False
        self.last = _last_call([self.learner.teach(X[0], label, id)])
        return True

    def teach(self, batch: Batch) -> LastCall:
        """Teach a batch, example by example."""
        rows, labels, ids, weights, at, _, encoder = batch
        learner, widen = self.learner, 0
        if encoder is not None and learner.width is not None:
            widen = encoder.width - learner.width
        return _last_call(learner.teach_many(rows, labels, ids, weights, at, widen=widen))

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return the learner's labels of rows."""
        with self.learner.reading():
            return self.learner.predict(self.to_width(rows))

    def explain(self, row: Any) -> Explanation:
        """Return the learner's explanation of a row."""
        with self.learner.reading():
            return self.learner.explain(self.to_width(row))

    def what_if(self, rows: Any, labels: list[Label]) -> list[WhatIf]:
        """Return for each row what it could disturb; a category that is new counts as 0."""
        if (encoder := self.encoder) is not None:
            rows = encoder.encode_known_many(rows)
        with self.learner.reading():
            rows = self.to_width(rows)
            return [self.learner.what_if(x, label) for x, label in zip(rows, labels, strict=True)]

    def predict_known(self, rows: Any) -> tuple[NDArray[Any], Bools]:
        """Return the learner's labels of rows, and whether all scores of a row are 0 or less."""
        with self.learner.reading():
            seen = _not_empty(self.learner.classes)
            unused = _unused_label(seen)
            labels = self.learner.predict(self.to_width(rows), unknown=unused)
        rejected = labels == unused
        labels[rejected] = seen[0]
        return labels.astype(seen.dtype), rejected

    def scores(self, rows: Any) -> tuple[NDArray[Any], Floats]:
        """Return the learner's labels and the scores of rows, from one state of the learner."""
        with self.learner.reading():
            return _not_empty(self.learner.classes), self.learner.scores(self.to_width(rows))

    def probabilities(self, rows: Any) -> tuple[NDArray[Any], Floats]:
        """Return the learner's labels and the probabilities of rows, from one state."""
        with self.learner.reading():
            return _not_empty(self.learner.classes), self.learner.probabilities(self.to_width(rows))

    def classes(self, seen: NDArray[Any]) -> NDArray[Any]:
        """Return the labels seen and announced, sorted, in the user's dtype."""
        codec = self.codec
        return codec.decode(codec.all_labels(seen))

    def spread(self, seen: NDArray[Any], values: NDArray[Any], empty: float) -> NDArray[Any]:
        """Return values (n, seen) with a column per class; announced ones are `empty`."""
        labels = self.codec.all_labels(seen)
        if len(labels) == len(seen):
            return values
        wide = np.full((len(values), len(labels)), empty)
        wide[:, [labels.index(label) for label in seen.tolist()]] = values
        return wide


def _noted_codec(learner: Learner) -> LabelCodec:
    notes = learner.notes.get(NOTES, {})
    default = STRINGS if learner.classes.dtype.kind == "U" else INT64
    dtype = np.dtype(notes["dtype"]) if notes else default
    return LabelCodec(dtype, tuple(notes.get("announced", ())))


def _noted_encoder(learner: Learner) -> TableEncoder | None:
    table = learner.notes.get(TABLE)
    try:
        return None if table is None else TableEncoder.restored(table)
    except InvalidInputError as error:
        raise _not_ours(TABLE) from error


def _not_ours(key: str) -> InvalidInputError:
    return InvalidInputError(
        f"The model's note {key!r} was not written by minout; "
        "remove it from `Learner.notes` and save the model again."
    )


def stored_model(parameters: dict[str, Any]) -> Model | None:
    """Return the model in the folder of a classifier; None if it has no folder, or no model."""
    folder = parameters["store"]
    if folder is None or not holds_model(Path(folder)):
        return None
    wanted = new_learner(parameters)
    learner = Learner.open(
        folder,
        durability=parameters["durability"],
        features=wanted.features,
        memory=wanted.memory,
        **{name: parameters[name] for name in SETTINGS},
    )
    if learner.is_new:
        learner.close()
        return None
    return Model.from_learner(learner)


def new_model(
    parameters: dict[str, Any],
    X: Any,
    y: Any,
    classes: Any,
    facts: RowFacts,
    *,
    may_balance: bool,
) -> tuple[Model, Batch]:
    """Return an empty model for the columns of X, and the checked input of the first call.

    `may_balance` says whether class weights may be computed from these labels.
    """
    learner, columns = new_learner(parameters), InputColumns()
    encoder = None
    if learner.features == Identity() and learner.memory is None:
        encoder = new_encoder(X, parameters["column_kinds"])
    if encoder is not None:
        learner = new_learner(parameters, missing="mean")
        rows, array = columns.check_frame_and_labels(X, y, first=True)
    elif takes_numbers(learner.features):
        rows, array = columns.check_table_and_labels(X, y, first=True)
    else:
        rows, array = columns.check_batch_and_labels(X, y)
    labels, dtype = encode_labels(array, None)
    codec, setting = LabelCodec(dtype), parameters["class_weight"]
    weight = check_sample_weight(facts.sample_weight, len(labels))
    if may_balance and isinstance(setting, str) and setting == BALANCED:
        class_weights = balanced(labels, weight)
    else:
        class_weights = check_class_weight(setting, codec)
    weights = class_weights.of_rows(labels, weight)
    batch = _batch(rows, labels, codec, classes, weights, facts, encoder)
    return Model(learner, columns, codec, class_weights, encoder), batch


def new_learner(parameters: dict[str, Any], **others: Any) -> Learner:
    """Return a learner with the parameters of a classifier, and others."""
    features = parameters["features"]
    if isinstance(features, str) and features == "scattering":
        features = Scattering(parameters["image_shape"])
    settings = {name: parameters[name] for name in SETTINGS}
    return Learner(**settings, features=features, memory=parameters["memory"], **others)


def parameters_of(learner: Learner, features: Any = None) -> dict[str, Any]:
    """Return the parameters of a classifier that would make such a learner.

    `features` is the user's own map, if there is one; built-in maps are given by name.
    """
    settings = {name: getattr(learner.settings, name) for name in SETTINGS}
    settings["memory"] = memory_name(learner.memory)
    encoder = _noted_encoder(learner)
    settings["column_kinds"] = (encoder and encoder.overrides) or None
    return settings | (_named(learner.features) if features is None else {"features": features})


def takes_numbers(features: FeatureMap) -> bool:
    """Return whether a map is one of minout's, which take rows of numbers."""
    return isinstance(features, Identity | RandomFourier | Scattering)


def _named(features: FeatureMap) -> dict[str, Any]:
    if features == Identity():
        return {"features": "identity"}
    if features == RandomFourier():
        return {"features": "random_fourier"}
    if isinstance(features, Scattering) and features == Scattering(features.image_shape):
        return {"features": "scattering", "image_shape": features.image_shape}
    return {"features": features}


def _batch(
    rows: Any,
    labels: list[Label],
    codec: LabelCodec,
    classes: Any,
    weights: Floats | None,
    facts: RowFacts,
    encoder: TableEncoder | None = None,
) -> Batch:
    if classes is not None:
        codec = codec.announce(classes)
    ids, at = check_ids(facts.ids, len(labels)), check_times(facts.at, len(labels))
    kept, listed = kept_rows(weights), None if weights is None else weights.tolist()
    if kept is not None:
        assert weights is not None
        rows, listed = _only(rows, kept), weights[kept].tolist()
        ids, at = (each and list(compress(each, kept)) for each in (ids, at))
        labels = list(compress(labels, kept))
    if encoder is not None:
        rows = encoder.encode_many(rows).row
    return Batch(rows, labels, ids, listed, at, codec, encoder)


def _only(rows: Any, kept: Bools) -> Any:
    if is_frame(rows):
        return rows.filter(kept) if hasattr(rows, "lazy") else rows[kept]  # polars, pandas
    return rows[kept] if isinstance(rows, np.ndarray) else list(compress(rows, kept))


def _last_call(reports: list[StepReport]) -> LastCall:
    gone = {id for each in reports for id in each.certificate.forgotten}
    return LastCall(
        [each.example_id for each in reports if each.example_id not in gone],
        [each.certificate for each in reports if each.certificate is not None],
    )


def _unused_label(seen: NDArray[Any]) -> Label:
    if seen.dtype.kind == "U":
        return "?" * (seen.dtype.itemsize // 4 + 1)
    used = set(seen.tolist())
    return next(number for number in range(len(seen) + 1) if number not in used)


def _not_empty(seen: NDArray[Any]) -> NDArray[Any]:
    if not len(seen):
        raise InvalidInputError("Every example has been forgotten; there is nothing to predict.")
    return seen


def _are_ours(notes: Any) -> bool:
    # Whether `set_codec` could have written them: a file may have been changed by someone else.
    if not isinstance(notes, dict):
        return False
    width, announced = notes.get("width"), notes.get("announced", [])
    return not notes or (
        (width is None or (isinstance(width, int) and width > 0))
        and _are_names(notes.get("names"))
        and isinstance(notes.get("dtype"), str)
        and re.fullmatch(r"[<>|=][UOifub]\d{0,6}", notes["dtype"]) is not None
        and isinstance(announced, list)
        and all(isinstance(each, int | str) for each in announced)
        and len({type(each) for each in announced}) <= 1
        and _are_weights(notes.get("class_weight"))
    )


def _are_columns(files: Any) -> bool:
    return isinstance(files, dict) and _are_names(files.get("columns"))


def _are_names(names: Any) -> bool:
    is_list = isinstance(names, list) and all(isinstance(each, str) for each in names)
    return names is None or is_list


def _are_weights(notes: Any) -> bool:
    if notes is None:
        return True
    if not isinstance(notes, dict) or not isinstance(notes.get("balanced"), bool):
        return False
    weights = notes.get("weights")
    return isinstance(weights, list) and all(
        isinstance(each, list)
        and len(each) == 2
        and isinstance(each[0], int | str)
        and isinstance(each[1], int | float)
        and each[1] >= 0.0
        for each in weights
    )
