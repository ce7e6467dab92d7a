"""`minout export` and `minout import`: a model as one file."""

from pathlib import Path
from typing import Annotated

import typer

from minout.cli import options
from minout.cli.output import command, plural, print_json, print_text
from minout.cli.queries import load_file, load_model
from minout.errors import UnwritableError
from minout.learner import Learner

Out = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file to write, such as wines.minout.")
]
In = Annotated[Path, typer.Argument(metavar="FILE", help="A file written by export or save.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]

# fmt: off
OTHER_FORMATS = frozenset({
    ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".feather", ".arrow", ".npy",
    ".pkl", ".pickle", ".joblib", ".skops", ".h5", ".hdf5", ".onnx", ".pt", ".safetensors", ".xls",
    ".xlsx", ".ods", ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".svg", ".pdf", ".webp", ".tif",
    ".tiff", ".html", ".md", ".py", ".toml", ".yaml", ".yml", ".xml", ".log", ".zip", ".gz", ".tar",
})
# fmt: on
"""File name endings of other formats."""


@command
def export(
    model: options.Model, file: Out, force: Force = False, as_json: options.Json = False
) -> None:
    """Write a model to one file, which `minout import` and `Learner.load` read.

    The file ends in .minout, .npz or nothing; its folder must exist.

    Example: minout export wines wines.minout
    """
    if file.suffix.lower() in OTHER_FORMATS:
        raise UnwritableError(
            f"{file} has the ending of another format; a model is a binary file, "
            f"so name it {file.with_suffix('.minout')}."
        )
    learner = load_model(model)
    if file.exists() and not (force and file.is_file()):
        raise UnwritableError(f"There is already a {file}; name another file, or add --force.")
    learner.save(file)
    _report(learner, file, as_json)


@command
def import_(file: In, model: options.Model, as_json: options.Json = False) -> None:
    """Make a model folder from a file that was exported, or saved by `Learner.save`.

    Example: minout import wines.minout wines
    """
    learner = load_file(file)
    learner.store_in(model)
    learner.close()
    _report(learner, model, as_json)


def _report(learner: Learner, to: Path, as_json: bool) -> None:
    examples, classes = len(learner), len(learner.classes)
    if as_json:
        print_json({"to": str(to), "examples": examples, "classes": classes})
        return
    verb = "is" if examples == 1 else "are"
    held = f"{plural(examples, 'example')} of {plural(classes, 'class')}"
    print_text(f"{held} {verb} now in {to}.")
