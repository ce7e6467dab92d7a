"""Rows that cannot be used end the command, or they are reported, counted and written down."""

import csv
from pathlib import Path
from typing import TextIO

from minout.cli.output import plural, print_note
from minout.errors import InvalidInputError, UnwritableError, system_reason
from minout.files import BadRowError

MOST_SAID = 10
"""The most skipped lines of standard input that are reported; further ones are only counted."""


class BadRows:
    """What is done with bad rows.

    With `file` all are skipped and written to it. Otherwise bad lines of standard input are skipped
    and reported, and a bad row of a file ends the command.

    Parameters
    ----------
    file : Path or None
        A new CSV for the bad rows, with their places and the reasons.
    is_live : bool
        Whether rows come from standard input.
    """

    def __init__(self, file: Path | None, is_live: bool) -> None:
        self.count, self.skips = 0, file is not None or is_live
        self.first: BadRowError | None = None
        self._file = file
        self._opened: TextIO | None = None
        if file is not None and file.exists():
            raise InvalidInputError(f"There is already a {file}; name a new file for --skip-bad.")

    def __call__(self, error: BadRowError) -> None:
        """Raise an error, or count it and report it or write it down."""
        if not self.skips:
            raise error
        self.first = self.first or error
        self.count += 1
        if self._file is not None:
            self._write(self._file, error)
        elif self.count <= MOST_SAID:
            print_note(f"{error} This line is skipped.")
        elif self.count == MOST_SAID + 1:
            print_note("More lines are skipped; they are only counted.")

    def _write(self, file: Path, error: BadRowError) -> None:
        try:
            if self._opened is None:
                self._opened = file.open("x", newline="", encoding="utf-8")
                csv.writer(self._opened).writerow(("where", "reason", "row"))
            csv.writer(self._opened).writerow((error.where, error.what, error.text))
            self._opened.flush()
        except OSError as failure:
            raise UnwritableError(
                f"{file} could not be written: {system_reason(failure)}."
            ) from failure

    @property
    def text(self) -> str:
        """How many rows were skipped, as a sentence; empty if none was."""
        where = "" if self._file is None else f"; {self._file} has the reasons"
        return f"{plural(self.count, 'row')} skipped{where}." if self.count else ""

    def finish(self, source: str, used: int) -> None:
        """Say how many rows were skipped; raise an error if all were."""
        if self.count and not used:
            raise InvalidInputError(
                f"None of the {plural(self.count, 'row')} of {source} could be used. The first is: "
                f"{self.first}"
            )
        if self.count:
            print_note(self.text)

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None:
            self._opened.close()
