"""Hashed text: strings to rows of numbers by their words and runs of characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from minout._typing import Ints
from minout.errors import InvalidInputError
from minout.features.feature_map import HashedMap
from minout.kernels import hash_ngrams, hash_texts
from minout.maths import NgramWeights

STEPS, SPACE = 64, "␣"
"""In `common.txt` weights are whole numbers of 64ths, and "␣" stands for a space."""


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
        texts = [normalize("NFKC", text).casefold() for text in check_texts(X)]
        out = np.empty((len(texts), self.width), dtype=np.float32)
        hash_texts(*_characters(texts), self.seed, *_common(), out)
        return out


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


def _characters(texts: list[str]) -> tuple[NDArray[np.uint32], Ints]:
    # The characters of all texts, one after the other, and where each text begins.
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    whole = "".join(texts).encode("utf-32-le", "surrogatepass")  # half a character is one too
    return np.frombuffer(whole, "<u4").astype(np.uint32, copy=False), starts


@cache
def _common() -> tuple[NgramWeights, NgramWeights]:
    # The weights of common words and pairs, and those of common runs.
    lines = files(__package__).joinpath("common.txt").read_text(encoding="utf-8").splitlines()
    found: dict[str, dict[str, float]] = {"word": {}, "run": {}}
    for line in lines:
        kind, weight, *ngrams = line.split(" ")
        found[kind] |= {each.replace(SPACE, " "): int(weight) / STEPS for each in ngrams}
    return _weights(found["word"], are_words=True), _weights(found["run"], are_words=False)


def _weights(common: dict[str, float], *, are_words: bool) -> NgramWeights:
    hashes = np.empty(len(common), dtype=np.uint64)
    hash_ngrams(*_characters([*common]), are_words, hashes)
    order = np.argsort(hashes)
    return NgramWeights(hashes[order], np.array([*common.values()])[order])
