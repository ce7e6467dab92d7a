"""Write docs/reference.md: the public names with their signatures and first lines.

`make reference` runs this. A test compares the file with what `reference` returns. Annotations are
left out of signatures, because Python versions print them differently; docstrings have the types.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import minout
import minout.engine
import minout.paper
from minout.cli.app import COMMANDS, load_command

FILE = Path(__file__).with_name("reference.md")
START = """\
# Reference

Made from the docstrings by `make reference`; do not edit. `help(minout.Learner)` in Python and
`minout COMMAND --help` in a shell show all of a docstring.
"""
PAPER = """\
The paper's system: minout units, gradient training, rehearsal. [figures.md](figures.md) uses it.
"""
RESULTS = """\
What the methods of `Learner` and `MinoutClassifier` return, besides what is in `minout`.
"""
RETURNED = (
    "Refresh",
    "Consolidation",
    "Choice",
    "WhatIf",
    "Sets",
    "Explanation",
    "Support",
    "Suspect",
)
FIRST = ("MinoutClassifier", "Learner")


class Line(NamedTuple):
    """A line of a table: a name as it is called, and what it does."""

    name: str
    does: str


def reference() -> str:
    """Return the text of docs/reference.md."""
    others = [each for each in minout.__all__ if each not in (*FIRST, "__version__")]
    parts = [
        START,
        *_module(minout, [*FIRST, *others]),
        "## Results\n",
        RESULTS,
        *_entries(minout.engine, RETURNED),
        *_module(minout.paper, minout.paper.__all__, PAPER),
        "## Command line\n",
        *_commands(),
    ]
    return "\n".join(parts)


def _module(module: ModuleType, names: list[str], words: str = "") -> Iterator[str]:
    yield f"## `{module.__name__}`\n"
    if words:
        yield words
    yield from _entries(module, names)


def _entries(module: ModuleType, names: Any) -> Iterator[str]:
    for name in names:
        thing = getattr(module, name)
        yield f"### `{name}`\n"
        if _is_called(thing):
            yield f"`{name}{_arguments(thing)}`\n"
        yield f"{_first_line(thing)}\n"
        if isinstance(thing, type):
            yield from _table([*_attributes(thing), *_members(thing)])


def _is_called(thing: Any) -> bool:
    """Return whether a signature says anything: not of exceptions and protocols."""
    return not (isinstance(thing, type) and issubclass(thing, Exception)) and not getattr(
        thing, "_is_protocol", False
    )


def _attributes(cls: type) -> Iterator[Line]:
    """Yield what the section "Attributes" of a numpydoc docstring says."""
    section = (inspect.getdoc(cls) or "").partition("Attributes\n----------\n")[2]
    for block in re.split(r"\n(?=\S)", section):
        name, found, rest = block.partition(" : ")
        if not found:
            return
        yield Line(name, " ".join(line.strip() for line in rest.splitlines()[1:]).strip())


def _members(cls: type) -> Iterator[Line]:
    """Yield the public methods and properties that are defined in minout, the class's own first."""
    fields = set(getattr(cls, "_fields", ()))
    seen: set[str] = set()
    for owner in cls.__mro__:
        if not owner.__module__.startswith("minout"):
            continue
        for name, member in vars(owner).items():
            if name.startswith("_") or name in seen | fields:
                continue
            seen.add(name)
            bound = getattr(cls, name, member)
            if isinstance(member, property):
                yield Line(name, _first_line(member))
            elif isinstance(member, classmethod | staticmethod):
                yield Line(f"{cls.__name__}.{name}{_arguments(bound)}", _first_line(bound))
            elif inspect.isfunction(member):
                yield Line(f"{name}{_arguments(member)}", _first_line(member))


def _commands() -> Iterator[str]:
    for name in COMMANDS:
        command: Any = load_command(name)
        arguments = [_argument(each) for each in command.params if _is_argument(each)]
        options = [_option(each) for each in command.params if not _is_argument(each)]
        yield f"### `{' '.join(['minout', name, *arguments])}`\n"
        yield f"{_first_line(command.callback)}\n"
        yield from _table([each for each in options if each.does])


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _argument(parameter: Any) -> str:
    word = str(parameter.metavar or parameter.name.upper())
    return word if parameter.required or word.startswith("[") else f"[{word}]"


def _option(parameter: Any) -> Line:
    words = "/".join([*parameter.opts, *parameter.secondary_opts])
    metavar = f" {parameter.metavar}" if parameter.metavar else ""
    return Line(words + metavar, parameter.help or "")


def _table(lines: list[Line]) -> Iterator[str]:
    if not lines:
        return
    rows = [f"| `{_cell(line.name)}` | {_cell(line.does)} |" for line in lines]
    yield "\n".join(["| | |", "|---|---|", *rows, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _arguments(thing: Callable[..., Any]) -> str:
    """Return the arguments with their defaults, without types and without `self`."""
    parameters = [
        each.replace(annotation=inspect.Parameter.empty)
        for name, each in inspect.signature(thing).parameters.items()
        if name != "self"
    ]
    return str(inspect.Signature(parameters))


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


if __name__ == "__main__":
    FILE.write_text(reference(), encoding="utf-8")
