"""`minout correct`, `update`, `forget` and `consolidate`: edit a model."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from minout._typing import Floats, Id, Label
from minout.cli import options
from minout.cli.drift_note import NOTES as DRIFT
from minout.cli.file_notes import LabelConverter, read_notes, require_id
from minout.cli.id_files import read_fixes, read_ids
from minout.cli.output import command, print_facts, print_json, print_note
from minout.cli.progress import ProgressBar
from minout.cli.queries import open_model
from minout.cli.stop import Stop
from minout.cli.table_rows import stored_encoder
from minout.cli.waiting import Waiting
from minout.engine import NOTHING_MOVED, Certificate
from minout.engine.window import SECONDS
from minout.errors import InvalidInputError
from minout.inputs import checked_label
from minout.learner import Learner
from minout.store import prepare_folder
from minout.streams.files import is_utf8, join_names
from minout.streams.files.flattening import flattened
from minout.tables import NOTE as TABLE
from minout.tables import TableEncoder
from minout.teaching import clock


@command
def correct(
    model: options.Model,
    what: Annotated[
        str,
        typer.Argument(
            metavar="ID|FILE",
            help="The id of a stored example; or, without a label, a CSV with the columns id and "
            "label, such as `minout labels` writes.",
        ),
    ],
    label: Annotated[
        str | None, typer.Argument(metavar="[LABEL]", help="The right label of the example.")
    ] = None,
    new_label: Annotated[
        bool,
        typer.Option("--new-label", help="Allow labels that no stored example has yet."),
    ] = False,
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Change the label of a stored example, or of many.

    All labels of a file are changed together, or none; lines whose label is the present one change
    nothing, and other columns than id and label are ignored. If you learn a file again that still
    has the old label, nothing changes.

    Example: minout correct wines bottle-17 barolo, or minout correct wines labels.csv
    """
    if label is not None and not is_utf8(label):
        raise InvalidInputError(f"The label {label!r} is not UTF-8; give it as UTF-8.")
    if label is None and not Path(what).exists():
        raise InvalidInputError(
            f"There is no file {what}; name a CSV of ids and labels, or an id and its label."
        )
    with _open(model) as learner, learner.turn():
        before = learner.misfits
        if label is None:
            fixes = read_fixes(learner, Path(what))
        else:
            new = LabelConverter(learner).convert(label)
            fixes = {require_id(learner, what): new}
        unknown = _new_labels(learner, fixes, Path(what) if label is None else None, new_label)
        old = {each: learner.example(each)[1] for each in fixes}
        changed = {each: new for each, new in fixes.items() if new != old[each]}
        reports = learner.correct_many(list(changed), list(changed.values()))
        certificate = _combined([each.certificate for each in reports])
        if changed and consolidate and len(learner):
            learner.consolidate()
    if label is None:
        facts = _many_facts(old, changed, len(fixes), unknown, as_json)
    else:
        facts = _one_fact(old, fixes, unknown, as_json)
    if certificate.forgotten and not as_json:
        facts["fell out of the window"] = ", ".join(map(str, certificate.forgotten))
    _report(learner, certificate, before, as_json, facts)


def _new_labels(
    learner: Learner, fixes: Mapping[Id, Label], file: Path | None, is_allowed: bool
) -> list[Label]:
    known = learner.classes.tolist()
    new = list(dict.fromkeys(label for label in fixes.values() if label not in known))
    for label in new:
        checked_label(label, known)  # raises the error for another type
    if new and not is_allowed:
        where = "" if file is None else f"{file}, column 'label': "
        raise InvalidInputError(
            f"{where}{'n' if where else 'N'}o example has the label {new[0]!r}; the labels are: "
            f"{join_names([str(each) for each in known])}. Add --new-label to make a new one."
        )
    return new


def _combined(certificates: Sequence[Certificate]) -> Certificate:
    moved = dict.fromkeys(pair for each in certificates for pair in each.moved)
    forgotten = tuple(each for one in certificates for each in one.forgotten)
    return NOTHING_MOVED._replace(
        moved=tuple(moved),
        checked=sum(each.checked for each in certificates),
        least_margin=min((each.least_margin for each in certificates), default=math.inf),
        forgotten=forgotten,
    )


def _one_fact(
    old: Mapping[Id, Label], fixes: Mapping[Id, Label], unknown: list[Label], as_json: bool
) -> dict[str, object]:
    ((example_id, new),) = fixes.items()
    had = old[example_id]
    if as_json:
        return {"from": had, "to": new, "is_new_label": bool(unknown), "changed": new != had}
    remark = " (nothing changed)" if new == had else " (new label)" if unknown else ""
    return {"label": f"{had} → {new}{remark}"}


def _many_facts(
    old: Mapping[Id, Label],
    changed: Mapping[Id, Label],
    count: int,
    unknown: list[Label],
    as_json: bool,
) -> dict[str, object]:
    if as_json:
        fixed = [{"id": i, "from": old[i], "to": new} for i, new in changed.items()]
        return {"corrected": fixed, "unchanged": count - len(changed), "new_labels": unknown}
    facts: dict[str, object] = {
        "labels corrected": len(changed),
        "labels unchanged": count - len(changed),
    }
    if unknown:
        facts["new labels"] = join_names([str(each) for each in unknown])
    return facts


@command
def update(
    model: options.Model,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a stored example.")],
    row: Annotated[
        str,
        typer.Argument(
            metavar="ROW",
            help="The new features: a JSON object with the columns that change (null is a missing "
            "value), or numbers in the order of the columns, separated by commas. If the rows of "
            "the model are not a table, all columns must be given.",
        ),
    ],
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Give a stored example other features; it keeps its label, weight and time.

    The consolidated model equals one that was taught these features from the start. Learning a file
    that still has the old features is then refused: change them there, too.

    Example: minout update wines bottle-17 '{"alcohol": 13.2, "colour": "dark"}'
    """
    # A signal waits: more columns and the encoder that knows them are committed together.
    with _open(model) as learner, Stop() as stop, learner.turn():
        before = learner.misfits
        stored = require_id(learner, id)
        old = learner.example(stored)[0]
        certificate = learner.update(stored, _new_row(learner, row, old)).certificate
        new = learner.example(stored)[0]
        has_changed = (
            not np.array_equal(new[: len(old)], old, equal_nan=True) or new[len(old) :].any()
        )
        if has_changed and consolidate:
            learner.consolidate()
    changed = {"changed": has_changed} if as_json else {"changed": "yes" if has_changed else "no"}
    _report(learner, certificate, before, as_json, changed)
    if stop.signal:
        raise typer.Exit(stop.exit_code)


def _new_row(learner: Learner, text: str, old: Floats) -> Any:
    """Return the row of a text; new categories of a table get features.

    Columns of a table that the text does not name keep their values.
    """
    encoder = stored_encoder(learner)
    if encoder is None:
        return parse_row(text, read_notes(learner).columns)
    record = parse_record(text, encoder)
    encoded = encoder.encode(record)
    described, row = encoder.described(), encoded.row
    is_kept = np.array([source not in record for source in encoder.sources[: len(old)]])
    row[: len(old)][is_kept] = old[is_kept]
    if encoded.new:
        learner.widen(encoded.new)
    learner.notes[TABLE] = described
    return row


def parse_record(text: str, encoder: TableEncoder) -> dict[str, Any]:
    """Return the values of a table's columns, from a JSON object or from numbers in their order."""
    columns = encoder.first_columns
    if not text.lstrip().startswith("{"):
        numbers = parse_row(text, columns)
        if len(numbers) != len(columns):
            raise InvalidInputError(
                f"ROW has {len(numbers)} numbers, but this model has {len(columns)} columns; pass "
                "one for each, or a JSON object with those that change."
            )
        return dict(zip(columns, numbers, strict=True))
    try:
        record = flattened(json.loads(text))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(f"ROW is not a JSON object: {error}.") from None
    known = set(encoder.columns)
    for name in record:
        if name not in known:
            raise InvalidInputError(
                f"ROW: this model has no column {name!r}; its columns are: "
                f"{join_names(encoder.columns)}."
            )
    return record


def parse_row(text: str, columns: list[str] | None) -> list[float]:
    """Return the numbers of a row, from a JSON object by column or from a list.

    >>> parse_row('{"b": 2, "a": 1}', ["a", "b"]), parse_row("1, 2.5", None)
    ([1.0, 2.0], [1.0, 2.5])
    """
    try:
        given = json.loads(text if text.lstrip().startswith(("{", "[")) else f"[{text}]")
    except (ValueError, RecursionError):
        given = None
    if isinstance(given, dict):
        if columns is None:
            raise InvalidInputError(
                "The columns of this model have no names; pass numbers separated by commas."
            )
        off = sorted({*columns} ^ {*given})
        if off:
            what = "is no column of this model" if off[0] in given else "is not in the object"
            raise InvalidInputError(f"ROW: column {off[0]!r} {what}; give a value for each column.")
        given = [given[name] for name in columns]
    if not isinstance(given, list):
        raise InvalidInputError(
            f"ROW must be a JSON object or numbers separated by commas, not {text!r}."
        )
    for place, each in enumerate(given):
        if isinstance(each, bool) or not isinstance(each, int | float):
            name = repr(columns[place]) if columns and place < len(columns) else place + 1
            raise InvalidInputError(f"ROW: column {name} must be a number, not {each!r}.")
    return [float(each) for each in given]


@command
def forget(
    model: options.Model,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID…", help="Ids of stored examples.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--class", "--label", help="Forget this label and all its examples."),
    ] = None,
    ids_from: Annotated[
        Path | None,
        typer.Option(
            "--ids-from",
            metavar="FILE",
            help="Forget the ids in a file: the column id of a .csv, otherwise one per line.",
        ),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            metavar="TIME",
            help="Forget examples that were taught (or happened) longer ago, such as 30d or 12h.",
        ),
    ] = None,
    log_ids: Annotated[
        bool, typer.Option("--log-ids", help="Keep these ids in `minout log`.")
    ] = False,
    consolidate: options.Consolidate = True,
    as_json: options.Json = False,
) -> None:
    """Remove stored examples; the consolidated model equals one that was never taught them.

    In a table, a category that only they had keeps its feature, with 0 in all rows. The settings
    are then chosen by other folds of the cross-validation, and the model may differ for that.

    No list of forgotten examples is kept: remove them from your files as well, or they are taught
    again with the next `minout learn` of such a file.

    Example: minout forget wines bottle-17 bottle-18, or minout forget wines --older-than 30d
    """
    if [bool(ids), label is not None, ids_from is not None, older_than is not None].count(
        True
    ) != 1:
        raise typer.BadParameter(
            "Name the ids to forget, or use one of --class, --ids-from and --older-than."
        )
    seconds = None if older_than is None else _seconds(older_than)
    with _open(model) as learner, learner.turn():
        before, labels = learner.misfits, len(learner.classes)
        if label is not None:
            forgotten = LabelConverter(learner).convert(label)
            certificate = learner.forget_class(forgotten)
        else:
            if ids_from is not None:
                named = read_ids(learner, ids_from)
            elif seconds is not None:
                since = clock() - seconds
                named = [each for each in learner.ids if learner.time(each) < since]
            else:
                named = [require_id(learner, each) for each in ids or []]
            certificate = learner.forget(named, log_ids=log_ids) if named else NOTHING_MOVED
        if len(learner.classes) < labels:
            learner.notes.pop(DRIFT, None)  # the drift monitor names the labels that it counts
        if certificate is not NOTHING_MOVED and consolidate and len(learner):
            learner.consolidate()
    _report(learner, certificate, before, as_json, {})


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?) ?([smhdw])", text, re.ASCII)
    if not found:
        raise InvalidInputError(
            f"--older-than must be a time such as 30d or 12h (units s, m, h, d, w), not {text!r}."
        )
    return float(found[1]) * SECONDS[found[2]]


@command
def consolidate(model: options.Model, as_json: options.Json = False) -> None:
    """Compute a model again from its set of stored examples.

    The result does not depend on their order, nor on forgotten examples; in a table it may depend
    on the order in which categories came after the first rows. `learn`, `correct` and
    `forget` consolidate at the end, unless they are stopped or run with --no-consolidate. Ctrl-C
    leaves the model as it was.

    Example: minout consolidate wines
    """
    with _open(model) as learner, Stop() as stop:
        try:
            with stop.interruptible(), learner.turn():
                before = learner.misfits
                if not len(learner):
                    raise InvalidInputError("This model has no examples; teach it some first.")
                with ProgressBar("consolidating"):
                    done = learner.consolidate()
        except KeyboardInterrupt:
            print_note("Stopped; the model is as it was.")
            raise typer.Exit(stop.exit_code) from None
    facts = {"seconds": done.refresh.seconds, "chosen": done.refresh.choice._asdict()}
    _report(learner, done.certificate, before, as_json, facts if as_json else {})


def _open(model: Path) -> Learner:
    """Open a model to change it; there must be one."""
    prepare_folder(model, create=False)
    return open_model(model, on_wait=Waiting(model))


def _report(
    learner: Learner,
    certificate: Certificate,
    before: list[Id],
    as_json: bool,
    facts: Mapping[str, object],
) -> None:
    # The misfits after consolidating.
    now = learner.misfits
    stored = set(learner.ids)
    appeared = [each for each in now if each not in before]
    cleared = [each for each in before if each not in now and each in stored]
    if as_json:
        changed = {"misfits": appeared, "cleared": cleared, "all_misfits": now}
        print_json({**facts, **certificate._asdict(), **changed, "examples": len(learner)})
        return
    print_facts(
        {
            **facts,
            "separators moved": len(certificate.moved),
            "margins checked": certificate.checked,
            "became misfits": _joined(appeared),
            "no longer misfits": _joined(cleared),
            "misfits in all": len(now),
            "examples": len(learner),
        }
    )


def _joined(ids: list[Id]) -> str:
    return ", ".join(map(str, ids)) or "none"
