"""Run figures: tasks in parallel; write rows and pictures; collect claims."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from minout import drawing, results
from minout.errors import InvalidInputError
from minout.paper.figures.task import Claim, Source, Task

FIGURES = ("fig1", "fig2", "fig3", "fig4", "fig5", "map", "fig6", "fig7", "fig8", "fig9", "fig10")


class Reproduced(NamedTuple):
    """The result of one figure: `about` is its first line, `seconds` the time it took."""

    name: str
    about: str
    rows: list[results.Row]
    claims: list[Claim]
    pictures: list[Path]
    seconds: float


class Plan(NamedTuple):
    """A figure with its tasks."""

    name: str
    tasks: list[Task]


def plans(names: Sequence[str], seeds: int, *, cheap: bool = False) -> list[Plan]:
    """Return what has to be run; `cheap` takes the settings that tests use."""
    if seeds < 1:
        raise InvalidInputError(f"`seeds` must be at least 1, not {seeds}.")
    if unknown := [name for name in names if name not in FIGURES]:
        raise InvalidInputError(
            f"There is no figure {unknown[0]!r}; there are {', '.join(FIGURES)} and all."
        )
    which = "TESTING" if cheap else "PAPER"
    return [Plan(name, _plan(name, which, seeds)) for name in FIGURES if name in names]


def reproduce(
    plan: Plan, source: Source, out: Path, tick: Callable[[], None] = lambda: None
) -> Reproduced:
    """Run a plan on all cores; write `name`.jsonl, `name`.png and `name`.svg into `out`."""
    results.writable(out)
    drawing.new_figure(1, 1)  # says at once if pictures cannot be drawn here
    start = time.perf_counter()
    rows = list(_perform(plan, source, tick))
    results.write(rows, out / f"{plan.name}.jsonl")
    figure = _part(plan.name, "figure")
    pictures = drawing.save(figure.draw(rows), out, plan.name)
    about = (import_module(f"minout.paper.figures.{plan.name}").__doc__ or "").strip()
    seconds = time.perf_counter() - start
    return Reproduced(plan.name, about, rows, figure.claims(rows), pictures, seconds)


def _plan(name: str, which: str, seeds: int) -> list[Task]:
    run = _part(name, "run")
    tasks: list[Task] = run.plan(getattr(run, which), seeds)
    return tasks


def _part(name: str, part: str) -> ModuleType:
    return import_module(f"minout.paper.figures.{name}.{part}")


def _perform(plan: Plan, source: Source, tick: Callable[[], None]) -> Iterator[results.Row]:
    """Yield the rows in the order of the tasks, in whatever order they finish."""
    if len(plan.tasks) == 1:
        yield _perform_one(plan.name, plan.tasks[0], source)
        tick()
        return
    with _pool(len(plan.tasks)) as pool:
        futures: list[Future[results.Row]] = [
            pool.submit(_perform_one, plan.name, task, source) for task in plan.tasks
        ]
        for future in as_completed(futures):
            future.result()  # an error stops everything at once
            tick()
        for future in futures:
            yield future.result()


def _perform_one(name: str, task: Task, source: Source) -> results.Row:
    row: results.Row = _part(name, "run").perform(task, source)
    return row


@contextmanager
def _pool(tasks: int) -> Iterator[ProcessPoolExecutor]:
    # Fresh processes, one BLAS thread each: the tasks themselves fill the cores.
    pool = ProcessPoolExecutor(
        min(tasks, os.cpu_count() or 1), get_context("spawn"), initializer=_one_thread
    )
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _one_thread() -> Any:
    threadpool_limits(1)
