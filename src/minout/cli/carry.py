"""`minout export` and `minout import`: a model as one file."""

from pathlib import Path
from typing import Annotated

import typer

from minout.cli import options
from minout.cli.asking import load, loaded
from minout.cli.say import command, say_json
from minout.errors import UnwritableError
from minout.learner import Learner
from minout.store import ModelFolder

Out = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")]
In = Annotated[Path, typer.Argument(metavar="FILE", help="A file that was exported.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]


@command
def export(
    model: options.Model, file: Out, force: Force = False, as_json: options.Json = False
) -> None:
    """Writes a model to one file, which `minout import` and Learner.load read.

    Example: minout export wines wines.minout
    """
    learner = loaded(model)
    if file.exists() and not (force and file.is_file()):
        raise UnwritableError(f"There is already a {file}; name another file, or add --force.")
    learner.save(file)
    _say(learner, file, as_json)


@command
def import_(file: In, model: options.Model, as_json: options.Json = False) -> None:
    """Makes a model of a file that was exported, or saved by Learner.save.

    Example: minout import wines.minout wines
    """
    learner = load(file)
    with ModelFolder(model, create=True) as folder:
        if not folder.is_new:
            raise UnwritableError(f"There is already a model in {model}; name another folder.")
        learner.save(folder.file)
    _say(learner, model, as_json)


def _say(learner: Learner, to: Path, as_json: bool) -> None:
    if as_json:
        say_json({"to": str(to), "examples": len(learner), "classes": len(learner.classes)})
    else:
        print(f"{len(learner):,} examples of {len(learner.classes):,} classes are now in {to}.")
