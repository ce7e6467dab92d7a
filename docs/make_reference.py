"""Write docs/reference.md: the public names with their signatures and first lines.

`make reference` runs this. A test compares the file with what `reference` returns. Annotations are
left out of signatures, because Python versions print them differently; docstrings have the types.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import minout
import minout.cluster
import minout.paper
from minout.cli.app import COMMANDS, load_command
from minout.core import Inspection

FILE = Path(__file__).with_name("reference.md")
START = """\
# Reference

Made from the docstrings by `make reference`; do not edit. `help(minout.Learner)` in Python and
`minout COMMAND --help` in a shell show all of a docstring.
"""
CLUSTER = """\
Who computes; [cluster.md](cluster.md) says how.
"""
RESULTS = """\
Other types that the methods and attributes above return, alone or inside another.
"""
PAPER = """\
The paper's system: minout units, gradient training, rehearsal. [paper.md](paper.md) uses it.
"""
PAPER_RESULTS = """\
Other types that the methods and attributes of `minout.paper` return.
"""
FIRST = ("MinoutClassifier", "Learner")


class Line(NamedTuple):
    """A line of a table: a name as it is called, and what it does."""

    name: str
    does: str


def reference() -> str:
    """Return the text of docs/reference.md."""
    others = [each for each in minout.__all__ if each not in (*FIRST, "__version__")]
    public = [getattr(minout, each) for each in (*FIRST, *others)]
    paper = [getattr(minout.paper, each) for each in minout.paper.__all__]
    cluster = [getattr(minout.cluster, each) for each in minout.cluster.__all__]
    results = _returned(public)
    paper_results = _returned(paper, {*public, *results})
    parts = [
        START,
        *_section("`minout`", public),
        *_section("Results", results, RESULTS),
        *_section("`minout.cluster`", cluster, CLUSTER),
        *_section("`minout.paper`", paper, PAPER),
        *_section("Results of `minout.paper`", paper_results, PAPER_RESULTS),
        "## Command line\n",
        *_commands(),
    ]
    return "\n".join(parts)


def _section(title: str, things: Iterable[Any], words: str = "") -> Iterator[str]:
    yield f"## {title}\n"
    if words:
        yield words
    for thing in things:
        yield f"### `{thing.__name__}`\n"
        if _is_called(thing):
            yield f"`{thing.__name__}{_arguments(thing)}`\n"
        yield f"{_first_line(thing)}\n"
        if isinstance(thing, type):
            attributes = list(_attributes(thing))
            named = {name for line in attributes for name in line.name.split(", ")}
            members = [each for each in _members(thing) if each.name.partition("(")[0] not in named]
            yield from _table([*attributes, *members])


def _returned(public: list[Any], listed: Iterable[Any] = ()) -> list[type]:
    """Return the types of minout that public members and fields have, except the public ones."""
    seen, found = {*public, *listed}, list(public)
    for thing in found:  # it grows
        if isinstance(thing, type) and thing is not Inspection:  # its parts may change
            for cls in _types_of(thing):
                if cls not in seen:
                    seen.add(cls)
                    found.append(cls)
    return found[len(public) :]


def _types_of(cls: type) -> Iterator[type]:
    hints = [inspect.get_annotations(member).get("return") for _, member in _public(cls)]
    hints += inspect.get_annotations(cls).values()
    for hint in hints:  # it grows
        hints += get_args(hint)
        if isinstance(hint, type) and hint.__module__.startswith("minout"):
            yield hint


def _public(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public functions of a class and of its bases in minout, its own first.

    Of values that only minout makes, these are the properties.
    """
    seen: set[str] = set()
    is_value = cls.__module__.startswith(("minout.core", "minout.kernels"))
    for owner in cls.__mro__:
        if owner.__module__.startswith("minout"):
            found = {name: _function(each) for name, each in vars(owner).items()}
            for name, function in sorted(found.items(), key=lambda each: _line_number(each[1])):
                if is_value and not isinstance(vars(owner)[name], property):
                    continue
                if not name.startswith("_") and name not in seen and inspect.isfunction(function):
                    seen.add(name)
                    yield name, function


def _function(member: Any) -> Any:
    return member.fget if isinstance(member, property) else getattr(member, "__func__", member)


def _line_number(function: Any) -> int:
    # Not the order in the class, which changes if a test takes a method away and puts it back.
    is_function = inspect.isfunction(function)
    return inspect.unwrap(function).__code__.co_firstlineno if is_function else 0


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
    """Yield the public methods and properties."""
    for name, function in _public(cls):
        member = inspect.getattr_static(cls, name)
        if isinstance(member, property):
            yield Line(name, _first_line(member))
        elif isinstance(member, classmethod | staticmethod):
            bound = getattr(cls, name)
            yield Line(f"{cls.__name__}.{name}{_arguments(bound)}", _first_line(bound))
        else:
            yield Line(f"{name}{_arguments(function)}", _first_line(function))


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
