"""Tables as they are: numbers, categories, truth values, dates, text and missing values."""

from minout.tables.encoder import Encoded, Mark, TableEncoder
from minout.tables.frames import is_frame, is_plain
from minout.tables.kinds import KINDS
from minout.tables.values import is_missing

NOTE = "table"
"""The key under which a learner's notes hold the description of the encoder of its rows."""

__all__ = ["KINDS", "NOTE", "Encoded", "Mark", "TableEncoder", "is_frame", "is_missing", "is_plain"]
