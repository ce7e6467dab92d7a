"""Encode tables: columns of numbers, categories, booleans, dates and text, with missing values."""

from minout.tables.decoding import HASHED
from minout.tables.encoder import Encoded, Mark, TableEncoder
from minout.tables.frames import is_frame, is_plain
from minout.tables.kinds import KINDS
from minout.tables.values import is_missing

NOTE = "table"
"""The key in a learner's notes under which the description of its encoder is stored."""

__all__ = [
    "HASHED",
    "KINDS",
    "NOTE",
    "Encoded",
    "Mark",
    "TableEncoder",
    "is_frame",
    "is_missing",
    "is_plain",
]
