"""`minout explain`: why a row gets its label."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from minout._typing import Floats, Id
from minout.cli import options
from minout.cli.asking import loaded
from minout.cli.picture import draw_picture
from minout.cli.remembered import Asked, id_for, reader_for
from minout.cli.say import command, say_facts, say_json, say_table
from minout.engine import Explanation
from minout.errors import InvalidInputError
from minout.features import Identity
from minout.learner import Learner
from minout.streams.files import BadRowError, Example

Row = Annotated[int | None, typer.Option("--row", min=1, help="Which row of the file, from 1 on.")]
Line = Annotated[int | None, typer.Option("--line", min=1, help="The same by its line's number.")]
ById = Annotated[
    str | None,
    typer.Option("--id", metavar="ID", help="The same by its id; without a file, what is stored."),
]
Count = Annotated[
    int | None,
    typer.Option("-n", min=0, help="How many supporters: 10 if not said, with --json all."),
]
Picture = Annotated[
    Path | None, typer.Option("--picture", metavar="FILE", help="Draw it: a PNG, PDF or SVG.")
]


class _Asked(NamedTuple):
    where: str
    row: Floats
    id: Id | None


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
    picture: Picture = None,
    ignore: options.Ignore = None,
    as_json: options.Json = False,
) -> None:
    """Says which separator decides about a row, by how much, and which stored examples bear it.

    A separator is the straight cut between two labels; the margin says how far the row is on the
    label's side of it, 1 where a stored example fits well. It is the sum of what the linear
    discriminant says, a bias, and the weights of the supporters: positive ones speak for the label,
    negative ones against.

    Example: minout explain wines new.csv --row 3 --picture why.png
    """
    if sum(each is not None for each in (row, line, id)) != 1:
        raise typer.BadParameter("Name one example: --row N, --line N or --id ID.")
    learner = loaded(model)
    file = None if data is None else Asked(data, ignore=ignore)
    asked = _stored(learner, id) if file is None else _in_file(learner, file, row, line, id)
    said = learner.explain(asked.row)
    if picture is not None:
        draw_picture(learner, said, asked.row, picture, file)
    if as_json:
        supports = [support._asdict() for support in said.supports[:count]]
        arrays = {"supports": supports, "separator": said.separator.tolist()}
        say_json({"where": asked.where, "id": asked.id, **said._asdict(), **arrays})
    else:
        _say(asked, said, 10 if count is None else count)


def _stored(learner: Learner, id: str | None) -> _Asked:
    if id is None:
        raise typer.BadParameter("--row and --line need a file.")
    stored = id_for(learner, id)
    if not isinstance(learner.features, Identity):
        raise InvalidInputError(
            f"The model keeps example {id!r} as its feature map made it; name the file it is in."
        )
    return _Asked("stored", learner.example(stored)[0], stored)


def _in_file(
    learner: Learner, asked: Asked, row: int | None, line: int | None, id: str | None
) -> _Asked:
    with reader_for(learner, asked) as reader:
        if id is not None and reader.id is None and reader.columns is not None:
            raise InvalidInputError(f"The model knows no column of ids in {reader.source}.")
        rows = iter(reader)
        count = 0
        while True:
            try:
                example = next(rows, None)
            except BadRowError as error:
                raise InvalidInputError(f"{error} It stands before the one asked for.") from None
            if example is None:
                raise InvalidInputError(f"{reader.source} has no {_named(row, line, id)}.")
            count += 1
            if _is_meant(example, count, row, line, id):
                return _Asked(example.where, example.row, example.id)


def _is_meant(
    example: Example, count: int, row: int | None, line: int | None, id: str | None
) -> bool:
    if row is not None:
        return count == row
    if line is not None:
        return example.number == line
    return example.id == id


def _named(row: int | None, line: int | None, id: str | None) -> str:
    if row is not None:
        return f"row {row}"
    return f"row that starts on line {line}" if line is not None else f"example {id!r}"


def _say(asked: _Asked, said: Explanation, count: int) -> None:
    name = asked.where if asked.id is None else f"{asked.where}, {asked.id}"
    facts = {
        "example": name,
        "label": str(said.label),
        "decided against": "nobody, there is one class"
        if said.runner_up is None
        else str(said.runner_up),
        "margin": said.margin,
        "by the discriminant": said.prior,
        "bias": said.bias,
        "supporters": len(said.supports),
    }
    say_facts(facts)
    if said.supports and count:
        print()
        say_table(["id", "label", "weight"], [list(each) for each in said.supports[:count]])
