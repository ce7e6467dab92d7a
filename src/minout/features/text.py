"""Hashed text: strings to rows of numbers by their words and runs of characters."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import sqrt
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from minout._typing import Words
from minout.errors import InvalidInputError
from minout.features.feature_map import HashedMap
from minout.kernels import add_counts, character_grams, word_grams
from minout.maths import NgramWeights

LEAST, MOST = 2, 4
"""The lengths of runs of characters."""
WORDS_SHARE = 0.3
"""The share of words and pairs in the squared length of a row; the rest are characters'."""
STEPS, SPACE = 64, "␣"
"""In `common.txt` weights are whole numbers of 64ths, and "␣" stands for a space."""
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True)
class HashedText(HashedMap):
    """A feature map from strings to rows of a fixed width; nothing is fitted or downloaded.

    Parameters
    ----------
    width : int, default=8192
        The length of a row, from 4 on.
    seed : int, default=0

    Notes
    -----
    Two kinds of features are counted, in lower case: words and pairs of neighbouring words, and
    runs of 2 to 4 characters within a word, with a space at its ends. A count c becomes 1 + log(c),
    times a weight below 1 if it is one of the 4,000 words, pairs and runs that are most common in
    English (`common.txt`): a fixed table, so that the row of a text depends on no other text.
    The counts of each kind are scaled to one length, sqrt(0.3) for words and sqrt(0.7) for runs,
    and both together are projected as `Projection` does, with hashes in place of column numbers.
    An empty string gives zeros.

    The projection adds noise to the inner product of two texts, about 1 / sqrt(width) of their
    lengths: a wider row is more accurate, and each separator and stored row takes more memory.

    Examples
    --------
    >>> HashedText().transform(["Dear sir", "dear  SIR", ""]).any(axis=1)
    array([ True,  True, False])
    """

    width: int = 8192

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the rows (n, width) of a list, array, series or one-column frame of texts."""
        texts = check_texts(X)
        out = np.empty((len(texts), self.width), dtype=np.float32)
        for i, text in enumerate(texts):
            out[i] = self._row(text)
        return out

    def _row(self, text: str) -> NDArray[np.float64]:
        sums = np.zeros(self.width)
        text = normalize("NFKC", text).casefold()
        for kind, hashes, share in (
            ("word", _words(text), WORDS_SHARE),
            ("run", _characters(text), 1.0 - WORDS_SHARE),
        ):
            hashes.sort()
            add_counts(hashes, _common()[kind], sqrt(share), self.seed, sums)
        return sums


def check_texts(X: Any) -> list[str]:
    """Return texts as a list; refuse what is not a string, naming its position."""
    given = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray):
        raise InvalidInputError(
            f"Expected a list of strings, but got {type(X).__name__}; put one text into a list."
        )
    if isinstance(given, np.ndarray):
        if given.ndim != 1 and given.shape[1:] != (1,):
            raise InvalidInputError(
                f"Expected a list of strings, but got an array of shape {given.shape}."
            )
        given = given.reshape(-1).tolist()
    texts = list(given)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidInputError(
                f"Text {place} is {type(text).__name__}, not a string; fill it in or leave it out.",
                row=place,
            )
    return texts


@cache
def _common() -> dict[str, NgramWeights]:
    # The weights of common words and pairs, and those of common runs.
    lines = files(__package__).joinpath("common.txt").read_text(encoding="utf-8").splitlines()
    found: dict[str, dict[int, float]] = {"word": {}, "run": {}}
    for line in lines:
        kind, weight, *ngrams = line.split(" ")
        for ngram in ngrams:
            given = ngram.replace(SPACE, " ")
            hashes = _words(given) if kind == "word" else _runs(given, len(given), len(given))
            found[kind][int(hashes[-1])] = int(weight) / STEPS
    return {kind: _sorted(weights) for kind, weights in found.items()}


def _sorted(weights: dict[int, float]) -> NgramWeights:
    hashes = np.array(sorted(weights), dtype=np.uint64)
    return NgramWeights(hashes, np.array([weights[int(each)] for each in hashes]))


def _words(text: str) -> Words:
    points = _points(" ".join([*_WORDS.findall(text), ""]))
    hashes = np.empty(len(points), dtype=np.uint64)
    return hashes[: word_grams(points, hashes)]


def _characters(text: str) -> Words:
    words = text.split()
    return _runs(f" {' '.join(words)} " if words else "", LEAST, MOST)


def _runs(text: str, least: int, most: int) -> Words:
    points = _points(text)
    hashes = np.empty((most - least + 1) * len(points), dtype=np.uint64)
    return hashes[: character_grams(points, least, most, hashes)]


def _points(text: str) -> NDArray[np.uint32]:
    """Return the characters of a text as numbers; half a character is one too."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)
