"""The command line: each command parses its arguments, calls the package and prints."""

import sys

from minout.cli.stop import end_at_once, raise_interrupts

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C ends it with exit code 130 and no traceback."""
    end_at_once()
    try:
        from minout.cli.app import main as run

        run()
    except KeyboardInterrupt:  # after the command has ended
        sys.exit(130)
    finally:
        raise_interrupts()
