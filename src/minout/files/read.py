"""Open a file by its suffix, a folder of images, or standard input, and read it in batches."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from minout.errors import InvalidInputError, MissingDataError
from minout.files.arrays import SUFFIXES, image_content, npz_content
from minout.files.reader import BadRowError, Reader
from minout.files.tables import REMEMBERED, csv_content, json_content, parquet_content
from minout.files.text import (
    COMPRESSIONS,
    Lines,
    check_file,
    checked_encoding,
    open_text,
    unreadable,
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
    r"""Open a file to read it in batches: a context manager that closes it.

    `source` is a file, a folder of images, or "-" for standard input, of which a batch is what has
    arrived; `minout learn --help` lists the kinds of files. `label` and `id` name columns (see
    `Reader.require`), `decimal` is the decimal mark of numbers in a CSV, or `REMEMBERED`. `skip` is
    called with the error for each row that cannot be read, and the row is left out; by default the
    first such row ends the file (see `Batch.error`). Images are resized to `size` (height, width)
    and must have the shape `image_shape`, by default that of the first one. Symbolic links to
    images and to folders of them are followed; `Reader.note` says how many images they take from
    elsewhere.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pets.csv")
    >>> _ = path.write_text("name,kind,legs\ntom,cat,4\npip,bird,2\n")
    >>> with read(path, label="kind", id="name") as reader:
    ...     for batch in reader:
    ...         print(batch.X, batch.labels, batch.ids, batch.lines)
    [{'legs': '4'}, {'legs': '2'}] ['cat', 'bird'] ['tom', 'pip'] [2, 3]
    """
    if decimal not in (".", ",", REMEMBERED):
        raise InvalidInputError(f"--decimal is . or a comma, not {decimal!r}.")
    if label is not None and label == id:
        raise InvalidInputError(f"The column {label!r} cannot be both label and id.")
    options: dict[str, Any] = {"label": label, "id": id, "skip": skip}
    if str(source) == "-":
        return _standard_input(encoding, decimal, options)
    path = Path(source)
    check_file(path)
    suffix = path.suffix.lower()
    try:
        if path.is_dir() or suffix in SUFFIXES:
            content = image_content(path, image_shape, size)
        elif suffix == ".npz":
            content = npz_content(path, label, id)
        elif suffix == ".parquet":
            content = parquet_content(path)
        else:
            return _text(path, encoding, decimal, options)
        return Reader(str(path), content, **options)
    except OSError as error:  # such as too many open files, where a library is imported
        raise unreadable(path, error) from None


def _text(path: Path, encoding: str, decimal: str, options: dict[str, Any]) -> Reader:
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
        is_csv = inner in CSV
        content = csv_content(lines, first, decimal) if is_csv else json_content(lines, first)
        return Reader(str(path), content, **options)
    except BaseException:
        lines.close()
        raise


def _standard_input(encoding: str, decimal: str, options: dict[str, Any]) -> Reader:
    """Read JSON lines, or CSV if the first line is no JSON object; it may be empty."""
    if sys.stdin is None:
        raise MissingDataError("Standard input is closed; pass a file, or pipe rows in.")
    stream = cast(io.BufferedReader, sys.stdin.buffer)
    lines = Lines(stream.read1, STANDARD_INPUT, checked_encoding(encoding))
    first = lines.first()
    is_json = not first or first.lstrip().startswith("{")
    content = json_content(lines, first) if is_json else csv_content(lines, first, decimal)
    return Reader(STANDARD_INPUT, content, **options, is_live=True)
