"""`minout list`, `minout correct` and `minout forget`: the stored examples of a model."""

import io
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import chain
from math import isnan
from pathlib import Path
from typing import Annotated

import typer

from minout import steps
from minout._typing import Id, Label
from minout.cli import options
from minout.cli.inspection import errors_text
from minout.cli.models import (
    drop_old_labels,
    load_model,
    open_model,
    require_id,
    require_stored_label,
)
from minout.cli.output import SHOWN, Row, command, print_note, progress_bar, show, write_csv
from minout.cli.stop import Stop
from minout.core import Certificate
from minout.core.window import SECONDS
from minout.errors import InvalidInputError, plural, some
from minout.files import Reader, open_text, parse_label, read
from minout.learner import Learner
from minout.store import atomic_write

PAIR = ("other_id", "other_label", "distance")
COLUMNS = (
    *("id", "label", "predicted", "probability", "weight", "time"),
    *("misfit", "pending", "corrected_from", "new_label"),
)
OfLabel = Annotated[
    str | None, typer.Option("--of", metavar="LABEL", help="The examples of this label.")
]


@command
def list_(
    model: options.Model,
    suspects: Annotated[
        bool, typer.Option("--suspects", help="Labels that may be wrong, the most likely first.")
    ] = False,
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="Equal or nearly equal rows with different labels.")
    ] = False,
    misfits: Annotated[bool, typer.Option("--misfits", help="Only misfits.")] = False,
    of: OfLabel = None,
    count: options.Count = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write a CSV.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the stored examples, or those that need a look.

    `predicted` is the label that an example gets when it is left out; `probability`, that its label
    is wrong. A misfit is on the wrong side of a separator. With --duplicates, `distance` is a share
    of the typical distance between two rows.

    To correct labels, write a CSV, fill in the column `new_label`, and pass it to `minout correct`.

    Example: minout list wines.minout --suspects -n 20 --csv check.csv, then
    minout correct wines.minout check.csv
    """
    learner = load_model(model)
    rows, columns = _listed(learner), list(COLUMNS)
    found = list(rows.values())
    if suspects:
        ranked = learner.suspects(len(learner)) if len(learner.classes) > 1 else []
        found = [rows[each.id] for each in ranked]
    elif duplicates:
        pairs, columns = learner.conflicts() if rows else [], [*COLUMNS, *PAIR]
        found = [{**rows[p.id], **{name: getattr(p, name) for name in PAIR}} for p in pairs]
    label = None if of is None else require_stored_label(learner, of)
    found = [row for row in found if row["misfit"] or not misfits]
    found = [row for row in found if of is None or row["label"] == label][:count]
    if csv_file is None:
        show(found, columns, as_json=as_json)
    else:
        text = io.StringIO(newline="")
        write_csv(found, columns, text)
        atomic_write(csv_file, text.getvalue().encode(), "The list")
        print_note(f"Wrote {plural(len(found), 'example')} to {csv_file}.")
    if suspects and len(learner.classes) > 1:
        print_note(errors_text(learner.label_errors()))


def _listed(learner: Learner) -> dict[Id, Row]:
    """Return what is known of each example, by id, in the order in which they were taught."""
    if not len(learner):
        return {}
    classes = learner.classes.tolist()
    right, left_out = learner.label_probabilities(), learner.left_out_probabilities()
    misfits, pending, corrected = set(learner.misfits), set(learner.pending), learner.corrected
    rows = {}
    for place, each in enumerate(learner.ids):
        label = learner.example(each)[1]
        wrong = 1.0 - float(right[place, classes.index(label)])
        rows[each] = {
            "id": each,
            "label": label,
            "predicted": classes[int(left_out[place].argmax())],
            "probability": None if isnan(wrong) else round(max(wrong, 0.0), 6),
            "weight": learner.weight(each),
            "time": _time_text(learner.time(each)),
            "misfit": each in misfits,
            "pending": each in pending,
            "corrected_from": corrected.get(each, (None,))[-1],
            "new_label": None,
        }
    return rows


def _time_text(seconds: float) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):  # beyond the calendar
        return None


@command
def correct(
    model: options.Model,
    what: Annotated[
        str,
        typer.Argument(
            metavar="ID|FILE",
            help="The id of a stored example; or, without a label, a file with the columns id and "
            "new_label (or label), such as `minout list --csv` writes.",
        ),
    ],
    label: Annotated[
        str | None, typer.Argument(metavar="[LABEL]", help="The right label of the example.")
    ] = None,
    new_label: Annotated[
        bool, typer.Option("--new-label", help="Allow labels that no stored example has yet.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Change the label of stored examples.

    All labels of a file are changed together, or none. If you learn a file again that still has the
    old labels, nothing changes.

    Example: minout correct wines.minout bottle-17 barolo, or minout correct wines.minout check.csv
    """

    def step(learner: Learner) -> tuple[Row, list[Certificate]]:
        if label is None:
            fixes = _read_fixes(learner, Path(what))
        else:
            fixes = {require_id(learner, what): learner.labels_of([label])[0]}
        known = learner.classes.tolist()
        unknown = [each for each in dict.fromkeys(fixes.values()) if each not in known]
        if unknown and not new_label:
            raise InvalidInputError(
                f"No example has the label {unknown[0]!r}; the labels are: {some(known)}. Add "
                "--new-label to make a new one."
            )
        old = {each: learner.example(each)[1] for each in fixes}
        new = {each: label for each, label in fixes.items() if label != old[each]}
        reports = learner.correct_many(list(new), list(new.values()))
        facts = {
            "corrected": [{"id": each, "from": old[each], "to": new[each]} for each in new],
            "unchanged": len(fixes) - len(new),
            "new_labels": unknown,
        }
        return facts, [each.certificate for each in reports]

    _change(model, step, as_json)


def _read_fixes(learner: Learner, file: Path) -> dict[Id, Label]:
    """Return the new label of each id in a file; rows without a new label are left out."""
    if not file.exists():
        raise InvalidInputError(
            f"There is no file {file}; name a file of ids and labels, or an id and its label."
        )
    with read(file, id="id") as reader:
        reader.require("id")
        column = "new_label" if "new_label" in (reader.columns or ()) else "label"
        reader.require(column)
        fixes: dict[Id, Label] = {}
        for row, text, line in _rows(reader):
            label = parse_label(row.get(column))
            if label is None:
                continue
            if text is None or (found := learner.find_id(text)) is None:
                raise reader.bad_row(line, f"there is no example {text!r} in this model.")
            if found in fixes:
                raise reader.bad_row(line, f"the id {text!r} is in an earlier line, too.")
            fixes[found] = label
    return dict(zip(fixes, learner.labels_of(fixes.values()), strict=True))


def _rows(reader: Reader) -> Iterator[tuple[Row, str | None, int]]:
    for batch in reader:
        yield from zip(batch.X, batch.ids, batch.lines, strict=True)
        if batch.error is not None:
            raise batch.error


@command
def forget(
    model: options.Model,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID…", help="Ids of stored examples.")
    ] = None,
    ids_from: Annotated[
        Path | None,
        typer.Option(
            "--ids-from",
            metavar="FILE",
            help="The ids in a file: the column id of a table, or one per line of a .txt.",
        ),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            metavar="TIME",
            help="Examples that were taught (or happened) longer ago, such as 30d or 12h.",
        ),
    ] = None,
    of: OfLabel = None,
    as_json: options.Json = False,
) -> None:
    """Remove stored examples.

    The consolidated model equals one that was never taught them. No list of them is kept: remove
    them from your files as well, or they are taught again with the next `minout learn`. `minout
    consolidate --compact` leaves no trace of them in any file of the model.

    Example: minout forget wines.minout bottle-17 bottle-18, or
    minout forget wines.minout --older-than 30d
    """
    given = (bool(ids), ids_from is not None, older_than is not None, of is not None)
    if given.count(True) != 1:
        raise typer.BadParameter("Name ids, or one of --ids-from, --older-than and --of.")
    seconds = None if older_than is None else _seconds(older_than)

    def step(learner: Learner) -> tuple[Row, list[Certificate]]:
        if of is not None:
            return {}, [learner.forget_class(require_stored_label(learner, of))]
        if seconds is not None:
            since = steps.clock() - seconds
            named = [each for each in learner.ids if learner.time(each) < since]
        else:
            texts = ids or [] if ids_from is None else _read_ids(ids_from)
            named = [require_id(learner, each) for each in dict.fromkeys(texts)]
        return {}, [learner.forget(named)] if named else []

    _change(model, step, as_json)


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?) ?([smhdw])", text, re.ASCII)
    if not found:
        raise InvalidInputError(
            f"--older-than must be a time such as 30d or 12h (units s, m, h, d, w), not {text!r}."
        )
    return float(found[1]) * SECONDS[found[2]]


def _read_ids(file: Path) -> list[str]:
    if file.suffix.lower() == ".txt":
        lines = open_text(file, "utf-8")
        try:
            return [line.strip() for line in lines if line.strip()]
        finally:
            lines.close()
    with read(file, id="id") as reader:
        reader.require("id")
        return [text for _, text, _ in _rows(reader) if text is not None]


def _change(
    model: Path, step: Callable[[Learner], tuple[Row, list[Certificate]]], as_json: bool
) -> None:
    """Change a model in one transaction, consolidate it, and print the facts of `step` and more."""
    with open_model(model, on_wait=Stop().on_wait(model)) as learner, learner.turn():
        before = learner.misfits
        facts, certificates = step(learner)
        drop_old_labels(learner)
        if certificates and len(learner):
            with progress_bar("consolidating"):
                learner.consolidate()
    misfits, moved = learner.misfits, (each.moved for each in certificates)
    had, has = set(before), set(misfits)
    changed = {
        "moved": list(dict.fromkeys(chain.from_iterable(moved))),
        "forgotten": [id for each in certificates for id in each.forgotten],
        "became_misfits": [id for id in misfits if id not in had],
        "no_longer_misfits": [id for id in before if id not in has and id in learner],
        "misfits": misfits,
        "examples": len(learner),
    }
    show(facts | changed, as_json=as_json, most=SHOWN)
