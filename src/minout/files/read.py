"""Open a file by its suffix, a folder of images, or standard input, and read it in batches."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

from minout.errors import InvalidInputError, MissingDataError
from minout.files.csv_rows import CsvReader
from minout.files.images import SUFFIXES, ImageReader
from minout.files.json_rows import JsonReader
from minout.files.npz import NpzReader
from minout.files.parquet import ParquetReader
from minout.files.reader import BadRowError, Options, Reader
from minout.files.text import (
    COMPRESSIONS,
    Lines,
    TextReader,
    check_file,
    checked_encoding,
    open_text,
)

CSV = (".csv", ".tsv", ".txt")
JSON = (".jsonl", ".ndjson", ".json")
STANDARD_INPUT = "standard input"


def read(
    source: str | Path,
    *,
    label: str | None = None,
    id: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    skip: Callable[[BadRowError], None] | None = None,
    size: tuple[int, int] | None = None,
    image_shape: tuple[int, ...] | None = None,
) -> Reader:
    r"""Open a file to read it in batches.

    Parameters
    ----------
    source : str or Path
        A CSV with a header (.csv, .tsv, .txt), JSON lines (.jsonl, .ndjson) or an array of objects
        (.json), all also compressed (.gz, .bz2, .xz, .zst); Parquet; NPZ (arrays X, y, ids); a
        folder of images, or one image; or "-": JSON lines or CSV on standard input. A batch of
        standard input is what has arrived.
    label, id : str, optional
        The columns of labels and ids. If the file has none, labels and ids are None;
        `Reader.require` raises an error then.
    encoding : str, default="utf-8"
        The encoding of a text file, by its name in Python.
    decimal : {".", ","}, default="."
        The decimal separator of numbers in a CSV.
    skip : callable, optional
        Called with the error for each row that cannot be read, which is then skipped. By default
        the first such row ends the file: see `Batch.error`.
    size : tuple of int, optional
        The height and width to which images are resized.
    image_shape : tuple of int, optional
        The shape that images must have; by default that of the first one.

    Returns
    -------
    Reader
        An iterable of batches, and a context manager that closes the file.

    Raises
    ------
    InvalidInputError
        If the content does not fit.
    MissingDataError
        If there is no such file, or if it is damaged.
    MissingExtraError
        If a library for this type of file is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pets.csv")
    >>> _ = path.write_text("name,kind,legs\ntom,cat,4\npip,bird,2\n")
    >>> with read(path, label="kind", id="name") as reader:
    ...     for batch in reader:
    ...         print(batch.X, batch.labels, batch.ids, batch.lines)
    [{'legs': '4'}, {'legs': '2'}] ['cat', 'bird'] ['tom', 'pip'] [2, 3]
    """
    if decimal not in (".", ","):
        raise InvalidInputError(f"--decimal is . or a comma, not {decimal!r}.")
    if label is not None and label == id:
        raise InvalidInputError(f"The column {label!r} cannot be both label and id.")
    options = Options(label, id, skip)
    if str(source) == "-":
        return _standard_input(options, encoding, decimal)
    path = Path(source)
    check_file(path)
    suffix = path.suffix.lower()
    if path.is_dir() or suffix in SUFFIXES:
        return ImageReader(path, options, image_shape, size)
    if suffix == ".npz":
        return NpzReader(path, options)
    if suffix == ".parquet":
        return ParquetReader(path, options)
    return _text(path, options, encoding, decimal)


def _text(path: Path, options: Options, encoding: str, decimal: str) -> Reader:
    suffix = path.suffix.lower()
    inner = Path(path.stem).suffix.lower() if suffix in COMPRESSIONS else suffix
    if inner not in (*CSV, *JSON):
        raise InvalidInputError(
            f"{path} has a suffix that minout does not read; pass {', '.join((*CSV, *JSON))}, also "
            f"compressed ({', '.join(COMPRESSIONS)}), .parquet, .npz, an image or a folder of "
            "images, or - for standard input."
        )
    lines = open_text(path, encoding)
    try:
        first = lines.first()
        if not first:
            raise InvalidInputError(f"{path} is empty; it needs rows.")
        if inner in CSV:
            return CsvReader(lines, options, decimal, first)
        return JsonReader(lines, options, first)
    except BaseException:
        lines.close()
        raise


def _standard_input(options: Options, encoding: str, decimal: str) -> Reader:
    """Read JSON lines, or CSV if the first line is no JSON object; it may be empty."""
    if sys.stdin is None:
        raise MissingDataError("Standard input is closed; pass a file, or pipe rows in.")
    stream = cast(io.BufferedReader, sys.stdin.buffer)
    lines = Lines(stream.read1, STANDARD_INPUT, checked_encoding(encoding))
    first = lines.first()
    reader: TextReader
    if not first or first.lstrip().startswith("{"):
        reader = JsonReader(lines, options, first)
        reader.columns = None  # the first object may be a bad one
    else:
        reader = CsvReader(lines, options, decimal, first)
    reader.is_live = True
    return reader
