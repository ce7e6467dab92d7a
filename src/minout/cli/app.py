"""The `minout` command."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import minout
from minout.cli import bench, reproduce
from minout.errors import MinoutError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(bench.app, name="bench")


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Learn from a stream, one example at a time, and know what each example disturbs."""
    if version:
        print(minout.__version__)
        raise typer.Exit


def main() -> None:
    """Runs the command line; what goes wrong on purpose is one sentence and exit code 1."""
    try:
        app()
    except MinoutError as error:
        words = Text.assemble(("error:", "red"), f" {error}")
        Console(stderr=True, highlight=False).print(words, soft_wrap=True)
        sys.exit(1)
