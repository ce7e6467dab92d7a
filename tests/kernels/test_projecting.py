"""The compiled projection and n-grams against maths, to the last bit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels
from minout.maths import SparseRows, projection

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
def test_the_projection_is_that_of_maths(seed, count, map_seed, width):
    rows = sparse_rows(seed, count)
    out = np.full((count, width), np.nan, dtype=np.float32)
    uncounted(kernels.project, rows, map_seed, out)
    expected = projection.projected(rows, map_seed, width).astype(np.float32)
    assert out.tobytes() == expected.tobytes()


@given(st.lists(st.text(alphabet="abz", min_size=1, max_size=5), max_size=8))
def test_words_and_pairs_have_the_hashes_of_maths(words):
    text = points("".join(f"{word} " for word in words))
    out = np.zeros(len(text), dtype=np.uint64)
    found = out[: uncounted(kernels.word_grams, text, out)]
    assert sorted(found.tolist()) == sorted(projection.word_grams(text))
    assert len(found) == max(0, 2 * len(words) - 1)


@given(TEXTS, st.integers(1, 4), st.integers(0, 3))
def test_runs_of_characters_have_the_hashes_of_maths(text, least, more):
    text = points(f" {' '.join(text.split())} " if text.split() else "")
    out = np.zeros((more + 1) * len(text), dtype=np.uint64)
    found = out[: uncounted(kernels.character_grams, text, least, least + more, out)]
    assert sorted(found.tolist()) == sorted(projection.character_grams(text, least, least + more))


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=12), st.integers(4, 20))
def test_counts_are_scaled_and_projected_as_maths_says(hashes, width):
    sums = np.zeros(width)
    uncounted(kernels.add_counts, np.sort(np.array(hashes, dtype=np.uint64)), 1.0, 7, sums)
    expected = projection.projected(projection.unit_counts(hashes), 7, width)[0]
    assert sums.tobytes() == expected.tobytes()


def test_entries_are_spread_evenly_over_outputs_and_signs():
    places, signs = projection.entries(np.arange(40_000, dtype=np.uint64), 0, 10)
    # Quarters of 10 outputs have 2, 3, 2 and 3.
    counts = np.bincount(places.ravel(), minlength=10) / 40_000
    np.testing.assert_allclose(
        counts, [1 / 2] * 2 + [1 / 3] * 3 + [1 / 2] * 2 + [1 / 3] * 3, atol=0.02
    )
    assert (np.abs(signs.mean(axis=0)) < 0.01).all()
    assert np.abs(np.corrcoef(signs.T) - np.eye(4)).max() < 0.02
