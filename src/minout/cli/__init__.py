"""Words for what the package does: each command parses, calls one function and prints."""

from minout.cli.app import main

__all__ = ["main"]
