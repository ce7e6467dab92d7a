"""`minout consolidate` and `minout copy`: the upkeep of a model."""

import time
from pathlib import Path
from typing import Annotated

import typer

from minout import store
from minout.cli import options
from minout.cli.models import drop_old_labels, load_model, open_model, require_examples
from minout.cli.output import command, print_note, progress_bar, show
from minout.cli.stop import Stop


@command
def consolidate(
    model: options.Model,
    compact: Annotated[
        bool,
        typer.Option(
            "--compact", help="Also write the file anew, without any trace of forgotten examples."
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Compute a model again from its stored examples.

    The result does not depend on their order, nor on forgotten examples. `learn`, `correct` and
    `forget` do this at their end. If `learn` is stopped, its rows are kept without it; if `correct`
    or `forget` is stopped, nothing has changed. Ctrl-C leaves the stored examples as they were.

    Example: minout consolidate wines.minout
    """
    began, stop, is_gone = time.monotonic(), Stop(), True
    with open_model(model, on_wait=stop.on_wait(model)) as learner, stop:
        before = store.size_of(model)
        try:
            with stop.interruptible(), progress_bar("consolidating"):
                if compact:
                    drop_old_labels(learner)
                    is_gone = learner.compact()
                else:
                    require_examples(learner).consolidate()
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
