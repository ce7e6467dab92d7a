"""Product quantisation: the nearest centroids, found in a sample."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from minout import Learner
from minout.codecs import ProductCodec
from minout.errors import InvalidInputError

RNG = np.random.default_rng(0)
SAMPLE = RNG.normal(size=(600, 10)) * np.logspace(-2, 3, 10)


def test_codes_are_the_nearest_centroids_of_each_part():
    codec = ProductCodec.fit(SAMPLE, bytes_per_row=3, seed=1)
    codes = codec.encode(SAMPLE)
    assert codec.ends.tolist() == [0, 3, 6, 10]
    for part, (start, end) in enumerate([(0, 3), (3, 6), (6, 10)]):
        apart = SAMPLE[:, None, start:end] - codec.centroids[None, :, start:end]
        squares = np.square(apart * codec.factors[start:end]).sum(axis=2)
        assert codes[:, part].tolist() == squares.argmin(axis=1).tolist()


def test_more_bytes_are_closer():
    errors = []
    for size in (1, 2, 5, 10):
        codec = ProductCodec.fit(SAMPLE, bytes_per_row=size)
        apart = (codec.decode(codec.encode(SAMPLE)) - SAMPLE) * codec.factors
        errors.append(float(np.square(apart).mean()))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01
    assert len(set(errors)) == 4


def test_a_fit_is_the_same_each_time_and_depends_on_the_seed():
    one, same, other = (ProductCodec.fit(SAMPLE, 2, seed=seed) for seed in (3, 3, 4))
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_a_column_that_is_constant_in_the_sample_stays_so():
    X = SAMPLE[:50].copy()
    X[:, 4] = 7.0
    codec = ProductCodec.fit(X, 10)
    assert (codec.decode(codec.encode(SAMPLE))[:, 4] == 7.0).all()


def test_a_column_that_is_mostly_zero_is_zero_where_its_members_are():
    X = np.zeros((300, 6))
    X[:, :3] = np.arange(900).reshape(300, 3) % 17
    X[::100, 3:] = 5.0
    found = (codec := ProductCodec.fit(X, 2)).decode(codec.encode(X))
    assert found[:, 3:].tolist() == X[:, 3:].tolist()


def test_digits_in_product_codes_can_be_standardized():
    X, y = load_digits(return_X_y=True)
    for size, sample in ((8, X), (32, X[:80])):
        codec = ProductCodec.fit(sample, size)
        learner = Learner(standardize=True, C=5, memory=codec)
        learner.teach_many(X[:80], y[:80].tolist())
        assert learner.audit().ok
        assert (learner.predict(X[:80]) == y[:80]).all()


@pytest.mark.parametrize("size", [0, 11, 1.5, True, None])
def test_a_bad_number_of_bytes_is_refused_in_a_sentence(size):
    with pytest.raises(InvalidInputError, match="parts is"):
        ProductCodec.fit(SAMPLE, bytes_per_row=size)


@pytest.mark.parametrize(
    "arguments",
    [
        (np.zeros((257, 3)), 1),
        (np.zeros(3), 1),
        (np.full((2, 3), np.nan), 1),
        (np.zeros((2, 3)), 1, [1.0]),
        (np.zeros((2, 3)), 1, [1.0, 0.0, 1.0]),
        ("centroids", 1),
    ],
    ids=["many", "row", "nan", "length", "zero", "text"],
)
def test_bad_centroids_are_refused_in_a_sentence(arguments):
    with pytest.raises(InvalidInputError):
        ProductCodec(*arguments)


def test_a_code_that_no_centroid_has_is_that_of_the_last_one():
    codec = ProductCodec(np.arange(6.0).reshape(2, 3), 3)
    assert codec.decode(np.array([[255, 0, 1]], dtype=np.uint8)).tolist() == [[3.0, 1.0, 5.0]]


def test_of_equal_centroids_the_first_is_taken():
    codec = ProductCodec([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [3.0, 4.0]], 1)
    assert codec.encode([[1.1, 2.0], [3.0, 4.1]]).tolist() == [[0], [2]]
