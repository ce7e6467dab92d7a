"""Benchmarks of minout; not part of the package. See README.md in this folder."""
