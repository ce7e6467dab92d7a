"""`minout learn`: teach a model the rows of a file, one by one."""

from math import isqrt
from typing import Annotated

import typer

from minout.cli import options
from minout.cli.asking import load
from minout.cli.remembered import Asked, needs_label, reader_for, remember, remembered
from minout.cli.say import command, say_aside, say_json
from minout.cli.stop import Stop
from minout.cli.teaching import Teaching
from minout.errors import InvalidInputError
from minout.features import FeatureMap, Scattering, named
from minout.features.scattering import SMALLEST
from minout.learner import Learner
from minout.store import ModelFolder
from minout.streams.files import Reader

SHOWN = 8
"""How many columns are all named; of more, the first three and the last."""
MapName = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="NAME",
        help="The fixed map of a new model: identity (the default), scattering (for images) or "
        "random_fourier (scale the columns to a variance of about 1 first, or it learns little).",
    ),
]


@command
def learn(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    ignore: options.Ignore = None,
    features: MapName = None,
    from_line: options.FromLine = 1,
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Teaches a model the rows of a file, one by one; makes the model if there is none.

    Each two labels have a separator: a straight cut between their examples. A misfit is a
    stored example that ended up on the wrong side of one.

    May be run again and again on the same model. With ids of yours, rows that it knows already
    change nothing, also if their label was corrected since. Ctrl-C stops after a whole example and
    keeps everything. A bad row stops it too: what came before it is kept, and --from-line goes on
    after it.

    Ids are strings in every kind of file: 7 is "7". Labels from CSV are strings, from JSON, Parquet
    and NPZ whole numbers stay whole numbers; a model spells all labels as it spelled the first. An
    image's label is the folder it lies in, its id is its path.

    Example: minout learn wines wine.csv --label kind --id bottle
    """
    asked = Asked(data, label, id, ignore, from_line)
    with ModelFolder(model, create=True) as folder:
        learner = Learner() if folder.is_new else load(folder.file)
        with needs_label(learner, reader_for(learner, asked)) as reader:
            learner = _with_map(learner, features, reader)
            _refuse_without_ids(learner, reader)
            remember(learner, reader)
            if not len(learner) and reader.columns is not None:
                say_aside(_taken(reader, reader.columns))
            if reader.unused:
                say_aside(f"Not used: {', '.join(reader.unused)}.")
            teaching = Teaching(learner, folder.file)
            with Stop() as stop:
                refusal = teaching.teach(reader, stop)
                if consolidate and teaching.taught and refusal is None:
                    refusal = teaching.consolidate(stop)
                teaching.save()
    if as_json:
        say_json(teaching.facts())
    elif refusal is None or teaching.last:
        print(teaching.summary())
    if refusal is not None:
        raise refusal
    if stop.signal:
        say_aside(f"Stopped; all of this is kept. Go on with --from-line {teaching.last + 1}.")
        raise typer.Exit(stop.exit_code)


def _with_map(learner: Learner, features: str | None, reader: Reader) -> Learner:
    if features is None:
        return learner
    wanted: FeatureMap = named(features)
    if isinstance(wanted, Scattering):
        _refuse_what_is_no_image(reader)
        wanted = Scattering(image_shape=reader.image_shape)
    if not len(learner) and not learner.notes:
        return Learner(features=wanted)
    if wanted != learner.features:
        raise InvalidInputError(
            f"This model was made with {learner.features}; --features is for new models."
        )
    return learner


def _refuse_what_is_no_image(reader: Reader) -> None:
    count = len(reader.columns or ())
    side = isqrt(count)
    if reader.columns is not None and (side * side != count or side < SMALLEST):
        raise InvalidInputError(
            f"The {count} columns of {reader.source} are no square image of at least {SMALLEST} × "
            f"{SMALLEST} pixels; --features scattering needs one, or a folder or NPZ of images."
        )


def _taken(reader: Reader, columns: tuple[str, ...]) -> str:
    names = ", ".join(columns)
    if len(columns) > SHOWN:
        names = f"{', '.join(columns[:3])} … {columns[-1]}"
    id = reader.id or "none, so examples are numbered"
    return f"Columns of numbers: {names} ({len(columns):,}); label: {reader.label}; id: {id}."


def _refuse_without_ids(learner: Learner, reader: Reader) -> None:
    known = remembered(learner).id
    if known is not None and reader.id is None and reader.columns is not None:
        raise InvalidInputError(
            f"{reader.source} has no column {known!r}, from which this model takes its ids; "
            "name another one with --id."
        )
