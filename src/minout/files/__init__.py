"""Read users' files in batches: CSV, JSON, Parquet, NPZ, images and standard input.

The rows of a table are records: dicts of column names to values, as text (CSV) or as they are in
the file (JSON, Parquet). The rows of NPZ files and images are arrays. Labels are strings in CSV;
elsewhere whole numbers stay numbers (3.0 is 3), and true is "true". Ids are strings. The label of
an image is the name of its folder, and its id is its path, such as "photos/cat/7.png".
"""

from minout.files.read import read
from minout.files.reader import BadRowError, Batch, Reader
from minout.files.tables import REMEMBERED
from minout.files.text import open_text
from minout.files.values import parse_label
