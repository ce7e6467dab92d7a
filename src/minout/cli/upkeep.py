"""`minout consolidate` and `minout copy`: the upkeep of a model."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from minout import store
from minout.cli import options
from minout.cli.models import drop_old_labels, load_model, open_model, require_examples
from minout.cli.output import command, print_note, progress_bar, show
from minout.cli.stop import Stop
from minout.core import Executor
from minout.errors import InvalidInputError


@command
def consolidate(
    model: options.Model,
    compact: Annotated[
        bool,
        typer.Option(
            "--compact", help="Also write the file anew, without any trace of forgotten examples."
        ),
    ] = False,
    workers: options.Workers = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Work on the Ray cluster at HOST:PORT, or with `auto` on that of this machine.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Compute a model again from its stored examples.

    The result does not depend on their order, nor on forgotten examples. `learn`, `correct` and
    `forget` do this at their end, so it is of use after a `learn` that was stopped, after changes
    from Python, and for --compact. Ctrl-C leaves the stored examples as they were.
    With --workers and --ray the result is the same to the last bit.

    Example: minout consolidate wines.minout
    """
    began, stop, is_gone = time.monotonic(), Stop(), True
    with open_model(model, on_wait=stop.on_wait(model)) as learner, stop:
        before = store.size_of(model)
        try:
            with stop.interruptible(), progress_bar("consolidating") as update:
                executor = executor_of(workers, ray, update)
                if compact:
                    drop_old_labels(learner)
                    is_gone = learner.compact(executor)
                else:
                    require_examples(learner).consolidate(executor)
        except KeyboardInterrupt:
            print_note("Stopped; the stored examples are as they were.")
            raise typer.Exit(stop.exit_code) from None
        facts = {
            "examples": len(learner),
            "misfits": learner.misfits,
            "chosen": learner.choice._asdict() if len(learner) else None,
        }
    sizes = {
        "seconds": time.monotonic() - began,
        "bytes_before": before,
        "bytes": store.size_of(model),
    }
    if not is_gone:
        print_note(
            "Another process is reading the model: traces of forgotten examples may stay in "
            f"{model}-wal until it ends. Run the command again then."
        )
    show({**facts, **sizes}, as_json=as_json)


def executor_of(
    workers: int | None, ray: str | None, on_progress: Callable[[float, str], None]
) -> Executor | None:
    """Return the executor that the options name; None for none."""
    if workers is None and ray is None:
        return None
    from minout import cluster

    if workers is None:
        return cluster.Ray(ray, on_progress=on_progress)
    if ray is not None:
        raise InvalidInputError("Pass --workers or --ray, not both.")
    return cluster.Local(workers, on_progress=on_progress)


@command
def copy(
    model: options.Model,
    to: Annotated[Path, typer.Argument(metavar="TARGET", help="A file that does not exist.")],
    as_json: options.Json = False,
) -> None:
    """Copy a model, also while another process teaches it.

    The copy is the model as it was at one moment, in one file.

    Example: minout copy wines.minout backup.minout
    """
    with progress_bar("copying") as update:
        store.copy(model, to, update)
    show({"to": str(to), "examples": len(load_model(to))}, as_json=as_json)
