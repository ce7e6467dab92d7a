"""Print what commands find: as JSON, facts, a table or CSV; and notes, errors and progress."""

import csv
import functools
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from threading import Timer
from typing import Any, ParamSpec, TextIO

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from minout.errors import UnwritableError, some, system_reason

P = ParamSpec("P")
Row = dict[str, Any]
SHOWN = 5
"""The most ids, labels or problems that a line names."""
SOON = 2.0
"""Seconds after which a progress bar is shown."""
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


def show(
    rows: Row | Iterable[Row],
    columns: Sequence[str] = (),
    *,
    as_json: bool,
    most: int | None = None,
) -> None:
    """Print what a command found.

    As JSON, every row is an object on a line. For people, one row is a line for each of its facts,
    then those that are rows themselves. A list of rows is a table on a terminal, and CSV when
    piped; other rows are CSV as they come, without a header if the first one raises an error.
    """
    if isinstance(rows, dict):
        if as_json:
            _print_json(rows)
        else:
            _print_facts(plain(rows), most)
    elif as_json:
        for row in rows:
            _print_json(row)
    elif isinstance(rows, list) and Console().is_terminal:
        table = Table(*columns, show_edge=False, pad_edge=False)
        for row in rows:
            table.add_row(*(Text(cell(row.get(name))) for name in columns))
        Console(highlight=False).print(table)
    else:
        write_csv(rows, columns, sys.stdout)


def _print_json(row: Row) -> None:
    print(json.dumps(plain(row), ensure_ascii=False), flush=True)


def _print_facts(facts: Row, most: int | None) -> None:
    width = max(map(len, facts)) + 1
    for name, value in facts.items():
        if value is not None:
            print(f"{escaped(name) + ':':<{width}} {cell(value)}")
    for value in facts.values():
        if _are_rows(value):
            print()
            show(value[:most], list(value[0]), as_json=False)


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def write_csv(rows: Iterable[Row], columns: Sequence[str], file: TextIO) -> None:
    """Write rows to a CSV, one by one as they come; numbers have all digits."""
    is_terminal = file is sys.stdout and Console().is_terminal
    found = iter(rows)
    first = list(islice(found, 1))
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in chain(first, found):
        writer.writerow([_csv_value(row.get(name), is_terminal) for name in columns])
        file.flush()


def _csv_value(value: Any, is_terminal: bool) -> Any:
    is_text = isinstance(value, str) and is_terminal
    return cell(value) if is_text or isinstance(value, bool | dict | list | tuple) else value


@functools.cache
def errors() -> Console:
    """Return the console of standard error."""
    return Console(stderr=True, highlight=False)


def print_note(text: str) -> None:
    """Print a remark on standard error, where scripts do not read it."""
    errors().print(Text(escaped(text), style="dim"), soft_wrap=True)


def print_error(error: Exception) -> None:
    """Print the message of an error on standard error."""
    errors().print(Text.assemble(("error:", "red"), f" {escaped(str(error))}"), soft_wrap=True)


@contextmanager
def progress_bar(task: str) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal after two seconds; yield what updates share and text."""
    if not errors().is_terminal:
        yield lambda _fraction, _text=None: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(10), TextColumn("{task.fields[text]}"))
    progress = Progress(*columns, TimeElapsedColumn(), console=errors(), transient=True)
    shown = progress.add_task(task, total=None, text="")

    def update(fraction: float | None, text: str | None = None) -> None:
        total = None if fraction is None else 1.0
        text = f"{fraction or 0.0:.0%}" if text is None else text
        progress.update(shown, completed=fraction or 0.0, total=total, text=text)

    timer = Timer(SOON, progress.start)
    timer.start()
    try:
        yield update
    finally:
        timer.cancel()
        timer.join()
        progress.stop()


def escaped(text: str) -> str:
    r"""Return text with control characters written as escapes, safe to show on a terminal.

    >>> print(escaped("a\x1b[31mb"))
    a\x1b[31mb
    """
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def cell(value: Any) -> str:
    """Return a value as it is shown to people; of a long list, how many there are and the first.

    >>> cell(0.123456), cell(12345), cell(True), cell(None)
    ('0.1235', '12,345', 'yes', '')
    >>> cell({"cat": 3}), cell([["cat", "dog"]]), cell([])
    ('cat: 3', '1 (cat|dog)', '0')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"  # -0.0 is 0
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return some((f"{escaped(str(name))}: {cell(each)}" for name, each in value.items()))
    if isinstance(value, list | tuple):
        names = ["|".join(map(cell, e)) if isinstance(e, list | tuple) else cell(e) for e in value]
        is_named = value and not _are_rows(value)
        return f"{len(value):,} ({some(names, SHOWN)})" if is_named else f"{len(value):,}"
    return "" if value is None else escaped(str(value))


def plain(value: Any) -> Any:
    """Return values that JSON can hold: a number that is not finite is None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if hasattr(value, "tolist"):  # of NumPy, which `minout --help` does not import
        return plain(value.tolist())
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value
