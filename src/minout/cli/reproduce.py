"""`minout reproduce`: the figures of the paper."""

from pathlib import Path
from typing import Annotated

import typer

from minout.cli.output import command, progress_bar, show
from minout.paper.figures.reproduce import FIGURES, VERDICTS
from minout.paper.figures.reproduce import reproduce as run_figures

COLUMNS = ["figure", "the paper says (what we ask)", "we measured", "verdict"]


@command
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
    with progress_bar("reproducing") as update:

        def tick(name: str, done: int, total: int) -> None:
            update(done / total, f"{name}, run {done} of {total}")

        reproduced = run_figures(names, seeds, out, tick)
    told = [
        (each.name, claim.paper, claim.measured, VERDICTS[claim.holds])
        for each in reproduced
        for claim in each.claims
    ]
    show([dict(zip(COLUMNS, each, strict=True)) for each in told], COLUMNS, as_json=False)
    for each in reproduced:
        print(f"{each.name}: {each.picture}")
    if len(reproduced) > 1:
        print(f"everything on one page: {out / 'report.html'}")
