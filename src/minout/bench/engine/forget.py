"""Forgetting: the model without some examples is the model that never saw them."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout.bench.engine.inside import difference, supporters
from minout.bench.engine.material import Material, drawn_per_class
from minout.bench.engine.table import Claim, Table, ms, percent
from minout.bench.engine.taught import new_learner, teach
from minout.bench.engine.tell import Tell
from minout.metrics import accuracy


class Forgotten(NamedTuple):
    """Is `forgotten` of `examples` taken out, beside a learner that was never taught them.

    `forget_seconds` and `teach_seconds` are means over the same examples with all others stored:
    each was taken out, then taught again, then taken out for good. `first_seconds` is the mean of
    teaching them where they stood in the stream.
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


def measure(material: Material, tell: Tell) -> list[Forgotten]:
    """Teaches in label order, forgets some at random, consolidates, and compares."""
    settings = material.settings
    featured = material.featured(settings.features, tell)
    material.warm_up(tell)
    rng = np.random.default_rng(settings.seed)
    drawn = drawn_per_class(featured.labels, settings.medium, rng)
    rows, labels = featured.rows[drawn], featured.labels[drawn]
    few = np.sort(rng.permutation(len(labels))[: max(round(settings.forgotten * len(labels)), 1)])
    others = np.setdiff1d(np.arange(len(labels)), few)

    learner = new_learner()
    taught = teach(learner, rows, labels, tell, ids=range(len(labels)))
    supporting = len(supporters(learner) & set(few.tolist()))
    forgetting = []
    for done, example_id in enumerate(few.tolist()):
        tell("forgetting", done, len(few))
        start = time.perf_counter()
        learner.forget(example_id)
        forgetting.append(time.perf_counter() - start)
    again = teach(learner, rows[few], labels[few], tell, ids=few.tolist(), what="teaching again")
    learner.forget(few.tolist())
    learner.consolidate()

    never = new_learner()
    teach(never, rows[others], labels[others], tell, ids=others.tolist(), what="without them")
    never.consolidate()
    named = learner.predict(featured.test_rows)
    apart = difference(never, learner)
    return [
        Forgotten(
            len(labels),
            len(few),
            supporting,
            accuracy(named, never.predict(featured.test_rows)),
            apart.weights,
            apart.bias,
            learner.audit().ok,
            accuracy(named, featured.test_labels),
            float(np.mean(forgetting)),
            max(forgetting),
            float(again.seconds.mean()),
            float(again.seconds.max()),
            float(taught.seconds[few].mean()),
        )
    ]


def tables(rows: Sequence[Forgotten]) -> list[Table]:
    """Writes what was compared, and the time of both ways."""
    row = rows[0]
    lines = [
        ("forgotten", f"{row.forgotten} of {row.examples:,}"),
        ("separators rested on", f"{row.supporting} of them"),
        ("test predictions that agree", percent(row.agreement, 3)),
        ("weights, largest relative difference", f"{row.weights:.1e}"),
        ("bias, largest difference", f"{row.bias:.1e}"),
        ("audit agrees", "yes" if row.agrees else "NO"),
        ("forgetting one", f"{ms(row.forget_seconds)} ms (most: {ms(row.forget_most)})"),
        ("teaching one again", f"{ms(row.teach_seconds)} ms (most: {ms(row.teach_most)})"),
        ("teaching one, in the stream", f"{ms(row.first_seconds)} ms, refreshes included"),
    ]
    note = (
        "Beside a learner that was never taught them; both consolidated. Times are means over the "
        "forgotten examples: each was taken out, taught again and taken out for good."
    )
    return [Table("6. Forgetting", ("", ""), lines, note)]


def claims(rows: Sequence[Forgotten]) -> list[Claim]:
    """Says what the issue asks of forgetting."""
    row = rows[0]
    return [
        Claim(6, "support vectors among them", str(row.supporting), row.supporting > 0),
        Claim(6, "≥ 99.95 % agree", percent(row.agreement, 3), row.agreement >= 0.9995),
        Claim(6, "weights to 1e-3", f"{row.weights:.1e}", row.weights <= 1e-3),
    ]
