"""`minout predict`, `minout score` and `minout what-if`: ask a model about the rows of a file."""

from collections import Counter
from typing import Annotated

import typer

from minout._typing import Label
from minout.cli import options
from minout.cli.output import Row, command, show
from minout.cli.rows import FileOptions, answers, at_row, labels_of
from minout.errors import InvalidInputError, some
from minout.files import Batch
from minout.learner import Learner

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

    Example: minout predict wines.minout new.csv > labels.csv
    """
    file = FileOptions(data, label, id, encoding, decimal, features, skip_bad)

    def ask(learner: Learner, batch: Batch) -> list[Row]:
        labels, scores = learner.predict(batch.X, unknown=unknown), learner.scores(batch.X)
        best = learner.probabilities(batch.X)[range(len(labels)), scores.argmax(axis=1)]
        named = [dict(zip(learner.classes.tolist(), row, strict=True)) for row in scores.tolist()]
        return [
            {"label": label, "probability": probability, "scores": each}
            for label, probability, each in zip(labels.tolist(), best.tolist(), named, strict=True)
        ]

    columns = ["line", "id", "label", "probability"]
    show(answers(model, file, ask), columns, as_json=as_json)


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
