"""What every codec promises, and which numbers each keeps."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import Learner
from minout.codecs import Codec, Codes, OwnCodec, ScalarCodec, codec_of, described, restored
from minout.errors import InvalidInputError
from oracle.codecs import AsTheyAre, Shrinking

WIDTH = 7


def rows(count, seed=0):
    """Draw rows with zeros, and with numbers of every size."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.integers(-3, 4, (count, WIDTH))
    return rng.normal(size=(count, WIDTH)) * (rng.random((count, WIDTH)) < 0.8) * sizes


OURS = {
    "uint8": codec_of("uint8").for_width(WIDTH),
    "fitted": ScalarCodec.fit(rows(300, seed=1)),
    "4 bits": ScalarCodec(4, -np.arange(1.0, WIDTH + 1), np.full(WIDTH, 2.0)),
    "2 bits": ScalarCodec(2, np.zeros(WIDTH), np.full(WIDTH, 1000.0)),
}
OWN = {"own": OwnCodec(AsTheyAre(WIDTH)), "own, shrinking": OwnCodec(Shrinking(WIDTH))}
every_codec = pytest.mark.parametrize("codec", (OURS | OWN).values(), ids=OURS | OWN)
every_codec_of_ours = pytest.mark.parametrize("codec", OURS.values(), ids=OURS)


@every_codec
@settings(max_examples=15)
@given(st.lists(st.integers(0, 39), max_size=30))
def test_a_row_depends_neither_on_its_company_nor_on_how_it_lies_in_memory(codec, picked):
    X, picked = rows(40), np.array(picked, dtype=np.int64)
    codes = codec.encode(X)
    assert isinstance(codec, Codec)
    assert codes.dtype == np.uint8
    assert codes.shape == (40, codec.bytes_per_row)
    assert codec.encode(np.asfortranarray(X[picked])).tobytes() == codes[picked].tobytes()
    for dtype in (np.float32, np.float64):
        decoded = codec.decode(codes, dtype)
        assert decoded.shape == X.shape
        assert decoded.dtype == dtype
        again = codec.decode(np.asfortranarray(codes[picked]), dtype)
        assert again.tobytes() == decoded[picked].tobytes()


@every_codec_of_ours
@settings(max_examples=60)
@given(
    st.lists(st.floats(-1e14, 1e14), min_size=WIDTH, max_size=WIDTH),
    st.sampled_from(["float32", "float64"]),
)
def test_a_decoded_row_has_the_same_code(codec, row, dtype):
    codes = codec.encode([row])
    assert codec.encode(codec.decode(codes, dtype)).tobytes() == codes.tobytes()


@every_codec_of_ours
def test_a_description_restores_it(codec):
    about, arrays = described(codec)
    twin = restored(json.loads(json.dumps(about)), arrays)
    assert twin.fingerprint == codec.fingerprint == about["fingerprint"]
    codes = codec.encode(rows(9))
    assert twin.encode(rows(9)).tobytes() == codes.tobytes()
    assert twin.decode(codes).tobytes() == codec.decode(codes).tobytes()


def test_other_codecs_have_other_fingerprints():
    low, high = np.zeros(3), np.ones(3)
    made = [ScalarCodec(8, low, high), ScalarCodec(4, low, high), ScalarCodec(8, low, 2 * high)]
    found = [each.fingerprint for each in (*OURS.values(), *made)]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_a_scalar_codec_is_off_by_half_a_step_at_most(bits):
    low, high = np.array([-3.0, 0.0, 1990.0, 5.0]), np.array([2.0, 1e6, 2030.0, 5.0])
    X = np.random.default_rng(bits).uniform(low, high, (500, 4))
    codec = ScalarCodec(bits, low, high)
    step = (high - low) / (2**bits - 1)
    decoded = codec.decode(codec.encode(X))
    assert (np.abs(decoded - X) <= 0.5 * step * (1.0 + 1e-9)).all()
    beyond = codec.decode(codec.encode([low, high, low - 1.0, high + 1.0]))
    assert beyond.tolist() == [low.tolist(), high.tolist()] * 2


def test_uint8_is_off_by_a_sixteenth_at_most_down_to_a_16000th_of_the_largest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8)) * 10.0 ** rng.integers(-60, 60, (500, 1))
    X *= 2.0 ** -rng.integers(0, 12, (500, 8))
    codec = codec_of("uint8").for_width(8)
    decoded, largest = codec.decode(codec.encode(X)), np.abs(X).max(axis=1, keepdims=True)
    kept = (largest > 2.0**-99) & (np.abs(X) >= largest * 2.0**-14)
    assert kept.mean() > 0.5
    assert (np.abs(decoded - X)[kept] <= np.abs(X)[kept] / 16.0).all()


def test_uint8_keeps_whole_numbers_to_16_and_zeros():
    X = np.concatenate([np.arange(17.0), -np.arange(17.0)])[None]
    decoded = (codec := codec_of("uint8").for_width(34)).decode(codec.encode(X))
    assert decoded.tolist() == X.tolist()
    assert not np.signbit(decoded[0, 17])


@pytest.mark.parametrize("largest", [1.9375, np.nextafter(1.9375, 2.0), 1.99, 2.0])
def test_uint8_gives_one_code_to_a_row_that_is_rounded_up_to_a_power_of_two(largest):
    codec = codec_of("uint8").for_width(3)
    codes = codec.encode([[largest, 2.0**-16, -0.3]])
    assert codec.encode(codec.decode(codes)).tobytes() == codes.tobytes()
    assert codec.decode(codes)[0, 0] == (2.0 if largest > 1.9375 else 1.875)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ScalarCodec(3, [0.0], [1.0]), "bits is 3"),
        (lambda: ScalarCodec(8, [1.0], [0.0]), "low is above high"),
        (lambda: ScalarCodec(8, 0.0, [1.0]), "one number for each column"),
        (lambda: ScalarCodec(8, [0.0], [np.inf]), "high holds"),
        (lambda: ScalarCodec(8, [0.0], [1.0, 2.0]), "low has 1 numbers, but high has 2"),
        (lambda: ScalarCodec(8, [1e9], [1e9 + 1.0]), "too close"),
        (lambda: ScalarCodec.fit(np.zeros((0, 3))), "sample is empty"),
        (lambda: ScalarCodec.fit([[np.nan]]), "NaN"),
        (lambda: ScalarCodec.fit(["a"]), "rows of numbers"),
        (lambda: OURS["uint8"].for_width(8), "rows of 7 numbers"),
        (lambda: OURS["fitted"].encode(np.zeros((2, 3))), "rows of 7 numbers"),
        (lambda: OURS["fitted"].decode(np.zeros((2, 3), np.uint8)), r"shape \(rows, 7\)"),
        (lambda: Codes([1, 2]), "uint8"),
        (lambda: Codes(np.zeros((1, 1, 1), np.uint8)), "shape"),
        (lambda: codec_of("uint16"), "`memory` must be"),
        (lambda: codec_of(Shrinking), "`memory` must be"),
        (lambda: codec_of(Shrinking(0)), "`width` is 0"),
        (lambda: codec_of(Shrinking(None)), "`width` is None"),
    ],
)
def test_what_is_no_codec_is_refused_in_a_sentence(call, said):
    with pytest.raises(InvalidInputError, match=said):
        call()


@pytest.mark.parametrize(
    ("name", "returned"),
    [
        ("encode", np.zeros((1, 2), np.uint8)),
        ("encode", np.zeros((1, 3))),
        ("encode", None),
        ("decode", np.zeros((1, 2))),
        ("decode", np.zeros((1, 3), np.uint8)),
        ("decode", np.array([[0.0, np.nan, 0.0]])),
        ("decode", np.array([[0.0, 1e101, 0.0]])),
    ],
)
def test_what_a_users_codec_returns_is_checked(name, returned):
    codec = Shrinking(3)
    setattr(codec, name, lambda _: returned)
    own = OwnCodec(codec)
    with pytest.raises(InvalidInputError, match=f"`{name}` returned"):
        own.decode(own.encode(np.zeros((1, 3))))


def test_a_users_codec_gets_one_row_at_a_time_and_may_write_to_it():
    class Writing(Shrinking):
        def encode(self, rows):
            assert rows.shape == (1, 3)
            rows *= 8.0
            return super().encode(rows / 8.0)

        def decode(self, codes):
            assert codes.shape == (1, 3)
            codes[:] = np.minimum(codes, 200)
            return super().decode(codes)

    X, codes, own = np.ones((2, 3)), np.full((2, 3), 250, np.uint8), OwnCodec(Writing(3))
    own.encode(X)
    own.decode(codes)
    assert (X == 1.0).all()
    assert (codes == 250).all()


def test_every_method_takes_a_code_in_place_of_a_row():
    learner = Learner(memory="uint8")
    learner.teach_many([[1.0, 0.1], [0.0, 9.0]], ["cat", "dog"], ids=["a", "b"])
    code, row = learner.code("b"), learner.example("b")[0]
    assert learner.predict(code).tolist() == ["dog"]
    assert (learner.scores(code) == learner.scores([row])).all()
    assert (learner.probabilities(code) == learner.probabilities([row])).all()
    assert learner.explain(code).margin == learner.explain(row).margin
    assert learner.find(code) == ["b"]
    assert learner.what_if(code, "cat") == learner.what_if(row, "cat")
    learner.teach(code, "dog", id="c")
    learner.teach_many(code, ["dog"], ids=["d"])
    learner.update("a", code)
    assert sorted(learner.find(code)) == ["a", "b", "c", "d"]
