"""Scattering: against its definition, and what it is for."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.features import Scattering
from oracle.scattering import scattering

# float32 errs by 1e-7 of the strongest answers. Where a block is faint beside them (all around
# one bright point), scaling it to unit length enlarges that error with it.
TOLERANCE, WHERE_NOTHING_IS_FAINT = 2e-5, 3e-7


def stroke(height, width, down=0.0, right=0.0):
    """Draws a bent, soft stroke, moved by so many pixels."""
    y, x = np.mgrid[:height, :width]
    y, x = (y - down) / height, (x - right) / width
    off = y - 0.5 - 0.25 * np.sin(5 * x)
    return np.exp(-((off * 12) ** 2)) * ((x > 0.2) & (x < 0.8))


def row_of(image, **options):
    image = np.asarray(image, dtype=float)
    return Scattering(image.shape, **options).transform(image.reshape(1, -1))[0]


@st.composite
def images(draw):
    """Draws an image (height, width, channels) and the number of scales and orientations."""
    scales = draw(st.integers(1, 3))
    height, width = draw(st.integers(8, 18)), draw(st.integers(8, 18))
    channels, seed = draw(st.integers(1, 2)), draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    kind = draw(st.sampled_from(["noise", "flat with noise", "sparse", "one bright point"]))
    image = rng.normal(size=(height, width, channels))
    if kind == "flat with noise":
        image = 100 + image
    if kind == "sparse":
        image *= rng.random(image.shape) < 0.1
    if kind == "one bright point":
        image[:] = 0
        image[height // 2, -1, 0] = -3
    return image, scales, draw(st.integers(1, 3))


@settings(max_examples=20)
@given(images())
@example((stroke(28, 28)[:, :, None], 3, 6))
@example((stroke(32, 60)[:, :, None], 4, 2))
def test_scattering_equals_its_definition(drawn):
    image, scales, orientations = drawn
    fast = row_of(image, scales=scales, orientations=orientations)
    np.testing.assert_allclose(fast, scattering(image, scales, orientations), atol=TOLERANCE)


@pytest.mark.parametrize("shape", [(8, 8, 1), (28, 28, 1), (11, 17, 3), (33, 60, 1)])
def test_scattering_of_noise_equals_its_definition_to_the_rounding(shape):
    image = np.random.default_rng(1).normal(size=shape)
    fast, slow = row_of(image, orientations=4), scattering(image, 3, 4)
    np.testing.assert_allclose(fast, slow, atol=WHERE_NOTHING_IS_FAINT)


def test_a_square_row_is_a_grey_image():
    X = stroke(28, 28).reshape(1, -1)
    row = Scattering().transform(X)
    assert row.shape == (1, 2032)
    assert (Scattering((28, 28)).transform(X) == row).all()
    assert (Scattering((28, 28, 1)).transform(X) == row).all()


def test_a_blank_image_gives_zeros():
    X = np.stack([np.zeros(100), np.ones(100)])
    assert Scattering((10, 10)).transform(X).any(axis=1).tolist() == [False, True]


@pytest.mark.parametrize("factor", [2.0**-1000, 0.5, 256.0, 2.0**900])
def test_brightness_by_powers_of_two_changes_no_bit(factor):
    image = np.round(stroke(28, 28) * 255)
    assert (row_of(image * factor) == row_of(image)).all()


def relative_change(before, after):
    return np.linalg.norm(before - after) / np.linalg.norm(before)


@pytest.mark.parametrize(("down", "right"), [(1, 0), (0, 1), (-0.5, 0.5)])
def test_a_small_shift_changes_the_features_less_than_half_as_much_as_the_pixels(down, right):
    before, after = stroke(28, 28), stroke(28, 28, down, right)
    assert relative_change(row_of(before), row_of(after)) < 0.5 * relative_change(before, after)


def test_a_turned_stroke_changes_the_features_more_than_a_shift():
    image = stroke(28, 28)
    shifted = relative_change(row_of(image), row_of(stroke(28, 28, 1, 1)))
    assert relative_change(row_of(image), row_of(image.T)) > 2 * shifted


@pytest.mark.parametrize(
    ("count", "features"), [(1000, Scattering()), (6000, Scattering(None, 1, 1))]
)
def test_memory_stays_small(count, features):
    X = np.random.default_rng(0).integers(0, 256, (count, 784)).astype(np.uint8)
    features.transform(X[:1])
    tracemalloc.start()
    rows = features.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - rows.nbytes < 50e6


WRONG = {
    "a shape of one number": lambda: Scattering((784,)),
    "a number": lambda: Scattering(28),
    "no channels": lambda: Scattering((28, 28, 0)),
    "seven pixels": lambda: Scattering((7, 28)),
    "a row of seven by seven": lambda: Scattering().transform(np.zeros((1, 49))),
    "more scales than pixels": lambda: Scattering((15, 16), scales=4),
    "a row that is no square": lambda: Scattering().transform(np.zeros((1, 785))),
    "a row of another length": lambda: Scattering((28, 28, 3)).transform(np.zeros((1, 784))),
    "endless scales": lambda: Scattering(scales=10**9),
    "half an orientation": lambda: Scattering(orientations=0.5),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_what_cannot_be_read_is_refused_in_a_sentence_that_names_the_setting(call):
    with pytest.raises(InvalidInputError, match=r"image_shape|scales|orientations"):
        call()
