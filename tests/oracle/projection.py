"""The projection and hashed text in Python's own numbers and strings, one entry at a time."""

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path

import minout.features

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


def word_hash(ngram):
    """Return the hash of a word, or of two with a space between them."""
    first, *second = [fnv(word, 0xCBF29CE484222325) for word in ngram.split(" ")]
    return ((first * GOLDEN & MASK) ^ second[0]) * 0x100000001B3 & MASK if second else first


def run_hash(ngram):
    """Return the hash of a run of characters."""
    return fnv(ngram, 0x84222325CBF29CE4)


def weights_of_common():
    """Return {(kind, n-gram): weight}, as the package has them."""
    lines = Path(minout.features.__file__).with_name("common.txt").read_text("utf-8").split("\n")
    found = {}
    for kind, weight, *ngrams in map(str.split, filter(None, lines)):
        found |= {(kind, each.replace("␣", " ")): int(weight) / 64 for each in ngrams}
    return found


def text_row(text, seed, width):
    """Return the row of an ASCII text."""
    text = text.lower()
    words = words_of(text)
    runs = [
        f" {token} "[i : i + n]
        for token in text.split()
        for n in (2, 3, 4)
        for i in range(len(token) + 3 - n)
    ]
    pairs = [f"{a} {b}" for a, b in pairwise(words)]
    out, weights = [0.0] * width, weights_of_common()
    kinds = (("word", words + pairs, word_hash, 0.3), ("run", runs, run_hash, 0.7))
    for kind, ngrams, hashed, share in kinds:
        logs = {
            hashed(each): (1 + math.log(count)) * weights.get((kind, each), 1.0)
            for each, count in Counter(ngrams).items()
        }
        length = math.sqrt(math.fsum(each**2 for each in logs.values()) / share)
        scaled = {each: value / length for each, value in logs.items()}
        out = [a + b for a, b in zip(out, projected(scaled, seed, width), strict=True)]
    return out
