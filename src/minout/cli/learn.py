"""`minout learn`: teach a model the rows of a file, one by one."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from math import isqrt
from typing import Annotated, Any

import typer

from minout.cli import options
from minout.cli.file_notes import FileOptions, open_reader, read_notes, require_label
from minout.cli.known_rows import KnownRows, cannot_tell
from minout.cli.named_map import named_map
from minout.cli.output import command, plural, print_json, print_note, print_text
from minout.cli.queries import (
    expected_accuracy,
    expected_for_json,
    expected_text,
    misfits_text,
    open_model,
    require_features,
)
from minout.cli.skipped import SkippedRows
from minout.cli.stop import Stop
from minout.cli.table_rows import (
    TableTeaching,
    column_notes,
    first_rows,
    parse_kinds,
    stored_encoder,
)
from minout.cli.teaching import Teaching
from minout.cli.waiting import Waiting
from minout.codecs import codec_of, memory_text
from minout.engine.settings import Keep
from minout.errors import InvalidInputError
from minout.features import FeatureMap, Identity, Scattering
from minout.features.scattering import SMALLEST
from minout.learner import Learner
from minout.model_file import is_saved
from minout.store import holds_model
from minout.streams.files import BadRowError, Reader, join_names
from minout.tables import TableEncoder

SHOWN = 8
"""Up to this many columns are all listed; of more, the first three and the last."""
MapName = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="NAME",
        help="The feature map of a new model: identity (the default), scattering (for images), "
        "random_fourier (scale the columns to a variance of about 1 first), projection (very many "
        "columns), text (one column of text), or package.module:function, a function of your own, "
        "which later commands need again.",
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
MemoryName = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="NAME",
        help="How a new model stores rows: auto (numbers as they are, the default), uint8 (codes "
        "of a byte per number, for any rows), uint4 or uint2 (4 or 2 bits, for rows whose columns "
        "have one unit, such as pixels or embeddings).",
    ),
]
ColumnKinds = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="COLUMN=KIND",
        help="Set the kind of a column of a table instead of inferring it: number, boolean, "
        "category, date, text or ignore; may be repeated. The model remembers it.",
    ),
]
Size = Annotated[
    str | None,
    typer.Option(
        "--resize",
        metavar="HxW",
        help="Resize all images to this height and width, such as 32x32, or 32 for both; the model "
        "remembers it.",
    ),
]
AllowDuplicates = Annotated[
    bool,
    typer.Option(
        "--allow-duplicates",
        help="Teach rows without ids even if equal rows were taught by an earlier command.",
    ),
]


@command
def learn(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    ignore: options.Ignore = None,
    column_kinds: ColumnKinds = None,
    features: MapName = None,
    keep: KeepText = None,
    memory: MemoryName = None,
    resize: Size = None,
    encoding: options.Encoding = None,
    skip_bad: options.SkipBad = None,
    allow_duplicates: AllowDuplicates = False,
    from_line: options.FromLine = 1,
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Teach a model the rows of a file, one by one; create the model if there is none.

    The model has one separator, a linear function, for each pair of labels, or of their regions
    (clusters of examples), if they have several. A misfit is a stored example on the wrong side of
    a separator of its region. Settings are chosen from the examples. The accuracy to expect on new
    rows like those stored is estimated by leaving each stored example out (`minout info` has it per
    label).

    The columns of a table may be numbers, booleans, dates, categories and text, in any mix and with
    missing values. The kind of each column is inferred from the first rows, up to 10,000 of a file
    and one of standard input, and printed; --as sets it. A column of strings that nearly all differ
    is text if they have several words, otherwise an identifier, which is left out. New categories
    and new columns may appear in any later row.

    The fields of a CSV are separated by commas, semicolons or tabs; numbers may have a decimal
    comma. Objects in JSON may be nested: {"car": {"age": 3}} is the column car.age.

    Run it again to teach more. Rows that are already stored change nothing, even if their label was
    corrected since. They are recognised by their id or, in a file without ids, by being equal.
    Ctrl-C stops after the current example and keeps everything taught.

    A bad row stops the command, too. If it cannot be read, and is among the first rows of a new
    model, nothing is taught; otherwise the rows before it are kept, and --from-line continues after
    it. With --skip-bad such rows are skipped and written to a file. A bad line on standard input is
    reported and skipped; but as long as the model has no examples, it ends the command.

    What was taught is on the disk within a second, also while the command waits for more rows.
    Other commands see it, and may change the model too; changes are made one after the other.

    --keep sets a window: when it is full, the oldest examples are forgotten as new ones are taught.
    For an existing model it takes effect with the first row: before it is taught if no stored
    example is outside the new window, otherwise after it, so that a command that fails forgets
    none.

    The command shows which share of the last 1,000 examples the model predicted correctly before
    they were taught; an example whose label was new is not counted. If this share falls
    significantly, compared label by label, a note says so: the data may have changed. Then --keep,
    `minout forget` or `minout suspects` may help. Later runs continue the count; `minout info`
    shows it, and the last such fall.

    Ids are strings in every kind of file: 7 is "7". Labels are strings in CSV; in JSON, Parquet and
    NPZ whole numbers stay numbers. All labels of a model get the type of its first one. The label
    of an image is the name of its folder, its id is its path.

    Example: minout learn wines wine.csv --label kind --id bottle
    """
    stop, skipped = Stop(), SkippedRows(skip_bad)
    wanted = named_map(features)
    own = None if wanted is None or is_saved(wanted) else wanted
    window = None if keep is None else _parse_keep(keep)
    kinds = parse_kinds(column_kinds or [], ignore or [])
    with ExitStack() as opened:
        opened.callback(skipped.close)
        learner, waiting = Learner(), Waiting(model, stop)
        if holds_model(model):
            learner = opened.enter_context(open_model(model, on_wait=waiting, features=own))
        skipped.has_examples = len(learner) > 0
        mapped = wanted if _is_new(learner) else require_features(learner).features
        is_table = _is_table(learner, mapped, memory)
        size = None if resize is None else _parse_size(resize, learner)
        file = FileOptions(
            data,
            label,
            id,
            None if is_table else ignore,
            from_line,
            skipped if skipped.skips(is_live=data == "-") else None,
            needs_label=True,
            features=mapped,
            encoding=encoding,
            resize=size,
            is_new_table=is_table,
        )
        reader = opened.enter_context(require_label(learner, open_reader(learner, file)))
        if size is not None and (reader.image_shape or ())[:2] != size:
            raise InvalidInputError(
                f"--resize is for folders of images, not for {data}; leave it out."
            )
        table = _table(learner, reader, kinds, skipped)
        settings = _settings(learner, wanted, window, memory, reader)
        _require_ids(learner, reader)
        if not len(learner):
            _require_good_start(reader)
        if _is_new(learner):
            learner.close()
            learner = opened.enter_context(open_model(model, on_wait=waiting, **settings))
        is_first = not len(learner)
        before = stored_encoder(learner)
        known = None if allow_duplicates else _known_rows(learner, reader)
        teaching = Teaching(learner, skipped, window, table, known, size)
        _print_columns(reader, table, is_first, before)
        with stop:
            refusal = teaching.teach(reader, stop) or teaching.nothing_used(reader)
            if table is not None and kinds and not teaching.taught:
                table.remember(learner)
            if consolidate and refusal is None and not learner.is_consolidated:
                refusal = teaching.consolidate(stop)
            learner.close()
            if refusal is None:
                skipped.finish(is_said=False)  # the summary says it
        if table is not None:
            table.print_new_columns()
    _print_result(learner, teaching, as_json=as_json, is_refused=refusal is not None)
    if refusal is not None:
        raise refusal
    if stop.signal:
        print_note(f"Stopped; all of this is kept. {_how_to_go_on(reader, teaching.last)}")
        raise typer.Exit(stop.exit_code)


def _print_result(learner: Learner, teaching: Teaching, *, as_json: bool, is_refused: bool) -> None:
    expected = expected_accuracy(learner)
    if as_json:
        print_json({**teaching.facts(), "expected_accuracy": expected_for_json(expected)})
        return
    if is_refused and not teaching.last:
        return
    print_text(teaching.summary())
    if expected is not None:
        print_text(f"Accuracy: {expected_text(expected, learner)}.")
    if learner.misfits:
        print_text(misfits_text(len(learner.misfits), len(learner), expected))


def _how_to_go_on(reader: Reader, last: int) -> str:
    if not reader.is_live:
        return f"Continue with --from-line {last + 1}."
    if reader.id is None:
        return "Start it again to continue."
    return "Start it again to continue; rows with known ids change nothing."


def _parse_keep(text: str) -> Keep:
    """Return the setting `keep` that a text stands for."""
    per_label = re.fullmatch(r"per[-_]label:(\d{1,18})", text, re.ASCII)
    keep: Keep = text
    if per_label:
        keep = {"per_label": int(per_label[1])}
    elif re.fullmatch(r"\d{1,18}", text, re.ASCII):
        keep = int(text)
    try:
        Learner(keep=keep)
    except InvalidInputError:
        raise InvalidInputError(
            "--keep must be all, a whole number from 1, per-label:N or a time such as 30d or 12h, "
            f"not {text!r}."
        ) from None
    return keep


def _parse_size(text: str, learner: Learner) -> tuple[int, int]:
    """Return height and width; raise an error if the images of the model have another size."""
    found = re.fullmatch(r"(\d{1,5})(?:[x×](\d{1,5}))?", text, re.ASCII | re.IGNORECASE)
    size = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if 0 in size:
        raise InvalidInputError(
            f"--resize must be a height and a width, such as 32x32, or one number, not {text!r}."
        )
    notes = read_notes(learner)
    if not _is_new(learner) and (not notes.resized or notes.image_shape is None):
        raise InvalidInputError(
            "--resize is for new models, and this one was taught without it; leave it out, or "
            "teach a new model."
        )
    if notes.image_shape is not None and tuple(notes.image_shape[:2]) != size:
        height, width = notes.image_shape[:2]
        raise InvalidInputError(
            f"The images of this model have {height} × {width} pixels; leave --resize out, or "
            "teach a new model."
        )
    return size


def _is_new(learner: Learner) -> bool:
    return not len(learner) and not learner.notes


def _settings(
    learner: Learner,
    wanted: FeatureMap | None,
    window: Keep | None,
    memory: str | None,
    reader: Reader,
) -> dict[str, Any]:
    """Return the settings of a new model; raise an error if an existing model has others."""
    settings: dict[str, Any] = {} if window is None else {"keep": window}
    if reader.kind == "records":
        settings["missing"] = "mean"
    if memory is not None:
        _require_memory(memory)
        has = memory_text(learner.memory)
        if not _is_new(learner) and memory != has:
            raise InvalidInputError(
                f"This model was made with --memory {has}; --memory is for new models."
            )
        settings["memory"] = memory
    if wanted is None:
        return settings
    if isinstance(wanted, Scattering):
        _require_images(reader)
        wanted = Scattering(image_shape=reader.image_shape)
    if not _is_new(learner) and wanted != learner.features:
        raise InvalidInputError(
            f"This model was made with {learner.features}; --features is for new models."
        )
    return {**settings, "features": wanted}


def _require_memory(name: str) -> None:
    try:
        codec_of(name)
    except InvalidInputError:
        raise InvalidInputError(f"--memory is auto, uint8, uint4 or uint2, not {name!r}.") from None


def _require_images(reader: Reader) -> None:
    count = len(reader.columns or ())
    side = isqrt(count)
    if reader.columns is not None and (side * side != count or side < SMALLEST):
        raise InvalidInputError(
            f"--features scattering needs square images of at least {SMALLEST} × {SMALLEST} "
            f"pixels, but {reader.source} has {plural(count, 'column')}; "
            "pass such images, or a folder or NPZ of images."
        )


def _known_rows(learner: Learner, reader: Reader) -> KnownRows | None:
    """Return what recognises rows without ids by their content, if that is possible."""
    if reader.is_live or not len(learner) or reader.id is not None:
        return None
    if reader.image_shape is not None and reader.label is None:
        return None  # the ids of images are their paths
    encoder, reason = stored_encoder(learner), cannot_tell(learner)
    if encoder is not None and not reason:
        new = [name for name in reader.columns or () if name not in encoder.columns]
        reason = f"columns are new ({join_names(new)})" if new else ""
    if not reason:
        return KnownRows(learner)
    print_note(
        f"The rows of {reader.source} are not compared with those stored, because {reason}: rows "
        "that were learned before are learned again. A column of ids (--id) avoids that."
    )
    return None


def _require_good_start(reader: Reader) -> None:
    """Raise an error for a bad row among the first ones of a new model; nothing is taught yet."""
    first_rows(reader)
    if isinstance(reader.failure, BadRowError):
        raise InvalidInputError(
            f"{reader.failure} Nothing has been taught; --skip-bad FILE skips such rows."
        )


def _is_table(learner: Learner, features: FeatureMap | None, memory: str | None) -> bool:
    """Return whether the rows of a model are records with columns of any kind."""
    if not _is_new(learner):
        return stored_encoder(learner) is not None
    return (features is None or isinstance(features, Identity)) and memory in (None, "auto")


def _table(
    learner: Learner, reader: Reader, kinds: dict[str, str], skipped: SkippedRows
) -> TableTeaching | None:
    """Return the encoder of a file's rows, if they are a table."""
    if reader.kind == "records" or stored_encoder(learner) is not None:
        return TableTeaching(reader, kinds, skips=skipped.skips(is_live=False))
    for name, kind in kinds.items():
        if kind != "ignore":
            raise InvalidInputError(
                "--as is for tables with column names, without --features and --memory; leave it "
                "out."
            )
        if name in (read_notes(learner).columns or ()):
            raise InvalidInputError(
                f"The column {name!r} is one of the features that this model was taught with; "
                "teach a new model to leave it out."
            )
    return None


def _print_columns(
    reader: Reader, table: TableTeaching | None, is_first: bool, before: TableEncoder | None
) -> None:
    """Say what the columns of a new model are, or those that are new in this file."""
    if reader.comma_columns:
        print_note("Numbers have a decimal comma.")
    if reader.unused:
        print_note(f"Not used: {join_names(reader.unused)}.")
    if table is None:
        if is_first and reader.columns is not None:
            print_note(_columns_note(reader, reader.columns, reader.kind))
        return
    table.require_columns()
    if not is_first:
        table.print_new_columns([] if before is None else before.columns)
    elif table.encoder.is_started:
        print_note(_columns_note(reader, table.plain_numbers(), "numbers"))
        for line in column_notes(table.encoder):
            print_note(line)


def _columns_note(reader: Reader, columns: Sequence[str], kind: str) -> str:
    roles = f"label: {reader.label}; id: {reader.id or 'none, so examples are numbered'}."
    if not columns:
        return roles[0].upper() + roles[1:]
    names = ", ".join(columns)
    if len(columns) > SHOWN:
        names = f"{', '.join(columns[:3])} … {columns[-1]}"
    if kind == "text":
        return f"Column of text: {names}; {roles}"
    return f"Columns of numbers: {names} ({len(columns):,}); {roles}"


def _require_ids(learner: Learner, reader: Reader) -> None:
    noted = read_notes(learner).id
    # A folder of images has a column of neither; the ids are the paths.
    if noted is not None and reader.id is None and reader.label is not None:
        kind = "array" if reader.columns is None else "column"
        raise InvalidInputError(
            f"{reader.source} has no {kind} {noted!r}, from which this model takes its ids; "
            "name another one with --id."
        )
