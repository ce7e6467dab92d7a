"""Users' own files, read one example at a time: CSV, JSON lines, Parquet, NPZ, folders of images.

Labels from CSV are always strings, whatever they look like. JSON, Parquet and NPZ keep whole
numbers as whole numbers (3.0 is 3) and strings as strings; true and false are the strings "true"
and "false". Ids are always strings: 7 in Parquet is "7", as in a CSV, so that an example has one id
whatever file it comes from. An image's label is the name of the folder it lies in, its id is its
path from the outer folder on, such as "photos/cat/7.png". What a label is never depends on other
rows.
"""

from minout.streams.files.columns import listed
from minout.streams.files.example import BadRowError, Example, Label, Reader
from minout.streams.files.read import read
from minout.streams.files.values import is_unicode

__all__ = ["BadRowError", "Example", "Label", "Reader", "is_unicode", "listed", "read"]
