"""What commands print: tables and facts for people, CSV and JSON for scripts; and quiet ends."""

import csv
import functools
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

P = ParamSpec("P")


def command(run: Callable[P, None]) -> Callable[P, None]:
    """Lets a command end quietly when whoever reads its output has gone: `… | head`."""

    @functools.wraps(run)
    def quiet(*args: P.args, **options: P.kwargs) -> None:
        try:
            run(*args, **options)
        except BrokenPipeError:
            raise typer.Exit(0) from None
        finally:
            _let_go()

    return quiet


def _let_go() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still held back for the reader must not be tried again at the very end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_json(said: Mapping[str, Any]) -> None:
    """Prints one object on one line; numbers that JSON cannot write are null."""
    print(json.dumps(_plain(said), ensure_ascii=False))


def say_csv(lines: Iterable[Sequence[Any]]) -> None:
    """Prints lines of CSV."""
    csv.writer(sys.stdout, lineterminator="\n").writerows(lines)


def say_table(head: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    """Prints a table: drawn on a terminal, CSV when piped."""
    console = Console(highlight=False)
    if not console.is_terminal:
        say_csv([head, *lines])
        return
    table = Table(*head, show_edge=False, pad_edge=False)
    for line in lines:
        table.add_row(
            *(Text(_short(cell) if isinstance(cell, float) else str(cell)) for cell in line)
        )
    console.print(table)


def say_facts(facts: Mapping[str, Any]) -> None:
    """Prints a fact per line, its name first."""
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name + ':':<{width + 1}} {_short(value)}")


def flush() -> None:
    """Lets whoever reads have what has been printed so far."""
    sys.stdout.flush()


def say_aside(words: str) -> None:
    """Prints a remark where it does not disturb what is printed for scripts."""
    Console(stderr=True, highlight=False).print(Text(words, style="dim"), soft_wrap=True)


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
