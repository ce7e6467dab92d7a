"""The compiled projection and n-grams against plain Python, to the last bit."""

from collections import Counter
from itertools import pairwise
from math import log, sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels
from minout.maths import NgramWeights, SparseRows
from oracle.projection import GOLDEN, MASK, entries, fnv, projected

TEXTS = st.text(alphabet="ab z", max_size=12)


def uncounted(call, *arguments):
    with np.errstate(over="ignore"):  # uncompiled, NumPy warns where 64 bits overflow as they must
        return call(*arguments)


def points(words):
    return np.array([ord(each) for each in words], dtype=np.uint32)


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
    uncounted(kernels.project, rows, map_seed, out)
    for i, (start, end) in enumerate(pairwise(rows.starts.tolist())):
        row = zip(rows.columns[start:end].tolist(), rows.values[start:end].tolist(), strict=True)
        expected = np.array(projected(dict(row), map_seed, width)).astype(np.float32)
        assert out[i].tobytes() == expected.tobytes()


@given(st.lists(st.text(alphabet="abz", min_size=1, max_size=5), max_size=8))
def test_words_and_pairs_have_the_hashes_of_the_oracle(words):
    text = points("".join(f"{word} " for word in words))
    out = np.zeros(len(text), dtype=np.uint64)
    found = out[: uncounted(kernels.word_grams, text, out)]
    single = [fnv(word, 0xCBF29CE484222325) for word in words]
    pairs = [((a * GOLDEN & MASK) ^ b) * 0x100000001B3 & MASK for a, b in pairwise(single)]
    assert sorted(found.tolist()) == sorted(single + pairs)
    assert len(found) == max(0, 2 * len(words) - 1)


@given(TEXTS, st.integers(1, 4), st.integers(0, 3))
def test_runs_of_characters_have_the_hashes_of_the_oracle(text, least, more):
    text = f" {' '.join(text.split())} " if text.split() else ""
    out = np.zeros((more + 1) * len(text), dtype=np.uint64)
    found = out[: uncounted(kernels.character_grams, points(text), least, least + more, out)]
    runs = [
        text[start : start + n]
        for n in range(least, least + more + 1)
        for start in range(len(text) - n + 1)
    ]
    expected = [fnv(run, 0x84222325CBF29CE4) for run in runs if " " not in run[1:-1]]
    assert sorted(found.tolist()) == sorted(expected)


HASHES = st.integers(0, 2**64 - 1) | st.integers(0, 3)


@given(
    st.lists(HASHES, max_size=12),
    st.dictionaries(HASHES, st.sampled_from([0.125, 0.5, 0.75])),
    st.integers(4, 20),
)
def test_counts_are_weighed_scaled_and_projected_as_defined(hashes, common, width):
    sums, ascending = np.zeros(width), np.sort(np.array(hashes, dtype=np.uint64))
    values = np.array([common[each] for each in sorted(common)], dtype=float)
    weights = NgramWeights(np.array(sorted(common), dtype=np.uint64), values)
    uncounted(kernels.add_counts, ascending, weights, 1.0, 7, sums)
    logs = {
        each: float(np.float32(1.0 + log(n))) * common.get(each, 1.0)
        for each, n in sorted(Counter(hashes).items())
    }
    square = 0.0
    for value in logs.values():  # one after the other: `sum` would be more exact
        square += value * value
    unit = {each: value / sqrt(square) for each, value in logs.items()}
    expected = projected(unit, 7, width)
    assert sums.tolist() == expected


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
