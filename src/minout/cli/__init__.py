"""The command line: each command parses its arguments, calls the package and prints."""

from minout.cli.app import main

__all__ = ["main"]
