"""Where examples sleep: rows and labels under stable ids."""

from minout.memory.ram import RamMemory
from minout.memory.room import give_back

__all__ = ["RamMemory", "give_back"]
