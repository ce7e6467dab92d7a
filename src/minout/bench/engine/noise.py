"""Wrong labels: all fitted or listed, what that does to the test, and who is suspected."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Ints
from minout.bench.engine.inside import chosen
from minout.bench.engine.lda import lda_predictions
from minout.bench.engine.material import (
    Featured,
    Material,
    Singles,
    drawn_per_class,
    in_label_order,
)
from minout.bench.engine.table import Claim, Table, percent
from minout.bench.engine.taught import new_learner, teach
from minout.bench.engine.tell import Tell, is_time
from minout.learner import Learner
from minout.metrics import accuracy
from minout.rules import GradientRule


class Noisy(NamedTuple):
    """Is one set of rows, some with wrong labels, taught in label order and consolidated.

    `agrees` says that the audit has no complaint: all but the exceptions are fitted. Of
    `suspects(wrong)`, `suspects_wrong` have wrong labels; as many picked at random would have
    `chance`. `paper` is the paper's learner on the same rows, where it was asked.
    """

    features: str
    per_class: int
    examples: int
    wrong: int
    accuracy: float
    lda: float
    paper: float | None
    exceptions: int
    exceptions_wrong: int
    agrees: bool
    suspects: int
    suspects_wrong: int
    chance: float
    chosen: str


def measure(material: Material, tell: Tell) -> list[Noisy]:
    """Teaches many on the features, and a few on raw pixels, where the paper's learner can follow.

    On 2,032 scattering numbers that learner needs half a second per example and runs into its cap
    of steps, so it is compared on raw pixels, the paper's own input, with fewer examples.
    """
    settings = material.settings
    return [
        _one(material, settings.features, settings.medium, tell),
        _one(material, "raw", settings.paper, tell, with_paper=True),
    ]


def _one(
    material: Material, features: str, per_class: int, tell: Tell, *, with_paper: bool = False
) -> Noisy:
    settings = material.settings
    featured = material.featured(features, tell)
    rng = np.random.default_rng(settings.seed)
    drawn = drawn_per_class(featured.labels, per_class, rng)
    true = featured.labels[drawn]
    labels = _with_wrong(true, max(round(settings.wrong * len(true)), 1), rng)
    order = in_label_order(labels)
    rows, labels = featured.rows[drawn][order], labels[order]
    wrong = set(np.flatnonzero(labels != true[order]).tolist())

    learner = new_learner()
    teach(learner, rows, labels, tell, ids=range(len(labels)), what="wrong labels")
    learner.consolidate()
    suspects = {each.id for each in learner.suspects(len(wrong))}
    exceptions = set(learner.exceptions)
    return Noisy(
        features,
        per_class,
        len(labels),
        len(wrong),
        accuracy(learner.predict(featured.test_rows), featured.test_labels),
        accuracy(lda_predictions(rows, labels, featured.test_rows), featured.test_labels),
        _paper(featured, rows, labels, settings.seed, tell) if with_paper else None,
        len(exceptions),
        len(exceptions & wrong),
        learner.audit().ok,
        len(suspects),
        len(suspects & wrong),
        len(suspects) * len(wrong) / len(labels),
        chosen(learner),
    )


def _with_wrong(labels: Ints, count: int, rng: np.random.Generator) -> Ints:
    # So many labels replaced, each by one of the others at random.
    classes, number = np.unique(labels, return_inverse=True)
    few = rng.permutation(len(labels))[:count]
    number[few] = (number[few] + rng.integers(1, len(classes), count)) % len(classes)
    return classes[number]


def _paper(featured: Featured, rows: Singles, labels: Ints, seed: int, tell: Tell) -> float:
    learner = Learner(np.unique(featured.labels), rule=GradientRule(), seed=seed)
    for done, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True), 1):
        learner.teach(x, y)
        if is_time(done, len(labels)):
            tell("the paper's learner", done, len(labels))
    return accuracy(learner.predict(featured.test_rows), featured.test_labels)


def tables(rows: Sequence[Noisy]) -> list[Table]:
    """Writes a line for each set of rows."""
    lines = [
        (
            f"{row.features}, {row.per_class} per class",
            str(row.wrong),
            percent(row.accuracy),
            percent(row.lda),
            "–" if row.paper is None else percent(row.paper),
            f"{row.examples - row.exceptions:,}",
            f"{row.exceptions} ({row.exceptions_wrong} wrong)",
            "yes" if row.agrees else "NO",
            f"{row.suspects_wrong} of {row.suspects} (chance {row.chance:.1f})",
            row.chosen,
        )
        for row in rows
    ]
    head = (
        "taught",
        "wrong labels",
        "ours",
        "LDA",
        "the paper's",
        "fitted",
        "exceptions",
        "audit agrees",
        "suspects that are wrong",
        "chosen",
    )
    note = (
        "Test accuracy after learning with wrong labels, consolidated. The paper's learner is "
        "asked on raw pixels only: on scattering it takes half a second and more per example."
    )
    return [Table("7. Wrong labels", head, lines, note)]


def claims(rows: Sequence[Noisy]) -> list[Claim]:
    """Says what the issue asks of wrong labels."""
    row = rows[0]
    return [
        Claim(
            7,
            "taught labels fitted or listed",
            f"{row.examples - row.exceptions} fitted, {row.exceptions} listed",
            row.agrees,
        ),
        Claim(
            7,
            "suspects beat chance",
            f"{row.suspects_wrong} of {row.suspects}, chance {row.chance:.1f}",
            row.suspects_wrong > row.chance,
        ),
    ]
