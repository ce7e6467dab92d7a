"""After `consolidate()` the model depends on the set of examples only: order and forgetting."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.data import Ints, in_label_order
from benchmarks.engine.inputs import Inputs, draw_per_class
from benchmarks.inside import chosen, difference, misfits, support_ids
from benchmarks.learners import AUTOMATIC, PINNED, new_learner, teach
from benchmarks.measuring import seconds_of
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, ms, percent, yes
from minout.metrics import accuracy

CHOICES = {"automatic": AUTOMATIC, "pinned": PINNED}


class OrderRow(NamedTuple):
    """One order beside the ascending one, both consolidated.

    `agreement` is the share of test rows with the same prediction; `before` is the same share
    before consolidate(). `weights` and `bias` are the largest differences of a separator.
    """

    choices: str
    order: str
    examples: int
    agreement: float
    before: float
    weights: float
    bias: float
    accuracy: float
    misfits: int
    agrees: bool
    chosen: str
    seconds: float
    consolidate_seconds: float


def measure_order(inputs: Inputs, progress: Progress) -> list[OrderRow]:
    """Teach the same examples in four orders, with automatic choices and with pinned ones."""
    return [row for choices in CHOICES for row in _four_orders(inputs, choices, progress)]


def _four_orders(inputs: Inputs, choices: str, progress: Progress) -> list[OrderRow]:
    settings = inputs.settings
    data = inputs.features(settings.features, progress)
    rng = np.random.default_rng(settings.seed)
    drawn = draw_per_class(data.labels, settings.medium, rng)
    rows, labels = data.rows[drawn], data.labels[drawn]
    learners, predictions = [], []
    found = []
    for order, places in _orders(labels, rng).items():
        learner = new_learner(CHOICES[choices])
        what = f"{order}, {choices}"
        steps = teach(learner, rows[places], labels[places], progress, what=what)
        before = learner.predict(data.test_rows)
        seconds = seconds_of(learner.consolidate)
        after = learner.predict(data.test_rows)
        learners.append(learner)
        predictions.append((before, after))
        apart = difference(learners[0], learner)
        found.append(
            OrderRow(
                choices,
                order,
                len(learner),
                accuracy(after, predictions[0][1]),
                accuracy(before, predictions[0][0]),
                apart.weights,
                apart.bias,
                accuracy(after, data.test_labels),
                len(misfits(learner)),
                learner.audit().ok,
                chosen(learner),
                float(steps.seconds.sum()),
                seconds,
            )
        )
    return found


def _orders(labels: Ints, rng: np.random.Generator) -> dict[str, Ints]:
    return {
        "ascending": in_label_order(labels),
        "descending": in_label_order(labels, descending=True),
        "shuffled": rng.permutation(len(labels)),
        "shuffled again": rng.permutation(len(labels)),
    }


def order_tables(rows: Sequence[OrderRow]) -> list[Table]:
    """Return a line for each order and kind of choices."""
    lines = [
        (
            row.choices,
            row.order,
            percent(row.agreement, 3),
            percent(row.before, 2),
            f"{row.weights:.1e}",
            f"{row.bias:.1e}",
            percent(row.accuracy),
            str(row.misfits),
            row.chosen,
            f"{row.seconds:.1f} + {row.consolidate_seconds:.1f} s",
        )
        for row in rows
    ]
    first = ("choices", "order", "agree", "before", "weights", "bias", "test", "misfits")
    note = (
        f"{rows[0].examples:,} examples; each order beside the ascending one, consolidated (and "
        "before that). Weights: the largest ‖w - w'‖ / ‖w‖; bias: the largest difference of "
        "activations at the data's mean."
    )
    return [Table("5. Order", (*first, "chosen", "stream + consolidate"), lines, note)]


def order_goals(rows: Sequence[OrderRow]) -> list[Goal]:
    """Return the goals of order."""
    found = []
    for choices in CHOICES:
        some = [row for row in rows if row.choices == choices]
        agreement, weights = min(r.agreement for r in some), max(r.weights for r in some)
        agree = percent(agreement, 3)
        found += [
            Goal("order", f"{choices}: ≥ 99.95 % agree", agree, agreement >= 0.9995),
            Goal("order", f"{choices}: weights to 1e-3", f"{weights:.1e}", weights <= 1e-3),
        ]
    return found


class ForgettingRow(NamedTuple):
    """`forgotten` of `examples` forgotten, beside a learner that was never taught them.

    `forget_seconds` and `teach_seconds` are means over the same examples with all others stored:
    each was forgotten, taught again and forgotten for good. `first_seconds` is the mean of
    teaching them at their place in the stream.
    """

    examples: int
    forgotten: int
    supporting: int
    agreement: float
    weights: float
    bias: float
    agrees: bool
    accuracy: float
    forget_seconds: float
    forget_most: float
    teach_seconds: float
    teach_most: float
    first_seconds: float


def measure_forgetting(inputs: Inputs, progress: Progress) -> list[ForgettingRow]:
    """Teach in label order, forget random examples, consolidate, and compare."""
    settings = inputs.settings
    data = inputs.features(settings.features, progress)
    inputs.compile(progress)
    rng = np.random.default_rng(settings.seed)
    drawn = draw_per_class(data.labels, settings.medium, rng)
    rows, labels = data.rows[drawn], data.labels[drawn]
    few = np.sort(rng.permutation(len(labels))[: max(round(settings.forgotten * len(labels)), 1)])
    others = np.setdiff1d(np.arange(len(labels)), few)

    learner = new_learner()
    steps = teach(learner, rows, labels, progress, ids=range(len(labels)))
    supporting = len(support_ids(learner) & set(few.tolist()))
    forgetting = []
    for done, example_id in enumerate(few.tolist()):
        progress("forgetting", done, len(few))
        forgetting.append(seconds_of(learner.forget, example_id))
    again = teach(
        learner, rows[few], labels[few], progress, ids=few.tolist(), what="teaching again"
    )
    learner.forget(few.tolist())
    learner.consolidate()

    never = new_learner()
    teach(never, rows[others], labels[others], progress, ids=others.tolist(), what="without them")
    never.consolidate()
    predicted = learner.predict(data.test_rows)
    apart = difference(never, learner)
    return [
        ForgettingRow(
            len(labels),
            len(few),
            supporting,
            accuracy(predicted, never.predict(data.test_rows)),
            apart.weights,
            apart.bias,
            learner.audit().ok,
            accuracy(predicted, data.test_labels),
            float(np.mean(forgetting)),
            max(forgetting),
            float(again.seconds.mean()),
            float(again.seconds.max()),
            float(steps.seconds[few].mean()),
        )
    ]


def forgetting_tables(rows: Sequence[ForgettingRow]) -> list[Table]:
    """Return the comparison, and the time of forgetting and of teaching."""
    row = rows[0]
    lines = [
        ("forgotten", f"{row.forgotten} of {row.examples:,}"),
        ("support vectors", f"{row.supporting} of them"),
        ("test predictions that agree", percent(row.agreement, 3)),
        ("weights, largest relative difference", f"{row.weights:.1e}"),
        ("bias, largest difference", f"{row.bias:.1e}"),
        ("audit agrees", yes(row.agrees)),
        ("forgetting one", f"{ms(row.forget_seconds)} ms (most: {ms(row.forget_most)})"),
        ("teaching one again", f"{ms(row.teach_seconds)} ms (most: {ms(row.teach_most)})"),
        ("teaching one, in the stream", f"{ms(row.first_seconds)} ms, refreshes included"),
    ]
    note = (
        "Beside a learner that was never taught them; both consolidated. Times are means over the "
        "forgotten examples: each was forgotten, taught again and forgotten for good."
    )
    return [Table("6. Forgetting", ("", ""), lines, note)]


def forgetting_goals(rows: Sequence[ForgettingRow]) -> list[Goal]:
    """Return the goals of forgetting."""
    row = rows[0]
    return [
        Goal("forget", "support vectors among them", str(row.supporting), row.supporting > 0),
        Goal("forget", "≥ 99.95 % agree", percent(row.agreement, 3), row.agreement >= 0.9995),
        Goal("forget", "weights to 1e-3", f"{row.weights:.1e}", row.weights <= 1e-3),
    ]
