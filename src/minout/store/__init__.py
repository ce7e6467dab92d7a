"""A model in one SQLite file: the only form in which models are stored."""

from minout.store.atomic_write import atomic_write
from minout.store.descriptions import encode_notes, expect_settings, is_described
from minout.store.file import Durability, File
from minout.store.history import Entry, entry_of
from minout.store.saved import copy, from_bytes, holds_model, load, save, size_of, to_bytes
from minout.store.upkeep import Health, Repair, audit, read_log, repair
