"""What a model knows of its inputs: columns, labels, class weights, and the columns of files."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from minout._typing import Label
from minout.errors import InvalidInputError
from minout.features import FeatureMap, Identity, Projection
from minout.inputs.encoder import TableEncoder
from minout.inputs.labels import LabelCodec
from minout.inputs.weights import NO_CLASS_WEIGHTS, ClassWeights

NOTE = "schema"
"""The key in a learner's notes under which its schema is stored."""


class Source(NamedTuple):
    """What later commands need to know of the files that a model was taught.

    Attributes
    ----------
    label, id : str or None
        The names of the columns of labels and of ids.
    decimal : str or None
        The decimal mark of numbers: "." or ",".
    image_shape : tuple of int or None
        The shape of images: (height, width) or (height, width, channels).
    size : tuple of int or None
        The height and width to which images are resized.
    """

    label: str | None = None
    id: str | None = None
    decimal: str | None = None
    image_shape: tuple[int, ...] | None = None
    size: tuple[int, int] | None = None


NO_SOURCE = Source()


@dataclass(frozen=True)
class Schema:
    """What a model knows of its inputs; it never changes, a step returns another.

    Attributes
    ----------
    features : FeatureMap
        The fixed map that turns examples into rows.
    width : int or None
        The number of columns of an example; None if nothing was taught, or if it has no columns.
    encoder : TableEncoder or None
        The columns of a table and their kinds; None if rows are arrays or go through a map.
    names : tuple of str or None
        The names of the columns of arrays, if they came from a data frame or from records.
    labels : LabelCodec or None
        The dtype in which a classifier returns labels, and the labels announced to it.
    class_weights : ClassWeights
        The class weights of a classifier.
    source : Source
        The label column, the id column and the like of files.
    """

    features: FeatureMap = Identity()  # noqa: RUF009, it never changes
    width: int | None = None
    encoder: TableEncoder | None = None
    names: tuple[str, ...] | None = None
    labels: LabelCodec | None = None
    class_weights: ClassWeights = NO_CLASS_WEIGHTS
    source: Source = NO_SOURCE

    @property
    def is_table(self) -> bool:
        """Whether rows are encoded from columns of any kind."""
        return self.encoder is not None and self.encoder.is_started

    @property
    def columns(self) -> list[str] | None:
        """The names of the columns that rows have; None if they have no names."""
        if self.encoder is not None and self.encoder.is_started:
            return self.encoder.columns
        return None if self.names is None else list(self.names)

    @property
    def column_kinds(self) -> dict[str, str]:
        """The kinds of columns that the user set."""
        return {} if self.encoder is None else dict(self.encoder.overrides)

    def described(self) -> dict[str, str]:
        """Return the kind of each named column and the reason."""
        if self.encoder is not None and self.encoder.is_started:
            return self.encoder.described()
        return dict.fromkeys(self.names or (), "number")

    def without_labels(self, gone: Iterable[Label]) -> "Schema":
        """Return the schema after labels have left the model.

        They are no longer announced, and have no balanced weight.
        """
        dropped, labels, weights = set(gone), self.labels, self.class_weights
        if labels is not None and dropped.intersection(labels.announced):
            kept = tuple(each for each in labels.announced if each not in dropped)
            labels = labels._replace(announced=kept)
        if weights.are_balanced and dropped.intersection(weights.of):
            of = {label: each for label, each in weights.of.items() if label not in dropped}
            weights = weights._replace(of=of)
        if labels is self.labels and weights is self.class_weights:
            return self
        return replace(self, labels=labels, class_weights=weights)

    def to_notes(self) -> dict[str, Any]:
        """Return plain values for JSON; the feature map is not among them."""
        notes: dict[str, Any] = {}
        if isinstance(self.features, Projection) and self.width is not None:
            notes["width"] = self.width  # rows of any other map tell it
        if self.encoder is not None:
            notes["table"] = self.encoder.to_notes()
        if self.names is not None:
            notes["names"] = list(self.names)
        if self.labels is not None:
            dtype, announced = self.labels
            notes["labels"] = {"dtype": dtype.str, "announced": list(announced)}
        if self.class_weights != NO_CLASS_WEIGHTS:
            of, are_balanced = self.class_weights
            notes["class_weights"] = {
                "balanced": are_balanced,
                "weights": [[*each] for each in of.items()],
            }
        source = {name: each for name, each in self.source._asdict().items() if each is not None}
        if source:
            notes["source"] = {
                name: list(each) if isinstance(each, tuple) else each
                for name, each in source.items()
            }
        return notes

    @classmethod
    def from_notes(cls, notes: Any, features: FeatureMap, width: int | None) -> "Schema":
        """Return the schema that `to_notes` described.

        Raises
        ------
        InvalidInputError
            If `to_notes` cannot have returned these notes for a model of this width.
        """
        try:
            schema = _read(notes, features, width)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                "What this model knows of its columns and labels was not written by minout; "
                "restore the model from a backup."
            ) from error
        return schema


def checked_source(source: Source) -> Source:
    """Return what is known of files; refuse values that it cannot have."""
    for name, value in (("label", source.label), ("id", source.id)):
        if value is not None and not isinstance(value, str):
            raise InvalidInputError(f"`{name}` is the name of a column, not {value!r}.")
    if source.decimal not in (None, ".", ","):
        raise InvalidInputError(f'`decimal` is "." or ",", not {source.decimal!r}.')
    return source._replace(
        image_shape=_checked_shape(source.image_shape, "image_shape", (2, 3)),
        size=cast(tuple[int, int] | None, _checked_shape(source.size, "size", (2,))),
    )


def _checked_shape(shape: Any, name: str, lengths: tuple[int, ...]) -> tuple[int, ...] | None:
    if shape is None:
        return None
    sizes = list(shape) if isinstance(shape, list | tuple) else []
    if len(sizes) not in lengths or not all(type(n) is int and 0 < n < 2**31 for n in sizes):
        raise InvalidInputError(f"`{name}` is a height and a width, not {shape!r}.")
    return tuple(sizes)


def _read(notes: Any, features: FeatureMap, width: int | None) -> Schema:
    if not isinstance(notes, dict):
        raise TypeError
    encoder, names, labels = None, notes.get("names"), None
    if "width" in notes:
        width = int(notes["width"])
    if "table" in notes:
        encoder = TableEncoder.from_notes(notes["table"])
        if encoder.is_started and width not in (None, encoder.width):
            raise ValueError
    if names is not None and not all(isinstance(each, str) for each in names):
        raise TypeError
    if "labels" in notes:
        dtype, announced = notes["labels"]["dtype"], notes["labels"]["announced"]
        if not re.fullmatch(r"[<>|=][UOifub]\d{0,6}", dtype) or not _are_labels(announced):
            raise ValueError
        labels = LabelCodec(np.dtype(dtype), tuple(announced))
    return Schema(
        features,
        width,
        encoder,
        None if names is None else tuple(names),
        labels,
        _read_weights(notes.get("class_weights")),
        checked_source(Source(**notes.get("source", {}))),
    )


def _read_weights(notes: Any) -> ClassWeights:
    if notes is None:
        return NO_CLASS_WEIGHTS
    of, are_balanced = dict(notes["weights"]), notes["balanced"]
    if not isinstance(are_balanced, bool) or not _are_labels(list(of)):
        raise TypeError
    if not all(isinstance(each, int | float) and each >= 0.0 for each in of.values()):
        raise ValueError
    return ClassWeights(of, are_balanced)


def _are_labels(values: Any) -> bool:
    return isinstance(values, list) and {type(each) for each in values} in ({int}, {str}, set())
