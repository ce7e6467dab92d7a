"""The projection and hashed text in Python's own numbers and strings, one entry at a time."""

import math
from collections import Counter
from itertools import pairwise

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def scrambled(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def entries(column, seed, width):
    """Return {output: entry} of one column."""
    z = scrambled(column ^ scrambled(seed + GOLDEN & MASK))
    found = {}
    for quarter in range(4):
        start, end = quarter * width // 4, (quarter + 1) * width // 4
        drawn = scrambled(z + quarter * GOLDEN & MASK)
        found[start + (drawn // 2**32) * (end - start) // 2**32] = -0.5 if drawn % 2 else 0.5
    return found


def projected(row, seed, width):
    """Return the outputs of a row {column: value}."""
    out = [0.0] * width
    for column in sorted(row):
        for place, entry in entries(column, seed, width).items():
            out[place] += entry * row[column]
    return out


def fnv(text, start):
    for letter in text:
        start = (start ^ ord(letter)) * 0x100000001B3 & MASK
    return start


def words_of(text):
    """Return the runs of letters, digits and underscores."""
    return "".join(each if each.isalnum() or each == "_" else " " for each in text).split()


def text_row(text, seed, width):
    """Return the row of an ASCII text."""
    text = text.lower()
    words = [fnv(word, 0xCBF29CE484222325) for word in words_of(text)]
    pairs = [((a * GOLDEN & MASK) ^ b) * 0x100000001B3 & MASK for a, b in pairwise(words)]
    runs = [
        fnv(f" {token} "[i : i + n], 0x84222325CBF29CE4)
        for token in text.split()
        for n in (2, 3, 4)
        for i in range(len(token) + 3 - n)
    ]
    out = [0.0] * width
    for kind, share in ((words + pairs, 0.3), (runs, 0.7)):
        logs = {each: 1 + math.log(count) for each, count in Counter(kind).items()}
        length = math.sqrt(math.fsum(each**2 for each in logs.values()) / share)
        scaled = {each: value / length for each, value in logs.items()}
        out = [a + b for a, b in zip(out, projected(scaled, seed, width), strict=True)]
    return out
