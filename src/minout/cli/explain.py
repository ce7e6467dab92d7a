"""`minout explain`: why a row gets its label, as numbers and as a picture."""

import io
from math import isqrt
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from minout._typing import Id, Label
from minout.cli import options
from minout.cli.models import load_model, require_examples, require_features, require_id
from minout.cli.output import Row, command, show
from minout.cli.rows import BadRows, FileOptions, bad_row, open_file
from minout.core import Explanation
from minout.errors import InvalidInputError
from minout.features import Identity
from minout.learner import Learner
from minout.store import atomic_write

PICTURES = (".png", ".pdf", ".svg")


class _Found(NamedTuple):
    """The row to explain: a record, an array, or the stored row of an example."""

    x: Any
    where: str
    id: Id | None
    label: Label | None


@command
def explain(
    model: options.Model,
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="A file, as for predict.", show_default=False),
    ] = None,
    row: Annotated[
        int | None, typer.Option("--row", min=1, help="The number of the row, counted from 1.")
    ] = None,
    example: Annotated[
        str | None,
        typer.Option(
            "--example", metavar="ID", help="The id of the row; without DATA, of a stored example."
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE", help="Draw it to a PNG, PDF or SVG file."),
    ] = None,
    count: options.Count = 10,
    id: options.IdColumn = None,
    features: options.Features = None,
    encoding: options.Encoding = "utf-8",
    decimal: options.Decimal = None,
    as_json: options.Json = False,
) -> None:
    """Explain a prediction.

    The margin against the runner-up is the value of the separator between the two labels. It is the
    sum of the prior (the linear discriminant, or 0), the bias, and one weight for each support
    vector, a stored example. For a table, contributions of columns are listed: how much the margin
    changes because the value differs from the mean of the column.

    Example: minout explain wines.minout new.csv --row 3 --picture why.png
    """
    if (row is None) == (example is None):
        raise typer.BadParameter("Name one row: --row N or --example ID.")
    learner = require_examples(load_model(model, features))
    if data is None:
        found = _stored(learner, example)
    else:
        file = FileOptions(data, None, id, encoding, decimal, features)
        found = _in_file(require_features(learner), file, row, example)
    explanation = learner.explain(found.x)
    columns = _columns(learner, found, explanation)
    if picture is not None:
        _draw(learner, found, explanation, columns, picture)
    show(_facts(found, explanation, columns), as_json=as_json, most=count)


def _stored(learner: Learner, example: str | None) -> _Found:
    if example is None:
        raise typer.BadParameter("--row needs a file.")
    if not isinstance(learner.features, Identity):
        raise InvalidInputError(
            f"The model stores the features of example {example!r}, not its row; name the file it "
            "is in."
        )
    id = require_id(learner, example)
    x, label = learner.example(id)
    return _Found(x, "stored", id, label)


def _in_file(
    learner: Learner, file: FileOptions, number: int | None, example: str | None
) -> _Found:
    with open_file(learner, file, BadRows(None, is_live=False)) as reader:
        count = 0
        for batch in reader:
            for place, id in enumerate(batch.ids):
                count += 1
                if count == number or (example is not None and id == example):
                    where = f"{reader.source}, {reader.unit} {batch.lines[place]}"
                    try:
                        learner.predict(batch.X[place : place + 1])
                    except InvalidInputError as error:
                        raise bad_row(reader, batch, place, error) from None
                    return _Found(batch.X[place], where, id, batch.labels[place])
            if batch.error is not None:
                raise InvalidInputError(f"{batch.error} It comes before the row asked for.")
    wanted = f"row {number}" if example is None else f"example {example!r}"
    raise InvalidInputError(f"{file.data} has no {wanted}.")


def _facts(found: _Found, explanation: Explanation, columns: list[Row]) -> Row:
    told = explanation._asdict()
    names = ("margin", "prior", "bias", "forgotten", "at_mean", "scores")
    return {
        "where": found.where,
        "id": found.id,
        "label": found.label,
        "predicted": explanation.label,
        "runner_up": explanation.runner_up,
        "regions": [explanation.region, explanation.runner_up_region],
        **{name: told[name] for name in names},
        "columns": sorted(columns, key=lambda each: -abs(each["contribution"])),
        "supports": [each._asdict() for each in explanation.supports],
    }


def _columns(learner: Learner, found: _Found, explanation: Explanation) -> list[Row]:
    """Return the value of each column and its contribution; none if columns have no names."""
    schema, parts, x = learner.schema, explanation.columns, found.x
    record = x if isinstance(x, dict) else {}
    if schema.encoder is None:
        if not schema.names or not isinstance(learner.features, Identity):
            return []
        values = record or dict(zip(schema.names, x.tolist(), strict=True))
        sums = dict(zip(schema.names, parts.tolist(), strict=True))
    else:
        sums = schema.encoder.sum_by_column(parts)
        values = record or schema.encoder.decode(x)
    return [
        {"column": name, "value": values.get(name), "contribution": part}
        for name, part in sums.items()
    ]


def _draw(
    learner: Learner, found: _Found, explanation: Explanation, columns: list[Row], picture: Path
) -> None:
    suffix = picture.suffix.lower()
    if suffix not in PICTURES:
        raise InvalidInputError(f"A picture is one of {', '.join(PICTURES)}, not {picture.name!r}.")
    from minout.picture import draw, draw_table

    shape = learner.schema.source.image_shape
    if columns and shape is None:
        names, values, parts = zip(*(row.values() for row in columns), strict=True)
        figure = draw_table(explanation._replace(columns=np.array(parts)), values, names)
    elif isinstance(found.x, np.ndarray) and (shape or isqrt(len(found.x)) ** 2 == len(found.x)):
        images = {}
        if isinstance(learner.features, Identity):
            images = {each.id: learner.example(each.id)[0] for each in explanation.supports}
        figure = draw(explanation, found.x, image_shape=shape, images=images)
    else:
        raise InvalidInputError("--picture is for images and tables; leave it out.")
    content = io.BytesIO()
    figure.savefig(content, format=suffix[1:], dpi=150)
    atomic_write(picture, content.getvalue(), "The picture")
