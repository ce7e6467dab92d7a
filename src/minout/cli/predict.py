"""`minout predict`: labels for the rows of a file."""

from contextlib import closing
from typing import Annotated, Any, NamedTuple

import typer

from minout.cli import options
from minout.cli.file_notes import FileOptions
from minout.cli.named_map import named_map
from minout.cli.output import command, print_json, print_rows
from minout.cli.queries import answer_batches, open_query, require_examples
from minout.cli.skipped import SkippedRows
from minout.cli.table_rows import RowMaker
from minout.learner import Learner
from minout.streams.files import Example, Label

Unknown = Annotated[
    str | None,
    typer.Option(
        "--unknown",
        metavar="LABEL",
        help="The label for rows whose scores are all 0 or less. This is no outlier detector: with "
        "two classes it hardly ever happens.",
    ),
]


class _Answer(NamedTuple):
    label: Label
    probability: float
    scores: dict[Label, float]


@command
def predict(
    model: options.Model,
    data: options.Data,
    unknown: Unknown = None,
    id: options.IdColumn = None,
    label: options.LabelColumn = None,
    ignore: options.Ignore = None,
    encoding: options.Encoding = None,
    skip_bad: options.SkipBad = None,
    from_line: options.FromLine = 1,
    features: options.Function = None,
    as_json: options.Json = False,
) -> None:
    """Predict a label for each row of a file, with its probability and the score of each class.

    A separator is the linear function between two labels; its value is the margin. The score of a
    class is the smallest margin of the row, over the separators between that class and each other
    class. Above 0, the row is on the side of the class in all of them. The label column and columns
    that the model was not taught are ignored. In a table a missing number counts as the mean of its
    column, and a new category sets no feature. Numbers are rounded on a terminal; piped output is
    CSV with all digits.

    Rows on standard input are answered one by one, each by the newest state of the model. A bad
    line is reported and skipped, also the first one, if the model has column names. CSV has a score
    for each class that the model had at the start; --json also for classes that are new since.

    Example: minout predict wines new.csv --unknown none > labels.csv
    """
    skipped = SkippedRows(skip_bad, has_examples=True)
    own = named_map(features)
    on_bad = skipped if skipped.skips(is_live=data == "-") else None
    file = FileOptions(
        data,
        label,
        id,
        ignore,
        from_line,
        on_bad,
        features=own,
        encoding=encoding,
        reads_labels=False,
    )
    with closing(skipped), open_query(model, file) as (learner, reader):
        classes = require_examples(learner).classes.tolist()
        maker = RowMaker(learner)

        def ask(batch: list[Example]) -> list[_Answer]:
            if reader.is_live:
                learner.reload()
            return _ask(require_examples(learner), maker.rows(batch), unknown)

        answered = answer_batches(reader, ask, skipped)
        if as_json:
            for batch, answers in answered:
                for example, answer in zip(batch, answers, strict=True):
                    _print_object(example, answer)
            skipped.finish()
            return
        head = ["line", "id", "label", "probability", *(f"score:{each}" for each in classes)]
        lines = (
            [_line(*each, classes) for each in zip(batch, answers, strict=True)]
            for batch, answers in answered
        )
        print_rows(head, lines)
        skipped.finish()


def _ask(learner: Learner, rows: Any, unknown: str | None) -> list[_Answer]:
    labels, scores = learner.predict(rows, unknown=unknown), learner.scores(rows)
    best = learner.probabilities(rows)[range(len(rows)), scores.argmax(axis=1)]
    classes = learner.classes.tolist()
    named = [dict(zip(classes, each, strict=True)) for each in scores.tolist()]
    return list(map(_Answer, labels.tolist(), best.tolist(), named))


def _line(example: Example, answer: _Answer, classes: list[Label]) -> list[object]:
    scores = [answer.scores.get(each) for each in classes]
    return [example.number, example.id, answer.label, answer.probability, *scores]


def _print_object(example: Example, answer: _Answer) -> None:
    print_json({"line": example.number, "id": example.id, **answer._asdict()})
