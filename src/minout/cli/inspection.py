"""`minout info` and `minout audit`: what a model holds, and whether its file is sound."""

import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from minout import store
from minout.cli import options
from minout.cli.models import load_drift, load_model
from minout.cli.output import Row, command, print_note, progress_bar, show
from minout.codecs import memory_text
from minout.core import ExpectedAccuracy, LabelErrors
from minout.errors import UnwritableError, plural
from minout.learner import Learner

POLL = 0.5
"""Seconds between two checks for new entries of the log."""


@command
def info(
    model: options.Model,
    log: Annotated[
        bool, typer.Option("--log", help="Show which change moved which separators, and when.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Show the log, and wait for new entries until Ctrl-C.")
    ] = False,
    count: options.Count = None,
    as_json: options.Json = False,
) -> None:
    """Show what a model holds, and how good it is.

    The accuracy to expect on new rows like those stored is estimated by leaving each stored example
    out. A misfit is a stored example on the wrong side of a separator, the linear function between
    two labels. A pending example is stored, but a separator has not moved for it yet: where labels
    overlap, it moves for several together. `right_before_taught` (prequential accuracy) is the
    share of the last 1,000 rows that were predicted correctly before they were taught.

    Example: minout info wines.minout, or minout info wines.minout --log -n 20
    """
    if log or follow:
        columns = ["time", "action", "id", "moved", "details"]
        show(_log(model, count, follow, as_json), columns, as_json=as_json)
        return
    learner = load_model(model)
    facts = {**_facts(learner), "bytes": store.size_of(model)}
    if as_json:
        show(facts, as_json=True)
        return
    columns = facts.pop("columns")
    show(for_people(facts), as_json=False)
    if columns:
        print()
        show(columns, as_json=False)
    if facts["misfits"]:
        print_note(
            "Misfits are usual where labels overlap, about as many as rows are predicted wrongly; "
            "`minout list --suspects` says which labels may be wrong."
        )


def _facts(learner: Learner) -> Row:
    counts = Counter(learner.example(each)[1] for each in learner.ids)
    (monitor, last), schema = load_drift(learner), learner.schema
    has_labels = len(learner.classes) > 1
    return {
        "examples": len(learner),
        "classes": {each: counts[each] for each in learner.classes.tolist()},
        "misfits": learner.misfits,
        "pending": learner.pending,
        "expected_accuracy": learner.expected_accuracy() if has_labels else None,
        "label_errors": learner.label_errors() if has_labels else None,
        "right_before_taught": monitor.share,
        "last_drift": last,
        "consolidated": learner.is_consolidated,
        "keep": learner.settings.keep,
        "features": learner.features.fingerprint,
        "memory": memory_text(learner.memory),
        **schema.source._asdict(),
        "columns": schema.described() or None,
        "chosen": learner.choice._asdict() if len(learner) else None,
    }


def for_people(facts: Row) -> Row:
    """Return facts with estimates as sentences."""
    expected, wrong = facts["expected_accuracy"], facts.get("label_errors")
    texts = {
        "expected_accuracy": None if expected is None else _accuracy_text(expected),
        "label_errors": None if wrong is None else errors_text(wrong),
    }
    return facts | texts


def _accuracy_text(expected: ExpectedAccuracy) -> str:
    """Return the expected accuracy and its interval in words, or why there is none."""
    if not expected.reliable:
        return f"unknown: {expected.reason[:1].lower()}{expected.reason[1:].rstrip(chr(46))}"
    interval = f"{expected.low:.1%} to {expected.high:.1%}"
    return f"{expected.accuracy:.1%} expected on new rows (95% interval: {interval})"


def errors_text(errors: LabelErrors) -> str:
    """Return how many labels are wrong in all, or why that is not known."""
    if not errors.reliable:
        return f"How many labels are wrong is unknown. {errors.reason}"
    return (
        f"About {errors.wrong:,.0f} of {plural(errors.examples, 'label')} are wrong (95% interval: "
        f"{errors.low:,.0f} to {errors.high:,.0f}); likely wrong: {errors.likely:,.0f}."
    )


def _log(model: Path, count: int | None, follow: bool, as_json: bool) -> Iterator[Row]:
    """Yield the last entries of the log, then new ones as they come."""
    found, last = store.read_log(model), 0
    found = found if count is None else found[max(len(found) - count, 0) :]
    while True:
        for entry in found:
            last = max(last, entry.number)
            row = entry._asdict()
            if not as_json:
                row |= {"time": datetime.fromtimestamp(entry.time).isoformat(" ", "seconds")}
            yield row
        if not follow:
            return
        time.sleep(POLL)
        found = store.read_log(model, last)


@command
def audit(
    model: options.Model,
    repair: Annotated[
        Path | None,
        typer.Option(
            "--repair",
            metavar="FILE",
            help="Build a new model in this file from the examples that are intact.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check a model and its file; repair what is damaged.

    First the file: the checksum of every record and the digest of every row. Then the model: all
    margins of all stored examples are computed again with plain NumPy and compared. The exit code
    is 1 if anything is wrong.

    Example: minout audit wines.minout && echo fine, or
    minout audit wines.minout --repair repaired.minout
    """
    with progress_bar("reading") as update:
        if repair is not None:
            if repair.exists():
                raise UnwritableError(f"There is already a {repair}; name a new file.")
            done = store.repair(model, repair, progress=update)
            show({"to": str(repair), **done._asdict()}, as_json=as_json)
            return
        health = store.audit(model, progress=update)
    found = {} if health.audit is None else health.audit._asdict()
    problems = [*health.problems, *found.pop("differences", ())]
    facts: Row = {"ok": health.ok, **found, "problems": problems}
    show(facts, as_json=as_json)
    if not health.ok:
        print_note(f"`minout audit {model} --repair FILE` saves the examples that are intact.")
        raise typer.Exit(1)
