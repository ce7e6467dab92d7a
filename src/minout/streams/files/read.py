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
from minout.streams.files.json_lines import open_json, open_json_lines, open_standard_input
from minout.streams.files.npz import open_npz
from minout.streams.files.opening import COMPRESSIONS, check_regular, unreadable
from minout.streams.files.parquet import open_parquet

TEXT = {
    ".csv": open_csv,
    ".tsv": open_csv,
    ".txt": open_csv,
    ".jsonl": open_json_lines,
    ".ndjson": open_json_lines,
    ".json": open_json,
}
"""Text files, which may be compressed."""
TABLES = {**TEXT, ".parquet": open_parquet, ".npz": open_npz}
BY_SUFFIX = {**TABLES, **dict.fromkeys(SUFFIXES, open_image)}
NO_TEXT = {".npz", *SUFFIXES}
LARGEST = 10_000
"""The largest height or width that images can be resized to."""


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
    comma_columns: Collection[str] = (),
) -> Reader:
    r"""Open a file to read its examples one at a time.

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
        The feature columns of a model, found by name and read in this order; other columns are
        unused. By default all columns except label, id and `ignore`. For records, the columns that
        a CSV or Parquet file must have; all others are read, too.
    optional : collection of str
        Those of the label and id columns that may be absent.
    from_line : int, default=1
        The line (or row, or image) to start at.
    image_shape : sequence of int, optional
        The shape of a model's images; by default that of the first image.
    on_bad_line : callable, optional
        Called with the error for a line, row or image that cannot be read; if it returns, the row
        is skipped. By default the error is raised. Without `columns` the first object of JSON lines
        sets the columns, so it is not skipped for its columns.
    required : collection of str
        For standard input, those of the label and id columns that each line must have, the first
        line included. By default the first line decides whether there are label and id.
    rows : {"numbers", "text", "text if one", "records"}, default="numbers"
        What rows are read as: numbers; the text of the one feature column; text if there is one
        feature column, otherwise numbers; or records, dicts of column names to values of any type.
        Files without column names (NPZ, images) are always read as numbers.
    reads_labels : bool, default=True
        Whether labels are read; if not, the label column is left out, and may be empty.
    encoding : str, optional
        The encoding of a CSV or JSON lines file, by its name in Python; by default UTF-8.
    resize : tuple of int, optional
        The height and width to which images are resized. They are also converted to grey or colour
        like the images of the model, or like the first image. By default an image of another size
        is an error. Images in an NPZ file are not resized.
    comma_columns : collection of str
        Columns whose numbers had a decimal comma in an earlier CSV: in this one, 1.234 is 1234,
        unless the column has a number such as 1.5, or fields are separated by commas.

    Returns
    -------
    Reader
        An iterable of examples, and a context manager that closes the file.

    Raises
    ------
    InvalidInputError
        If the options, the columns or the content do not fit, or if a row cannot be read
        (`BadRowError`).
    MissingDataError
        If there is no such file, or if it cannot be read or is damaged.
    MissingExtraError
        If a library for this type of file is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pets.csv")
    >>> _ = path.write_text("name,kind,weight,legs\ntom,cat,4.1,4\npip,bird,0.02,2\n")
    >>> with read(path, label="kind", id="name") as examples:
    ...     for example in examples:
    ...         print(example.id, example.label, example.row, example.where)
    tom cat [4.1 4. ] line 2
    pip bird [0.02 2.  ] line 3
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
        comma_columns=frozenset(comma_columns),
    )
    if str(source) == "-":
        return open_standard_input(replace(options, required=frozenset(required)))
    path = Path(source)
    is_folder = _is_folder(path, str(source))
    if rows == "text" and (is_folder or path.suffix.lower() in NO_TEXT):
        raise InvalidInputError(
            f"{source} has no text; pass a CSV, JSON lines or Parquet file with one column of text."
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
            f"`resize` is {resize}; it must be height and width, from 1 to {LARGEST:,} pixels each."
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
                f"{source} is compressed, but only {', '.join(TEXT)} are read so; decompress it "
                "first."
            )
    elif suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix]
    raise InvalidInputError(
        f"{source} has a suffix that minout does not read; pass {', '.join(TABLES)}, a "
        f"compressed text file such as .csv.gz ({', '.join(COMPRESSIONS)}), an image or a folder "
        "of images, or - for JSON lines on standard input."
    )
