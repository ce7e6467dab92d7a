"""Numbers of 8, 4 and 2 bits: which levels they have, and what is refused."""

import numpy as np
import pytest

from minout.codecs import FloatCodec, RowCodec, ScalarCodec
from minout.errors import InvalidInputError


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_a_scalar_codec_is_off_by_half_a_step_at_most(bits):
    rng = np.random.default_rng(bits)
    low, high = np.array([-3.0, 0.0, 1990.0, 5.0]), np.array([2.0, 1e6, 2030.0, 5.0])
    X = rng.uniform(low, high, (500, 4))
    codec = ScalarCodec(bits, low, high)
    decoded = codec.decode(codec.encode(X))
    step = (high - low) / (2**bits - 1)
    assert (np.abs(decoded - X) <= 0.5 * step * (1.0 + 1e-9)).all()
    assert np.array_equal(codec.decode(codec.encode([low, high])), [low, high])
    assert codec.decode(codec.encode([low - 1.0]))[0].tolist() == low.tolist()
    assert codec.decode(codec.encode([high + 1.0]))[0].tolist() == high.tolist()


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_a_row_codec_is_off_by_half_a_step_of_its_row_at_most(bits):
    X = np.random.default_rng(bits).normal(size=(200, 9)).astype(np.float32).astype(float)
    X[:100] = 1000.0 * X[:100] + 5.0
    X[7] = 3.0
    codec = RowCodec(bits, 9)
    decoded = codec.decode(codec.encode(X))
    step = (X.max(axis=1) - X.min(axis=1)) / (2**bits - 1)
    assert (np.abs(decoded - X) <= 0.5 * step[:, None] + 1e-4).all()
    assert decoded[7].tolist() == [3.0] * 9
    assert np.array_equal(decoded.max(axis=1), X.max(axis=1).astype(np.float32))


def test_a_float_codec_is_off_by_a_sixteenth_at_most_down_to_a_16000th_of_the_largest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8)) * 10.0 ** rng.integers(-60, 60, (500, 1))
    X *= 2.0 ** -rng.integers(0, 12, (500, 8))
    codec = FloatCodec(8)
    decoded, largest = codec.decode(codec.encode(X)), np.abs(X).max(axis=1, keepdims=True)
    kept = (largest > 2.0**-99) & (np.abs(X) >= largest * 2.0**-14)
    assert kept.mean() > 0.5
    assert (np.abs(decoded - X)[kept] <= np.abs(X)[kept] / 16.0).all()
    assert (np.sign(decoded)[kept] == np.sign(X)[kept]).all()


def test_a_float_codec_keeps_whole_numbers_to_16_and_zeros():
    X = np.concatenate([np.arange(17.0), -np.arange(17.0)])[None]
    codec = FloatCodec(34)
    assert codec.decode(codec.encode(X)).tolist() == X.tolist()
    assert not np.signbit(codec.decode(codec.encode(-np.zeros((1, 34))))).any()


def test_a_row_whose_largest_number_is_rounded_up_to_a_power_of_two_has_one_code():
    codec = FloatCodec(3)
    for largest in (1.9375, np.nextafter(1.9375, 2.0), 1.99, 2.0):
        row = [[largest, 2.0**-16, -0.3]]
        codes = codec.encode(row)
        assert codec.encode(codec.decode(codes)).tobytes() == codes.tobytes()
        assert codec.decode(codes)[0, 0] == (2.0 if largest > 1.9375 else 1.875)


def test_numbers_are_packed_from_the_lowest_bits_on():
    assert ScalarCodec(2, 0, 3).encode([[1, 2, 3, 0, 2]]).tolist() == [[0b00111001, 0b10]]
    assert ScalarCodec(4, 0, 15).encode([[1, 2, 15]]).tolist() == [[0x21, 0x0F]]
    assert ScalarCodec(8, 0, 255).encode([[1, 255]]).tolist() == [[1, 255]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((3, 0.0, 1.0), "bits is 3"),
        ((True, 0.0, 1.0), "bits is True"),
        ((8, 1.0, 0.0), "low is above high"),
        ((8, "a", 1.0), "low is 'a'"),
        ((8, 0.0, np.inf), "high holds"),
        ((8, [0.0, 1.0], [1.0, 2.0, 3.0]), "low has 2 numbers and high 3"),
        ((8, [[0.0]], 1.0), "low is"),
        ((8, 1e9, 1e9 + 1.0), "too close"),
        ((8, [0.0, 0.0], 1.0, 3), "rows of 3 numbers"),
        ((8, 0.0, 1.0, -1), "width is -1"),
    ],
    ids=["bits", "true", "order", "text", "inf", "lengths", "matrix", "close", "width", "negative"],
)
def test_a_bad_range_is_refused_in_a_sentence(arguments, said):
    with pytest.raises(InvalidInputError, match=said):
        ScalarCodec(*arguments)


@pytest.mark.parametrize(
    "sample",
    [[], np.zeros((0, 3)), [[np.nan]], ["a"], [1.0]],
    ids=["nothing", "no rows", "nan", "text", "row"],
)
def test_a_bad_sample_is_refused_in_a_sentence(sample):
    with pytest.raises(InvalidInputError):
        ScalarCodec.fit(sample)


def test_a_number_too_large_for_the_bounds_of_a_row_is_refused():
    with pytest.raises(InvalidInputError, match="too large"):
        RowCodec(4, 2).encode([[0.0, 1e60]])


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_whose_levels_single_precision_does_not_tell_apart_has_one_code(bits, dtype):
    shares, codec = np.linspace(0.0, 1.0, 60), RowCodec(bits, 60)
    for low, size in ((1e9, 640.0), (-3e-45, 1e-44), (1.0, 1e-6), (0.0, 1e-300)):
        codes = codec.encode([low + size * shares])
        decoded = codec.decode(codes, dtype)
        assert codec.encode(decoded).tobytes() == codes.tobytes()
        assert codec.decode(codec.encode(decoded), dtype).tobytes() == decoded.tobytes()
