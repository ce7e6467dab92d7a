"""`minout whatif`: what teaching each row of a file would touch."""

from collections.abc import Iterator
from typing import NamedTuple

from minout.cli import options
from minout.cli.again import Again
from minout.cli.asking import opened
from minout.cli.remembered import Asked, needs_label
from minout.cli.say import command, say_json, say_lines
from minout.errors import InvalidInputError
from minout.learner import Interfered, Learner
from minout.learner.certificate import Id
from minout.streams.files import BadRowError, Example, Label, Reader


class _Answer(NamedTuple):
    line: int
    id: str | None
    label: Label
    separators: list[tuple[Label, ...]]
    at_risk: tuple[Id, ...]
    refresh: bool
    known: bool


@command
def whatif(
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

    Example: minout whatif wines new.csv --label kind
    """
    with opened(model, Asked(data, label, id, ignore, from_line)) as (learner, reader):
        said = _answers(learner, needs_label(learner, reader))
        if as_json:
            for each in said:
                say_json(each._asdict())
        else:
            say_lines(_Answer._fields, ([_counted(each)] for each in said))


def _answers(learner: Learner, reader: Reader) -> Iterator[_Answer]:
    again = Again(learner)
    for example in reader:
        try:
            yield _answer(learner, again, example)
        except InvalidInputError as error:
            raise BadRowError(
                reader.source, example.where, str(error), example.number + 1
            ) from None


def _answer(learner: Learner, again: Again, example: Example) -> _Answer:
    if example.label is None:
        raise InvalidInputError("it has no label.")
    meant = again.meant(example.id, example.label)
    said: object = Interfered({}, refresh=False)
    if meant.is_known:
        learner.teach(example.row, meant.label, id=meant.id)  # changes nothing, or is refused
    else:
        said = learner.interfered(example.row, meant.label)
    assert isinstance(said, Interfered)
    # The two neurons that a separator ties are one separator.
    separators = sorted({tuple(sorted(neuron)) for neuron in said.neurons})
    return _Answer(
        example.number, example.id, meant.label, separators, said.ids, said.refresh, meant.is_known
    )


def _counted(said: _Answer) -> list[object]:
    counts = [len(said.separators), len(said.at_risk), _yes(said.refresh), _yes(said.known)]
    return [said.line, said.id, said.label, *counts]


def _yes(said: bool) -> str:
    return "yes" if said else "no"
