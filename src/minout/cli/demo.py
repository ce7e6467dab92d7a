"""`minout demo`: digits in label order, compared with SGD; wrong labels; forgetting."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isqrt
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from minout import drawing, results
from minout._typing import Ints
from minout.cli.file_notes import write_notes
from minout.cli.output import plural
from minout.demo.accuracy import Accuracies
from minout.demo.data import ID, LABEL, DemoData, Files, make_data, write_files
from minout.demo.experiment import DemoResults, Examples, Report, run_demo
from minout.demo.figure import draw
from minout.demo.settings import DEMO
from minout.learner import Learner
from minout.results import writable
from minout.store import holds_model, remove_model
from minout.streams.data import DIGITS_LEVELS
from minout.streams.files import Example, read

SETTINGS = DEMO
NAMES = {
    "minout": "minout, in label order",
    "consolidated": "the same, consolidated",
    "sgd": "SGD, in label order",
    "sgd-shuffled": "SGD, shuffled",
}
SHADES = " ░▒▓█"


def demo(
    out: Annotated[
        Path, typer.Option(help="The folder for the files, the model and the picture.")
    ] = Path("demo"),
) -> None:
    """Show in a minute what minout does: digits in label order, compared with SGD.

    Write digits with some wrong labels to a CSV file, teach them one by one, find and correct the
    wrong labels, forget an example and audit the model. The model is kept, so that you can try
    other commands on it.

    Example: minout demo --out demo
    """
    console = Console(highlight=False)
    writable(out)
    drawing.new_figure(1, 1)  # fail at once if matplotlib is missing
    holds_model(out / "model")  # fail at once if it is something else
    made = make_data(SETTINGS)
    files = write_files(made, out)
    learner = Learner()
    examples = Examples(_read(files.learn, learner), _read(files.test, Learner()))
    _print(console, _opening(made, files))
    with _bars() as report:
        done = run_demo(learner, examples, made.wrong_labels, SETTINGS, report)
    if holds_model(out / "model"):
        remove_model(out / "model")
    learner.store_in(out / "model")
    learner.close()
    results.write(done.rows, out / "demo.jsonl")
    picture = drawing.save(draw(done.rows), out, "demo")[0]
    console.print(_table(done))
    _print_results(console, made, done)
    _print(console, f"\nThe picture: {picture}. The model is yours now; try")
    for line in _next_steps(out, files, done):
        _print(console, f"  {line}")


def _read(file: Path, learner: Learner) -> list[Example]:
    with read(file, label=LABEL, id=ID) as reader:
        write_notes(learner, reader)  # so that `minout predict` finds the columns
        return list(reader)


@contextmanager
def _bars() -> Iterator[Report]:
    """Show progress bars on a terminal: the stream, and the accuracy of each model."""
    console = Console(stderr=True, highlight=False)
    progress = Progress(
        TextColumn("{task.description:<24}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[words]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    stream = progress.add_task("", total=None, words="")
    knows = {
        name: progress.add_task(NAMES[name], total=1.0, words="", visible=False) for name in NAMES
    }

    def report(what: str, done: int, total: int, now: Mapping[str, Accuracies]) -> None:
        words = f"{done:,} of {total:,}" if total > 1 else ""
        progress.update(stream, description=what, completed=done, total=total, words=words)
        for name, shares in now.items():
            words = f"{shares.taught:6.1%} of everything taught so far is right"
            progress.update(knows[name], completed=shares.taught, words=words, visible=True)

    with progress:
        yield report


def _opening(made: DemoData, files: Files) -> str:
    return (
        f"{files.learn} holds {len(made.ids):,} handwritten digits, all zeros first, all nines "
        f"last; {len(made.wrong_labels)} of them got a wrong label on purpose. "
        f"They are taught one by one; {len(made.test_labels)} others are held out."
    )


def _table(done: DemoResults) -> Table:
    table = Table("right in the end", show_edge=False, pad_edge=False)
    for head in ("of what was taught", "of what was held out"):
        table.add_column(head, justify="right")
    for name, words in NAMES.items():
        shares = done.ends[name]
        style = "bold" if name in ("minout", "consolidated") else ""
        table.add_row(words, f"{shares.taught:.1%}", f"{shares.held_out:.1%}", style=style)
    return table


def _print_results(console: Console, made: DemoData, done: DemoResults) -> None:
    found, forgotten, audit = done.found, done.forgotten, done.audit
    honest = 1.0 - len(made.wrong_labels) / len(made.ids)
    _print(console, f"(Of what was taught, {honest:.1%} has a right label.)")
    _print(
        console,
        f"\nSuspects: of the {plural(len(found.suspects), 'example')} most likely to be wrong, "
        f"{len(found.wrong)} {'has' if len(found.wrong) == 1 else 'have'} a wrong label; "
        f"by chance it would be {found.by_chance:.1f}.",
    )
    if found.wrong:
        first = found.wrong[0]
        label = made.wrong_labels[str(first.id)]
        _print(console, f"The first is {first.id}. The file says {first.label}. Look:\n")
        for line in _as_text(made.pixels[made.ids.index(str(first.id))]):
            console.print(Text(f"    {line}"))
        _print(
            console,
            f"\nIt is now a {label}, and the others are corrected too: {done.corrected.taught:.1%} "
            f"of what was taught is right, and {done.corrected.held_out:.1%} of what was held out.",
        )
    moved = plural(len(forgotten.certificate.moved), "separator")
    _print(
        console,
        f"Forgotten: {forgotten.id}; {moved} moved. "
        "Is the model, to the last bit, one that was taught the others backwards and never saw it? "
        f"{'Yes' if forgotten.is_as_if_never_taught else 'No'}.",
    )
    _print(
        console,
        f"Audit: {plural(audit.margins, 'margin')} of {plural(audit.examples, 'example')} computed "
        f"again by plain arithmetic; {plural(len(audit.misfits), 'misfit')}; "
        f"{'everything agrees' if audit.ok else '; '.join(audit.differences)}.",
    )


def _as_text(pixels: Ints) -> list[str]:
    side = isqrt(len(pixels))
    shades = pixels * (len(SHADES) - 1) // DIGITS_LEVELS
    return ["".join(2 * SHADES[shade] for shade in row) for row in shades.reshape(side, side)]


def _next_steps(out: Path, files: Files, done: DemoResults) -> list[str]:
    model, test = shlex.quote(str(out / "model")), shlex.quote(str(files.test))
    why = shlex.quote(str(out / "why.png"))
    return [
        f"minout score {model} {test}",
        f"minout explain {model} {test} --row {done.examined} --picture {why}",
        f"minout suspects {model} -n 5",
    ]


def _print(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)
