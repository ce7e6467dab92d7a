"""`minout consolidate`, `minout copy` and `minout warmup`: the upkeep of a model."""

import time
from pathlib import Path
from typing import Annotated

import typer

from minout.cli import options
from minout.cli.drift_note import drop_old_labels
from minout.cli.models import load_model, open_model, require_examples
from minout.cli.output import command, plural, print_json, print_note, print_text, progress_bar
from minout.cli.stop import Stop
from minout.errors import InvalidInputError, UnwritableError
from minout.features import UnknownMap
from minout.learner import Learner
from minout.store import size_of_model
from minout.upkeep import backup


@command
def consolidate(
    model: options.Model,
    compact: Annotated[
        bool,
        typer.Option(
            "--compact",
            help="Also write the file anew, without any trace of forgotten examples.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Compute a model again from its stored examples.

    The result does not depend on their order, nor on forgotten examples. `learn`, `correct` and
    `forget` do this at their end, unless they are stopped. Ctrl-C leaves the model as it was.

    Example: minout consolidate wines
    """
    began, before = time.monotonic(), size_of_model(model)
    stop = Stop()
    with open_model(model, on_wait=stop.on_wait(model)) as learner, stop:
        try:
            with stop.interruptible(), progress_bar("consolidating"):
                if compact:
                    drop_old_labels(learner)
                    learner.compact()
                else:
                    require_examples(learner).consolidate()
        except KeyboardInterrupt:
            print_note("Stopped; the model is as it was.")
            raise typer.Exit(stop.exit_code) from None
        facts = {
            "examples": len(learner),
            "misfits": learner.misfits,
            "chosen": learner.choice._asdict() if len(learner) else None,
        }
    sizes = {
        "seconds": time.monotonic() - began,
        "bytes_before": before,
        "bytes": size_of_model(model),
    }
    if as_json:
        print_json({**facts, **sizes})
        return
    print_text(
        f"{model} holds {plural(len(learner), 'example')}, consolidated; misfits: "
        f"{len(learner.misfits):,}; {sizes['bytes']:,} bytes ({before:,} before)."
    )


@command
def copy(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL|FILE", help="A model, or a file made of one.")
    ],
    to: Annotated[
        Path,
        typer.Argument(metavar="TARGET", help="A new folder, or a new file such as wines.minout."),
    ],
    as_json: options.Json = False,
) -> None:
    """Copy a model to a folder or to one file, and back.

    A target that ends in .minout is one file, which `Learner.load` reads too. A copy of a folder is
    the model as it was at one moment, also while another process teaches it; it is checked before
    it gets its name.

    Example: minout copy wines wines-backup, or minout copy wines wines.minout
    """
    if to.exists() and not (to.is_dir() and not any(to.iterdir())):
        raise UnwritableError(f"There is already a {to}; name another file or folder.")
    is_file = to.suffix == ".minout"
    if model.is_dir() and not is_file:
        with progress_bar("copying") as update:
            examples = backup(model, to, progress=lambda share: update(share, f"{share:.0%}"))
    elif model.is_dir():
        learner = load_model(model)
        learner.save(to)
        examples = len(learner)
    elif is_file:
        raise InvalidInputError(f"{model} is a file, and so is {to}; copy files with cp.")
    else:
        learner = Learner.load(model, UnknownMap())
        learner.store_in(to)
        learner.close()
        examples = len(learner)
    if as_json:
        print_json({"to": str(to), "examples": examples})
    else:
        print_text(f"{to} is a copy of {model}, with {plural(examples, 'example')}.")


@command
def warmup(as_json: options.Json = False) -> None:
    """Compile everything now, such as for a container image.

    Compiled code is kept on disk for this kind of processor; NUMBA_CACHE_DIR sets the folder.

    Example: minout warmup
    """
    from minout.kernels.warmup import cache_folder, warm_up

    folder = cache_folder()
    if folder is None:
        raise UnwritableError(
            "No folder for compiled code can be written; set NUMBA_CACHE_DIR to one that can."
        )
    began = time.monotonic()
    with progress_bar("compiling") as update:
        found = warm_up(lambda done, total: update(done / total, f"{done} of {total}"))
    seconds = time.monotonic() - began
    if as_json:
        print_json({**found._asdict(), "seconds": seconds, "folder": str(folder)})
    else:
        when = f"are compiled ({seconds:.0f} s)" if found.compiled else "were compiled before"
        print_text(f"{found.ready} kernels {when}: {folder}")
