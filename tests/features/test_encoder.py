"""From what a user passes as `features` to a feature map; a function of the user's as a map."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.features import Encoder, HashedText, Identity, Projection, Scattering, name_of, named


def lengths(words):
    return np.array([[len(word), word == "a"] for word in words])


class Network:
    """Stands for a frozen network."""

    def __call__(self, batch):
        return lengths(batch)


def test_a_function_makes_rows_of_the_promised_type():
    made = Encoder(lengths).transform(["a", "three"])
    assert made.tolist() == [[1, 1], [5, 0]]
    assert made.dtype == np.float32
    assert Encoder(lengths, dtype="float64").transform(["x"]).dtype == np.float64


def test_what_the_function_returned_is_not_kept():
    kept = np.ones((2, 3), dtype=np.float32)
    rows = Encoder(lambda _: kept).transform([0, 1])
    rows[:] = 9
    assert (kept == 1).all()


RETURNED = {
    "one row too few": (np.zeros((1, 3)), r"shape \(1, 3\) for a batch of 2"),
    "one axis": (np.zeros(2), r"shape \(2,\) for a batch of 2"),
    "no columns": (np.zeros((2, 0)), r"shape \(2, 0\)"),
    "NaN": ([[0.0], [float("nan")]], "NaN or infinity"),
    "words": ([["a"], ["b"]], "make it return numbers"),
    "nothing": (None, "make it return numbers"),
    "too large": ([[1e16], [0.0]], "too large for rows of float32"),
}


@pytest.mark.parametrize(("returned", "sentence"), RETURNED.values(), ids=RETURNED)
def test_what_are_not_rows_is_refused_in_a_sentence(returned, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Encoder(lambda _: returned).transform(["x", "y"])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Encoder(lengths).transform(word for word in "abc"), "has a length, but got gen"),
        (lambda: Encoder("scattering"), "cannot be called"),
        (lambda: Encoder(lengths, dtype="float16"), 'pass "float32" or "float64"'),
        (lambda: Identity(None), 'pass "float32" or "float64"'),
        (lambda: Identity("f8x"), 'pass "float32" or "float64"'),
    ],
)
def test_what_is_no_function_or_name_is_refused_in_a_sentence(call, said):
    with pytest.raises(InvalidInputError, match=said):
        call()


def test_a_name_stands_for_the_function_and_by_default_it_is_that_of_the_function():
    assert Encoder(lengths, "net").fingerprint == Encoder(Network(), "net").fingerprint
    assert Encoder(lengths, "net").fingerprint != Encoder(lengths, "net2").fingerprint
    assert Encoder(lengths, "net").fingerprint.startswith("encoder:net-1-")
    assert Encoder(lengths).name == f"{__name__}.lengths"
    assert Encoder(Network()).name == f"{__name__}.Network"


def test_names_mean_the_defaults_and_maps_come_by_their_names():
    defaults = {"identity": Identity(), "scattering": Scattering(), "text": HashedText()}
    for name, default in {**defaults, "projection": Projection()}.items():
        assert named(name) == default
        assert name_of(default) == name
    assert name_of(Projection(7)) == Projection(7)


def test_a_map_is_taken_as_it_is_and_a_function_is_wrapped():
    class Sums:
        dtype = np.dtype(np.float64)
        fingerprint = "sums"

        def transform(self, X):
            return np.sum(X, axis=1, keepdims=True)

    for each in (Sums(), Scattering((9, 9)), Encoder(lengths)):
        assert named(each) is each
    assert named(lengths) == Encoder(lengths)


@pytest.mark.parametrize("features", ["fourier", "", None, 3, Scattering, b"identity"])
def test_all_else_is_refused_in_one_sentence(features):
    with pytest.raises(InvalidInputError, match='pass "identity", "scattering", "projection"'):
        named(features)


@pytest.mark.parametrize(("dtype", "largest"), [("float32", 1e15), ("float64", 1e100)])
def test_numbers_whose_products_overflow_are_refused(dtype, largest):
    X = np.array([[largest, -largest]])
    assert Identity(dtype).transform(X).tolist() == X.astype(dtype).tolist()
    with pytest.raises(InvalidInputError, match=f"too large for rows of {dtype}"):
        Identity(dtype).transform(-1.01 * X)
