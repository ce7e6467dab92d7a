"""`minout predict`, `minout score` and `minout what-if`: ask a model about the rows of a file."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from glob import glob
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from minout._typing import Label
from minout.cli import options
from minout.cli.models import open_model, require_examples, require_features
from minout.cli.output import Row, command, progress_bar, show, write_csv
from minout.cli.rows import FileOptions, answers, at_row, labels_of
from minout.errors import (
    InvalidInputError,
    MissingDataError,
    UnwritableError,
    some,
    system_reason,
)
from minout.files import Batch
from minout.learner import Learner

PREDICTED = ("line", "id", "label", "probability")

Unknown = Annotated[
    str | None,
    typer.Option(
        "--unknown",
        metavar="LABEL",
        help="The label for rows whose scores are all 0 or less; with two labels they hardly ever "
        "are.",
    ),
]


@command
def predict(
    model: options.Model,
    data: options.Data,
    unknown: Unknown = None,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    features: options.Features = None,
    encoding: options.Encoding = "utf-8",
    decimal: options.Decimal = None,
    skip_bad: options.SkipBad = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Write a CSV for each of the files that DATA names, such as 'new/*.parquet'.",
            show_default=False,
        ),
    ] = None,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Predict a label for each row of a file, or of several.

    The columns are line (in the file: the first row of a CSV is line 2), id, label and
    probability. --json also prints the score of each label: the smallest margin against the others.
    Rows on standard input are answered as they come, by the newest state of the model; a bad line
    is reported and skipped. With -o there is a process for each processor, and a CSV for each of
    the files that a quoted pattern names.

    Example: minout predict wines.minout new.csv > labels.csv, or
    minout predict wines.minout 'new/*.csv' -o out
    """
    file = FileOptions(data, label, id, encoding, decimal, features, skip_bad)
    if out is not None:
        if skip_bad is not None:
            raise InvalidInputError("--skip-bad is for one file; leave it or --out out.")
        show(_predict_files(model, file, unknown, out, workers), as_json=as_json)
        return
    if workers is not None:
        raise InvalidInputError("--workers is for several files; name a folder with --out.")
    show(_predictions(model, file, unknown), PREDICTED, as_json=as_json)


def _predictions(model: Path, file: FileOptions, unknown: str | None) -> Iterator[Row]:
    def ask(learner: Learner, batch: Batch) -> list[Row]:
        labels, scores = learner.predict(batch.X, unknown=unknown), learner.scores(batch.X)
        best = learner.probabilities(batch.X)[range(len(labels)), scores.argmax(axis=1)]
        named = [dict(zip(learner.classes.tolist(), row, strict=True)) for row in scores.tolist()]
        return [
            {"label": label, "probability": probability, "scores": each}
            for label, probability, each in zip(labels.tolist(), best.tolist(), named, strict=True)
        ]

    return answers(model, file, ask)


def _predict_files(
    model: Path, file: FileOptions, unknown: str | None, out: Path, workers: int | None
) -> Row:
    """Predict all files that a pattern names, each in a task; return how many rows they have."""
    from minout.cluster import Local

    named = [file.data] if Path(file.data).is_file() else glob(file.data)
    files = sorted(each for each in named if Path(each).is_file())
    if not files:
        raise MissingDataError(f"There is no file {file.data}; --out takes no folder or -.")
    targets = [out / f"{Path(each).name}.csv" for each in files]
    for before, after in pairwise(sorted(targets)):
        if before == after:
            raise InvalidInputError(f"Two files would be written to {after}; predict them apart.")
    for target in targets:
        if target.exists():
            raise InvalidInputError(f"There is already a {target}; name another folder.")
    with open_model(model, file.features, read_only=True) as learner:
        require_examples(require_features(learner))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableError(f"{out} cannot be made: {system_reason(error)}.") from error
    most, rows, done = workers or len(os.sched_getaffinity(0)), 0, 0
    with (
        ExitStack() as cleanup,
        progress_bar("predicting") as update,
        Local(min(most, len(files))).open() as session,
    ):
        for target in targets:
            cleanup.callback(_unfinished(target).unlink, missing_ok=True)
        pairs = zip(files, targets, strict=True)
        given = [(model, file._replace(data=each), unknown, target) for each, target in pairs]
        for _, count in session.get([session.submit(predict_file, *each) for each in given]):
            rows, done = rows + count, done + 1
            update(done / len(files), f"{done:,} of {len(files):,} files")
    return {"files": len(files), "rows": rows, "to": str(out)}


def predict_file(model: Path, file: FileOptions, unknown: str | None, target: Path) -> int:
    """Write what is predicted of a file to a CSV, when that is complete; return its rows."""
    count = 0

    def counted() -> Iterator[Row]:
        nonlocal count
        for row in _predictions(model, file, unknown):
            count += 1
            yield row

    try:
        with _unfinished(target).open("w", newline="", encoding="utf-8") as opened:
            write_csv(counted(), PREDICTED, opened)
        _unfinished(target).replace(target)
    except OSError as error:
        raise UnwritableError(f"{target} could not be written: {system_reason(error)}.") from error
    return count


def _unfinished(target: Path) -> Path:
    return target.with_name(f".{target.name}.unfinished")


@command
def score(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    features: options.Features = None,
    encoding: options.Encoding = "utf-8",
    decimal: options.Decimal = None,
    skip_bad: options.SkipBad = None,
    as_json: options.Json = False,
) -> None:
    """Measure the accuracy on the rows of a file.

    Prints, for each label and for all rows, how many are predicted right, and which labels
    are predicted for the others.

    Example: minout score wines.minout test.csv --json
    """
    file = FileOptions(data, label, id, encoding, decimal, features, skip_bad)
    known: list[Label] = []

    def ask(learner: Learner, batch: Batch) -> list[Row]:
        known[:] = learner.classes.tolist()
        pairs = zip(labels_of(learner, batch), learner.predict(batch.X).tolist(), strict=True)
        return [{"label": label, "predicted": predicted} for label, predicted in pairs]

    found = answers(model, file, ask, needs_labels=True)
    counts = Counter((row["label"], row["predicted"]) for row in found)
    labels = sorted({label for label, _ in counts}, key=str)
    if not set(labels) & set(known):
        raise InvalidInputError(
            f"No label in {data} ({some(labels)}) is one of this model's ({some(known)}); "
            "name another column with --label."
        )
    rows = [{"label": each, **_measured(counts, [each])} for each in labels]
    everything = {"label": None if as_json else "(all)", **_measured(counts, labels)}
    show([*rows, everything], list(everything), as_json=as_json)


def _measured(counts: Counter[tuple[Label, Label]], of: list[Label]) -> Row:
    """Return how many rows of some labels are predicted right, and what the others are."""
    wrong: Counter[Label] = Counter()
    right = 0
    for (label, predicted), count in counts.items():
        if label in of and label == predicted:
            right += count
        elif label in of:
            wrong[predicted] += count
    examples = right + wrong.total()
    return {
        "examples": examples,
        "right": right,
        "accuracy": right / examples,
        "predicted_otherwise": dict(wrong.most_common()),
    }


@command
def what_if(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    features: options.Features = None,
    encoding: options.Encoding = "utf-8",
    decimal: options.Decimal = None,
    skip_bad: options.SkipBad = None,
    as_json: options.Json = False,
) -> None:
    """Show what teaching each row alone would disturb.

    Nothing is taught. Prints how many separators (the linear functions between two labels) would
    move, and at how many stored examples a score, clipped at 0, could change; --json lists them.
    `known` rows are stored already; for a `pending` row no separator would move yet; `refresh`
    means that scale and settings would be computed again.

    Example: minout what-if wines.minout new.csv --label kind
    """
    file = FileOptions(data, label, id, encoding, decimal, features, skip_bad)

    def ask(learner: Learner, batch: Batch) -> list[Row]:
        rows = []
        labels = labels_of(learner, batch)
        for place, (x, y, text) in enumerate(zip(batch.X, labels, batch.ids, strict=True)):
            stored = None if text is None else learner.find_id(text)
            with at_row(place):
                found = learner.what_if(x, y, id=text if stored is None else stored)
            # A separator is two neurons, one in each of its units.
            moved = sorted({tuple(sorted(each, key=str)) for each in found.neurons}, key=str)
            rows.append(
                {
                    "label": y,
                    "moved": moved if as_json else len(moved),
                    "interfered": found.interfered if as_json else len(found.interfered),
                    "pending": bool(found.pending),
                    "refresh": found.refresh,
                    "known": stored is not None,
                }
            )
        return rows

    columns = ["line", "id", "label", "moved", "interfered", "pending", "refresh", "known"]
    show(answers(model, file, ask, needs_labels=True), columns, as_json=as_json)
