"""The native projection and n-grams against plain Python, to the last bit."""

import re
from collections import Counter
from itertools import pairwise
from math import log, sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels
from minout.maths import NgramWeights, SparseRows
from oracle.projection import entries, projected, run_hash, word_hash

TEXTS = st.text(alphabet="ab z._\té", max_size=16)


def sparse_rows(seed, count):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, count)
    columns = [np.sort(rng.choice(2**40, size, replace=False)) for size in sizes]
    return SparseRows(
        rng.normal(size=sizes.sum()),
        np.concatenate([*columns, []]).astype(np.uint64),
        np.cumsum([0, *sizes]).astype(np.int64),
    )


@given(st.integers(0, 999), st.integers(0, 4), st.integers(0, 2**63 - 1), st.integers(4, 40))
def test_the_projection_is_that_of_its_definition(seed, count, map_seed, width):
    rows = sparse_rows(seed, count)
    out = np.full((count, width), np.nan, dtype=np.float32)
    kernels.project(rows, map_seed, out)
    for i, (start, end) in enumerate(pairwise(rows.starts.tolist())):
        row = zip(rows.columns[start:end].tolist(), rows.values[start:end].tolist(), strict=True)
        expected = np.array(projected(dict(row), map_seed, width)).astype(np.float32)
        assert out[i].tobytes() == expected.tobytes()


@given(st.lists(TEXTS, max_size=5), st.integers(0, 2**63 - 1), st.integers(4, 20))
def test_texts_have_the_counted_hashes_of_the_oracle(texts, seed, width):
    assert hashed(texts, seed, width).tobytes() == defined(texts, seed, width).tobytes()


def test_a_long_text_has_the_counted_hashes_of_the_oracle():
    letters = np.random.default_rng(0).choice(list("abcdefg  .é中"), 3_000)
    texts = ["".join(letters[:size]) for size in (80, 85, 90, 3_000)]  # from 256 hashes on, too
    assert hashed(texts, 5, 64).tobytes() == defined(texts, 5, 64).tobytes()


def test_words_and_spaces_are_those_of_python():
    rare = "".join(map(chr, range(0x3000))) + "\ud800\U0001d7d8\U0001f600\U00020000"
    texts = [f"a{letter}b" for letter in rare]
    assert hashed(texts, 1, 8).tobytes() == defined(texts, 1, 8).tobytes()


def hashed(texts, seed, width):
    characters = np.array([ord(each) for each in "".join(texts)], dtype=np.uint32)
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    out = np.full((len(texts), width), np.nan, dtype=np.float32)
    kernels.hash_texts(characters, starts, seed, weights(WORDS), weights(RUNS), out)
    return out


WORDS = {word_hash("ab"): 0.5, word_hash("z ab"): 0.25, 7: 0.125}
RUNS = {run_hash(" a"): 0.75, run_hash("ab "): 0.125, run_hash("bbbb"): 0.5}


def weights(common):
    hashes = sorted(common)
    return NgramWeights(np.array(hashes, np.uint64), np.array([common[each] for each in hashes]))


def defined(texts, seed, width):
    """Return rows by the definition; every sum runs through the hashes in ascending order."""
    out = np.zeros((len(texts), width))
    for row, text in zip(out, texts, strict=True):
        words = re.findall(r"\w+", text)
        pairs = [f"{a} {b}" for a, b in pairwise(words)]
        runs = [
            run_hash(f" {token} "[start : start + n])
            for token in text.split()
            for n in (2, 3, 4)
            for start in range(len(token) + 3 - n)
        ]
        in_words = [word_hash(each) for each in words + pairs]
        for hashes, common, share in ((in_words, WORDS, 0.3), (runs, RUNS, 1.0 - 0.3)):
            counts = sorted(Counter(hashes).items())
            logs = {
                each: float(np.float32(1.0 + log(n))) * common.get(each, 1.0) for each, n in counts
            }
            square = 0.0
            for value in logs.values():  # one after the other: `sum` would be more exact
                square += value * value
            for column, value in logs.items():
                amount = sqrt(share) * (value / sqrt(square))
                for place, entry in entries(column, seed, width).items():
                    row[place] += entry * amount
    return out.astype(np.float32)


def test_entries_are_spread_evenly_over_outputs_and_signs():
    found = [entries(column, 0, 10) for column in range(40_000)]
    places, signs = (np.array([list(part(each)) for each in found]) for part in (dict, dict.values))
    # Quarters of 10 outputs have 2, 3, 2 and 3.
    counts = np.bincount(places.ravel(), minlength=10) / 40_000
    np.testing.assert_allclose(
        counts, [1 / 2] * 2 + [1 / 3] * 3 + [1 / 2] * 2 + [1 / 3] * 3, atol=0.02
    )
    assert (np.abs(signs.mean(axis=0)) < 0.01).all()
    assert np.abs(np.corrcoef(signs.T) - np.eye(4)).max() < 0.02
