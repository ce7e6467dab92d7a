"""`minout what_if`: what teaching each row of a file would touch."""

from collections.abc import Iterator
from typing import NamedTuple

from minout._typing import Id
from minout.cli import options
from minout.cli.asking import opened
from minout.cli.remembered import Asked, Spelling, needs_label
from minout.cli.say import command, say_json, say_lines
from minout.engine import WhatIf
from minout.errors import InvalidInputError
from minout.learner import Learner
from minout.streams.files import BadRowError, Example, Label, Reader


class _Answer(NamedTuple):
    line: int
    id: str | None
    label: Label
    separators: list[tuple[Label, ...]]
    interfered: tuple[Id, ...]
    refresh: bool
    known: bool


@command
def what_if(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    ignore: options.Ignore = None,
    from_line: options.FromLine = 1,
    as_json: options.Json = False,
) -> None:
    """Says what teaching each row alone would touch, and teaches nothing.

    For each row: how many separators would move, how many stored examples that can disturb,
    whether it would bring a renewal of everything, and whether it is known already, so that nothing
    would change. With --json, which ones. A row that `minout learn` would refuse is refused here.

    Example: minout what_if wines new.csv --label kind
    """
    with opened(model, Asked(data, label, id, ignore, from_line)) as (learner, reader):
        said = _answers(learner, needs_label(learner, reader))
        if as_json:
            for each in said:
                say_json(each._asdict())
        else:
            say_lines(_Answer._fields, ([_counted(each)] for each in said))


def _answers(learner: Learner, reader: Reader) -> Iterator[_Answer]:
    spelling = Spelling(learner)
    for example in reader:
        try:
            yield _answer(learner, spelling, example)
        except InvalidInputError as error:
            raise BadRowError(
                reader.source, example.where, str(error), example.number + 1
            ) from None


def _answer(learner: Learner, spelling: Spelling, example: Example) -> _Answer:
    if example.label is None:
        raise InvalidInputError("it has no label.")
    known = spelling.of(example.id, example.label)
    label, answer = known.label, WhatIf({}, refresh=False)
    if known.is_known:
        label = learner.teach(example.row, label, id=known.id).label  # changes nothing, or refuses
    else:
        answer = learner.what_if(example.row, label)
    # A separator is two neurons, one in each of its units.
    separators = sorted({tuple(sorted(neuron)) for neuron in answer.neurons})
    interfered, refresh = answer.interfered, answer.refresh
    return _Answer(
        example.number, example.id, label, separators, interfered, refresh, known.is_known
    )


def _counted(said: _Answer) -> list[object]:
    counts = [len(said.separators), len(said.interfered), _yes(said.refresh), _yes(said.known)]
    return [said.line, said.id, said.label, *counts]


def _yes(said: bool) -> str:
    return "yes" if said else "no"
