"""The command line: each command parses its arguments, calls the package and prints."""

import sys

from minout.cli.stop import stop_at_once

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C ends it with exit code 130 and no traceback."""
    try:
        with stop_at_once():
            from minout.cli.app import main as run

            run()
    except KeyboardInterrupt:  # after the command has ended
        sys.exit(130)
