"""From what a user writes to a feature map."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.features import Encoder, Identity, RandomFourier, Scattering, named


def double(batch):
    return 2 * np.asarray(batch)


def test_names_mean_the_defaults():
    assert named("identity") == Identity()
    assert named("scattering") == Scattering()
    assert named("random_fourier") == RandomFourier()


@pytest.mark.parametrize("features", [Identity("float32"), Scattering((9, 9)), Encoder(double)])
def test_a_map_is_taken_as_it_is(features):
    assert named(features) is features


def test_a_map_that_somebody_else_wrote_is_taken_as_it_is():
    class Sums:
        dtype = np.dtype(np.float64)
        fingerprint = "sums"

        def transform(self, X):
            return np.sum(X, axis=1, keepdims=True)

    sums = Sums()
    assert named(sums) is sums


def test_a_function_is_wrapped():
    assert named(double) == Encoder(double)
    assert named(double).transform([[1.5]]).tolist() == [[3.0]]


@pytest.mark.parametrize(
    "features", ["Scattering", "", None, 3, Scattering, dict, [1.0], b"identity"]
)
def test_all_else_is_refused_in_one_sentence(features):
    with pytest.raises(InvalidInputError, match='pass "identity", "scattering", "random_fourier"'):
        named(features)
