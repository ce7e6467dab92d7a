"""Compiled twins of the formulas in maths; the only room that knows numba."""

from minout.kernels.bitmaps import (
    Bitmaps,
    all_below,
    ascending_below,
    bits,
    interfered,
    replace,
    write,
)
from minout.kernels.products import add_multiples, products, products_by_column
from minout.kernels.tally import Sets, Tally, tally
from minout.kernels.training import Pull, clipped, follow, follow_and_clip, least, least_of, pull

__all__ = [
    "Bitmaps",
    "Pull",
    "Sets",
    "Tally",
    "add_multiples",
    "all_below",
    "ascending_below",
    "bits",
    "clipped",
    "follow",
    "follow_and_clip",
    "interfered",
    "least",
    "least_of",
    "products",
    "products_by_column",
    "pull",
    "replace",
    "tally",
    "write",
]
