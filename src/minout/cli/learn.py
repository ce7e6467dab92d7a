"""`minout learn`: teach a model the rows of a file, batch by batch."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from minout.cli import options
from minout.cli.bad_rows import BadRows
from minout.cli.inspection import expected_text
from minout.cli.models import (
    FileOptions,
    bad_row,
    feature_map,
    labels_of,
    open_file,
    open_model,
    require_columns,
    require_features,
    require_label,
)
from minout.cli.output import command, print_json, print_note, print_text
from minout.cli.stop import Stop
from minout.cli.teaching import Run
from minout.engine.settings import Keep
from minout.errors import InvalidInputError
from minout.features import Scattering
from minout.files import BadRowError, Batch, Reader
from minout.inputs import KINDS
from minout.learner import Learner
from minout.store import holds_model

NOTHING = "Nothing has been taught; --skip-bad FILE skips such rows."
ColumnKinds = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="COLUMN=KIND",
        help=f"Set the kind of a column: {', '.join(KINDS)}; may be repeated.",
    ),
]
KeepText = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="WINDOW",
        help="Which examples stay stored: all, a number N (the newest N), per-label:N (the newest "
        "N of each label), or a time such as 30d or 12h; the model remembers it.",
    ),
]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Give stored examples the values of the file, by id; columns that are not in the "
        "file keep theirs.",
    ),
]


@command
def learn(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    column_kinds: ColumnKinds = None,
    features: options.Features = None,
    keep: KeepText = None,
    encoding: options.Encoding = "utf-8",
    decimal: options.Decimal = None,
    skip_bad: options.SkipBad = None,
    replace: Replace = False,
    as_json: options.Json = False,
) -> None:
    """Teach a model the rows of a file; create it if there is none.

    The columns of a table may be numbers, booleans, dates, categories and text, with missing
    values. Their kinds are inferred from the first rows, up to 10,000, and printed. Later rows may
    have new categories and columns. {"car": {"age": 3}} in JSON is the column car.age.

    Rows that are stored already, by their id or else by their content, change nothing. An id that
    is stored with other values is an error without --replace. A bad row ends the command; rows
    before it are kept. On standard input rows are taught as they come; a bad line is reported and
    skipped.

    What was taught is kept after Ctrl-C, too, and other commands see it at once. A note says if
    fewer rows than before are predicted correctly when they come.

    Example: minout learn wines wine.csv --label kind --id bottle
    """
    file = FileOptions(data, label, id, encoding, decimal, features, skip_bad)
    kinds, window = _parse_kinds(column_kinds or []), _parse_keep(keep)
    is_new, stop = not holds_model(model), Stop()
    # If the first line of a stream is bad, the others probably are as well.
    bad = BadRows(skip_bad, data == "-" and not is_new)
    with ExitStack() as opened:
        opened.callback(bad.close)
        learner = Learner() if is_new else open_model(model, features, on_wait=stop.on_wait(model))
        opened.callback(learner.close)
        reader = opened.enter_context(open_file(require_features(learner), file, bad))
        batches = iter(reader)
        first = next(batches, None)
        if first is not None:
            _check_columns(learner, reader, file, replace)
        if is_new:
            first = _create(model, reader, first, file, kinds, bad)
            learner = opened.enter_context(open_model(model, features, on_wait=stop.on_wait(model)))
        run = Run(learner, reader, bad, replace)
        run.set_up(file, {} if is_new else kinds, window)
        run.compare(first)
        with stop:
            refusal = run.teach(chain(filter(None, [first]), batches), stop)
            refusal = refusal or run.consolidate(stop)
        expected = learner.expected_accuracy() if len(learner.classes) > 1 else None
    if as_json:
        print_json({**run.facts(), "expected_accuracy": expected})
    elif refusal is None or run.last:
        print_text(run.summary())
        if expected is not None:
            print_text(f"Accuracy: {expected_text(expected)}.")
    if refusal is not None:
        raise refusal
    if stop.signal:
        print_note("Stopped; all of this is kept. Run the command again to continue.")
        raise typer.Exit(stop.exit_code)


def _check_columns(learner: Learner, reader: Reader, file: FileOptions, replaces: bool) -> None:
    """Raise an error if the file lacks the columns that the model takes from files."""
    require_label(learner, reader, file)
    noted = learner.schema.source.id
    if noted and not file.id and reader.columns is not None and noted not in reader.columns:
        raise InvalidInputError(
            f"{reader.source} has no column {noted!r}, from which this model takes its ids; name "
            "another one with --id."
        )
    if not replaces:
        require_columns(learner, reader)


def _create(
    model: Path,
    reader: Reader,
    first: Batch | None,
    file: FileOptions,
    kinds: dict[str, str],
    bad: BadRows,
) -> Batch:
    """Create a model for the rows of a file; return those of the first ones that can be used."""
    if first is None:
        raise InvalidInputError(f"{reader.source} is empty, so there is nothing to learn.")
    features, size = feature_map(file.features)
    if isinstance(features, Scattering):
        features = Scattering(image_shape=reader.image_shape)
    if size is not None and (reader.image_shape or ())[:2] != size:
        raise InvalidInputError(
            f"--features {file.features} has a size, which is for images; leave it out for "
            f"{reader.source}."
        )
    learner = Learner(features=features or "identity", column_kinds=kinds)
    learner.set_source(
        label=file.label,
        id=file.id,
        decimal=file.decimal,
        image_shape=reader.image_shape,
        size=size,
    )
    first = _good_rows(learner, reader, first, bad)
    _say_columns(learner)
    learner.store_in(model)
    learner.close()
    return first


def _good_rows(learner: Learner, reader: Reader, first: Batch, bad: BadRows) -> Batch:
    """Infer the columns of a new model; a bad row is skipped, or nothing is taught."""
    while True:
        try:
            if isinstance(first.error, BadRowError):
                raise first.error
            labels_of(learner, first)
            learner.infer(first.X)
            return first
        except BadRowError as error:
            raise InvalidInputError(f"{error} {NOTHING}") from None
        except InvalidInputError as error:
            if error.row is None or not bad.skips:
                shown = error if error.row is None else bad_row(reader, first, error.row, error)
                raise InvalidInputError(f"{shown} {NOTHING}") from None
            bad(bad_row(reader, first, error.row, error))
            first = first.at([n for n in range(len(first.lines)) if n != error.row])


def _say_columns(learner: Learner) -> None:
    """Say of which kinds the columns of a new model are, and why."""
    described, source = learner.schema.described(), learner.schema.source
    if not described:
        return
    plain = [name for name, what in described.items() if what.startswith("number")]
    shown = plain if len(plain) <= 8 else [*plain[:3], "…", plain[-1]]
    roles = f"label: {source.label}; id: {source.id or 'none, so examples are numbered'}."
    print_note(f"Columns of numbers ({len(plain):,}): {', '.join(shown) or 'none'}; {roles}")
    for name, what in described.items():
        if name not in plain:
            print_note(f"{name}: {what}.")


def _parse_kinds(texts: Sequence[str]) -> dict[str, str]:
    """Return the kinds of columns that --as sets.

    >>> _parse_kinds(["zip=category", "a=b=text"])
    {'zip': 'category', 'a=b': 'text'}
    """
    kinds: dict[str, str] = {}
    for text in texts:
        name, _, kind = text.rpartition("=")
        if not name or kind not in KINDS or kinds.setdefault(name, kind) != kind:
            raise InvalidInputError(
                f"--as must be COLUMN=KIND, once for a column, with one of the kinds "
                f"{', '.join(KINDS)}, not {text!r}."
            )
    return kinds


def _parse_keep(text: str | None) -> Keep | None:
    """Return the window that --keep sets."""
    if text is None:
        return None
    per_label = re.fullmatch(r"per[-_]label:(\d{1,18})", text, re.ASCII)
    keep: Keep = int(text) if re.fullmatch(r"\d{1,18}", text, re.ASCII) else text
    if per_label:
        keep = {"per_label": int(per_label[1])}
    try:
        Learner(keep=keep)
    except InvalidInputError:
        raise InvalidInputError(
            "--keep must be all, a whole number from 1, per-label:N or a time such as 30d or 12h, "
            f"not {text!r}."
        ) from None
    return keep
