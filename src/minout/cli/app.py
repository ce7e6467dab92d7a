"""The `minout` command."""

import sys
from importlib import import_module
from types import FrameType
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

import minout
from minout.cli.output import print_error, print_note
from minout.cli.stop import ENDING, raise_interrupts, replace_handlers, restore_handlers
from minout.errors import MinoutError


class Command(NamedTuple):
    """Where a command is, and the first line of its help."""

    module: str
    function: str
    help: str


OWN_FILES = {
    "learn": Command(
        "learn",
        "learn",
        "Teach a model the rows of a file, one by one; create the model if there is none.",
    ),
    "predict": Command(
        "predict",
        "predict",
        "Predict a label for each row of a file, with its probability and the score of each class.",
    ),
    "score": Command(
        "score", "score", "Measure the accuracy on the rows of a file, overall and per class."
    ),
    "what_if": Command(
        "what_if", "what_if", "Show what teaching each row alone would disturb; teach nothing."
    ),
    "explain": Command(
        "explain",
        "explain",
        "Explain a prediction: the separator that decides, the margin, and the support vectors.",
    ),
    "correct": Command("edit", "correct", "Change the label of a stored example, or of many."),
    "update": Command(
        "edit",
        "update",
        "Give a stored example other features; it keeps its label, weight and time.",
    ),
    "forget": Command(
        "edit",
        "forget",
        "Remove stored examples; the consolidated model equals one that was never taught them.",
    ),
    "consolidate": Command(
        "edit", "consolidate", "Compute a model again from its set of stored examples."
    ),
    "suspects": Command(
        "inspect_model",
        "suspects",
        "List the stored examples that are most likely to have a wrong label.",
    ),
    "labels": Command(
        "labels", "labels", "Write the labels of all stored examples, to check and edit."
    ),
    "list": Command(
        "labels",
        "list_",
        "List the stored examples: id, label, weight, time, and whether they are misfits or "
        "pending.",
    ),
    "audit": Command(
        "inspect_model",
        "audit",
        "Check every record of a model, and all margins of all stored examples with plain NumPy.",
    ),
    "info": Command(
        "inspect_model",
        "info",
        "Show the contents of a model: examples, classes, misfits, accuracy, columns and settings.",
    ),
    "export": Command(
        "transfer",
        "export",
        "Write a model to one file, which `minout import` and `Learner.load` read.",
    ),
    "import": Command(
        "transfer",
        "import_",
        "Make a model folder from a file that was exported, or saved by `Learner.save`.",
    ),
}
UPKEEP = {
    "repair": Command(
        "upkeep", "repair", "Rebuild a damaged model from the examples that are intact."
    ),
    "compact": Command(
        "upkeep",
        "compact",
        "Consolidate a model, and leave no trace of forgotten examples in any of its files.",
    ),
    "backup": Command(
        "upkeep",
        "backup",
        "Copy a model to a new folder, also while another process teaches it.",
    ),
    "log": Command(
        "upkeep", "log", "Show which change moved which separators, when, and by which example."
    ),
}
SETUP = {
    "warmup": Command(
        "warmup",
        "warmup",
        "Compile everything that learning, predicting and the paper's learner use.",
    ),
}
SHOWCASES = {
    "demo": Command(
        "demo",
        "demo",
        "Show in a minute what minout does: digits in label order, compared with SGD.",
    ),
    "reproduce": Command(
        "reproduce",
        "reproduce",
        "Run the experiments of the paper and show its claims beside what was measured.",
    ),
}
COMMANDS = {**OWN_FILES, **UPKEEP, **SHOWCASES, **SETUP}


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
    module = import_module(f"minout.cli.{COMMANDS[name].module}")
    alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    alone.command(name, cls=RunningCommand)(getattr(module, COMMANDS[name].function))
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
PANELS = {
    "Models of your own files": OWN_FILES,
    "Upkeep of a model": UPKEEP,
    "Demo and experiments": SHOWCASES,
    "Setup": SETUP,
}
for panel, commands in PANELS.items():
    for name, each in commands.items():  # for the list in the help; see `Group`
        app.command(name, help=each.help, rich_help_panel=panel)(lambda: None)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Teach a classifier one example at a time, and see what each example disturbs.

    Exit codes: 0 for success; 1 for an error, with a message on standard error, or an audit with
    differences; 2 for a command line that cannot be parsed; 130 after Ctrl-C, 143 after SIGTERM and
    129 after SIGHUP (examples that were taught completely are kept). Colours and progress bars are
    shown on a terminal only.

    Example: minout learn wines wine.csv --label kind, then minout predict wines new.csv
    """
    if version:
        print(minout.__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; an expected error prints one sentence and exits with code 1."""
    before = replace_handlers(ENDING, _terminate)
    try:
        app()
    except MinoutError as error:
        print_error(error)
        sys.exit(1)
    finally:
        restore_handlers(before)


def _terminate(number: int, _frame: FrameType | None) -> None:
    # An exception, so that temporary files are removed on the way out.
    raise SystemExit(128 + number)
