"""Calls of a learner as plain tuples, so that several learners can be told the same."""

import numpy as np

from minout import InvalidInputError

KINDS = {
    "auto": {},
    "straight": {"regions": 1, "expand": None},
    "newest 30": {"keep": 30},
    "far": {"near_classes": 1, "regions": 1, "expand": None},
    "regions and hats": {"regions": 2, "expand": 3},
    "per label": {"keep": {"per_label": 10}, "C": 1.0},
    "last minute": {"keep": "60s", "lda_prior": True, "whiten": True},
    "manual": {"refresh": "manual", "C": 5.0},
}
"""Settings that store different things, by a short name."""
OFTEN = {
    "teach": 0.58,
    "again": 0.03,
    "many": 0.06,
    "correct": 0.08,
    "corrections": 0.03,
    "update": 0.05,
    "forget": 0.07,
    "forget_class": 0.01,
    "consolidate": 0.02,
    "settle": 0.02,
    "keep": 0.02,
    "note": 0.03,
}
"""How often each operation is drawn."""
LABELS, COLUMNS = 4, 4


def perform(learner, operation):
    """Do an operation; return what can be compared of the answer, or the words of the error."""
    name, *arguments = operation
    try:
        if name == "note":
            learner.notes[arguments[0]] = arguments[1]
            return None
        if name == "teach":
            row, label, at, weight, own = arguments
            report = learner.teach(row, label, id=own, at=at, weight=weight)
            return report.example_id, report.certificate
        if name == "teach_many":
            rows, labels, at = arguments
            reports = learner.teach_many(rows, labels, at=at)
            return [(each.example_id, each.certificate) for each in reports]
        if name == "correct_many":
            reports = learner.correct_many(*arguments)
            return [(each.example_id, each.certificate) for each in reports]
        answer = getattr(learner, name)(*arguments)
    except InvalidInputError as error:
        return str(error)
    return getattr(answer, "certificate", answer)


def drawn(rng, learner, number, *, many=True):  # noqa: PLR0911, PLR0912, one for each kind
    """Draw an operation for a learner in this state."""
    ids = learner.ids
    kind = str(rng.choice([*OFTEN], p=[*OFTEN.values()]))
    if len(ids) < 5 or (kind in ("many", "corrections") and not many):
        kind = "teach"
    picked = [ids[int(each)] for each in rng.integers(0, max(len(ids), 1), 2)] if ids else []
    label = int(rng.integers(LABELS if number > 8 else 2))
    match kind:
        case "correct":
            return "correct", picked[0], label, [None, 2.0][int(rng.integers(2))]
        case "corrections":
            some = sorted({*picked, *ids[:2]})
            return "correct_many", some, rng.integers(0, LABELS, len(some)).tolist()
        case "update":
            if rng.random() < 0.2:  # refused, in most states
                return "update", picked[0], [1e99, -1e99, *drawn_row(rng, label)[2:]]
            return "update", picked[0], drawn_row(rng, label)
        case "forget":
            return "forget", sorted(set(picked))
        case "forget_class":
            return "forget_class", learner.classes.tolist()[0]
        case "consolidate":
            return ("consolidate",)
        case "settle":
            return ("settle",)
        case "keep":
            return "set_keep", learner.settings.keep
        case "note":
            return "note", "number", number
        case "again":
            row, label = learner.example(picked[0])
            return "teach", row.tolist(), label, float(number), learner.weight(picked[0]), picked[0]
        case "many":
            labels = rng.integers(0, LABELS, 5).tolist()
            rows = np.array([drawn_row(rng, each) for each in labels])
            if rng.random() < 0.4:  # refused, in the middle of the batch
                rows[2], rows[3, 0], rows[4, 1] = 1e-90, 1e99, -1e99
            return "teach_many", rows.tolist(), labels, float(number)
        case _:
            weight = float(rng.choice([1.0, 1.0, 1.0, 2.0, 0.5]))
            return "teach", drawn_row(rng, label), label, float(number), weight, None


def drawn_row(rng, label):
    """Draw a row about the centre of its label, one in ten with zeros of both signs."""
    centre = np.random.default_rng(label).standard_normal(COLUMNS) * 2.0
    row = centre + rng.standard_normal(COLUMNS)
    if rng.random() < 0.1:
        row[:2] = 0.0, -0.0
    return row.astype(np.float32).tolist()
