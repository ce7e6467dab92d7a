"""What a scattering does between its transforms, against NumPy on numbers without rounding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels


def eighths(seed, *shape, size=16):
    return (np.random.default_rng(seed).integers(-size, size + 1, shape) / 8).astype(np.float32)


def pairs(complexes):
    return np.ascontiguousarray(complexes).astype(np.complex64).view(np.float32)


SEEDS = st.integers(0, 2**32)


@given(SEEDS, st.integers(0, 3), st.integers(1, 3), st.tuples(*4 * [st.integers(1, 3)]))
def test_folded_products_are_the_spectra_of_every_nth_point(seed, maps, filters, sizes):
    (h, w), (down, across) = sizes[:2], sizes[2:]
    real, imaginary = eighths(seed, 2, maps, h * down, w * across)
    spectra = real + 1j * imaginary
    responses = eighths(seed + 1, filters, h * down, w * across)
    out = np.full((maps, filters, h, 2 * w), np.nan, dtype=np.float32)
    kernels.filtered(pairs(spectra), np.repeat(responses, 2, axis=2), out)
    products = spectra[:, None] * responses
    folded = products.reshape(maps, filters, down, h, across, w).sum(axis=(2, 4))
    assert (out == pairs(folded)).all()
    every = np.fft.ifft2(products)[:, :, ::down, ::across] * down * across
    np.testing.assert_allclose(np.fft.ifft2(folded), every, atol=1e-5)


@given(SEEDS, st.tuples(*3 * [st.integers(1, 4)]))
def test_moduli_are_absolute_values(seed, shape):
    real, imaginary = eighths(seed, 2, *shape)
    out = np.full(shape, np.nan, dtype=np.float32)
    kernels.moduli(pairs(real + 1j * imaginary), out)
    squares = real.astype(np.float64) ** 2 + imaginary.astype(np.float64) ** 2
    assert (out == np.sqrt(squares).astype(np.float32)).all()


@given(SEEDS, st.tuples(*3 * [st.integers(1, 5)]))
def test_pooling_is_a_matrix_product_from_both_sides(seed, shape):
    maps, down, across = eighths(seed, *shape), eighths(1, 4, shape[1]), eighths(2, 4, shape[2])
    out = np.full((shape[0], 16), np.nan, dtype=np.float32)
    kernels.pooled(maps, down, across, out)
    assert (out == (down @ maps @ across.T).reshape(-1, 16)).all()


def evened(rows, groups, floor):
    rows = np.array(rows, dtype=np.float32)
    kernels.even_out(rows, np.cumsum([0, *groups]), floor)
    return rows


def test_a_lone_path_is_a_block_over_all_places_and_others_are_one_at_each():
    row = [[3, 0, 4], [3, 0, 5], [4, 0, 12]]  # one lone path, then two together; three places
    third = np.sqrt(1 / 3)
    expected = [
        [0.6 * third, 0, 0.8 * third],
        [0.6 * third, 0, 5 / 13 * third],
        [0.8 * third, 0, 12 / 13 * third],
    ]
    np.testing.assert_allclose(evened([row], [1, 2], 0.0)[0], expected, atol=1e-7)


@given(SEEDS, st.integers(0, 3))
def test_rows_have_unit_length_or_none(seed, count):
    rows = eighths(seed, count, 4, 3, size=2)
    lengths = np.linalg.norm(evened(rows, [1, 3], 1e-4).reshape(count, 12), axis=1)
    np.testing.assert_allclose(lengths, rows.reshape(count, 12).any(axis=1), atol=1e-6)
