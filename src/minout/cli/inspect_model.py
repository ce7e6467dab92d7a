"""`minout suspects`, `minout audit` and `minout info`: inspect a model."""

import math
from collections import Counter
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from minout.cli import options
from minout.cli.drift_note import DriftNote
from minout.cli.file_notes import read_notes
from minout.cli.output import (
    command,
    keep_text,
    plural,
    print_facts,
    print_json,
    print_note,
    print_table,
    print_text,
)
from minout.cli.queries import (
    errors_for_json,
    errors_text,
    expected_accuracy,
    expected_for_json,
    expected_text,
    load_model,
    misfits_text,
    number_text,
)
from minout.cli.table_rows import column_notes, stored_encoder
from minout.cli.upkeep import shown_progress
from minout.codecs import memory_text
from minout.engine import Audit, Conflict, Suspect
from minout.errors import InvalidInputError
from minout.features import UnknownMap
from minout.learner import Learner
from minout.store import size_of_model
from minout.store.folder import MODEL
from minout.store.schema import DATABASE
from minout.streams.files import join_names
from minout.upkeep import Health, check

NOTHING_AUDITED = Audit(0, 0, math.inf, (), (), 0.0, 0, ())
_SWITCHES = ("standardize", "whiten", "lda_prior")


@command
def suspects(
    model: options.Model,
    count: Annotated[
        int | None,
        typer.Option("-n", "--count", min=0, help="How many to list; 10, or all with --likely."),
    ] = None,
    likely: Annotated[
        bool,
        typer.Option("--likely", help="Only labels that are wrong with probability 0.5 or more."),
    ] = False,
    duplicates: Annotated[
        bool,
        typer.Option(
            "--duplicates", help="List equal and nearly equal rows with different labels instead."
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """List the stored examples that are most likely to have a wrong label.

    Each example is left out in turn; `probability` is the probability that its label is wrong, from
    a model of wrong labels that is fitted to all examples, and `suggested_label` the most probable
    other label. A sentence says how many labels are wrong in all. An error that all similar
    examples share is not found.

    A separator is the linear function between two labels. The margin of an example is its value,
    positive on the side of the example's label; the target is 1. Slack is the sum of the amounts
    by which the margins of an example fall short of 1. Correctly labelled examples are listed too,
    if they are close to another label.

    With --duplicates, `distance` is a share of the typical distance between two rows.

    Example: minout suspects wines --likely
    """
    learner = load_model(model)
    if duplicates:
        pairs = learner.conflicts()[:count] if len(learner) else []
        if as_json:
            for pair in pairs:
                print_json(pair._asdict())
        else:
            print_table(Conflict._fields, [list(pair) for pair in pairs])
        return
    found = learner.suspects(count, likely=likely) if len(learner) else []
    if as_json:
        for each in found:
            print_json(each._asdict())
        return
    print_table(Suspect._fields, [list(each) for each in found])
    if len(learner.classes) > 1:
        print_note(errors_text(learner.label_errors()))


@command
def audit(model: options.Model, as_json: options.Json = False) -> None:
    """Check every record of a model, and all margins of all stored examples with plain NumPy.

    First the file: SQLite's own check, the checksum of every record, and the digest of every row.
    Then the model: all margins are computed again and compared. The margin of an example is the
    value of a separator (the linear function between two labels), positive on the side of the
    example's label; an example with a margin of 0 or less is a misfit.

    The exit code is 1 if anything is wrong; each problem is printed as one sentence. `minout
    repair` rebuilds a model whose file is damaged.

    Example: minout audit wines && echo fine
    """
    health = _health(model)
    found = health.audit or NOTHING_AUDITED
    wrong = (*health.problems, *found.differences)
    if as_json:
        told = found._asdict() | {"records": health.records, "problems": health.problems}
        print_json({"ok": health.ok, **told})
    else:
        print_facts(
            {
                **({"records checked": health.records} if health.records else {}),
                "examples": found.examples,
                "margins computed": found.margins,
                "least above 0": found.least_margin if isfinite(found.least_margin) else "none",
                "misfits": len(found.misfits),
                "pending": len(found.pending),
                "too close to tell": found.too_close,
                "verdict": "everything agrees" if health.ok else "something does not agree",
            }
        )
        for difference in wrong:
            print_text(difference)
        if not health.ok and (model / DATABASE).exists():
            print_text(
                f"`minout repair {model}` rebuilds the model from the examples that are intact."
            )
    if not health.ok:
        raise typer.Exit(1)


def _health(model: Path) -> Health:
    if (model / MODEL).exists():  # a folder of an earlier version
        return Health((), 0, 0, load_model(model).audit())
    with shown_progress("reading") as progress:
        health = check(model, features=UnknownMap(), progress=progress)
    if not health.ok:
        return health
    try:
        stored_encoder(load_model(model))
    except InvalidInputError as error:
        return health._replace(problems=(*health.problems, str(error)))
    return health


@command
def info(model: options.Model, as_json: options.Json = False) -> None:
    """Show the contents of a model: examples, classes, misfits, accuracy, columns and settings.

    A misfit is a stored example on the wrong side of a separator, the linear function between two
    labels. C is the inverse strength of the regularisation, as in scikit-learn: a high C fits
    single examples more closely, a low C allows more misfits. C, standardize, whiten, lda_prior,
    the number of regions (clusters) per label and the number of hat functions of each column, which
    make separators piecewise linear, are chosen from the examples. A pending example waits until a
    separator with many support vectors moves; `minout consolidate` leaves none.

    The accuracy to expect on new rows is the share of stored examples that get their label when
    they are left out, in all and per class. It is for rows like those stored. The only example of
    a class counts as wrong; with few examples per class the estimate is rough.

    The prequential accuracy is the share of the last 1,000 examples of `minout learn` that were
    predicted correctly before they were taught; those whose label was new are not counted. The last
    drift is the last significant fall of this share.

    The window is what --keep of `minout learn` set: which examples stay stored. Memory is what
    --memory set: how rows are stored.

    Example: minout info wines
    """
    learner, size = load_model(model), size_of_model(model)
    notes, encoder = read_notes(learner), stored_encoder(learner)
    counts = Counter(learner.example(each)[1] for each in learner.ids)
    misfits, pending = (learner.misfits, learner.pending) if len(learner) else ([], [])
    choice = learner.choice if len(learner) else None
    expected = expected_accuracy(learner)
    drift = _drift_note(learner)
    errors = learner.label_errors() if len(learner.classes) > 1 else None
    names = notes.columns if encoder is None else list(dict.fromkeys(encoder.sources))
    if as_json:
        print_json(
            {
                "examples": len(learner),
                "classes": {each: counts[each] for each in learner.classes.tolist()},
                "misfits": misfits,
                "pending": pending,
                "expected_accuracy": expected_for_json(expected),
                "right_before_taught": drift.monitor.share,
                "last_drift": None if drift.last is None else drift.last.to_json(),
                "label_errors": errors_for_json(errors),
                "consolidated": learner.is_consolidated,
                "keep": learner.settings.keep,
                "features": learner.features.fingerprint,
                "memory": memory_text(learner.memory),
                "label": notes.label,
                "id": notes.id,
                "columns": names,
                "taken_for": None if encoder is None else encoder.taken_for(),
                "image_shape": notes.image_shape,
                "chosen": None if choice is None else choice._asdict(),
                "bytes": size,
            }
        )
        return
    classes = [f"{each} ({counts[each]:,})" for each in learner.classes.tolist()]
    accuracies = [] if expected is None else expected.per_class.items()
    per_class = [f"{label}: {each.accuracy:.1%}" for label, each in accuracies]
    columns = "without names" if names is None else join_names(names)
    chosen = [] if choice is None else [n for n in _SWITCHES if getattr(choice, n)]
    print_facts(
        {
            "examples": len(learner),
            "classes": join_names(classes) or "none",
            "misfits": len(misfits),
            "pending": len(pending),
            "wrong labels": "none" if errors is None else number_text(errors),
            "accuracy": "none" if expected is None else expected_text(expected, learner),
            "per class": join_names(per_class) or "none",
            "prequential": _prequential_text(drift),
            **({} if drift.last is None else {"last drift": drift.last.text}),
            "consolidated": "yes" if learner.is_consolidated else "no",
            "window": keep_text(learner.settings.keep),
            "label column": notes.label or "none",
            "id column": notes.id or "none",
            "columns": columns,
            "feature map": learner.features.fingerprint,
            "memory": memory_text(learner.memory),
            "scaling": ", ".join(chosen) or "none",
            "C": "none" if choice is None else choice.C,
            "regions": "none" if choice is None else _regions(learner),
            "hats": "none" if choice is None else choice.hats,
            "bytes": size,
        }
    )
    for line in column_notes(encoder):
        print_text(line)
    if misfits:
        print_text(misfits_text(len(misfits), len(learner), expected))


def _drift_note(learner: Learner) -> DriftNote:
    try:
        return DriftNote.of(learner)
    except InvalidInputError:  # another program wrote it; `minout learn` says so
        return DriftNote()


def _prequential_text(note: DriftNote) -> str:
    if note.monitor.share is None:
        return "none"
    examples = plural(note.monitor.recent, "example")
    return (
        f"{note.monitor.share:.1%} of the last {examples} predicted correctly before being taught"
    )


def _regions(learner: Learner) -> str:
    # How many regions the labels have, at least and at most.
    counts = [len(regions) for regions in learner.regions().values()]
    low, high = min(counts, default=0), max(counts, default=0)
    return f"{low} per label" if low == high else f"{low} to {high} per label"
