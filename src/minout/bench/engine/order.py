"""Order of no account: the same examples in four orders, consolidated, are one model."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Ints
from minout.bench.engine.inside import chosen, difference
from minout.bench.engine.material import Material, drawn_per_class, in_label_order
from minout.bench.engine.table import Claim, Table, percent
from minout.bench.engine.taught import new_learner, teach
from minout.bench.engine.tell import Tell
from minout.metrics import accuracy
from minout.rules import MarginRule

RULES = {
    "automatic": MarginRule(),
    "pinned": MarginRule(metric=True, prior=True, columns=False, price=1e-3),
}


class Ordered(NamedTuple):
    """Is one order beside the ascending one, both consolidated.

    `agreement` is the share of test rows that both call the same, `before` the same share before
    consolidate(). `weights` and `bias` are the largest differences of a separator.
    """

    choices: str
    order: str
    examples: int
    agreement: float
    before: float
    weights: float
    bias: float
    accuracy: float
    exceptions: int
    agrees: bool
    chosen: str
    seconds: float
    consolidate_seconds: float


def measure(material: Material, tell: Tell) -> list[Ordered]:
    """Teaches four orders with the automatic choices, and four with pinned ones."""
    return [row for choices in RULES for row in _one(material, choices, tell)]


def _one(material: Material, choices: str, tell: Tell) -> list[Ordered]:
    settings = material.settings
    featured = material.featured(settings.features, tell)
    rng = np.random.default_rng(settings.seed)
    drawn = drawn_per_class(featured.labels, settings.medium, rng)
    rows, labels = featured.rows[drawn], featured.labels[drawn]
    learners, named = [], []
    out = []
    for order, places in _orders(labels, rng).items():
        learner = new_learner(RULES[choices])
        what = f"{order}, {choices}"
        taught = teach(learner, rows[places], labels[places], tell, what=what)
        before = learner.predict(featured.test_rows)
        start = time.perf_counter()
        learner.consolidate()
        seconds = time.perf_counter() - start
        after = learner.predict(featured.test_rows)
        learners.append(learner)
        named.append((before, after))
        apart = difference(learners[0], learner)
        out.append(
            Ordered(
                choices,
                order,
                len(learner),
                accuracy(after, named[0][1]),
                accuracy(before, named[0][0]),
                apart.weights,
                apart.bias,
                accuracy(after, featured.test_labels),
                len(learner.exceptions),
                learner.audit().ok,
                chosen(learner),
                float(taught.seconds.sum()),
                seconds,
            )
        )
    return out


def _orders(labels: Ints, rng: np.random.Generator) -> dict[str, Ints]:
    return {
        "ascending": in_label_order(labels),
        "descending": in_label_order(labels, descending=True),
        "shuffled": rng.permutation(len(labels)),
        "shuffled again": rng.permutation(len(labels)),
    }


def tables(rows: Sequence[Ordered]) -> list[Table]:
    """Writes a line for each order and way of choosing."""
    lines = [
        (
            row.choices,
            row.order,
            percent(row.agreement, 3),
            percent(row.before, 2),
            f"{row.weights:.1e}",
            f"{row.bias:.1e}",
            percent(row.accuracy),
            str(row.exceptions),
            row.chosen,
            f"{row.seconds:.1f} + {row.consolidate_seconds:.1f} s",
        )
        for row in rows
    ]
    head = (
        "choices",
        "order",
        "agree",
        "before",
        "weights",
        "bias",
        "test",
        "exceptions",
        "chosen",
        "stream + consolidate",
    )
    note = (
        f"{rows[0].examples:,} examples; each order beside the ascending one, consolidated (and "
        "before that). Weights: the largest ‖w - w'‖ / ‖w‖; bias: the largest difference of "
        "activations at the data's mean."
    )
    return [Table("5. Order", head, lines, note)]


def claims(rows: Sequence[Ordered]) -> list[Claim]:
    """Says what the issue asks of order."""
    found = []
    for choices in RULES:
        some = [row for row in rows if row.choices == choices]
        agreement, weights = min(r.agreement for r in some), max(r.weights for r in some)
        found += [
            Claim(5, f"{choices}: ≥ 99.95 % agree", percent(agreement, 3), agreement >= 0.9995),
            Claim(5, f"{choices}: weights to 1e-3", f"{weights:.1e}", weights <= 1e-3),
        ]
    return found
