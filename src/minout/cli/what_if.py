"""`minout what_if`: what teaching each row of a file would disturb."""

from collections.abc import Iterator
from typing import NamedTuple

from minout._typing import Id
from minout.cli import options
from minout.cli.file_notes import NO_LABEL, FileOptions, RowConverter, require_label
from minout.cli.known_rows import KnownRows, cannot_tell
from minout.cli.named_map import named_map
from minout.cli.output import command, print_json, print_rows
from minout.cli.queries import open_query
from minout.cli.table_rows import RowMaker, bad_row
from minout.engine import WhatIf
from minout.errors import InvalidInputError
from minout.learner import Learner
from minout.streams.files import Example, Label, Reader


class _Answer(NamedTuple):
    line: int
    id: str | None
    label: Label
    separators: list[tuple[Label, ...]]
    interfered: tuple[Id, ...]
    pending: bool
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
    encoding: options.Encoding = None,
    features: options.Function = None,
    as_json: options.Json = False,
) -> None:
    """Show what teaching each row alone would disturb; teach nothing.

    A separator is the linear function between two labels. Columns: separators, how many separators
    would move; interfered, the number of stored examples whose output could change; pending,
    whether the row would wait until separators move for several rows together; refresh, whether
    scale, priors or settings would be computed again; known, whether the row is already stored, so
    that nothing changes. With --json, separators and examples are listed. A row that `minout learn`
    would refuse is refused here too.

    Example: minout what_if wines new.csv --label kind
    """
    file = FileOptions(
        data, label, id, ignore, from_line, features=named_map(features), encoding=encoding
    )
    with open_query(model, file) as (learner, reader):
        answers = _answers(learner, require_label(learner, reader))
        if as_json:
            for each in answers:
                print_json(each._asdict())
        else:
            print_rows(_Answer._fields, ([_counts(each)] for each in answers))


def _answers(learner: Learner, reader: Reader) -> Iterator[_Answer]:
    converter, maker = RowConverter(learner), RowMaker(learner)
    known = None if cannot_tell(learner) else KnownRows(learner)
    for example in reader:
        try:
            yield _answer(learner, converter, maker, known, example)
        except InvalidInputError as error:
            raise bad_row(reader, example, error) from None


def _answer(
    learner: Learner,
    converter: RowConverter,
    maker: RowMaker,
    known: KnownRows | None,
    example: Example,
) -> _Answer:
    if example.label is None:
        raise InvalidInputError(NO_LABEL)
    row = converter.convert(example.id, example.label)
    x, label, is_known = maker.row(example), row.label, row.is_stored
    answer = learner.what_if(x, label, id=row.id)
    if row.id is None and known is not None and known.find(x, label) is not None:
        is_known, answer = True, WhatIf.nothing()
    if row.is_stored and row.id is not None:
        label = learner.example(row.id)[1]  # it may have been corrected
    # A separator is two neurons, one in each of its units.
    separators = sorted({tuple(sorted(neuron)) for neuron in answer.neurons})
    return _Answer(
        example.number,
        example.id,
        label,
        separators,
        answer.interfered,
        bool(answer.pending),
        answer.refresh,
        is_known,
    )


def _counts(answer: _Answer) -> list[object]:
    counts = [len(answer.separators), len(answer.interfered)]
    flags = [_yes_or_no(each) for each in (answer.pending, answer.refresh, answer.known)]
    return [answer.line, answer.id, answer.label, *counts, *flags]


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"
