"""`minout labels` and `minout list`: the stored examples with their labels."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from minout._typing import Id, Label
from minout.cli import options
from minout.cli.file_notes import LabelConverter
from minout.cli.output import command, plural, print_json, print_note, print_rows
from minout.cli.queries import load_model, require_examples
from minout.errors import InvalidInputError
from minout.learner import Learner
from minout.store import atomic_write


class LabelRow(NamedTuple):
    """What `minout labels` says of an example; `probability` is that its label is wrong."""

    id: Id
    label: Label
    corrected_from: Label | None
    probability: float
    misfit: bool


class ListedRow(NamedTuple):
    """What `minout list` says of an example; its time is UTC."""

    id: Id
    label: Label
    weight: float
    time: str | None
    misfit: bool
    pending: bool


@command
def labels(
    model: options.Model,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write a CSV.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Write the labels of all stored examples, to check and edit.

    Columns: id; label; corrected_from, the label before the last correction; probability, that the
    label is wrong (see `minout suspects`); misfit, whether the example is on the wrong side of a
    separator, the linear function between two labels. Edit the column `label`, and pass the file to
    `minout correct`.

    Example: minout labels wines -o labels.csv, then minout correct wines labels.csv
    """
    rows = _label_rows(load_model(model))
    if output is not None:
        text = io.StringIO(newline="")
        written = [[*row[:3], f"{row.probability:.4f}", _yes(row.misfit)] for row in rows]
        csv.writer(text, lineterminator="\n").writerows([LabelRow._fields, *written])
        atomic_write(output, text.getvalue().encode(), "The labels")
        if as_json:
            print_json({"file": str(output), "examples": len(rows)})
        else:
            print_note(f"Wrote {plural(len(rows), 'label')} to {output}.")
    elif as_json:
        for row in rows:
            print_json(row._asdict())
    else:
        print_rows(LabelRow._fields, [[[*row[:4], _yes(row.misfit)] for row in rows]])


def _label_rows(learner: Learner) -> list[LabelRow]:
    if not len(learner):
        return []
    table, classes = learner.label_probabilities(), learner.classes.tolist()
    number = {label: k for k, label in enumerate(classes)}
    misfits, corrected = set(learner.misfits), learner.corrected
    rows = []
    for i, each in enumerate(learner.ids):
        label = learner.example(each)[1]
        earlier = corrected.get(each, (None,))[-1]
        wrong = max(1.0 - float(table[i, number[label]]), 0.0)
        rows.append(LabelRow(each, label, earlier, round(wrong, 6), each in misfits))
    return rows


@command
def list_(
    model: options.Model,
    label: Annotated[
        str | None, typer.Option("--label", metavar="LABEL", help="Only examples of this label.")
    ] = None,
    misfits: Annotated[bool, typer.Option("--misfits", help="Only misfits.")] = False,
    count: Annotated[
        int | None, typer.Option("-n", "--count", min=0, help="At most so many.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the stored examples: id, label, weight, time, and whether they are misfits or pending.

    They are in the order in which they were taught. A misfit is on the wrong side of a separator,
    the linear function between two labels. A pending example waits until a separator moves for
    several examples together.

    Example: minout list wines --label barolo --misfits
    """
    learner = require_examples(load_model(model))
    rows = list(_listed(learner, None if label is None else _known(learner, label)))
    rows = [row for row in rows if row.misfit or not misfits][:count]
    if as_json:
        for row in rows:
            print_json(row._asdict())
        return
    cells = [[*row[:4], _yes(row.misfit), _yes(row.pending)] for row in rows]
    print_rows(ListedRow._fields, [cells])


def _known(learner: Learner, text: str) -> Label:
    label = LabelConverter(learner).convert(text)
    if label not in learner.classes.tolist():
        raise InvalidInputError(f"No example has the label {label!r}.")
    return label


def _listed(learner: Learner, label: Label | None) -> Iterator[ListedRow]:
    misfits, pending = set(learner.misfits), set(learner.pending)
    for each in learner.ids:
        its = learner.example(each)[1]
        if label is None or its == label:
            time = _time_text(learner.time(each))
            yield ListedRow(each, its, learner.weight(each), time, each in misfits, each in pending)


def _time_text(seconds: float) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):  # beyond the calendar
        return None


def _yes(value: bool) -> str:
    return "yes" if value else "no"
