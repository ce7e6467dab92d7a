"""`minout whatif`: what teaching each row of a file would touch."""

from minout.cli import options
from minout.cli.asking import opened
from minout.cli.remembered import Asked, kind_of_labels, label_as, needs_label
from minout.cli.say import command, flush, say_csv, say_json
from minout.errors import InvalidInputError
from minout.learner import Interfered, Learner
from minout.streams.files import BadRowError, Example


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

    For each row: how many neurons would move, how many stored examples that can disturb, whether
    it would bring a renewal of everything, and whether its id is known. With --json, which ones.

    Example: minout whatif wines new.csv --label kind
    """
    with opened(model, Asked(data, label, id, ignore, from_line)) as (learner, reader):
        kind = kind_of_labels(learner)
        if not as_json:
            say_csv([["line", "id", "label", "moved", "at_risk", "refresh", "known"]])
        for example in needs_label(reader):
            if example.label is None:
                raise InvalidInputError(f"{reader.source}, {example.where}: it has no label.")
            taught_as = label_as(kind, example.label)
            try:
                said = learner.interfered(example.row, taught_as)
            except InvalidInputError as error:
                raise BadRowError(
                    reader.source, example.where, str(error), example.number + 1
                ) from None
            assert isinstance(said, Interfered)
            _say(learner, example, taught_as, said, as_json)
            flush()


def _say(
    learner: Learner, example: Example, label: int | str, said: Interfered, as_json: bool
) -> None:
    known = example.id is not None and example.id in learner
    if as_json:
        say_json(
            {
                "line": example.number,
                "id": example.id,
                "label": label,
                "moved": list(said.neurons),
                "at_risk": said.ids,
                "refresh": said.refresh,
                "known": known,
            }
        )
        return
    counts = [len(said.neurons), len(said.ids), _yes(said.refresh), _yes(known)]
    say_csv([[example.number, example.id, label, *counts]])


def _yes(said: bool) -> str:
    return "yes" if said else "no"
