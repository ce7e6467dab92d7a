"""Files on disk: atomic writes, archives with a checksum, the folder of a model."""

from minout.store.archive import damaged_message, read_archive, too_large_message, write_archive
from minout.store.atomic_write import atomic_write
from minout.store.folder import ModelFolder

__all__ = [
    "ModelFolder",
    "atomic_write",
    "damaged_message",
    "read_archive",
    "too_large_message",
    "write_archive",
]
