"""Files on disk: atomic writes, archives with a checksum, the database of a model, its folder."""

from minout.store.archive import damaged_message, read_archive, too_large_message, write_archive
from minout.store.atomic_write import atomic_write
from minout.store.database import Database
from minout.store.folder import ModelFolder
from minout.store.records import DamagedRecord, decode_arrays, encode_arrays

__all__ = [
    "DamagedRecord",
    "Database",
    "ModelFolder",
    "atomic_write",
    "damaged_message",
    "decode_arrays",
    "encode_arrays",
    "read_archive",
    "too_large_message",
    "write_archive",
]
