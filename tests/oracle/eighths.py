"""Numbers in eighths, of which float64 makes exact sums and products: == means equal."""

import numpy as np
from hypothesis import strategies as st


def arrays(*shape, lowest=-32, highest=32):
    """Draws an array of eighths; small bounds make ties and zeros common.

    One drawing of bytes is several times faster than a list of numbers. They shrink towards 0.
    """
    choices = np.array(sorted(range(lowest, highest + 1), key=abs)) / 8
    size = 2 * int(np.prod(shape))
    return st.binary(min_size=size, max_size=size).map(
        lambda blob: choices[np.frombuffer(blob, np.uint16) % len(choices)].reshape(shape)
    )


def drawn(rng, *shape, size=8, parts=8):
    """Draws an array of multiples of 1/parts between -size/parts and size/parts from a seed."""
    return rng.integers(-size, size + 1, shape) / parts
