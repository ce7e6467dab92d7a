"""`minout repair`, `minout compact`, `minout backup` and `minout log`: the upkeep of a model."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from minout.cli import options
from minout.cli.drift_note import NOTES as DRIFT
from minout.cli.output import command, plural, print_json, print_note, print_text
from minout.cli.progress import ProgressBar
from minout.cli.queries import open_model
from minout.cli.table_rows import stored_encoder
from minout.features import UnknownMap
from minout.learner import Learner
from minout.tables import NOTE as TABLE
from minout.upkeep import Entry, Repair, damaged_files, read_log, require_database
from minout.upkeep import backup as make_backup
from minout.upkeep import repair as make_repair

POLL = 0.5
"""Seconds between two checks for new entries of the log."""
MOST_SHOWN = 10
"""At most so many ids or pairs are shown on one line."""
MOST_PROBLEMS = 20
"""At most so many problems are printed by a repair, one per line."""

Copy = Annotated[
    Path, typer.Argument(metavar="COPY", help="The new folder to write.", show_default=False)
]


@command
def repair(model: options.Model, as_json: options.Json = False) -> None:
    """Rebuild a damaged model from the examples that are intact.

    Every record has a checksum, and so has every row, so it is known which examples are intact.
    Everything else is computed again from them. The settings, the feature map and the names of your
    columns are kept if they are intact. What was lost is listed.

    The damaged file is kept as model.sqlite.damaged. It may hold rows that were forgotten: delete
    it when you no longer need it. A sound model is left as it is.

    Example: minout repair wines
    """
    with shown_progress("reading") as progress:
        done = make_repair(model, features=UnknownMap(), progress=progress)
    if as_json:
        kept = None if done.kept is None else str(done.kept)
        print_json({**done._asdict(), "kept": kept, "was_sound": done.was_sound})
        return
    for line in _repair_lines(model, done):
        print_text(line)


def _repair_lines(model: Path, done: Repair) -> Iterator[str]:
    examples = plural(done.examples, "example")
    if done.was_sound:
        yield f"{model} is sound: nothing to repair. It holds {examples}."
        return
    yield from done.problems[:MOST_PROBLEMS]
    if len(done.problems) > MOST_PROBLEMS:
        yield f"{plural(len(done.problems) - MOST_PROBLEMS, 'more problem')} (--json lists all)."
    yield f"{model} was built again from {examples} and consolidated."
    if done.lost:
        named = _listed([repr(each) for each in done.lost_ids], done.lost)
        known = f": {named}" if done.lost_ids else ", whose ids cannot be read"
        yield f"{plural(done.lost, 'example')} could not be rescued{known}."
    else:
        yield "No example was lost."
    if done.lost_parts:
        yield f"Lost, and replaced by defaults: {', '.join(done.lost_parts)}."
    yield (
        f"The damaged file is kept as {done.kept}. It may still hold rows that were forgotten; "
        "delete it when you no longer need it."
    )


@command
def compact(model: options.Model, as_json: options.Json = False) -> None:
    """Consolidate a model, and leave no trace of forgotten examples in any of its files.

    `minout forget` removes examples from the model. But weights and sums may depend on them until
    the model is consolidated, and the log of changes may still name their labels. This command
    consolidates the model, removes such labels from the log, and writes the database anew, which
    also makes it as small as possible.

    Example: minout forget wines bottle-17, then minout compact wines
    """
    require_database(model)
    before = _size(model)
    with open_model(model) as learner:
        _drop_old_labels(learner)
        _drop_old_categories(learner)
        with ProgressBar("compacting"):
            learner.compact()
        examples = len(learner)
    after, damaged = _size(model), damaged_files(model)
    if as_json:
        names = [str(each) for each in damaged]
        sizes = {"bytes_before": before, "bytes": after}
        print_json({"examples": examples, **sizes, "damaged_files": names})
        return
    print_text(
        f"{model} holds {plural(examples, 'example')} in {after:,} bytes ({before:,} before)."
    )
    for each in damaged:
        print_note(f"{each} was kept by a repair and may hold forgotten rows; delete it yourself.")


def _drop_old_categories(learner: Learner) -> None:
    # The encoder of a table knows the names of categories, also those of forgotten examples.
    with learner.turn():
        encoder = stored_encoder(learner)
        if encoder is None:
            return
        used = np.zeros(encoder.width, dtype=bool)
        for each in learner.ids:
            used |= learner.example(each)[0] != 0.0
        encoder.forget_categories(used)
        learner.notes[TABLE] = encoder.described()


def _drop_old_labels(learner: Learner) -> None:
    # The state of the drift monitor of `minout learn` names the labels that it counts.
    note = learner.notes.get(DRIFT)
    labels = note.get("labels") if isinstance(note, dict) else []
    known = learner.classes.tolist()
    if not isinstance(labels, list) or any(each not in known for each in labels):
        del learner.notes[DRIFT]


def _size(model: Path) -> int:
    return sum(each.stat().st_size for each in model.glob("model.sqlite*") if _is_live(each))


def _is_live(file: Path) -> bool:
    return file.name in ("model.sqlite", "model.sqlite-wal")


@command
def backup(model: options.Model, to: Copy, as_json: options.Json = False) -> None:
    """Copy a model to a new folder, also while another process teaches it.

    The copy is a snapshot: the model as it was at one moment. It is checked before it gets its
    name; if anything fails, no copy is left.

    Example: minout backup wines wines-2026-11-17
    """
    with shown_progress("copying") as progress:
        examples = make_backup(model, to, progress=progress)
    if as_json:
        print_json({"to": str(to), "examples": examples})
        return
    print_text(f"{to} is a copy of {model}, with {plural(examples, 'example')}.")


@command
def log(
    model: options.Model,
    count: Annotated[
        int | None, typer.Option("-n", "--count", min=0, help="Show the newest so many entries.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for new entries, until Ctrl-C.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Show which change moved which separators, when, and by which example.

    A separator is the linear function between two labels. The log has one line for each change that
    moved a separator or changed the list of misfits, for each correction, and for each call that
    forgot examples; the newest 10,000 are kept. Forgotten examples are not named, unless
    `minout forget` was run with --log-ids.

    Example: minout log wines -n 20, or minout log wines --follow
    """
    found = read_log(model)
    last = max((each.number for each in found), default=0)
    _show(found if count is None else found[len(found) - min(count, len(found)) :], as_json)
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
    "teach 'b': moved cat|dog; 7 margins checked; 2 new misfits"
    """
    when = datetime.fromtimestamp(entry.time).strftime("%Y-%m-%d %H:%M:%S")
    what = entry.action if entry.id is None else f"{entry.action} {entry.id!r}"
    pairs = sorted("|".join(sorted(map(_label, pair))) for pair in entry.moved)
    parts = [f"moved {_listed(pairs, entry.moved_in_all)}"] if pairs else []
    parts += _counts(entry.details)
    return f"{when} {what}: {'; '.join(parts)}" if parts else f"{when} {what}"


def _counts(details: dict[str, Any]) -> list[str]:
    sayings: dict[str, Callable[[Any], str]] = {
        "checked": lambda n: f"{plural(n, 'margin')} checked",
        "misfits": lambda n: f"{n:,} new misfit{'' if n == 1 else 's'}",
        "cleared": lambda n: f"{n:,} no longer misfit{'' if n == 1 else 's'}",
        "forgotten": lambda n: f"{plural(n, 'example')} forgotten",
        "forgotten_ids": lambda ids: f"namely {_listed([repr(each) for each in ids], len(ids))}",
        "refresh_seconds": lambda seconds: f"refresh in {seconds:.2g} s",
    }
    return [say(details[name]) for name, say in sayings.items() if details.get(name)]


def _label(label: object) -> str:
    return "(forgotten)" if label is None else str(label)


def _listed(names: list[str], in_all: int) -> str:
    shown = ", ".join(names[:MOST_SHOWN])
    more = in_all - min(len(names), MOST_SHOWN)
    return f"{shown} and {more:,} more" if more > 0 else shown


@contextmanager
def shown_progress(task: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar, and yield a function to be called with the fraction that is done."""
    with ProgressBar(task) as bar:
        yield lambda fraction: bar.update(lambda: fraction, lambda: f"{fraction:.0%}")
