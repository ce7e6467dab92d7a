"""What a learner is given: arrays, tables, texts, labels, ids; and what it knows of them."""

from minout.inputs.arguments import (
    LARGEST,
    LATEST,
    checked_id,
    checked_label,
    checked_time,
    checked_weight,
    each_row,
    listed_ids,
    listed_labels,
    listed_times,
    listed_weights,
    many_rows,
    one_row,
)
from minout.inputs.column import UNREADABLE
from minout.inputs.encoder import TableEncoder, checked_kinds
from minout.inputs.kinds import KINDS
from minout.inputs.labels import LabelCodec, is_integer, like_known
from minout.inputs.rows import NewRows, known_row, known_rows, new_row, new_rows
from minout.inputs.schema import NOTE, Schema, Source, checked_source
from minout.inputs.values import is_missing
from minout.inputs.weights import NO_CLASS_WEIGHTS, ClassWeights

__all__ = [
    "KINDS",
    "LARGEST",
    "LATEST",
    "NOTE",
    "NO_CLASS_WEIGHTS",
    "UNREADABLE",
    "ClassWeights",
    "LabelCodec",
    "NewRows",
    "Schema",
    "Source",
    "TableEncoder",
    "checked_id",
    "checked_kinds",
    "checked_label",
    "checked_source",
    "checked_time",
    "checked_weight",
    "each_row",
    "is_integer",
    "is_missing",
    "known_row",
    "known_rows",
    "like_known",
    "listed_ids",
    "listed_labels",
    "listed_times",
    "listed_weights",
    "many_rows",
    "new_row",
    "new_rows",
    "one_row",
]
