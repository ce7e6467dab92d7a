"""Where examples sleep: rows and labels under stable ids."""

from minout.memory.ram import RamMemory

__all__ = ["RamMemory"]
