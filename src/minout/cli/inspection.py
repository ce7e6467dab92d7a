"""`minout info` and `minout audit`: what a model holds, and whether its file is sound."""

import shutil
import time
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from minout.cli import options
from minout.cli.drift_note import DriftNote
from minout.cli.models import load_model
from minout.cli.output import (
    Row,
    cell,
    command,
    plain,
    plural,
    print_facts,
    print_json,
    print_text,
    progress_bar,
    some,
)
from minout.codecs import memory_text
from minout.engine import ExpectedAccuracy, LabelErrors
from minout.errors import UnwritableError
from minout.features import UnknownMap
from minout.files import join_names
from minout.learner import Learner
from minout.store import prepare_folder, size_of_model
from minout.upkeep import Entry, check, read_log
from minout.upkeep import repair as repair_folder

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
    two labels. A pending one waits until its separator moves; `minout consolidate` leaves none. The
    prequential accuracy is the share of the last 1,000 rows that were predicted correctly before
    they were taught.

    Example: minout info wines, or minout info wines --log -n 20
    """
    if log or follow:
        _print_log(model, count, follow, as_json)
        return
    learner = load_model(model)
    facts = {**_facts(learner), "bytes": size_of_model(model)}
    if as_json:
        print_json(facts)
        return
    columns = facts.pop("columns")
    print_facts({name: _shown(each) for name, each in facts.items() if each is not None})
    for name, what in (columns or {}).items():
        print_text(f"{name}: {what}.")
    if facts["misfits"]:
        print_text(
            "Misfits are usual where labels overlap, about as many as rows are predicted wrongly; "
            "`minout list --suspects` says which labels may be wrong."
        )


def _shown(value: Any) -> Any:
    """Return a fact as people read it: lists are counted."""
    if isinstance(value, ExpectedAccuracy):
        shares = [f"{label}: {each.accuracy:.1%}" for label, each in value.per_class.items()]
        return "; ".join([expected_text(value), *filter(None, [join_names(shares)])])
    if isinstance(value, LabelErrors):
        return errors_text(value)
    if isinstance(value, dict):
        return join_names([f"{name}: {cell(each)}" for name, each in value.items()])
    return len(value) if isinstance(value, list) else value


def _facts(learner: Learner) -> Row:
    counts = Counter(learner.example(each)[1] for each in learner.ids)
    drift, schema = DriftNote.of(learner), learner.schema
    has_labels = len(learner.classes) > 1
    return {
        "examples": len(learner),
        "classes": {each: counts[each] for each in learner.classes.tolist()},
        "misfits": learner.misfits,
        "pending": learner.pending,
        "expected_accuracy": learner.expected_accuracy() if has_labels else None,
        "label_errors": learner.label_errors() if has_labels else None,
        "right_before_taught": drift.monitor.share,
        "last_drift": drift.last,
        "consolidated": learner.is_consolidated,
        "keep": learner.settings.keep,
        "features": learner.features.fingerprint,
        "memory": memory_text(learner.memory),
        **schema.source._asdict(),
        "columns": schema.described() or None,
        "chosen": learner.choice._asdict() if len(learner) else None,
    }


def expected_text(expected: ExpectedAccuracy) -> str:
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


def keep_text(keep: str | int | Mapping[str, int]) -> str:
    """Return a learner's setting `keep` in words.

    >>> keep_text("all"), keep_text(1000), keep_text({"per_label": 50}), keep_text("30d")
    ('all', '1,000 examples', '50 examples per label', '30d')
    """
    if isinstance(keep, str):
        return keep
    if isinstance(keep, int):
        return plural(keep, "example")
    return f"{plural(keep['per_label'], 'example')} per label"


def _print_log(model: Path, count: int | None, follow: bool, as_json: bool) -> None:
    found = read_log(model)
    last = max((each.number for each in found), default=0)
    _show(found if count is None else found[max(len(found) - count, 0) :], as_json)
    while follow:
        time.sleep(POLL)
        found = read_log(model, last)
        last = max((each.number for each in found), default=last)
        _show(found, as_json)


def _show(entries: list[Entry], as_json: bool) -> None:
    for each in entries:
        if as_json:
            print_json(each._asdict())
        else:
            print_text(entry_line(each))


def entry_line(entry: Entry) -> str:
    """Return one line about an entry of the log, in local time.

    >>> entry = Entry(1, 0.0, "teach", "b", (("cat", "dog"),), 1, {"checked": 7, "misfits": 2})
    >>> entry_line(entry)[20:]
    "teach 'b': moved cat|dog; checked 7; misfits 2"
    """
    when = datetime.fromtimestamp(entry.time).strftime("%Y-%m-%d %H:%M:%S")
    what = entry.action if entry.id is None else f"{entry.action} {entry.id!r}"
    named = [
        ["(forgotten)" if each is None else str(each) for each in pair] for pair in entry.moved
    ]
    pairs = sorted("|".join(sorted(pair)) for pair in named)
    parts = [f"moved {some(pairs, entry.moved_in_all)}"] if pairs else []
    for name, value in entry.details.items():
        if value:
            shown = some(value) if isinstance(value, list) else f"{value:,.3g}"
            parts.append(f"{name.replace('_', ' ')} {shown}")
    return f"{when} {what}: {'; '.join(parts)}" if parts else f"{when} {what}"


@command
def audit(
    model: options.Model,
    repair: Annotated[
        Path | None,
        typer.Option(
            "--repair",
            metavar="FOLDER",
            help="Build a new model in this folder from the examples that are intact.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check a model and its file; repair what is damaged.

    First the file: the checksum of every record and the digest of every row. Then the model: all
    margins of all stored examples are computed again with plain NumPy and compared. The exit code
    is 1 if anything is wrong.

    Example: minout audit wines && echo fine, or minout audit wines --repair wines-repaired
    """
    if repair is not None:
        _repair(model, repair, as_json)
        return
    with progress_bar("reading") as update:
        health = check(
            model, features=UnknownMap(), progress=lambda share: update(share, f"{share:.0%}")
        )
    found = {} if health.audit is None else health.audit._asdict()
    problems = [*health.problems, *found.pop("differences", ())]
    facts: Row = {"ok": health.ok, "records": health.records, **found, "problems": problems}
    if as_json:
        print_json(facts)
    else:
        lists = ("misfits", "pending")
        counted = {
            name: len(each) if name in lists else each for name, each in plain(facts).items()
        }
        print_facts({name: each for name, each in counted.items() if name != "problems"})
        for each in problems:
            print_text(each)
    if not health.ok:
        if not as_json:
            print_text(
                f"`minout audit {model} --repair FOLDER` saves the examples that are intact."
            )
        raise typer.Exit(1)


def _repair(model: Path, to: Path, as_json: bool) -> None:
    """Repair a copy of a model, so that the damaged one stays as it is."""
    if to.exists():
        raise UnwritableError(f"There is already a {to}; name a new folder.")
    prepare_folder(model, create=False)
    shutil.copytree(model, to)
    try:
        done = repair_folder(to, features=UnknownMap())
        if done.kept is not None:
            done.kept.unlink()
    except BaseException:
        shutil.rmtree(to)
        raise
    if as_json:
        print_json({"to": str(to), **done._asdict(), "kept": None})
        return
    print_text(f"{to} holds the {plural(done.examples, 'example')} that are intact.")
    if done.lost:
        known = f": {some(map(repr, done.lost_ids), done.lost)}" if done.lost_ids else ""
        print_text(f"{plural(done.lost, 'example')} could not be rescued{known}.")
    if done.lost_parts:
        print_text(f"Lost, and replaced by defaults: {', '.join(done.lost_parts)}.")
