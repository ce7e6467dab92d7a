"""`minout predict`, `minout score` and `minout what-if`: ask a model about the rows of a file."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import typer

from minout._typing import Label
from minout.cli import options
from minout.cli.models import Asked, FileOptions, asking, labels_of
from minout.cli.output import Row, command, print_rows
from minout.errors import InvalidInputError
from minout.files import Batch, join_names

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
    as_json: options.Json = False,
) -> None:
    """Predict a label for each row of a file.

    --json also prints the score of each label: the smallest margin against the others. Rows on
    standard input are answered as they come, by the newest state of the model; a bad line is
    reported and skipped.

    Example: minout predict wines new.csv > labels.csv
    """
    file = FileOptions(data, label, id, encoding, decimal, features, skip_bad)
    with asking(model, file) as asked:
        rows = _predictions(asked, unknown)
        print_rows(rows, ["line", "id", "label", "probability"], as_json)


def _predictions(asked: Asked, unknown: str | None) -> Iterator[Row]:
    learner = asked.learner

    def ask(batch: Batch) -> list[Row]:
        if asked.reader.is_live:
            learner.reload()
        labels, scores = learner.predict(batch.X, unknown=unknown), learner.scores(batch.X)
        best = learner.probabilities(batch.X)[range(len(labels)), scores.argmax(axis=1)]
        named = [dict(zip(learner.classes.tolist(), row, strict=True)) for row in scores.tolist()]
        return [
            {"label": label, "probability": probability, "scores": each}
            for label, probability, each in zip(labels.tolist(), best.tolist(), named, strict=True)
        ]

    for batch, answers in asked.answers(ask):
        for line, id, answer in zip(batch.lines, batch.ids, answers, strict=True):
            yield {"line": line, "id": id, **answer}


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

    Prints, for each label and for all rows, how many are predicted right, and what the others are
    taken for.

    Example: minout score wines test.csv --json
    """
    file = FileOptions(data, label, id, encoding, decimal, features, skip_bad)
    with asking(model, file, needs_labels=True) as asked:
        confusion = _confusion(asked)
        known = asked.learner.classes.tolist()
    labels = sorted({true for true, _ in confusion}, key=str)
    if not set(labels) & set(known):
        raise InvalidInputError(
            f"No label in {data} ({join_names([*map(str, labels)])}) is one of this model's "
            f"({join_names([*map(str, known)])}); name another column with --label."
        )
    rows = [_measured(each, confusion, [each]) for each in labels]
    rows.append(_measured(None, confusion, labels))
    if not as_json:
        for row in rows:
            others = row["predicted_otherwise"].items()
            row["label"] = "(all)" if row["label"] is None else row["label"]
            row["predicted_otherwise"] = ", ".join(f"{each}: {n:,}" for each, n in others)
    print_rows(rows, list(rows[0]), as_json)


def _measured(label: Label | None, confusion: Counter[tuple[Label, Label]], of: list[Label]) -> Row:
    wrong: Counter[Label] = Counter()
    right = 0
    for (true, predicted), count in confusion.items():
        if true in of and true == predicted:
            right += count
        elif true in of:
            wrong[predicted] += count
    examples = right + wrong.total()
    return {
        "label": label,
        "examples": examples,
        "right": right,
        "accuracy": right / examples,
        "predicted_otherwise": dict(wrong.most_common()),
    }


def _confusion(asked: Asked) -> Counter[tuple[Label, Label]]:
    """Return how many rows have each label and each predicted label."""
    learner = asked.learner

    def ask(batch: Batch) -> list[tuple[Label, Label]]:
        labels = labels_of(learner, batch)
        return list(zip(labels, learner.predict(batch.X).tolist(), strict=True))

    return Counter(pair for _, pairs in asked.answers(ask) for pair in pairs)


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
    move, and of how many stored examples the score could change; --json lists them. `known` rows
    are stored already; a `pending` one would wait; `refresh` means that scale and settings would be
    computed again.

    Example: minout what-if wines new.csv --label kind
    """
    file = FileOptions(data, label, id, encoding, decimal, features, skip_bad)
    columns = ["line", "id", "label", "moved", "interfered", "pending", "refresh", "known"]
    with asking(model, file, needs_labels=True) as asked:
        rows = _disturbed(asked)
        if not as_json:
            rows = (
                {**row, "moved": len(row["moved"]), "interfered": len(row["interfered"])}
                for row in rows
            )
        print_rows(rows, columns, as_json)


def _disturbed(asked: Asked) -> Iterator[Row]:
    learner = asked.learner

    def ask(batch: Batch) -> list[Row]:
        labels = labels_of(learner, batch)
        rows = []
        for place, (x, label, text) in enumerate(zip(batch.X, labels, batch.ids, strict=True)):
            stored = None if text is None else learner.find_id(text)
            try:
                found = learner.what_if(x, label, id=text if stored is None else stored)
            except InvalidInputError as error:
                raise InvalidInputError(str(error), row=place) from None
            # A separator is two neurons, one in each of its units.
            moved = sorted({tuple(sorted(each, key=str)) for each in found.neurons}, key=str)
            flags = {"pending": bool(found.pending), "refresh": found.refresh}
            rows.append({"label": label, "moved": moved, "interfered": found.interfered, **flags})
            rows[-1]["known"] = stored is not None
        return rows

    for batch, answers in asked.answers(ask):
        for line, id, answer in zip(batch.lines, batch.ids, answers, strict=True):
            yield {"line": line, "id": id, **answer}
