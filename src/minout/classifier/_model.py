"""A learner together with the classifier's own state: columns, labels, the last call."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Id, Label
from minout.classifier._inputs import (
    InputColumns,
    check_batch,
    check_ids,
    check_record,
    check_times,
    checked_kinds,
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
from minout.errors import InvalidInputError, UnwritableError
from minout.features import (
    FeatureMap,
    HashedText,
    Identity,
    Projection,
    RandomFourier,
    Scattering,
    is_sparse,
    refuse_masked,
    takes_rows,
)
from minout.learner import Learner
from minout.store import holds_model
from minout.tables import NOTE as TABLE
from minout.tables import TableEncoder, is_frame

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
_DEFAULTS: dict[str, FeatureMap] = {
    "identity": Identity(),
    "random_fourier": RandomFourier(),
    "projection": Projection(),
    "text": HashedText(),
}
"""The maps that are given by name."""


class LastCall(NamedTuple):
    """The ids that the last call taught, and the certificate of each step."""

    ids: list[Id]
    certificates: list[Certificate]


class RowFacts(NamedTuple):
    """The arguments of a call about its rows, except their labels: weights, ids and times."""

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


class Noted(NamedTuple):
    """The codec and the class weights, and the entry in the learner's notes that describes them.

    The entry is None if the learner was never used by a classifier. `table` is the entry that
    describes the encoder of data frames; both are None for other rows.
    """

    entry: dict[str, Any] | None
    codec: LabelCodec
    class_weights: ClassWeights
    table: dict[str, Any] | None = None
    encoder: TableEncoder | None = None


class Mark(NamedTuple):
    """What changes when an example is taught or forgotten, or a label is new or leaves.

    `ids` are the stored ones, if there is a window; otherwise their number tells enough. `width` is
    the number of columns of an example.
    """

    stored: int
    ids: list[Id] | None
    labels: list[Label]
    width: int | None


class Model:
    """One learner, the columns of its tables, and the codec of its labels.

    The codec can always decode the labels of the learner, also with several threads: teaching
    replaces `codec` before the learner changes, and predicting reads it after the scores.

    With an encoder, rows of a data frame are encoded. It is never changed, but replaced before the
    learner changes. Rows that are encoded by an older or a newer one only differ in the numbers at
    their end, and are brought to the width of the learner: see `to_width`.
    """

    def __init__(self, learner: Learner, columns: InputColumns, noted: Noted) -> None:
        self.learner = learner
        self.columns = columns
        self.is_read_only = False
        """Whether the learner's folder could be opened to be read only."""
        self.takes_numbers = takes_tables(learner.features)
        self._keep_sparse = isinstance(learner.features, Projection)
        self.plain_width: int | None = None
        """The width of arrays that need no further checks; None if all need them."""
        has_names = hasattr(columns, "feature_names_in_")
        if self.takes_numbers and noted.encoder is None and not has_names:
            self.plain_width = getattr(columns, "n_features_in_", None)
        self.last = LastCall([], [])
        self._noted = noted

    @classmethod
    def from_learner(cls, learner: Learner) -> "Model":
        """Return a model around a learner that was saved by any part of minout."""
        noted = _read_notes(learner, learner.notes.get(NOTES), learner.notes.get(TABLE))
        notes, files = noted.entry or {}, learner.notes.get(FILES, {})
        if not _are_columns(files):
            raise _not_ours(FILES)
        encoder = noted.encoder
        if encoder is not None and encoder.width != learner.width:
            raise _not_ours(TABLE)
        names = (notes or {"names": files.get("columns")}).get("names")
        if names is None and not notes and encoder is not None:
            names = encoder.columns
        columns = InputColumns()
        width = notes.get("width") if names is None else len(names)
        is_array = encoder is None and isinstance(learner.features, Identity)
        if not notes and is_array and len(learner):
            width = len(learner.example(learner.ids[0])[0])
        if width is not None:
            columns.n_features_in_ = width
        if names is not None:
            columns.feature_names_in_ = np.array(names, dtype=object)
        return cls(learner, columns, noted)

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
    def noted(self) -> Noted:
        """What the notes describe; read again if another process replaced them."""
        learner, noted = self.learner, self._noted
        entry, table = learner.notes.get(NOTES), learner.notes.get(TABLE)
        is_gone = table is None and noted.table is not None
        if entry is None or is_gone:  # also for a moment while another thread reads the newest
            with learner.reading():
                entry, table = learner.notes.get(NOTES), learner.notes.get(TABLE)
        if entry is not noted.entry or table is not noted.table:
            self._noted = noted = _read_notes(learner, entry, table)
        return noted

    @property
    def codec(self) -> LabelCodec:
        """The codec of the labels."""
        return self.noted.codec

    @property
    def class_weights(self) -> ClassWeights:
        """The class weights in effect."""
        return self.noted.class_weights

    @property
    def encoder(self) -> TableEncoder | None:
        """The encoder of data frames; None if rows are taken as they are."""
        return self.noted.encoder

    def note(
        self,
        codec: LabelCodec,
        class_weights: ClassWeights,
        encoder: TableEncoder | None = None,
    ) -> None:
        """Replace codec and class weights, also in the notes of the learner, which are saved.

        So is the encoder, if one is given.
        """
        before = noted = self.noted
        known = before.entry
        if known is None or (codec, class_weights) != (before.codec, before.class_weights):
            if known is None:
                names = getattr(self.columns, "feature_names_in_", None)
                width = getattr(self.columns, "n_features_in_", None)
                known = {"width": width, "names": None if names is None else names.tolist()}
            entry = {**known, "dtype": codec.dtype.str, "announced": list(codec.announced)}
            entry.pop("class_weight", None)
            if (weights := class_weights.to_notes()) is not None:
                entry["class_weight"] = weights
            noted = noted._replace(entry=entry, codec=codec, class_weights=class_weights)
        if encoder is not None and (table := encoder.described()) != before.table:
            noted = noted._replace(table=table, encoder=encoder)
        if noted is not before:
            self._put(noted)

    def note_without(self, ids: list[Id], label: Label | None = None) -> None:
        """Drop labels that leave the model with these examples from what is noted.

        They are no longer announced, and have no balanced weight. `label` leaves in any case.
        """
        codec, weights = self.codec, self.class_weights
        if not len(self.learner) or not (codec.announced or weights.are_balanced):
            return
        gone = {each for each in ids if each in self.learner}
        had, left = set[Label](), set[Label]()
        for name, regions in self.learner.regions().items():
            had.add(name)
            if not all(gone.issuperset(each) for each in regions):
                left.add(name)
        for each, earlier in self.learner.corrected.items():
            had.update(earlier)
            if each not in gone:
                left.update(earlier)
        dropped = (had - left) | {label}
        announced = tuple(each for each in codec.announced if each not in dropped)
        if weights.are_balanced:
            of = {name: each for name, each in weights.of.items() if name not in dropped}
            weights = weights._replace(of=of)
        self.note(codec._replace(announced=announced), weights)

    def ids_of(self, label: Label) -> list[Id]:
        """Return the ids of the examples of a label."""
        return [id for region in self.learner.regions().get(label, []) for id in region]

    def _put(self, noted: Noted) -> None:
        self._noted = noted
        for key, entry in ((NOTES, noted.entry), (TABLE, noted.table)):
            if entry is None:
                self.learner.notes.pop(key, None)
            else:
                self.learner.notes[key] = entry

    @contextmanager
    def turn(self) -> Iterator[Mark]:
        """Hold the write lock of the learner's folder during one change of the learner.

        The block begins with the newest state and notes. If it raises an error or is interrupted
        before the learner has changed, or if the change cannot be committed, the notes stay.
        """
        before: tuple[Noted, Mark] | None = None
        try:
            with self.learner.turn():
                before = self.noted, self._mark()
                yield before[1]
        except BaseException:
            if before is not None and before[1] == self._mark():
                self._put(before[0])
            raise

    def _mark(self) -> Mark:
        learner = self.learner
        ids = None if learner.settings.keep == "all" else learner.ids
        return Mark(len(learner), ids, learner.classes.tolist(), learner.width)

    def taught_since(self, mark: Mark) -> list[Id]:
        """Return the ids taught since a turn began, without those forgotten since."""
        ids = self.learner.ids
        if mark.ids is None:
            return ids[mark.stored :]
        known = set(mark.ids)
        return [each for each in ids if each not in known]

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
        if not self.takes_numbers:
            return check_batch(X)
        return self.columns.check_table(X, keep_sparse=self._keep_sparse)

    def check_row(self, x: Any) -> Any:
        """Return one row from a row (columns,) or from a table with one row."""
        if not self.takes_numbers:
            return x
        if (encoder := self.encoder) is not None and not is_frame(x):
            return encoder.encode_known(check_record(x))
        refuse_masked(x, "x holds")
        if is_sparse(x) and x.ndim == 1:
            x = x.reshape(1, -1)
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
        if rows.shape[0] != 1:
            raise InvalidInputError(f"One row was expected, but x has {rows.shape[0]}.")
        return rows if is_sparse(rows) else rows[0]

    def check_rows_and_labels(self, X: Any, y: Any) -> tuple[Any, list[Label], LabelCodec]:
        """Return rows, their labels, and a codec that can decode the labels.

        The rows of a table are still a data frame.
        """
        if self.encoder is not None:
            rows, labels = self.columns.check_frame_and_labels(X, y)
        elif self.takes_numbers:
            rows, labels = self.columns.check_table_and_labels(X, y, keep_sparse=self._keep_sparse)
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
        (sample_weight, ids, at), noted = facts, self.noted
        if sample_weight is not None or at is not None or noted.class_weights != NO_CLASS_WEIGHTS:
            return False
        label, id = single_label(y, noted.codec.dtype), single_id(ids)
        if label is None or (id is None and ids is not None):
            return False
        if not is_plain_array(X, self.plain_width) or len(X) != 1:
            return False
        self.last = _last_call([self.learner.teach(X[0], label, id)])
        return True

    def teach(self, batch: Batch) -> LastCall:
        """Teach a batch, example by example."""
        rows, labels, ids, weights, at, _, encoder = batch
        learner, widen, blocks = self.learner, 0, None
        if encoder is not None:
            width = learner.width
            widen = 0 if width is None else encoder.width - width
            if learner.settings.blocks != tuple(encoder.blocks):
                blocks = encoder.blocks
                if width == encoder.width:  # a model that was taught without blocks
                    learner.set_blocks(blocks)
        reports = learner.teach_many(rows, labels, ids, weights, at, widen=widen, blocks=blocks)
        return _last_call(reports)

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
            each_row = (rows[[i]] for i in range(len(labels))) if is_sparse(rows) else rows
            pairs = zip(each_row, labels, strict=True)
            return [self.learner.what_if(x, label) for x, label in pairs]

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
        """Return values (n, seen) with a column per class; those without examples are `empty`."""
        labels = self.codec.all_labels(seen)
        if len(labels) == len(seen):
            return values
        wide = np.full((len(values), len(labels)), empty)
        wide[:, [labels.index(label) for label in seen.tolist()]] = values
        return wide


def _read_notes(learner: Learner, entry: Any, table: Any) -> Noted:
    encoder = _read_encoder(table)
    if entry is None:
        codec = LabelCodec(STRINGS if learner.classes.dtype.kind == "U" else INT64)
        return Noted(None, codec, NO_CLASS_WEIGHTS, table, encoder)
    if not _are_ours(entry):
        raise _not_ours(NOTES)
    codec = LabelCodec(np.dtype(entry["dtype"]), tuple(entry.get("announced", ())))
    class_weights = ClassWeights.from_notes(entry.get("class_weight"))
    return Noted(entry, codec, class_weights, table, encoder)


def _read_encoder(table: Any) -> TableEncoder | None:
    try:
        return None if table is None else TableEncoder.restored(table)
    except InvalidInputError as error:
        raise _not_ours(TABLE) from error


def _not_ours(key: str) -> InvalidInputError:
    return InvalidInputError(
        f"The model's note {key!r} was not written by minout; "
        "remove it from `Learner.notes` and save the model again."
    )


def stored_model(parameters: dict[str, Any], *, to_change: bool = False) -> Model | None:
    """Return the model in the folder of a classifier; None if it has no folder, or no model.

    Unless it is `to_change`, a folder that cannot be written to is opened to be read only.
    """
    folder = parameters["store"]
    if folder is None or not holds_model(Path(folder)):
        return None
    try:
        return _opened_model(parameters, read_only=False)
    except UnwritableError:
        if to_change:
            raise
        return _opened_model(parameters, read_only=True)


def _opened_model(parameters: dict[str, Any], *, read_only: bool) -> Model | None:
    wanted = new_learner(parameters)
    learner = Learner.open(
        parameters["store"],
        durability=parameters["durability"],
        read_only=read_only,
        features=wanted.features,
        memory=wanted.memory,
        **{name: parameters[name] for name in SETTINGS},
    )
    try:
        if learner.is_new:
            learner.close()
            return None
        model = Model.from_learner(learner)
        model.is_read_only = read_only
        _require_class_weight(model, parameters)
        _require_column_kinds(model, parameters)
    except BaseException:
        learner.close()
        raise
    return model


def _require_class_weight(model: Model, parameters: dict[str, Any]) -> None:
    wanted, has = parameters["class_weight"], model.class_weights
    if isinstance(wanted, str) and wanted == BALANCED:
        is_same = has.are_balanced
    else:
        is_same = check_class_weight(wanted, model.codec) == has
    if not is_same:
        raise InvalidInputError(
            f"The model in {parameters['store']} was made with "
            f"class_weight={model.class_weight()!r}, not {wanted!r}; pass the same."
        )


def _require_column_kinds(model: Model, parameters: dict[str, Any]) -> None:
    wanted = parameters["column_kinds"]
    has = model.encoder.overrides if model.encoder is not None else {}
    if wanted is not None and checked_kinds(wanted) != has:
        raise InvalidInputError(
            f"The model in {parameters['store']} was made with column_kinds={has or None!r}, not "
            f"{wanted!r}; pass the same, or leave it out."
        )


def new_model(
    parameters: dict[str, Any],
    X: Any,
    y: Any,
    classes: Any,
    facts: RowFacts,
    *,
    has_all_labels: bool,
) -> tuple[Model, Batch]:
    """Return an empty model for the columns of X, and the checked input of the first call.

    `has_all_labels` says that class weights may be computed from these labels, and that others
    among the class weights are mistakes.
    """
    if parameters["store"] is None and parameters["durability"] != "batch":
        raise InvalidInputError(
            "`durability` is for a model in a folder; name the folder as `store`, or leave "
            "`durability` out."
        )
    learner, columns = new_learner(parameters), InputColumns()
    encoder = None
    if learner.features == Identity() and learner.memory is None:
        encoder = new_encoder(X, parameters["column_kinds"])
    if encoder is not None:
        learner = new_learner(parameters, missing="mean")
        rows, array = columns.check_frame_and_labels(X, y, first=True)
    elif takes_tables(learner.features):
        keep_sparse = isinstance(learner.features, Projection)
        rows, array = columns.check_table_and_labels(X, y, keep_sparse=keep_sparse, first=True)
    else:
        rows, array = columns.check_batch_and_labels(X, y)
    labels, dtype = encode_labels(array, None)
    codec, setting = LabelCodec(dtype), parameters["class_weight"]
    weight = check_sample_weight(facts.sample_weight, len(labels))
    if has_all_labels and isinstance(setting, str) and setting == BALANCED:
        class_weights = balanced(labels, weight)
    else:
        class_weights = check_class_weight(setting, codec)
        if has_all_labels:
            class_weights.require_labels(labels)
    weights = class_weights.of_rows(labels, weight)
    batch = _batch(rows, labels, codec, classes, weights, facts, encoder)
    model = Model(learner, columns, Noted(None, codec, class_weights, None, encoder))
    model.note(codec, class_weights, encoder)
    return model, batch


def new_learner(parameters: dict[str, Any], **others: Any) -> Learner:
    """Return a learner with the parameters of a classifier, and others."""
    features = parameters["features"]
    if isinstance(features, str) and features == "scattering":
        features = Scattering(parameters["image_shape"])
    settings = {name: parameters[name] for name in SETTINGS}
    return Learner(**settings, features=features, memory=parameters["memory"], **others)


def parameters_of(learner: Learner, features: Any = None) -> dict[str, Any]:
    """Return the parameters with which a classifier makes such a learner.

    `features` is the user's own map, if there is one; built-in maps are given by name.
    """
    settings = {name: getattr(learner.settings, name) for name in SETTINGS}
    settings["memory"] = memory_name(learner.memory)
    encoder = _read_encoder(learner.notes.get(TABLE))
    settings["column_kinds"] = (encoder and encoder.overrides) or None
    return settings | (_named(learner.features) if features is None else {"features": features})


def takes_tables(features: FeatureMap) -> bool:
    """Return whether a map takes tables of numbers, which scikit-learn can check."""
    return takes_rows(features) or isinstance(features, Projection)


def _named(features: FeatureMap) -> dict[str, Any]:
    for name, default in _DEFAULTS.items():
        if features == default:
            return {"features": name}
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
    can_index = isinstance(rows, np.ndarray) or is_sparse(rows)
    return rows[kept] if can_index else list(compress(rows, kept))


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
    # Whether `Model.note` could have written them: a file may have been changed by someone else.
    if not isinstance(notes, dict):
        return False
    width, announced = notes.get("width"), notes.get("announced", [])
    return (
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
