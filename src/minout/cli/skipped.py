"""Report and count the lines of standard input that are skipped."""

from rich.console import Console

from minout.cli.output import plural, print_note
from minout.streams.files import BadRowError

MOST_SAID = 10
"""Of consecutive lines that are skipped, so many are reported; the others are only counted."""


class SkippedLines:
    """Report and count the lines of a live stream that cannot be used.

    As long as a model has no examples, such a line ends the command, as in a file: if the first
    row is bad, the others will be too.
    """

    def __init__(self, *, has_examples: bool = False) -> None:
        self.count = 0
        self.has_examples = has_examples
        self.console: Console | None = None
        self._consecutive = 0

    def __call__(self, error: BadRowError) -> None:
        """Report an error and count it, or raise it."""
        if not self.has_examples:
            raise error
        self.count += 1
        self._consecutive += 1
        if self._consecutive <= MOST_SAID:
            print_note(f"{error} This line is skipped.", self.console)
        if self._consecutive == MOST_SAID + 1:
            print_note("More lines are skipped; they are only counted.", self.console)

    def end_run(self) -> None:
        """Say how many were only counted: a line was used, or the stream has ended."""
        more, self._consecutive = self._consecutive - MOST_SAID, 0
        if more > 0:
            were = "was" if more == 1 else "were"
            print_note(f"{plural(more, 'more line')} {were} skipped.", self.console)
