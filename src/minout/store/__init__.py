"""Files on disk: atomic writes, archives with a checksum, the database of a model, its folder."""

from minout.store.archive import damaged_message, read_archive, too_large_message, write_archive
from minout.store.atomic_write import atomic_write, sync_folder
from minout.store.database import Database
from minout.store.folder import holds_model, prepare_folder, remove_model, size_of_model
from minout.store.records import DamagedRecord, decode_arrays, encode_arrays

__all__ = [
    "DamagedRecord",
    "Database",
    "atomic_write",
    "damaged_message",
    "decode_arrays",
    "encode_arrays",
    "holds_model",
    "prepare_folder",
    "read_archive",
    "remove_model",
    "size_of_model",
    "sync_folder",
    "too_large_message",
    "write_archive",
]
