"""A user's codec is called row by row, and what it returns is checked."""

import numpy as np
import pytest

from minout.codecs import Codes, FloatCodec, OwnCodec, RowCodec, codec_of
from minout.errors import InvalidInputError
from oracle.codecs import Shrinking


class Noting(Shrinking):
    """A codec that notes how many rows each call has."""

    def __init__(self, width):
        super().__init__(width)
        self.calls = []

    def encode(self, rows):
        self.calls.append(len(rows))
        return super().encode(rows)

    def decode(self, codes):
        self.calls.append(len(codes))
        return super().decode(codes)


def test_it_gets_one_row_at_a_time():
    codec = OwnCodec(Noting(3))
    codec.decode(codec.encode(np.zeros((5, 3))))
    assert codec.codec.calls == [1] * 10


def test_it_may_write_to_what_it_gets():
    class Writing(Shrinking):
        def encode(self, rows):
            rows *= 8.0
            return super().encode(rows / 8.0)

        def decode(self, codes):
            codes[:] = np.minimum(codes, 200)
            return super().decode(codes)

    X, codes = np.ones((2, 3)), np.full((2, 3), 250, np.uint8)
    OwnCodec(Writing(3)).encode(X)
    OwnCodec(Writing(3)).decode(codes)
    assert (X == 1.0).all()
    assert (codes == 250).all()


@pytest.mark.parametrize(
    ("name", "returned"),
    [
        ("encode", np.zeros((1, 2), np.uint8)),
        ("encode", np.zeros((1, 3))),
        ("encode", np.zeros(3, np.uint8)),
        ("encode", None),
        ("decode", np.zeros((1, 2))),
        ("decode", np.zeros((1, 3), np.uint8)),
        ("decode", np.array([[0.0, np.nan, 0.0]])),
        ("decode", np.array([[0.0, np.inf, 0.0]])),
        ("decode", np.array([[0.0, 1e101, 0.0]])),
        ("decode", "text"),
    ],
)
def test_what_it_returns_is_checked(name, returned):
    codec = Shrinking(3)
    setattr(codec, name, lambda _: returned)
    own = OwnCodec(codec)
    with pytest.raises(InvalidInputError, match=f"`{name}` returned"):
        own.decode(own.encode(np.zeros((1, 3))))


@pytest.mark.parametrize(
    ("name", "value"),
    [("width", None), ("width", 0), ("width", 2.0), ("bytes_per_row", True), ("fingerprint", "")],
)
def test_what_it_says_of_itself_is_checked(name, value):
    codec = Shrinking(3)
    setattr(codec, name, value)
    with pytest.raises(InvalidInputError, match=name):
        codec_of(codec)


def test_names_and_codecs_are_found():
    assert codec_of("auto") is None
    assert codec_of("uint8") == FloatCodec()
    assert codec_of("uint4") == RowCodec(4)
    assert codec_of("uint2") == RowCodec(2)
    shipped = RowCodec(8)
    assert codec_of(shipped) is shipped
    own = codec_of(Shrinking(3))
    assert isinstance(own, OwnCodec)
    assert codec_of(own) is own


@pytest.mark.parametrize("memory", ["uint16", "", None, 8, Shrinking, FloatCodec, object(), {}])
def test_anything_else_is_refused_in_a_sentence(memory):
    with pytest.raises(InvalidInputError, match="`memory` must be"):
        codec_of(memory)


@pytest.mark.parametrize("bad", [[1, 2], [1.0], np.zeros((1, 1, 1), np.uint8), np.uint8(3), "a"])
def test_codes_are_an_array_of_bytes(bad):
    with pytest.raises(InvalidInputError, match="uint8"):
        Codes(bad)
