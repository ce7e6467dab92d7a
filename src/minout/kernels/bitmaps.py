"""The paper's key-value table as bitmaps: a bit per neuron and example, a counter per example.

Example e is bit e % 64 of word e // 64. Beside the table stand two bitmaps that follow the
counters, `none` (counter 0) and `one` (counter 1), so that S1 ∪ S2 is a few words' work.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Ints, Words
from minout.kernels._compiled import compiled

ONE = np.uint64(1)
LOW = np.uint64(63)


class Bitmaps(NamedTuple):
    """The table of one unit: clipped (k, words), none and one (words,), counters (64·words,)."""

    clipped: Words
    none: Words
    one: Words
    counters: Ints


def interfered(table: Bitmaps, alive: Words, neurons: Ints) -> Ints:
    """Return the living examples whose clipped neurons all lie in `neurons`.

    One neuron takes one pass over the words; more take a pass per neuron that is not asked for.
    """
    out = np.empty(64 * len(alive), dtype=np.int64)
    return out[: _interfered(table, alive, neurons, out)].copy()


@compiled
def _interfered(table: Bitmaps, alive: Words, neurons: Ints, examples: Ints) -> int:
    """Write the examples, and return how many there are."""
    k, words = table.clipped.shape
    out = np.zeros(words, dtype=np.uint64)
    if neurons.shape[0] == 1:
        own = table.clipped[neurons[0]]
        for w in range(words):
            out[w] = table.none[w] | (table.one[w] & own[w])
        return _bits(out, alive, examples)
    asked = np.zeros(k, dtype=np.bool_)
    for neuron in neurons:
        asked[neuron] = True
    for j in range(k):
        if not asked[j]:
            for w in range(words):
                out[w] |= table.clipped[j, w]
    for w in range(words):
        out[w] = ~out[w]
    return _bits(out, alive, examples)


@compiled
def replace(table: Bitmaps, alive: Words, neurons: Ints, clipped: Bools) -> None:
    """Update the table after a weight change: clipped (neurons, n) holds the new values.

    Entries of examples that are not stored are ignored.
    """
    n = clipped.shape[1]
    for i in range(neurons.shape[0]):
        known, said = table.clipped[neurons[i]], clipped[i]
        for w in range((n + 63) // 64):
            word = np.uint64(0)
            for example in range(64 * w, min(64 * w + 64, n)):
                word |= np.uint64(said[example]) << (np.uint64(example) & LOW)
            word &= alive[w]
            flips = known[w] ^ word
            known[w] = word
            while flips:
                low = flips & (~flips + ONE)
                flips ^= low
                _count(table, w, low, 1 if word & low else -1)


@compiled
def all_below(numbers: Ints, end: int) -> bool:
    """Return whether every number lies in 0 … end - 1."""
    for number in numbers:  # noqa: SIM110 - a generator would not compile
        if not 0 <= number < end:
            return False
    return True


@compiled
def ascending_below(numbers: Ints, end: int) -> bool:
    """Return whether the numbers lie in 0 … end - 1 and each is larger than the one before."""
    last = -1
    for number in numbers:
        if not last < number < end:
            return False
        last = number
    return True


@compiled
def write(table: Bitmaps, example: int, clipped: Bools) -> None:
    """Set all of one example's bits: clipped (k,) is true where a neuron clips it."""
    w, bit = example // 64, ONE << (np.uint64(example) & LOW)
    counter = 0
    for j in range(table.clipped.shape[0]):
        if clipped[j]:
            table.clipped[j, w] |= bit
            counter += 1
        else:
            table.clipped[j, w] &= ~bit
    table.counters[example] = counter
    _count(table, w, bit, 0)


def bits(words: Words, alive: Words) -> Ints:
    """Return the examples whose bit is set in both bitmaps, in ascending order."""
    out = np.empty(64 * len(words), dtype=np.int64)
    return out[: _bits(words, alive, out)].copy()


@compiled
def _bits(words: Words, alive: Words, out: Ints) -> int:
    """Write the examples, and return how many there are."""
    found = 0
    for w in range(words.shape[0]):
        word = words[w] & alive[w]
        while word:
            low = word & (~word + ONE)
            word ^= low
            out[found] = 64 * w + _position(low)
            found += 1
    return found


@compiled
def _count(table: Bitmaps, w: int, bit: np.uint64, change: int) -> None:
    example = 64 * w + _position(bit)
    table.counters[example] += change
    counter = table.counters[example]
    table.none[w] = table.none[w] | bit if counter == 0 else table.none[w] & ~bit
    table.one[w] = table.one[w] | bit if counter == 1 else table.one[w] & ~bit


@compiled
def _position(bit: np.uint64) -> int:
    position = 0
    for shift in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(shift):
            position += shift
            bit >>= np.uint64(shift)
    return position
