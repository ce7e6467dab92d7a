"""Open a file by its suffix, a folder of images, or standard input."""

import stat
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from minout.errors import InvalidInputError, MissingDataError
from minout.streams.files.columns import ReadOptions, RowsAs
from minout.streams.files.csv_text import open_csv
from minout.streams.files.encoding import check_encoding
from minout.streams.files.example import BadRowError, Reader
from minout.streams.files.images import SUFFIXES, open_image, open_images
from minout.streams.files.json_lines import open_json_lines, open_standard_input
from minout.streams.files.npz import open_npz
from minout.streams.files.opening import COMPRESSIONS, check_regular, unreadable
from minout.streams.files.parquet import open_parquet

TEXT = {
    ".csv": open_csv,
    ".tsv": open_csv,
    ".txt": open_csv,
    ".jsonl": open_json_lines,
    ".ndjson": open_json_lines,
}
"""Files of these kinds may be compressed."""
TABLES = {**TEXT, ".parquet": open_parquet, ".npz": open_npz}
BY_SUFFIX = {**TABLES, **dict.fromkeys(SUFFIXES, open_image)}
NO_TEXT = {".npz", *SUFFIXES}
LARGEST = 10_000
"""The number of pixels in a row or column that images may be resized to."""


def read(
    source: str | Path,
    *,
    label: str | None = None,
    id: str | None = None,
    ignore: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    optional: Collection[str] = (),
    from_line: int = 1,
    image_shape: Sequence[int] | None = None,
    on_bad_line: Callable[[BadRowError], None] | None = None,
    required: Collection[str] = (),
    rows: RowsAs = "numbers",
    reads_labels: bool = True,
    encoding: str | None = None,
    resize: tuple[int, int] | None = None,
) -> Reader:
    """Open a file to read its examples one at a time.

    Parameters
    ----------
    source : str or Path
        A CSV, JSON lines, Parquet or NPZ file, an image, a folder of images, or "-": JSON lines on
        standard input. CSV and JSON lines may be compressed (.gz, .bz2, .xz, .zst).
    label, id : str, optional
        The columns of the labels and of the ids.
    ignore : sequence of str
        Columns to leave out.
    columns : sequence of str, optional
        The features of a model, found by name and read in this order; other columns are
        ignored. By default all columns except label, id and `ignore`. For records, the columns that
        a CSV or Parquet file must have; all others are read, too.
    optional : collection of str
        Columns of label or id that may be missing.
    from_line : int, default=1
        The line (or row, or image) to start at.
    image_shape : sequence of int, optional
        The shape of a model's images; by default that of the first image.
    on_bad_line : callable, optional
        Called with the error for a line, row or image that cannot be read; if it returns, that is
        skipped. By default the error is raised. Without `columns` the first object of JSON lines
        decides which columns there are, so it is not skipped for its columns.
    required : collection of str
        Columns of label or id without which a line of standard input is bad. They are known from a
        model, so that the first line can be bad too.
    rows : {"numbers", "text", "text if one", "records"}, default="numbers"
        What rows are: numbers, the text of the one feature column, text if there is one column
        only, or records, which are dicts from names of columns to values of any kind. Files without
        names of columns (NPZ, images) always give numbers.
    reads_labels : bool, default=True
        Whether examples have labels; otherwise the column of the labels is left out, and may be
        empty.
    encoding : str, optional
        The encoding of a CSV or of JSON lines, by Python's name; by default UTF-8.
    resize : tuple of int, optional
        The height and width that images are brought to. Their colours are converted to those of
        the model, or of the first image. By default images of another size are refused. Images in
        an NPZ file stay as they are.

    Returns
    -------
    Reader
        A context manager; iterate over it for the examples.

    Raises
    ------
    InvalidInputError, MissingDataError
        If the file or its columns are not as expected.
    """
    if from_line < 1:
        raise InvalidInputError(f"--from-line is {from_line}; lines are counted from 1.")
    options = ReadOptions(
        label,
        id,
        tuple(ignore),
        None if columns is None else tuple(columns),
        frozenset(optional),
        from_line,
        None if image_shape is None else tuple(image_shape),
        on_bad_line,
        rows=rows,
        reads_labels=reads_labels,
        encoding=check_encoding(encoding),
        resize=_check_size(resize),
    )
    if str(source) == "-":
        return open_standard_input(replace(options, required=frozenset(required)))
    path = Path(source)
    is_folder = _is_folder(path, str(source))
    if rows == "text" and (is_folder or path.suffix.lower() in NO_TEXT):
        raise InvalidInputError(
            f"{source} holds no text; pass a CSV, JSON lines or Parquet with one column of it."
        )
    if is_folder:
        return open_images(path, str(source), options)
    check_regular(path, str(source))
    return _opener(path, str(source))(path, str(source), options)


def _check_size(resize: tuple[int, int] | None) -> tuple[int, int] | None:
    if resize is None:
        return None
    sizes = tuple(resize)
    if len(sizes) != 2 or not all(isinstance(each, int) and 0 < each <= LARGEST for each in sizes):
        raise InvalidInputError(
            f"The size of images is {resize}; give height and width, from 1 to {LARGEST:,} pixels."
        )
    return sizes


def _is_folder(path: Path, source: str) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the name
        raise MissingDataError(f"There is no file {source}.") from None
    except OSError as error:
        raise unreadable(source, error) from None


def _opener(path: Path, source: str) -> Callable[[Path, str, ReadOptions], Reader]:
    suffix = path.suffix.lower()
    if suffix in COMPRESSIONS:
        inner = Path(path.stem).suffix.lower()
        if inner in TEXT:
            return TEXT[inner]
        if inner in BY_SUFFIX:
            raise InvalidInputError(
                f"{source} is compressed, which only {', '.join(TEXT)} may be; decompress it first."
            )
    elif suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix]
    raise InvalidInputError(
        f"{source} has an ending that minout does not read; pass {', '.join(TABLES)}, a "
        f"compressed text file such as .csv.gz ({', '.join(COMPRESSIONS)}), an image or a folder "
        "of images, or - for JSON lines on standard input."
    )
