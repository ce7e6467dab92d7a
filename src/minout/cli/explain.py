"""`minout explain`: why a row gets its label, as numbers and as a picture."""

import io
from math import isqrt
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from minout._typing import Floats, Id, Label
from minout.cli import options
from minout.cli.file_notes import FileOptions, find_id, open_reader, read_notes, require_id
from minout.cli.named_map import named_map
from minout.cli.output import command, print_facts, print_json, print_table
from minout.cli.queries import load_model, require_features
from minout.cli.table_rows import RowMaker, bad_row, stored_encoder
from minout.engine import Explanation
from minout.errors import InvalidInputError
from minout.features import Identity
from minout.features.scattering import SMALLEST
from minout.learner import Learner
from minout.store import atomic_write
from minout.streams.files import BadRowError, Example
from minout.tables import HASHED, is_missing

PICTURES = (".png", ".pdf", ".svg")
Row = Annotated[
    int | None, typer.Option("--row", min=1, help="The number of the row, counted from 1.")
]
Line = Annotated[int | None, typer.Option("--line", min=1, help="The line of the row in the file.")]
ById = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="ID", help="The id of the row; without a file, of a stored example."
    ),
]
Count = Annotated[
    int | None,
    typer.Option(
        "-n",
        min=0,
        help="How many support vectors and columns to list: 10 by default, all with --json.",
    ),
]
PictureFile = Annotated[
    Path | None,
    typer.Option(
        "--picture", metavar="FILE", help="Draw the explanation to a PNG, PDF or SVG file."
    ),
]


class _Row(NamedTuple):
    where: str
    row: Any
    id: Id | None
    label: Label | None = None
    record: dict[str, Any] | None = None


@command
def explain(
    model: options.Model,
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="A file, as for predict.", show_default=False),
    ] = None,
    row: Row = None,
    line: Line = None,
    id: ById = None,
    count: Count = None,
    picture: PictureFile = None,
    ignore: options.Ignore = None,
    encoding: options.Encoding = None,
    features: options.Function = None,
    as_json: options.Json = False,
) -> None:
    """Explain a prediction: the separator that decides, the margin, and the support vectors.

    A separator is the linear function between two labels. The margin is its value at the row,
    positive on the side of the predicted label; the target is 1. It is the sum of the prior (the
    linear discriminant, or 0), the bias, and one weight for each support vector (a stored example).
    Positive weights support the label, negative ones oppose it.

    For a table, the columns are listed with their values and contributions. A contribution is how
    much the margin changes because the value differs from the mean of the column: the margin of a
    row of means (`at_mean` in JSON) and the contributions add up to the margin.

    Example: minout explain wines new.csv --row 3 --picture why.png
    """
    if sum(each is not None for each in (row, line, id)) != 1:
        raise typer.BadParameter("Name one example: --row N, --line N or --id ID.")
    own = named_map(features)
    learner = load_model(model, own)
    file = None
    if data is not None:
        # Bad rows before the one that is asked for do not matter, unless rows are counted.
        skip = _skip if row is None else None
        file = FileOptions(
            data,
            ignore=ignore,
            on_bad_line=skip,
            features=own,
            encoding=encoding,
            reads_labels=False,
        )
    found = _stored(learner, id) if file is None else _in_file(learner, file, row, line, id)
    explanation = learner.explain(found.row)
    if picture is not None:
        _draw(learner, explanation, found, picture, file)
    if as_json:
        supports = [support._asdict() for support in explanation.supports[:count]]
        columns = [each._asdict() for each in _columns(learner, found, explanation)[:count]]
        separator = explanation.separator.tolist()
        arrays = {"supports": supports, "separator": separator, "columns": columns}
        about = {"where": found.where, "id": found.id, "stored_label": found.label}
        print_json({**about, **explanation._asdict(), **arrays})
    else:
        _print(learner, found, explanation, 10 if count is None else count)


def _skip(error: BadRowError) -> None:
    """Pass over a row that cannot be read."""


def _stored(learner: Learner, id: str | None) -> _Row:
    if id is None:
        raise typer.BadParameter("--row and --line need a file.")
    stored = require_id(learner, id)
    if not isinstance(learner.features, Identity):
        raise InvalidInputError(
            f"The model stores the features of example {id!r}, not its row; name the file it is in."
        )
    row, label = learner.example(stored)[:2]
    return _Row("stored", row, stored, label)


def _in_file(
    learner: Learner, file: FileOptions, row: int | None, line: int | None, id: str | None
) -> _Row:
    with open_reader(require_features(learner), file) as reader:
        if id is not None and reader.id is None and reader.columns is not None:
            raise InvalidInputError(
                f"{reader.source} has no id column that this model knows; use --row or --line."
            )
        rows = iter(reader)
        count = 0
        while True:
            try:
                example = next(rows, None)
            except BadRowError as error:
                raise InvalidInputError(f"{error} It comes before the row asked for.") from None
            if example is None:
                raise InvalidInputError(f"{reader.source} has no {_name(row, line, id)}.")
            count += 1
            if _matches(example, count, row, line, id):
                record = example.row if isinstance(example.row, dict) else None
                try:
                    row_of_model = RowMaker(learner).row(example)
                except InvalidInputError as error:
                    raise bad_row(reader, example, error) from None
                return _Row(example.where, row_of_model, example.id, record=record)


def _matches(
    example: Example, count: int, row: int | None, line: int | None, id: str | None
) -> bool:
    if row is not None:
        return count == row
    if line is not None:
        return example.number == line
    return example.id == id


def _name(row: int | None, line: int | None, id: str | None) -> str:
    if row is not None:
        return f"row {row}"
    return f"row that starts on line {line}" if line is not None else f"example {id!r}"


def _regions(learner: Learner, explanation: Explanation) -> dict[str, str]:
    # The regions of the two labels, if a label has several.
    if explanation.runner_up is None or learner.choice.regions == 1:
        return {}
    return {"regions": f"{explanation.region} and {explanation.runner_up_region}"}


def _print(learner: Learner, found: _Row, explanation: Explanation, count: int) -> None:
    name = found.where if found.id is None else f"{found.where}, {found.id}"
    runner_up = explanation.runner_up
    print_facts(
        {
            "example": name,
            **({} if found.label is None else {"stored label": str(found.label)}),
            "predicted": str(explanation.label),
            "runner-up": "no other label" if runner_up is None else str(runner_up),
            **_regions(learner, explanation),
            "margin": explanation.margin,
            "prior": explanation.prior,
            "bias": explanation.bias,
            "at mean": explanation.at_mean,
            **({"forgotten": explanation.forgotten} if explanation.forgotten else {}),
            "supports": len(explanation.supports),
        }
    )
    columns = _columns(learner, found, explanation)
    if columns and explanation.supports and count:
        print()
        print_table(list(_Column._fields), [list(each) for each in columns[:count]])
    if explanation.supports and count:
        print()
        supports = [list(each) for each in explanation.supports[:count]]
        print_table(["id", "label", "weight"], supports)


class _Column(NamedTuple):
    """A column of the row: its name and value, and what it contributes to the margin."""

    column: str
    value: float | str | None
    contribution: float


def _columns(learner: Learner, found: _Row, explanation: Explanation) -> list[_Column]:
    # The columns of a table, the largest contribution first; none if columns have no names.
    return sorted(
        _in_file_order(learner, found, explanation), key=lambda each: -abs(each.contribution)
    )


def _in_file_order(learner: Learner, found: _Row, explanation: Explanation) -> list[_Column]:
    parts = explanation.columns.tolist()
    encoder = stored_encoder(learner)
    if encoder is None:
        names = read_notes(learner).columns
        # What a feature map makes has no names.
        if names is None or not isinstance(learner.features, Identity) or len(names) != len(parts):
            return []
        return list(map(_Column, names, found.row.tolist(), parts))
    sums = dict.fromkeys(encoder.sources, 0.0)
    for source, part in zip(encoder.sources, parts, strict=True):
        sums[source] += part
    values = encoder.decode(found.row)
    for name, value in (found.record or {}).items():
        # A category that the model does not know, or a value of which it knows the hash only.
        if name in sums and values[name] in (None, HASHED) and not is_missing(value):
            values[name] = value
    return [_Column(name, values[name], part) for name, part in sums.items()]


def _draw(
    learner: Learner,
    explanation: Explanation,
    found: _Row,
    picture: Path,
    file: FileOptions | None,
) -> None:
    suffix = picture.suffix.lower()
    if suffix not in PICTURES:
        raise InvalidInputError(f"A picture is one of {', '.join(PICTURES)}, not {picture.name!r}.")
    from minout.classifier import draw, draw_table

    row = found.row
    if isinstance(row, str):
        raise InvalidInputError("--picture is for models of images and tables, not of text.")
    shape, columns = read_notes(learner).image_shape, _in_file_order(learner, found, explanation)
    side = isqrt(len(row))
    is_square = side * side == len(row) == len(columns or row)
    if columns and shape is None and not (is_square and side >= SMALLEST):
        names, values, parts = zip(*columns, strict=True)
        summed = explanation._replace(columns=np.array(parts))
        figure = draw_table(summed, values, names)
    elif shape is None and not is_square:
        raise InvalidInputError(
            f"--picture needs an image or column names, but the model's rows are {len(row)} "
            "numbers without names, which is no square image; leave it out."
        )
    else:
        images = _images(learner, explanation, file)
        figure = draw(explanation, row, image_shape=shape, images=images)
    content = io.BytesIO()
    figure.savefig(content, format=suffix[1:], dpi=150)
    atomic_write(picture, content.getvalue(), "The picture")


def _images(
    learner: Learner, explanation: Explanation, file: FileOptions | None
) -> dict[Id, Floats]:
    # The images of the supports: from the model, or from the file if the model stores features.
    wanted = {support.id for support in explanation.supports}
    if isinstance(learner.features, Identity):
        return {each: learner.example(each)[0] for each in wanted}
    if file is None:
        return {}
    with open_reader(learner, file) as reader:
        rows = ((each.id and find_id(learner, each.id), each.row) for each in reader)
        return {id: row for id, row in rows if id is not None and id in wanted}
