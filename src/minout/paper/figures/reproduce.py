"""Run figures: tasks in parallel; write rows, pictures and one page; collect claims."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from html import escape
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from minout.errors import InvalidInputError
from minout.paper import results
from minout.paper.figures import counting, drawing, line, map, mnist, modes, regions, sgd, toy
from minout.paper.figures.measured import Claim, Rows, Settings, Task, plan
from minout.store import atomic_write


class Figure(NamedTuple):
    """A figure: what it shows, its settings (and those of tests), and its functions.

    `variant` is the name of what the variants of the settings are.
    """

    about: str
    paper: Sequence[Settings]
    quick: Sequence[Settings]
    variant: str
    perform: Callable[[Task], dict[str, Any]]
    draw: Callable[[Rows], Any]
    claims: Callable[[Rows], list[Claim]]


def _mnist(about: str, settings: mnist.Settings, draw: Any, claims: Any) -> Figure:
    small = mnist.quick(settings)
    return Figure(about, (settings,), (small,), "policy", mnist.perform, draw, claims)


def _module(about: str, part: Any, variant: str) -> Figure:
    return Figure(about, part.PAPER, part.QUICK, variant, part.perform, part.draw, part.claims)


FIGURES = {
    "fig1": Figure(
        "Maxout: an update reaches points that another line won (Fig. 1).",
        (toy.Fig1(),), (toy.Fig1(),), "", toy.perform1, toy.draw1, toy.claims1,
    ),
    "fig2": Figure(
        "Clipped maxout: the sets S1, S2 and S3 (Fig. 2).",
        (toy.Fig2(),), (toy.Fig2(points=60),), "", toy.perform2, toy.draw2, toy.claims2,
    ),
    "fig3": _mnist("Examples rehearsed (Fig. 3).", mnist.FIG3, mnist.draw3, mnist.claims3),
    "fig4": _mnist("100 per class (Fig. 4).", mnist.FIG4, mnist.draw_policies, mnist.claims4),
    "fig5": _mnist("10 per class (Fig. 5).", mnist.FIG5, mnist.draw_policies, mnist.claims5),
    "map": _module("For which settings does conditional rehearsal beat random?", map, "policy"),
    "fig6": _module("Plain SGD fails on MNIST-ol (the appendix's figure).", sgd, "stream"),
    "fig7": _module("How many examples must be rehearsed?", counting, "policy"),
    "fig8": _module("How much is shared, from T[x] to one θ.", line, "how"),
    "fig9": _module("More modes than rehearsed examples.", modes, "policy"),
    "fig10": _module("What a step concerns, with more units than labels.", regions, "data"),
}  # fmt: skip


class Reproduced(NamedTuple):
    """The result of one figure."""

    name: str
    rows: list[results.Row]
    claims: list[Claim]
    picture: Path


def reproduce(
    name: str, seeds: int, out: Path, *, quick: bool = False,
    tick: Callable[[int, int], object] = max,
) -> Reproduced:  # fmt: skip
    """Run a figure on all cores; write `name`.jsonl, `name`.png and `name`.svg into `out`.

    `tick` is called with the number of runs that are done, and of all.
    """
    if name not in FIGURES:
        raise InvalidInputError(f"There is no figure {name!r}; there are {', '.join(FIGURES)}.")
    if seeds < 1:
        raise InvalidInputError(f"`seeds` must be at least 1, not {seeds}.")
    results.writable(out)
    drawing.new_figure(1, 1)  # says at once if pictures cannot be drawn here
    figure = FIGURES[name]
    rows = _run(name, plan(figure.quick if quick else figure.paper, seeds), tick)
    results.write(rows, out / f"{name}.jsonl")
    picture = drawing.save(figure.draw(rows), out, name)[0]
    return Reproduced(name, rows, figure.claims(rows), picture)


def run_task(name: str, task: Task) -> results.Row:
    """Do one run of a figure."""
    figure = FIGURES[name]
    return results.row(name, task.told(figure.variant), task.seed, figure.perform(task))


def _run(name: str, tasks: list[Task], tick: Callable[[int, int], object]) -> list[results.Row]:
    """Return the rows in the order of the tasks, in whatever order they finish."""
    tick(0, len(tasks))
    if len(tasks) == 1:
        rows = [run_task(name, tasks[0])]
        tick(1, 1)
        return rows
    # Fresh processes, one BLAS thread each: the tasks themselves fill the cores.
    cores = min(len(tasks), os.cpu_count() or 1)
    pool = ProcessPoolExecutor(cores, get_context("spawn"), threadpool_limits, (1,))
    try:
        futures = [pool.submit(run_task, name, task) for task in tasks]
        for done, future in enumerate(as_completed(futures), 1):
            future.result()  # an error stops everything at once
            tick(done, len(tasks))
        return [future.result() for future in futures]
    finally:
        pool.shutdown(cancel_futures=True)


def write_report(reproduced: Sequence[Reproduced], path: Path) -> None:
    """Write one page with the table of claims first, and the pictures, which lie beside it."""
    verdicts = {True: "holds", False: "does not hold", None: "see text"}
    lines = [
        "<!doctype html><meta charset=utf-8><title>The paper, reproduced</title>",
        "<h1>Conditional Computation for Continual Learning, reproduced</h1>",
        "<table><tr><th><th>the paper says<th>we measured<th>",
    ]
    for each in reproduced:
        for claim in each.claims:
            cells = (each.name, claim.paper, claim.measured, verdicts[claim.holds])
            lines.append("<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells))
    lines.append("</table>")
    for each in reproduced:
        about = f"{each.name}: {FIGURES[each.name].about} {len(each.rows)} runs."
        lines.append(f"<h2>{escape(about)}</h2><img width=900 src={each.picture.name}>")
    atomic_write(path, "\n".join(lines).encode(), "The report")
