"""Check, repair and copy a model's folder, and read its log of changes."""

from minout.store.log import Entry
from minout.upkeep.copies import backup
from minout.upkeep.health import Health, check, read_log
from minout.upkeep.rebuild import Repair, damaged_files, repair

__all__ = [
    "Entry",
    "Health",
    "Repair",
    "backup",
    "check",
    "damaged_files",
    "read_log",
    "repair",
]
