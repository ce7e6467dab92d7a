"""Hashed text: strings to rows of numbers by their words and runs of characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError
from minout.features.feature_map import HashedMap
from minout.kernels import hash_texts


@dataclass(frozen=True)
class HashedText(HashedMap):
    """A feature map from strings to rows of a fixed width; nothing is fitted or downloaded.

    Parameters
    ----------
    width : int, default=4096
        The length of a row, from 4 on.
    seed : int, default=0

    Notes
    -----
    Two kinds of features are counted, in lower case: words and pairs of neighbouring words, and
    runs of 2 to 4 characters within a word, with a space at its ends. A count c becomes 1 + log(c).
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

    width: int = 4096

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the rows (n, width) of a list, array, series or one-column frame of texts."""
        texts = [normalize("NFKC", text).casefold() for text in check_texts(X)]
        starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        # Half a character is one too.
        characters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
        out = np.empty((len(texts), self.width), dtype=np.float32)
        hash_texts(characters.astype(np.uint32, copy=False), starts, self.seed, out)
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
