"""The `minout` command."""

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Annotated

import typer

import minout
from minout.cli import (
    demo,
    edit,
    explain,
    inspect_model,
    learn,
    predict,
    reproduce,
    score,
    transfer,
    what_if,
)
from minout.cli.output import print_error
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
    "correct": edit.correct,
    "forget": edit.forget,
    "consolidate": edit.consolidate,
    "suspects": inspect_model.suspects,
    "audit": inspect_model.audit,
    "info": inspect_model.info,
    "export": transfer.export,
    "import": transfer.import_,
}
for name, run in OWN_FILES.items():
    app.command(name, rich_help_panel="Models of your own files")(run)
SHOWCASES = "Demo and experiments"
app.command("demo", rich_help_panel=SHOWCASES)(demo.demo)
app.command("reproduce", rich_help_panel=SHOWCASES)(reproduce.reproduce)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Teach a classifier one example at a time, and see what each example disturbs.

    Exit codes: 0 for success; 1 for an error, with a message on standard error, or an audit with
    differences; 2 for a command line that cannot be parsed; 130 after Ctrl-C and 143 after SIGTERM
    (examples that were taught completely are kept). Colours and progress bars are shown on a
    terminal only.

    Example: minout learn wines wine.csv --label kind, then minout predict wines new.csv
    """
    if version:
        print(minout.__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; an expected error prints one sentence and exits with code 1."""
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except MinoutError as error:
        print_error(error)
        sys.exit(1)
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, _frame: FrameType | None) -> None:
    # An exception, so that temporary files are removed on the way out.
    raise SystemExit(128 + number)
