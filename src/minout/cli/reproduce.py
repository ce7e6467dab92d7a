"""`minout reproduce`: the figures of the paper."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from minout.errors import InvalidInputError
from minout.paper.figures.reproduce import FIGURES, Reproduced, write_report
from minout.paper.figures.reproduce import reproduce as run_figure

VERDICTS = {True: ("holds", "green"), False: ("does not hold", "red"), None: ("see text", "dim")}


def reproduce(
    figures: Annotated[
        list[str] | None, typer.Argument(help=f"Any of {', '.join(FIGURES)}; all by default.")
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
    if unknown := [name for name in names if name not in FIGURES]:
        known = f"{', '.join(FIGURES)} and all"
        raise InvalidInputError(f"There is no figure {unknown[0]!r}; there are {known}.")
    console = Console()
    done = [_with_bar(name, seeds, out, console) for name in names]
    console.print(_table(done))
    for each in done:
        console.print(f"{each.name}: {each.picture}", soft_wrap=True, markup=False)
    if len(done) > 1:
        write_report(done, out / "report.html")
        page = f"everything on one page: {out / 'report.html'}"
        console.print(page, soft_wrap=True, markup=False)


def _with_bar(name: str, seeds: int, out: Path, console: Console) -> Reproduced:
    columns = (
        TextColumn("{task.description:>5}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(name, total=1)
        return run_figure(
            name, seeds, out, tick=lambda n, of: progress.update(bar, completed=n, total=of)
        )


def _table(done: list[Reproduced]) -> Table:
    table = Table(
        "", "the paper says (what we ask)", "we measured", "", show_edge=False, pad_edge=False
    )
    for each in done:
        for claim in each.claims:
            verdict, colour = VERDICTS[claim.holds]
            words = Text(claim.paper), Text(claim.measured), Text(verdict, style=colour)
            table.add_row(each.name, *words)
    return table
