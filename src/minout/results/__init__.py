"""Rows with provenance: what was measured, with which settings, seed, version and commit."""

from minout.results.rows import Row, read, row, write

__all__ = ["Row", "read", "row", "write"]
