"""Read users' files in batches: CSV, JSON, Parquet, NPZ, images and standard input.

The rows of a table are records: dicts of column names to values, as text (CSV) or as they are in
the file (JSON, Parquet). Nothing is said here about the kinds of columns. The rows of NPZ files and
images are arrays.

Labels are strings in CSV. Elsewhere whole numbers stay numbers (3.0 is 3), and true is "true". Ids
are strings in every file. The label of an image is the name of its folder, and its id is its path
from the outer folder on, such as "photos/cat/7.png".
"""

from minout.files.read import read
from minout.files.reader import BadRowError, Batch, Reader, Record
from minout.files.text import open_text
from minout.files.values import join_names, parse_label

__all__ = [
    "BadRowError",
    "Batch",
    "Reader",
    "Record",
    "join_names",
    "open_text",
    "parse_label",
    "read",
]
