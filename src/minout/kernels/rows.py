"""The digest of a row, by which it is recognised and checked."""

import numpy as np

from minout._typing import Words
from minout.kernels._compiled import compiled


@compiled
def digest(words: Words) -> int:
    """Mix the words of a row's bytes into one of 64 bits; a change of any bit changes it."""
    state = np.uint64(0x9E3779B97F4A7C15)
    for i in range(words.shape[0]):
        state ^= words[i]
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(29)
    state *= np.uint64(0x94D049BB133111EB)
    return int(state ^ (state >> np.uint64(32)))


@compiled
def count_wrong_digests(words: Words, digests: Words) -> int:
    """Return how many rows, one in each row of `words`, do not have the digest given for them."""
    wrong = 0
    for n in range(words.shape[0]):
        wrong += digest(words[n]) != digests[n]
    return wrong
