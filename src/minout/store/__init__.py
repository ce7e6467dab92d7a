"""Bytes on disk: files that are there whole or not at all, sealed archives, a model's folder."""

from minout.store.archive import not_whole, read_archive, write_archive
from minout.store.folder import ModelFolder
from minout.store.whole import replacing, write_whole

__all__ = [
    "ModelFolder",
    "not_whole",
    "read_archive",
    "replacing",
    "write_archive",
    "write_whole",
]
