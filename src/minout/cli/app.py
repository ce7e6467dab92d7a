"""The `minout` command."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import minout
from minout.cli import (
    carry,
    change,
    demo,
    explain,
    learn,
    look,
    predict,
    reproduce,
    score,
    what_if,
)
from minout.errors import MinoutError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
OWN_FILES: dict[str, Callable[..., None]] = {
    "learn": learn.learn,
    "predict": predict.predict,
    "score": score.score,
    "what_if": what_if.what_if,
    "explain": explain.explain,
    "correct": change.correct,
    "forget": change.forget,
    "consolidate": change.consolidate,
    "suspects": look.suspects,
    "audit": look.audit,
    "info": look.info,
    "export": carry.export,
    "import": carry.import_,
}
for name, run in OWN_FILES.items():
    app.command(name, rich_help_panel="A model of your own files")(run)
OURS = "What minout shows of itself"
app.command("demo", rich_help_panel=OURS)(demo.demo)
app.command("reproduce", rich_help_panel=OURS)(reproduce.reproduce)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Learn from a stream, one example at a time, and know what each example disturbs.

    Exit codes: 0 if all went well; 1 if a sentence on standard error says what is wrong, or an
    audit found something; 2 if the command was not understood; 130 after Ctrl-C (a model keeps
    every whole example that it was taught). Without a terminal there are no colours and no bars.

    Example: minout learn wines wine.csv --label kind, then minout predict wines new.csv
    """
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
