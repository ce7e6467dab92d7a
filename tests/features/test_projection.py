"""The sparse projection: an oracle, sparse and dense input, columns that come later."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from minout.errors import InvalidInputError
from minout.features import Projection
from oracle.projection import projected


def table(seed, rows=5, columns=30):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.3)


@settings(max_examples=30)
@given(st.integers(0, 999), st.integers(0, 2**63 - 1), st.integers(4, 40))
def test_rows_are_those_of_a_slow_projection(seed, map_seed, width):
    X = table(seed)
    expected = [projected(dict(enumerate(row)), map_seed, width) for row in X.tolist()]
    found = Projection(width, seed=map_seed).transform(X)
    assert found.tobytes() == np.array(expected, dtype=np.float32).tobytes()


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dia"])
@pytest.mark.parametrize("dtype", ["float64", "bool"])
def test_every_sparse_format_gives_the_row_of_the_dense_one(kind, dtype):
    X = (4 * table(1)).round().astype(dtype)
    expected = Projection().transform(X).tobytes()
    assert Projection().transform(sparse.csr_array(X).asformat(kind)).tobytes() == expected
    assert Projection().transform(sparse.csr_matrix(X).asformat(kind)).tobytes() == expected


@settings(max_examples=20)
@given(st.integers(0, 999), st.integers(1, 50))
def test_columns_of_zeros_at_the_end_change_nothing(seed, more):
    X = table(seed)
    wider = np.hstack([X, np.zeros((len(X), more))])
    expected = Projection(16).transform(X).tobytes()
    assert Projection(16).transform(wider).tobytes() == expected
    assert Projection(16).transform(sparse.csr_array(wider)).tobytes() == expected


def test_entries_in_any_order_and_in_parts_are_one_row_and_stay_as_given():
    # All columns meet in four outputs; where the large ones cancel, the order shows.
    data, places = np.array([1e14, 4e14, 3e14, 0.3]), np.array([0, 9, 0, 5])
    X = sparse.csr_array((data, places, np.array([0, 4])), shape=(1, 10))
    dense = np.zeros((1, 10))
    dense[0, [0, 5, 9]] = 4e14, 0.3, 4e14
    expected = Projection(4).transform(dense)
    assert (np.abs(expected) < 1).any()
    assert Projection(4).transform(X).tobytes() == expected.tobytes()
    assert (X.data.tolist(), X.indices.tolist()) == (data.tolist(), places.tolist())


def test_the_largest_column_numbers_are_columns_too():
    far = sparse.coo_array(([1.0], ([0], [2**62])), shape=(1, 2**62 + 1))
    found = Projection(16).transform(far)[0]
    assert found.tolist() == projected({2**62: 1.0}, 0, 16)


def test_inner_products_are_kept_on_average():
    x, y = table(3, 2, 200)
    products = []
    for seed in range(300):
        a, b = Projection(64, seed=seed).transform([x, y]).astype(np.float64)
        products.append([a @ a, a @ b])
    spread = np.std(products, axis=0) / np.sqrt(300)
    assert (np.abs(np.mean(products, axis=0) - [x @ x, x @ y]) < 4 * spread).all()
    assert (spread < 0.05 * (x @ x)).all()


BAD = {
    "NaN": sparse.csr_array([[0.0, np.nan]]),
    "no columns": sparse.csr_array((2, 0)),
    "one axis": sparse.coo_array(np.ones(3)),
    "a sum too large": sparse.csr_array([[1e15, 3e15]]),
    "a sum beyond float64": sparse.csr_array([[1.7e308, 1.7e308]]),
    "dense numbers too large": [[1e16, 0.0]],
}


@pytest.mark.parametrize("X", BAD.values(), ids=BAD)
def test_bad_input_is_refused_in_a_sentence(X):
    with pytest.raises(InvalidInputError) as caught:
        Projection(4).transform(X)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("settings", [{"width": 3}, {"width": 2**21}, {"width": 8.0}, {"seed": -1}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(InvalidInputError, match="pass a whole number from"):
        Projection(**settings)
