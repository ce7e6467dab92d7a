"""What a learner is given: arrays, tables, texts, labels, ids; and what it knows of them."""

from minout.inputs.arguments import (
    LARGEST,
    checked_id,
    checked_label,
    checked_time,
    checked_weight,
    each_row,
    listed_ids,
    listed_labels,
    listed_times,
    listed_weights,
)
from minout.inputs.encoder import TableEncoder, checked_kinds
from minout.inputs.kinds import KINDS
from minout.inputs.labels import is_integer, like_known
from minout.inputs.rows import NewRows, known_row, known_rows, new_row, new_rows
from minout.inputs.schema import Schema, checked_source
