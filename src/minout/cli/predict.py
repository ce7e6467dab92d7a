"""`minout predict`: labels for the rows of a file."""

from typing import Annotated, NamedTuple

import typer

from minout._typing import Floats
from minout.cli import options
from minout.cli.asking import answers, opened
from minout.cli.remembered import Asked
from minout.cli.say import command, flush, say_csv, say_json
from minout.learner import Learner
from minout.streams.files import Example, Label

Unknown = Annotated[
    str | None,
    typer.Option("--unknown", metavar="WORD", help="The label for rows that no class claims."),
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
    left out. It prints CSV, or with --json an object per line.

    Example: minout predict wines new.csv --unknown none > labels.csv
    """
    with opened(model, Asked(data, label, id, ignore, from_line)) as (learner, reader):
        classes = learner.classes.tolist()
        if not as_json:
            scores = [f"score:{each}" for each in classes]
            say_csv([["line", "id", "label", "probability", *scores]])
        for batch, said in answers(reader, lambda rows: _ask(learner, rows, unknown)):
            for example, answer in zip(batch, said, strict=True):
                _say(example, answer, classes, as_json)
            flush()


def _ask(learner: Learner, rows: Floats, unknown: str | None) -> list[_Answer]:
    labels, scores = learner.predict(rows, unknown=unknown), learner.scores(rows)
    best = learner.probabilities(rows)[range(len(rows)), scores.argmax(axis=1)]
    return list(map(_Answer, labels.tolist(), best.tolist(), scores.tolist()))


def _say(example: Example, answer: _Answer, classes: list[Label], as_json: bool) -> None:
    if not as_json:
        numbers = [answer.probability, *answer.scores]
        say_csv([[example.number, example.id, answer.label, *numbers]])
        return
    say_json(
        {
            "line": example.number,
            "id": example.id,
            **answer._asdict(),
            "scores": dict(zip(classes, answer.scores, strict=True)),
        }
    )
