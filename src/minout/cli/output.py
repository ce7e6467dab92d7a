"""Print results: rows as JSON, a table on a terminal, or CSV when piped; notes and errors."""

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

from minout.errors import UnwritableError, system_reason

P = ParamSpec("P")
Row = dict[str, Any]
SHOWN = 5
"""The most ids, labels or problems that a sentence names."""
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


def print_json(row: Row) -> None:
    """Print one object on one line; numbers that JSON cannot write are null."""
    print(json.dumps(plain(row), ensure_ascii=False), flush=True)


def print_rows(rows: Iterable[Row], columns: Sequence[str], as_json: bool) -> None:
    """Print rows: an object per line, a table on a terminal, or CSV when piped.

    CSV and JSON are printed row by row, as they come. No header is printed if the first row raises
    an error.
    """
    found = iter(rows)
    found = chain(list(islice(found, 1)), found)
    if as_json:
        for row in found:
            print_json(row)
    elif Console().is_terminal:
        table = Table(*columns, show_edge=False, pad_edge=False)
        for row in found:
            table.add_row(*(Text(cell(row.get(name))) for name in columns))
        Console(highlight=False).print(table)
    else:
        write_csv(found, columns, sys.stdout)


def write_csv(rows: Iterable[Row], columns: Sequence[str], file: TextIO) -> None:
    """Write rows to a CSV, one by one as they come; numbers have all digits."""
    writer = csv.DictWriter(file, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        values = row.items()
        writer.writerow({name: cell(v) if isinstance(v, bool) else v for name, v in values})
        file.flush()


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print one fact per line, its name first."""
    width = max(map(len, facts)) + 1
    for name, value in facts.items():
        print(f"{name.replace('_', ' ') + ':':<{width}} {cell(value)}")


def print_text(text: str) -> None:
    """Print a sentence for people on standard output."""
    print(escaped(text))


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
def progress_bar(task: str) -> Iterator[Callable[[float | None, str], None]]:
    """Show a progress bar on a terminal, if it takes more than two seconds.

    Yields a function that is called with the fraction that is done, or None, and a text.
    """
    if not errors().is_terminal:
        yield lambda _fraction, _text: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(10), TextColumn("{task.fields[text]}"))
    progress = Progress(*columns, TimeElapsedColumn(), console=errors(), transient=True)
    shown = progress.add_task(task, total=None, text="")

    def update(fraction: float | None, text: str) -> None:
        total = None if fraction is None else 1.0
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


def plural(count: int, noun: str) -> str:
    """Return a count with its noun in the right number.

    >>> plural(1, "class"), plural(1200, "class"), plural(0, "example")
    ('1 class', '1,200 classes', '0 examples')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def some(names: Iterable[Any], in_all: int | None = None) -> str:
    """Return the first names for a message, and the number of the others.

    >>> some("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    listed = list(names)
    more = (len(listed) if in_all is None else in_all) - len(listed[:SHOWN])
    shown = ", ".join(map(str, listed[:SHOWN]))
    return f"{shown} and {more:,} more" if more > 0 else shown


def cell(value: Any) -> str:
    """Return a value as it is shown to people.

    >>> cell(0.123456), cell(12345), cell(True), cell(None)
    ('0.1235', '12,345', 'yes', '')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"  # -0.0 is 0
    if isinstance(value, int):
        return f"{value:,}"
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
