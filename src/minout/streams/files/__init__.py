"""Read your own files one example at a time: CSV, JSON lines, Parquet, NPZ, images.

Labels in CSV are always strings. In JSON, Parquet and NPZ whole numbers stay whole numbers (3.0 is
3) and strings stay strings; true and false are the strings "true" and "false". The type of a label
does not depend on other rows.

Ids are always strings: 7 in Parquet is "7", as in a CSV, so that an example has the same id in
every kind of file.

The label of an image is the name of its folder, and its id is its path from the outer folder on,
such as "photos/cat/7.png". An image that is read alone has no label, and its id is its file name.
"""

from minout.streams.files.columns import RowsAs, join_names
from minout.streams.files.example import BadRowError, Example, Label, Reader
from minout.streams.files.read import read
from minout.streams.files.values import is_utf8

__all__ = ["BadRowError", "Example", "Label", "Reader", "RowsAs", "is_utf8", "join_names", "read"]
