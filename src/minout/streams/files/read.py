"""From what a user names to a reader of it."""

from collections.abc import Collection, Sequence
from pathlib import Path

from minout.errors import InvalidInputError, MissingDataError
from minout.streams.files.columns import Asked
from minout.streams.files.csv_text import open_csv
from minout.streams.files.example import Reader
from minout.streams.files.images import open_images
from minout.streams.files.json_lines import open_json_lines, open_standard_input
from minout.streams.files.npz import open_npz
from minout.streams.files.parquet import open_parquet

BY_SUFFIX = {
    ".csv": open_csv,
    ".tsv": open_csv,
    ".txt": open_csv,
    ".jsonl": open_json_lines,
    ".ndjson": open_json_lines,
    ".parquet": open_parquet,
    ".npz": open_npz,
}


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
) -> Reader:
    """Opens a CSV, JSON lines, Parquet or NPZ file, a folder of images, or "-".

    "-" is standard input, JSON lines. `label` and `id` name columns; `optional` ones may be
    missing. `columns` are a model's features: they are found by name, in the model's order, and
    other columns are left out. Without it all columns but label, id and those to `ignore` are
    features. `image_shape` is that of a model's images; without it the first image settles it.
    `from_line` passes over what stands before that line (or row, or image).
    """
    if from_line < 1:
        raise InvalidInputError(f"--from-line is {from_line}; lines are counted from 1.")
    asked = Asked(
        label,
        id,
        tuple(ignore),
        None if columns is None else tuple(columns),
        frozenset(optional),
        from_line,
        None if image_shape is None else tuple(image_shape),
    )
    if str(source) == "-":
        return open_standard_input(asked)
    path = Path(source)
    if path.is_dir():
        return open_images(path, str(source), asked)
    if not path.exists():
        raise MissingDataError(f"There is no file {source}.")
    open_it = BY_SUFFIX.get(path.suffix.lower())
    if open_it is None:
        raise InvalidInputError(
            f"{source} is of no kind that is read here: {', '.join(BY_SUFFIX)}, a folder of "
            "images, or - for JSON lines on standard input."
        )
    return open_it(path, str(source), asked)
