"""`minout predict`: labels for the rows of a file."""

from typing import Annotated, NamedTuple

import typer

from minout._typing import Floats
from minout.cli import options
from minout.cli.asking import answers, needs_examples, opened
from minout.cli.remembered import Asked
from minout.cli.say import command, say_json, say_lines
from minout.learner import Learner
from minout.streams.files import Example, Label

Unknown = Annotated[
    str | None,
    typer.Option(
        "--unknown",
        metavar="WORD",
        help="The label for rows that no class claims: of every class, some separator has the row "
        "on its other side. This finds no outliers, and with two classes it hardly ever happens.",
    ),
]


class _Answer(NamedTuple):
    label: Label
    probability: float
    scores: list[float]


@command
def predict(
    model: options.Model,
    data: options.Data,
    unknown: Unknown = None,
    id: options.IdColumn = None,
    label: options.LabelColumn = None,
    ignore: options.Ignore = None,
    from_line: options.FromLine = 1,
    as_json: options.Json = False,
) -> None:
    """Prints a label for each row of a file, with its probability and the score of each class.

    The file may still have the label's column, and others that the model does not know: they are
    left out. On a terminal it prints rounded numbers, piped a CSV with all their digits, and with
    --json an object per line. A score above 0 means that the row is on the class's side of all its
    separators, the straight cuts between it and each other class.

    Example: minout predict wines new.csv --unknown none > labels.csv
    """
    with opened(model, Asked(data, label, id, ignore, from_line)) as (learner, reader):
        classes = needs_examples(learner).classes.tolist()
        said = answers(reader, lambda rows: _ask(learner, rows, unknown))
        if as_json:
            for batch, found in said:
                for example, answer in zip(batch, found, strict=True):
                    _say(example, answer, classes)
            return
        head = ["line", "id", "label", "probability", *(f"score:{each}" for each in classes)]
        say_lines(head, (list(map(_line, batch, found)) for batch, found in said))


def _ask(learner: Learner, rows: Floats, unknown: str | None) -> list[_Answer]:
    labels, scores = learner.predict(rows, unknown=unknown), learner.scores(rows)
    best = learner.probabilities(rows)[range(len(rows)), scores.argmax(axis=1)]
    return list(map(_Answer, labels.tolist(), best.tolist(), scores.tolist()))


def _line(example: Example, answer: _Answer) -> list[object]:
    return [example.number, example.id, answer.label, answer.probability, *answer.scores]


def _say(example: Example, answer: _Answer, classes: list[Label]) -> None:
    say_json(
        {
            "line": example.number,
            "id": example.id,
            **answer._asdict(),
            "scores": dict(zip(classes, answer.scores, strict=True)),
        }
    )
