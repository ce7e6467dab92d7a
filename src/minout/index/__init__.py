"""Who would be disturbed by an update: the paper's bookkeeping, kept exact."""

from minout.index.brute import BruteIndex
from minout.index.index import Index
from minout.index.partition import Partition

__all__ = ["BruteIndex", "Index", "Partition"]
