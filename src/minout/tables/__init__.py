"""Tables as they are: numbers, categories, truth values, dates and missing values in any mix."""

from minout.tables.encoder import Encoded, Mark, TableEncoder
from minout.tables.frames import is_frame
from minout.tables.kinds import KINDS

__all__ = ["KINDS", "Encoded", "Mark", "TableEncoder", "is_frame"]
