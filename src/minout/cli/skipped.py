"""Report and count the rows that are skipped, or write them to a file."""

import csv
from pathlib import Path
from typing import TextIO

from rich.console import Console

from minout.cli.output import plural, print_note
from minout.errors import InvalidInputError, UnwritableError, system_reason
from minout.store.schema import DATABASE
from minout.streams.files import BadRowError

MOST_SAID = 10
"""The most consecutive skipped lines that are reported; further ones are only counted."""
HEAD = ("where", "reason", "row")


class SkippedRows:
    """Report and count the rows that cannot be used.

    Without `file`, bad lines of standard input are skipped and reported, and a bad row of a file
    ends the command. As long as a model has no examples, a bad line of standard input does so, too:
    if the first row is bad, the others probably are as well.

    Parameters
    ----------
    file : Path, optional
        A CSV to which bad rows are written, with their position and the reason. All bad rows are
        then skipped.
    has_examples : bool, default=False
        Whether the model has examples.
    """

    def __init__(self, file: Path | None = None, *, has_examples: bool = False) -> None:
        self.file, self.count = file, 0
        self.has_examples = has_examples
        self.console: Console | None = None
        self.first: BadRowError | None = None
        self._consecutive = 0
        self._opened: TextIO | None = None
        if file is not None:
            _require_new(file)

    def skips(self, *, is_live: bool) -> bool:
        """Return whether bad rows are skipped, not raised."""
        return is_live or self.file is not None

    def __call__(self, error: BadRowError) -> None:
        """Count an error and report it or write it down; or raise it."""
        if self.file is None and not self.has_examples:
            raise error
        self.first = self.first or error
        self.count += 1
        if self.file is not None:
            self._write(error)
            return
        self._consecutive += 1
        if self._consecutive <= MOST_SAID:
            print_note(f"{error} This line is skipped.", self.console)
        if self._consecutive == MOST_SAID + 1:
            print_note("More lines are skipped; they are only counted.", self.console)

    def end_run(self) -> None:
        """Print how many lines were only counted, when a line was used or the stream has ended."""
        more, self._consecutive = self._consecutive - MOST_SAID, 0
        if more > 0:
            were = "was" if more == 1 else "were"
            print_note(f"{plural(more, 'more line')} {were} skipped.", self.console)

    def text(self) -> str:
        """Return a sentence with the number of skipped rows; "" if there are none."""
        if not self.count:
            return ""
        were = "was" if self.count == 1 else "were"
        if self.file is None:
            return f"{plural(self.count, 'line')} {were} skipped."
        return f"{plural(self.count, 'row')} {were} skipped; {self.file} has each with the reason."

    def finish(self, *, is_said: bool = True) -> None:
        """Close the file after all rows were read; without a bad row, it has a header only.

        Print how many rows it has, if it has any and `is_said`.
        """
        if self.file is None:
            return
        if self._opened is None:
            self._write()
        self.close()
        if self.count and is_said:
            print_note(self.text())

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None:
            self._opened.close()

    def _write(self, error: BadRowError | None = None) -> None:
        assert self.file is not None
        try:
            if self._opened is None:
                self._opened = self.file.open("w", newline="", encoding="utf-8", errors="replace")
                csv.writer(self._opened).writerow(HEAD)
            if error is not None:
                csv.writer(self._opened).writerow((error.where, error.what, error.row))
            self._opened.flush()
        except OSError as failure:
            raise UnwritableError(
                f"{self.file} could not be written: {system_reason(failure)}."
            ) from None


def _require_new(file: Path) -> None:
    # Only a file of an earlier run is overwritten.
    try:
        if (file.parent / DATABASE).exists():
            raise InvalidInputError(f"--skip-bad {file} is in the folder of a model; name another.")
        if not file.is_symlink() and not file.exists():
            if not file.parent.is_dir():
                raise InvalidInputError(f"--skip-bad: there is no folder {file.parent}.")
            return
        is_own = file.is_file() and not file.is_symlink()
        if is_own:
            with file.open(encoding="utf-8", errors="replace", newline="") as opened:
                is_own = opened.readline(100).strip() == ",".join(HEAD)
    except OSError as error:
        raise UnwritableError(
            f"{file} cannot be used for --skip-bad: {system_reason(error)}."
        ) from None
    if not is_own:
        raise InvalidInputError(
            f"--skip-bad would overwrite {file}, which it did not write; name another file."
        )
