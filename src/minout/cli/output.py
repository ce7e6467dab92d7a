"""Print results: tables and text on a terminal, CSV and JSON for scripts."""

import csv
import functools
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, ParamSpec

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from minout.errors import UnwritableError, system_reason

P = ParamSpec("P")

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters, line separators, and characters that change the direction of writing."""


def command(run: Callable[P, None]) -> Callable[P, None]:
    """Wrap a command: end quietly on a closed pipe (`… | head`), report output errors."""

    @functools.wraps(run)
    def wrapped(*args: P.args, **options: P.kwargs) -> None:
        if sys.stdout is None:
            raise UnwritableError("Standard output is closed; send it to a file, or to /dev/null.")
        try:
            run(*args, **options)
            sys.stdout.flush()
        except BrokenPipeError:
            raise typer.Exit(0) from None
        except UnicodeEncodeError as error:
            wrong = error.object[error.start : error.end]
            raise UnwritableError(
                f"Standard output is {error.encoding}, which cannot write {wrong!a}; "
                "set PYTHONIOENCODING=utf-8."
            ) from None
        except OSError as error:
            raise UnwritableError(
                f"The output could not be written: {system_reason(error)}."
            ) from error
        finally:
            _discard_pending_output()

    return wrapped


def _discard_pending_output() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        # On exit, Python would try again to write what is still buffered.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(values: Mapping[str, Any]) -> None:
    """Print one object on one line and flush; numbers that JSON cannot write are null."""
    print(json.dumps(_plain(values), ensure_ascii=False), flush=True)


def print_table(head: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    """Print a table: drawn on a terminal, CSV when piped."""
    console = Console(highlight=False)
    if not console.is_terminal:
        _print_csv([head, *lines])
        return
    table = Table(*head, show_edge=False, pad_edge=False)
    for line in lines:
        table.add_row(*(Text(_cell(each)) for each in line))
    console.print(table)


def print_rows(head: Sequence[str], batches: Iterable[Sequence[Sequence[Any]]]) -> None:
    """Print a table batch by batch: in columns on a terminal, CSV when piped.

    The first batch sets the widths of the columns; if it is refused, no header is printed either.
    """
    is_terminal = Console(highlight=False).is_terminal
    widths: list[int] = []
    before: list[Sequence[Any]] = [head]
    for batch in chain(batches, [[]]):
        lines = [*before, *batch]
        if is_terminal:
            cells = [[_cell(each) for each in line] for line in lines]
            widths = widths or [max(map(len, column)) for column in zip(*cells, strict=True)]
            for line in cells:
                print("  ".join(map(str.ljust, line, widths)).rstrip())
        else:
            _print_csv(lines)
        sys.stdout.flush()
        before = []


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print one fact per line, its name first."""
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name + ':':<{width + 1}} {_short(value)}")


def print_text(text: str) -> None:
    """Print a sentence for people on standard output."""
    print(escaped(text))


def print_note(text: str, console: Console | None = None) -> None:
    """Print a remark on standard error, where scripts do not read it.

    While a progress bar is shown, `console` is that of the bar.
    """
    note = Text(escaped(text), style="dim")
    (console or Console(stderr=True, highlight=False)).print(note, soft_wrap=True)


def print_error(error: Exception) -> None:
    """Print the message of an error on standard error."""
    message = Text.assemble(("error:", "red"), f" {escaped(str(error))}")
    Console(stderr=True, highlight=False).print(message, soft_wrap=True)


def escaped(text: str) -> str:
    r"""Return text with control characters written as escapes, safe to show on a terminal.

    >>> print(escaped("a\x1b[31mb"))
    a\x1b[31mb
    """
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun in the right number.

    >>> plural(1, "class"), plural(1200, "class"), plural(0, "example")
    ('1 class', '1,200 classes', '0 examples')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def keep_text(keep: str | int | Mapping[str, int]) -> str:
    """Return a learner's setting `keep` in words.

    >>> keep_text("all"), keep_text(1000), keep_text({"per_label": 50}), keep_text("30d")
    ('all', '1,000 examples', '50 examples per label', '30d')
    """
    if isinstance(keep, str):
        return keep
    return (
        plural(keep, "example")
        if isinstance(keep, int)
        else (f"{plural(keep['per_label'], 'example')} per label")
    )


def _print_csv(lines: Iterable[Sequence[Any]]) -> None:
    csv.writer(sys.stdout, lineterminator="\n").writerows(lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return _short(value)
    return "" if value is None else escaped(str(value))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"  # -0.0 is 0
    return f"{value:,}" if isinstance(value, int) else escaped(str(value))
