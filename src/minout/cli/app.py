"""The `minout` command."""

import sys
from importlib import import_module
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import minout
from minout.cli.output import print_error, print_note
from minout.cli.stop import ENDING, handling, raise_interrupts
from minout.errors import MinoutError

# The commands of each panel of the help: their modules, and the first lines of their help.
PANELS = {
    "Models of your own files": {
        "learn": ("learn", "Teach a model the rows of a file; create it if there is none."),
        "predict": ("ask", "Predict a label for each row of a file, or of several."),
        "score": ("ask", "Measure the accuracy on the rows of a file."),
        "what-if": ("ask", "Show what teaching each row alone would disturb."),
        "explain": ("explain", "Explain a prediction."),
    },
    "Stored examples": {
        "list": ("examples", "List the stored examples, or those that need a look."),
        "correct": ("examples", "Change the label of stored examples."),
        "forget": ("examples", "Remove stored examples."),
    },
    "Upkeep of a model": {
        "info": ("inspection", "Show what a model holds, and how good it is."),
        "audit": ("inspection", "Check a model and its file; repair what is damaged."),
        "consolidate": ("upkeep", "Compute a model again from its stored examples."),
        "copy": ("upkeep", "Copy a model, also while another process teaches it."),
    },
    "Demo, experiments and setup": {
        "demo": ("demo", "Show what minout does: digits in label order, beside SGD."),
        "reproduce": (
            "reproduce",
            "Run the experiments of the paper and show its claims beside what was measured.",
        ),
    },
}
COMMANDS = {name: each for panel in PANELS.values() for name, each in panel.items()}


class Group(TyperGroup):
    """Commands whose modules are imported when they are used, so that `minout --help` is fast."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name, with its own arguments and options."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load_command(str(name)), rest


class RunningCommand(TyperCommand):
    """A command that can be interrupted while it runs."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Ctrl-C ends it with one line and exit code 130."""
        try:
            raise_interrupts()
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print_note("Stopped.")
            raise typer.Exit(130) from None


def load_command(name: str) -> TyperCommand:
    """Import the module of a command and make the command."""
    module = import_module(f"minout.cli.{COMMANDS[name][0]}")
    alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    function = "list_" if name == "list" else name.replace("-", "_")
    alone.command(name, cls=RunningCommand)(getattr(module, function))
    command = typer.main.get_command(alone)
    assert isinstance(command, TyperCommand)
    return command


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
for panel, commands in PANELS.items():
    for name, (_, text) in commands.items():  # for the list in the help; see `Group`
        app.command(name, help=text, rich_help_panel=panel)(lambda: None)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Teach a classifier one example at a time, and see what each example disturbs.

    Exit codes: 0 for success; 1 for an error, with a message on standard error, or an audit with
    differences; 2 for a command line that cannot be parsed; 130 after Ctrl-C, 143 after SIGTERM and
    129 after SIGHUP (examples that were taught completely are kept). Colours and progress bars are
    shown on a terminal only.

    Example: minout learn wines.minout wine.csv --label kind, then
    minout predict wines.minout new.csv
    """
    if version:
        print(minout.__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; an expected error prints one sentence and exits with code 1."""
    with handling(ENDING, _terminate):
        try:
            app()
        except MinoutError as error:
            print_error(error)
            sys.exit(1)


def _terminate(number: int, _frame: FrameType | None) -> None:
    # An exception, so that temporary files are removed on the way out.
    raise SystemExit(128 + number)
