"""Data sets, and the orders in which they are taught.

Rows are float64 (n, d), C-contiguous; labels and tasks are int64 (n,). Functions return new arrays
that share no memory with their arguments.
"""

from minout.streams.data import Data
from minout.streams.idx import mnist_folder
from minout.streams.openml import mnist_openml
from minout.streams.orders import Permuted, Stream, disjoint, ordered, permuted, shuffled
from minout.streams.pick import pick_per_class
from minout.streams.sample import mnist_sample
from minout.streams.sklearn_digits import digits
from minout.streams.sources import load

__all__ = [
    "Data",
    "Permuted",
    "Stream",
    "digits",
    "disjoint",
    "load",
    "mnist_folder",
    "mnist_openml",
    "mnist_sample",
    "ordered",
    "permuted",
    "pick_per_class",
    "shuffled",
]
