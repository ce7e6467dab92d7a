"""Wrong labels: every example fitted or listed, test accuracy, and how many are suspected."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.data import Array, Ints, in_label_order
from benchmarks.engine.inputs import FeatureSet, Inputs, draw_per_class
from benchmarks.inside import chosen, misfits
from benchmarks.learners import new_learner, new_paper_learner, teach
from benchmarks.parts import Progress, worth_showing
from benchmarks.rivals import streaming_lda
from benchmarks.tables import Goal, Table, percent, yes
from minout.metrics import accuracy


class WrongLabelsRow(NamedTuple):
    """Examples, some with wrong labels, taught in label order and consolidated.

    `agrees`: the audit has no difference, so all but the misfits are fitted. Of
    `suspects(wrong)`, `suspects_wrong` have wrong labels; of as many chosen at random, `chance`
    would. `paper` is the accuracy of the paper's learner, where it was measured.
    """

    features: str
    per_class: int
    examples: int
    wrong: int
    accuracy: float
    lda: float
    paper: float | None
    misfits: int
    misfits_wrong: int
    agrees: bool
    suspects: int
    suspects_wrong: int
    chance: float
    chosen: str


def measure(inputs: Inputs, progress: Progress) -> list[WrongLabelsRow]:
    """Teach many examples on the features, and fewer on raw pixels beside the paper's learner.

    On 2,032 scattering features the paper's learner needs half a second per example and reaches
    its limit of steps, so it is compared on raw pixels, the paper's own input.
    """
    settings = inputs.settings
    return [
        _measure_one(inputs, settings.features, settings.medium, progress),
        _measure_one(inputs, "raw", settings.paper, progress, with_paper=True),
    ]


def _measure_one(
    inputs: Inputs, features: str, per_class: int, progress: Progress, *, with_paper: bool = False
) -> WrongLabelsRow:
    settings = inputs.settings
    data = inputs.features(features, progress)
    rng = np.random.default_rng(settings.seed)
    drawn = draw_per_class(data.labels, per_class, rng)
    true = data.labels[drawn]
    labels = replace_labels(true, max(round(settings.wrong * len(true)), 1), rng)
    order = in_label_order(labels)
    rows, labels = data.rows[drawn][order], labels[order]
    wrong = set(np.flatnonzero(labels != true[order]).tolist())

    learner = new_learner()
    teach(learner, rows, labels, progress, ids=range(len(labels)), what="wrong labels")
    learner.consolidate()
    suspects = {each.id for each in learner.suspects(len(wrong))}
    listed = misfits(learner)
    return WrongLabelsRow(
        features,
        per_class,
        len(labels),
        len(wrong),
        accuracy(learner.predict(data.test_rows), data.test_labels),
        accuracy(streaming_lda(rows, labels, data.test_rows), data.test_labels),
        _paper_accuracy(data, rows, labels, settings.seed, progress) if with_paper else None,
        len(listed),
        len(listed & wrong),
        learner.audit().ok,
        len(suspects),
        len(suspects & wrong),
        len(suspects) * len(wrong) / len(labels),
        chosen(learner),
    )


def replace_labels(labels: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Replace `count` labels, each by one of the others at random."""
    classes, number = np.unique(labels, return_inverse=True)
    few = rng.permutation(len(labels))[:count]
    number[few] = (number[few] + rng.integers(1, len(classes), count)) % len(classes)
    return classes[number]


def _paper_accuracy(
    data: FeatureSet, rows: Array, labels: Ints, seed: int, progress: Progress
) -> float:
    learner = new_paper_learner(np.unique(data.labels), seed=seed)
    for done, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True), 1):
        learner.teach(x, y)
        if worth_showing(done, len(labels)):
            progress("the paper's learner", done, len(labels))
    return accuracy(learner.predict(data.test_rows), data.test_labels)


def tables(rows: Sequence[WrongLabelsRow]) -> list[Table]:
    """Return a line for each set of examples."""
    lines = [
        (
            f"{row.features}, {row.per_class} per class",
            str(row.wrong),
            percent(row.accuracy),
            percent(row.lda),
            "–" if row.paper is None else percent(row.paper),
            f"{row.examples - row.misfits:,}",
            f"{row.misfits} ({row.misfits_wrong} wrong)",
            yes(row.agrees),
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
        "misfits",
        "audit agrees",
        "suspects that are wrong",
        "chosen",
    )
    note = (
        "Test accuracy after learning with wrong labels, consolidated. The paper's learner is "
        "measured on raw pixels only: on scattering it takes half a second and more per example."
    )
    return [Table("7. Wrong labels", head, lines, note)]


def goals(rows: Sequence[WrongLabelsRow]) -> list[Goal]:
    """Return the goals of the larger set."""
    row = rows[0]
    return [
        Goal(
            "noise",
            "taught labels fitted or listed",
            f"{row.examples - row.misfits} fitted, {row.misfits} listed",
            row.agrees,
        ),
        Goal(
            "noise",
            "suspects beat chance",
            f"{row.suspects_wrong} of {row.suspects}, chance {row.chance:.1f}",
            row.suspects_wrong > row.chance,
        ),
    ]
