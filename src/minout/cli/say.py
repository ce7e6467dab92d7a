"""What commands print: tables and facts for people, CSV and JSON for scripts; and quiet ends."""

import csv
import functools
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, ParamSpec

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from minout.errors import UnwritableError

P = ParamSpec("P")


def command(run: Callable[P, None]) -> Callable[P, None]:
    """Lets a command end quietly when whoever reads its output has gone: `… | head`.

    Where its output cannot be written, a sentence says so.
    """

    @functools.wraps(run)
    def quiet(*args: P.args, **options: P.kwargs) -> None:
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
                f"The output could not be written: {error.strerror or error}."
            ) from error
        finally:
            _let_go()

    return quiet


def _let_go() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        # What is still held back must not be tried again at the very end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_json(said: Mapping[str, Any]) -> None:
    """Prints one object on one line, at once; numbers that JSON cannot write are null."""
    print(json.dumps(_plain(said), ensure_ascii=False), flush=True)


def say_table(head: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    """Prints a table: drawn on a terminal, CSV when piped."""
    console = Console(highlight=False)
    if not console.is_terminal:
        _say_csv([head, *lines])
        return
    table = Table(*head, show_edge=False, pad_edge=False)
    for line in lines:
        table.add_row(*(Text(_cell(each)) for each in line))
    console.print(table)


def say_lines(head: Sequence[str], batches: Iterable[Sequence[Sequence[Any]]]) -> None:
    """Prints a table while it comes: in columns on a terminal, CSV when piped.

    The first batch settles how wide the columns are; if it is refused, there is no head either.
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
            _say_csv(lines)
        sys.stdout.flush()
        before = []


def say_facts(facts: Mapping[str, Any]) -> None:
    """Prints a fact per line, its name first."""
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name + ':':<{width + 1}} {_short(value)}")


def say_aside(words: str) -> None:
    """Prints a remark where it does not disturb what is printed for scripts."""
    Console(stderr=True, highlight=False).print(Text(words, style="dim"), soft_wrap=True)


def _say_csv(lines: Iterable[Sequence[Any]]) -> None:
    csv.writer(sys.stdout, lineterminator="\n").writerows(lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return _short(value)
    return "" if value is None else str(value)


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
    return f"{value:,}" if isinstance(value, int) else str(value)
