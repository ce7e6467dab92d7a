"""What every codec promises, whichever it is."""

import copy
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout.codecs import (
    Codec,
    FloatCodec,
    OwnCodec,
    ProductCodec,
    RowCodec,
    ScalarCodec,
    codec_of,
    described,
    restored,
)
from minout.errors import InvalidInputError
from oracle.codecs import AsTheyAre, Shrinking

WIDTH = 7


def rows(count, seed=0):
    """Draw rows with zeros, and with numbers of every size."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.integers(-3, 4, (count, WIDTH))
    return rng.normal(size=(count, WIDTH)) * (rng.random((count, WIDTH)) < 0.8) * sizes


SAMPLE = rows(300, seed=1)
CODECS = {
    "uint8": codec_of("uint8").for_width(WIDTH),
    "uint4": codec_of("uint4").for_width(WIDTH),
    "uint2": codec_of("uint2").for_width(WIDTH),
    "row of 8 bits": RowCodec(8, WIDTH),
    "scalar of 8 bits": ScalarCodec(8, -1.0, 3.0, WIDTH),
    "scalar of 4 bits": ScalarCodec(4, -np.arange(1.0, WIDTH + 1), 2.0),
    "scalar of 2 bits": ScalarCodec(2, 0.0, 1000.0, WIDTH),
    "fitted scalar": ScalarCodec.fit(SAMPLE, bits=4),
    "product": ProductCodec.fit(SAMPLE, bytes_per_row=3),
    "product of few": ProductCodec.fit(SAMPLE[:5], bytes_per_row=1),
    "own": OwnCodec(AsTheyAre(WIDTH)),
    "own without fixed points": OwnCodec(Shrinking(WIDTH)),
}
every_codec = pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)
every_saved_codec = pytest.mark.parametrize(
    "codec",
    [each for each in CODECS.values() if not isinstance(each, OwnCodec)],
    ids=[name for name, each in CODECS.items() if not isinstance(each, OwnCodec)],
)


@every_codec
def test_it_is_a_codec(codec):
    assert isinstance(codec, Codec)
    codes = codec.encode(rows(4))
    assert codes.dtype == np.uint8
    assert codes.shape == (4, codec.bytes_per_row)
    for dtype in ("float32", "float64"):
        decoded = codec.decode(codes, dtype)
        assert decoded.shape == (4, codec.width)
        assert decoded.dtype == dtype
        assert np.isfinite(decoded).all()


@every_codec
def test_one_equals_many_to_the_last_bit(codec):
    X = rows(70)
    codes = codec.encode(X)
    for dtype in (np.float32, np.float64):
        decoded = codec.decode(codes, dtype)
        for i in range(70):
            assert codec.encode(X[i : i + 1]).tobytes() == codes[i].tobytes()
            assert codec.decode(codes[i : i + 1], dtype).tobytes() == decoded[i].tobytes()


@every_codec
@settings(max_examples=15)
@given(st.lists(st.integers(0, 39), max_size=30))
def test_a_row_does_not_depend_on_its_company(codec, picked):
    X, picked = rows(40), np.array(picked, dtype=np.int64)
    codes = codec.encode(X)
    assert codec.encode(X[picked]).tobytes() == codes[picked].tobytes()
    assert codec.decode(codes[picked]).tobytes() == codec.decode(codes)[picked].tobytes()


@every_codec
def test_neither_depends_on_how_the_batch_lies_in_memory(codec):
    X = rows(6)
    codes = codec.encode(X)
    assert codec.encode(np.asfortranarray(X)).tobytes() == codes.tobytes()
    assert codec.encode(np.repeat(X, 2, axis=0)[::2]).tobytes() == codes.tobytes()
    expected = codec.decode(codes).tobytes()
    assert codec.decode(np.asfortranarray(codes)).tobytes() == expected
    assert codec.decode(np.repeat(codes, 2, axis=0)[::2]).tobytes() == expected


NUMBERS = st.floats(-1e14, 1e14)


@every_saved_codec
@settings(max_examples=60)
@given(st.lists(NUMBERS, min_size=WIDTH, max_size=WIDTH), st.sampled_from(["float32", "float64"]))
def test_a_decoded_row_has_the_same_code(codec, row, dtype):
    codes = codec.encode([row])
    decoded = codec.decode(codes, dtype)
    assert codec.encode(decoded).tobytes() == codes.tobytes()
    assert codec.decode(codec.encode(decoded), dtype).tobytes() == decoded.tobytes()


@every_saved_codec
def test_a_description_restores_it(codec):
    about, arrays = described(codec)
    twin = restored(json.loads(json.dumps(about)), arrays)
    assert type(twin) is type(codec)
    assert twin.fingerprint == codec.fingerprint == about["fingerprint"]
    codes = codec.encode(rows(9))
    assert twin.encode(rows(9)).tobytes() == codes.tobytes()
    assert twin.decode(codes).tobytes() == codec.decode(codes).tobytes()


@every_codec
def test_copies_are_the_same(codec):
    for twin in (copy.deepcopy(codec), pickle.loads(pickle.dumps(codec))):
        assert twin.fingerprint == codec.fingerprint
        assert twin.encode(rows(9)).tobytes() == codec.encode(rows(9)).tobytes()


def test_fingerprints_differ():
    others = [
        ScalarCodec(8, -1.0, 3.5, WIDTH),
        ScalarCodec(4, -1.0, 3.0, WIDTH),
        ProductCodec(np.zeros((2, 3)), 1),
        ProductCodec(np.zeros((2, 3)), 2),
        ProductCodec(np.zeros((2, 3)), 2, [1.0, 2.0, 3.0]),
    ]
    found = [each.fingerprint for each in (*CODECS.values(), *others)]
    assert len(set(found)) == len(found)


def fixed_text():
    """Return codes and fingerprints that must be the same in every process."""
    made = [CODECS[name] for name in ("uint8", "uint4", "scalar of 4 bits")]
    return " ".join(f"{each.fingerprint} {each.encode(rows(3)).tobytes().hex()}" for each in made)


def test_codes_and_fingerprints_are_the_same_in_another_process():
    program = (
        "import importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('laws', {__file__!r})\n"
        "laws = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(laws)\n"
        "print(laws.fixed_text())\n"
    )
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "7"}
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == fixed_text()


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([1.0, 2.0], "shape"),
        ([["a"] * WIDTH], "numbers"),
        (np.zeros((2, WIDTH + 1)), f"{WIDTH} numbers"),
        (np.full((1, WIDTH), np.nan), "NaN"),
    ],
    ids=["one row", "text", "width", "nan"],
)
@every_codec
def test_bad_rows_are_refused_in_a_sentence(codec, bad, said):
    with pytest.raises(InvalidInputError, match=said) as caught:
        codec.encode(bad)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros(3, np.uint8),
        np.zeros((2, 99), np.uint8),
        np.zeros((2, 3)),
    ],
    ids=["one", "size", "dtype"],
)
@every_codec
def test_bad_codes_are_refused_in_a_sentence(codec, bad):
    with pytest.raises(InvalidInputError, match="uint8"):
        codec.decode(bad)


@every_codec
def test_another_width_is_refused_in_a_sentence(codec):
    assert codec.for_width(WIDTH).width == WIDTH
    with pytest.raises(InvalidInputError, match=f"rows of {WIDTH} numbers"):
        codec.for_width(WIDTH + 1)


@every_codec
def test_no_rows_have_no_codes(codec):
    assert codec.encode(np.zeros((0, WIDTH))).shape == (0, codec.bytes_per_row)
    empty = np.zeros((0, codec.bytes_per_row), np.uint8)
    assert codec.decode(empty).shape == (0, WIDTH)


@pytest.mark.parametrize(
    "kind", [FloatCodec(), RowCodec(4), ScalarCodec(2, 0, 1)], ids=["float", "row", "scalar"]
)
def test_a_codec_without_a_width_takes_rows_of_any(kind):
    assert kind.width is None
    assert kind.bytes_per_row == 0
    for width in (1, 5, 64):
        sized = kind.for_width(width)
        X = np.random.default_rng(0).random((4, width))
        assert kind.encode(X).tobytes() == sized.encode(X).tobytes()
        assert sized.decode(sized.encode(X)).shape == X.shape
