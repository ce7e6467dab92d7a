"""`minout score`: the accuracy of a model on a file."""

from collections import Counter
from contextlib import closing

from minout.cli import options
from minout.cli.file_notes import NO_LABEL, FileOptions, LabelConverter, require_label
from minout.cli.named_map import named_map
from minout.cli.output import command, print_json, print_table
from minout.cli.queries import answer_batches, open_query, require_examples
from minout.cli.skipped import SkippedRows
from minout.cli.table_rows import RowMaker
from minout.errors import InvalidInputError
from minout.streams.files import Label, join_names


@command
def score(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    ignore: options.Ignore = None,
    encoding: options.Encoding = None,
    skip_bad: options.SkipBad = None,
    from_line: options.FromLine = 1,
    features: options.Function = None,
    as_json: options.Json = False,
) -> None:
    """Measure the accuracy on the rows of a file, overall and per class.

    A row counts as right if the predicted label is the one in the file.

    Example: minout score wines test.csv --json
    """
    counts: Counter[Label] = Counter()
    right: Counter[Label] = Counter()
    skipped = SkippedRows(skip_bad, has_examples=True)
    on_bad = None if skip_bad is None else skipped
    own = named_map(features)
    file = FileOptions(data, label, id, ignore, from_line, on_bad, features=own, encoding=encoding)
    with closing(skipped), open_query(model, file) as (learner, reader):
        maker = RowMaker(learner)
        known = require_examples(learner).classes.tolist()
        labels_of = LabelConverter(learner)
        answered = answer_batches(
            require_label(learner, reader),
            lambda batch: learner.predict(maker.rows(batch)),
            None if skip_bad is None else skipped,
        )
        for batch, labels in answered:
            for example, predicted in zip(batch, labels.tolist(), strict=True):
                if example.label is None:
                    raise InvalidInputError(f"{reader.source}, {example.where}: {NO_LABEL}")
                true = labels_of.convert(example.label)
                counts[true] += 1
                right[true] += predicted == true
    classes = sorted(counts, key=lambda each: (isinstance(each, str), each))
    if classes and not set(classes) & set(known):
        raise InvalidInputError(
            f"No label in {data} ({join_names([*map(str, classes)])}) is one of this model's "
            f"({join_names([*map(str, known)])}); name another column with --label."
        )
    skipped.finish()
    count, hits = counts.total(), right.total()
    if as_json:
        by_class = {each: {"examples": counts[each], "right": right[each]} for each in classes}
        accuracy = hits / count if count else None
        print_json({"examples": count, "right": hits, "accuracy": accuracy, "classes": by_class})
        return
    lines = [
        [each, counts[each], right[each], _share(right[each], counts[each])] for each in classes
    ]
    print_table(
        ["label", "examples", "right", "share"],
        [*lines, ["(all)", count, hits, _share(hits, count)]],
    )


def _share(hits: int, count: int) -> str:
    return f"{hits / count:.2%}" if count else ""
