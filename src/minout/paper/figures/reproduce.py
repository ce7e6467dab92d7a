"""Run figures: runs in parallel; write rows, pictures and one page; collect claims."""

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from html import escape
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from minout.errors import InvalidInputError, UnwritableError, system_reason
from minout.paper.figures import drawing, line, mnist, regions, rehearsed, toy
from minout.paper.figures.rows import Claim, Experiment, Row, Settings

FIGURES = {
    "fig1": Experiment([toy.LINES], toy.run1, toy.draw1, toy.claims1, seeds=1),
    "fig2": Experiment([toy.CLOUD], toy.run2, toy.draw2, toy.claims2, seeds=1),
    "fig3": Experiment(mnist.REHEARSED, mnist.run, mnist.draw3, mnist.claims3),
    "fig4": Experiment(mnist.HUNDRED, mnist.run, mnist.draw_policies, mnist.claims4),
    "fig5": Experiment(mnist.TEN, mnist.run, mnist.draw_policies, mnist.claims5),
    "map": Experiment(mnist.TRIED, mnist.run_map, mnist.draw_map, mnist.claims_map, seeds=2),
    "fig6": Experiment(line.PASSES, line.run6, line.draw6, line.claims6),
    "fig7": Experiment(rehearsed.SIZES, rehearsed.run7, rehearsed.draw7, rehearsed.claims7),
    "fig8": Experiment(line.POINTS, line.run8, line.draw8, line.claims8),
    "fig9": Experiment(rehearsed.MODES, rehearsed.run9, rehearsed.draw9, rehearsed.claims9, 3),
    "fig10": Experiment(regions.REGIONS, regions.run, regions.draw, regions.claims, seeds=3),
}
VERDICTS = {True: "holds", False: "does not hold", None: "see text"}


class Reproduced(NamedTuple):
    """The result of one figure."""

    name: str
    rows: list[Row]
    claims: list[Claim]
    picture: Path


def reproduce(
    names: Sequence[str], seeds: int, out: Path, tick: Callable[[str, int, int], object]
) -> list[Reproduced]:
    """Run figures; write rows, pictures and, of several, report.html; `tick` counts the runs."""
    if unknown := [name for name in names if name not in FIGURES]:
        known = f"{', '.join(FIGURES)} and all"
        raise InvalidInputError(f"There is no figure {unknown[0]!r}; there are {known}.")
    if seeds < 1:
        raise InvalidInputError(f"`seeds` must be at least 1, not {seeds}.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise UnwritableError(
            f"Nothing can be written to {out}: {system_reason(error)}. Choose another --out."
        ) from error
    drawing.new_figure(1, 1)  # says at once if pictures cannot be drawn here
    done = [_reproduce_one(name, seeds, out, tick) for name in names]
    if len(done) > 1:
        (out / "report.html").write_text(_report(done), encoding="utf-8")
    return done


def run_one(name: str, settings: Settings, seed: int) -> Row:
    """Do one run."""
    return Row(settings, seed, FIGURES[name].run(settings, seed))


def _reproduce_one(
    name: str, seeds: int, out: Path, tick: Callable[[str, int, int], object]
) -> Reproduced:
    figure = FIGURES[name]
    runs = [(each, seed) for each in figure.settings for seed in range(min(seeds, figure.seeds))]
    tick(name, 0, len(runs))
    rows: list[Row] = []
    # Fresh processes, one BLAS thread each: the runs themselves fill the cores.
    cores = min(len(runs), os.cpu_count() or 1)
    with ProcessPoolExecutor(cores, get_context("spawn"), threadpool_limits, (1,)) as pool:
        for row in pool.map(run_one, [name] * len(runs), *zip(*runs, strict=True)):
            rows.append(row)
            tick(name, len(rows), len(runs))
    lines = [json.dumps(row._asdict(), allow_nan=False) + "\n" for row in rows]
    (out / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return Reproduced(name, rows, figure.claims(rows), drawing.save(figure.draw(rows), out, name))


def _report(reproduced: Sequence[Reproduced]) -> str:
    """Return a page with the table of claims first, then the pictures, which lie beside it."""
    lines = [
        "<!doctype html><meta charset=utf-8><title>The paper, reproduced</title>",
        "<h1>Conditional Computation for Continual Learning, reproduced</h1>",
        "<table><tr><th><th>the paper says<th>we measured<th>",
    ]
    for each in reproduced:
        for claim in each.claims:
            cells = (each.name, claim.paper, claim.measured, VERDICTS[claim.holds])
            lines.append("<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells))
    lines.append("</table>")
    for each in reproduced:
        runs = f"{each.name}, {len(each.rows)} runs"
        lines.append(f"<h2>{runs}</h2><img width=900 src={each.picture.name}>")
    return "\n".join(lines)
