"""`minout score`: how many rows of a file a model names rightly."""

from collections import Counter

from minout.cli import options
from minout.cli.asking import answers, needs_examples, opened
from minout.cli.remembered import Asked, kind_of_labels, label_as, needs_label
from minout.cli.say import command, say_json, say_table
from minout.errors import InvalidInputError
from minout.streams.files import Label, listed


@command
def score(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    ignore: options.Ignore = None,
    from_line: options.FromLine = 1,
    as_json: options.Json = False,
) -> None:
    """Counts how many rows of a file get the label that the file says, in all and per class.

    Example: minout score wines test.csv --json
    """
    there: Counter[Label] = Counter()
    right: Counter[Label] = Counter()
    with opened(model, Asked(data, label, id, ignore, from_line)) as (learner, reader):
        known = needs_examples(learner).classes.tolist()
        kind = kind_of_labels(learner)
        for batch, labels in answers(needs_label(learner, reader), learner.predict):
            for example, predicted in zip(batch, labels.tolist(), strict=True):
                if example.label is None:
                    raise InvalidInputError(f"{reader.source}, {example.where}: it has no label.")
                true = label_as(kind, example.label)
                there[true] += 1
                right[true] += predicted == true
    classes = sorted(there, key=lambda each: (isinstance(each, str), each))
    if classes and not set(classes) & set(known):
        raise InvalidInputError(
            f"No label in {data} is a label of this model: there {listed([*map(str, classes)])}, "
            f"here {listed([*map(str, known)])}; name another column with --label."
        )
    count, hits = there.total(), right.total()
    if as_json:
        by_class = {each: {"examples": there[each], "right": right[each]} for each in classes}
        accuracy = hits / count if count else None
        say_json({"examples": count, "right": hits, "accuracy": accuracy, "classes": by_class})
        return
    lines = [[each, there[each], right[each], _share(right[each], there[each])] for each in classes]
    say_table(
        ["label", "examples", "right", "share"],
        [*lines, ["(all)", count, hits, _share(hits, count)]],
    )


def _share(hits: int, count: int) -> str:
    return f"{hits / count:.2%}" if count else ""
