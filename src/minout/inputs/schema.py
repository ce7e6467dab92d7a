"""What a model knows of its inputs: columns, labels, class weights, and the columns of files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Label
from minout.errors import InvalidInputError
from minout.features import FeatureMap, Identity, Projection
from minout.inputs.arguments import checked_label
from minout.inputs.encoder import TableEncoder
from minout.inputs.labels import INT64, STRINGS, LabelCodec
from minout.inputs.weights import NO_CLASS_WEIGHTS, ClassWeights


class Source(NamedTuple):
    """What later commands need to know of the files that a model was taught.

    `decimal` is the mark of numbers, "." or ","; images are resized to `size`, height and width.
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
    source : Source
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
    def columns_in(self) -> int | None:
        """The number of columns of an example, before they are encoded."""
        return self.width if self.columns is None else len(self.columns)

    @property
    def column_kinds(self) -> dict[str, str]:
        """The kinds of columns that the user set."""
        return {} if self.encoder is None else dict(self.encoder.overrides)

    def described(self) -> dict[str, str]:
        """Return the kind of each named column and the reason."""
        if self.encoder is not None and self.encoder.is_started:
            return self.encoder.described()
        return dict.fromkeys(self.names or (), "number")

    def label_codec(self, known: Sequence[Label]) -> LabelCodec:
        """Return how labels are converted; those that no classifier has taught stay as stored."""
        if self.labels is not None or not known:
            return self.labels or LabelCodec()
        return LabelCodec(STRINGS if isinstance(known[0], str) else INT64)

    def all_labels(self, known: Iterable[Label]) -> list[Label]:
        """Return the labels of the model and the announced ones, sorted, as they are stored."""
        return sorted({*known, *(self.labels.announced if self.labels else ())})

    def with_labels(self, labels: LabelCodec, class_weights: ClassWeights) -> "Schema":
        """Return a schema with these labels and class weights; the same one if it has them."""
        if (labels, class_weights) == (self.labels, self.class_weights):
            return self
        return replace(self, labels=labels, class_weights=class_weights)

    def without_labels(self, gone: Iterable[Label]) -> "Schema":
        """Return the schema after labels have left the model: not announced, no balanced weight."""
        dropped, labels, weights = set(gone), self.labels, self.class_weights
        if labels is not None:
            kept = tuple(each for each in labels.announced if each not in dropped)
            labels = labels._replace(announced=kept)
        if weights.are_balanced:
            of = {label: each for label, each in weights.of.items() if label not in dropped}
            weights = weights._replace(of=of)
        same = (labels, weights) == (self.labels, self.class_weights)
        return self if same else replace(self, labels=labels, class_weights=weights)

    def to_notes(self) -> dict[str, Any]:
        """Return plain values for JSON; the feature map is not among them."""
        notes: dict[str, Any] = {}
        if isinstance(self.features, Projection) and self.width is not None:
            notes["width"] = self.width  # rows of any other map tell it
        if self.encoder is not None:
            notes["table"] = self.encoder.to_notes()
        if self.names is not None:
            notes["names"] = list(self.names)
        if self.labels is not None and self.labels.dtype is not None:
            announced = list(self.labels.announced)
            notes["labels"] = {"dtype": self.labels.dtype.str, "announced": announced}
        if self.class_weights != NO_CLASS_WEIGHTS:
            of, are_balanced = self.class_weights
            notes["class_weights"] = {"balanced": are_balanced, "weights": [*map(list, of.items())]}
        source = {name: each for name, each in self.source._asdict().items() if each is not None}
        if source:
            notes["source"] = source
        return notes

    @classmethod
    def from_notes(cls, notes: Any, features: FeatureMap, width: int | None) -> "Schema":
        """Return the schema that `to_notes` described, of a model of this width."""
        try:
            return _read(notes, features, width)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                "What this model knows of its columns and labels was not written by minout; "
                "restore the model from a backup."
            ) from error


def checked_source(source: Source) -> Source:
    """Return what is known of files; refuse values that it cannot have."""
    for name, value in (("label", source.label), ("id", source.id)):
        if value is not None and not isinstance(value, str):
            raise InvalidInputError(f"`{name}` is the name of a column, not {value!r}.")
    if source.decimal not in (None, ".", ","):
        raise InvalidInputError(f'`decimal` is "." or ",", not {source.decimal!r}.')
    shapes: dict[str, Any] = {}
    for name, shape, lengths in (
        ("image_shape", source.image_shape, (2, 3)),
        ("size", source.size, (2,)),
    ):
        if shape is not None:
            sizes = tuple(shape) if isinstance(shape, list | tuple) else ()
            if len(sizes) not in lengths or not all(type(n) is int and n > 0 for n in sizes):
                raise InvalidInputError(f"`{name}` is a height and a width, not {shape!r}.")
            shapes[name] = sizes
    return source._replace(**shapes)


def _read(notes: Any, features: FeatureMap, width: int | None) -> Schema:
    width, encoder, labels = notes.get("width", width), None, None
    names, class_weights = notes.get("names"), NO_CLASS_WEIGHTS
    if "table" in notes:
        encoder = TableEncoder.from_notes(notes["table"])
        if encoder.is_started and width not in (None, encoder.width):
            raise ValueError("The columns are not those of the rows.")
    if "labels" in notes:
        dtype, announced = notes["labels"]["dtype"], notes["labels"]["announced"]
        labels = LabelCodec(np.dtype(dtype), tuple(checked_label(y, announced) for y in announced))
    if "class_weights" in notes:
        noted = notes["class_weights"]
        of = {label: float(each) for label, each in noted["weights"]}
        class_weights = ClassWeights(of, bool(noted["balanced"]))
    source = checked_source(Source(**notes.get("source", {})))
    named = None if names is None else tuple(map(str, names))
    return Schema(features, width, encoder, named, labels, class_weights, source)
