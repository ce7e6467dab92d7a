"""Rows that are stored as codes: the model reads every row through the codec."""

import copy
import gc
import pickle
import tracemalloc

import numpy as np
import pytest

from minout import Identity, InvalidInputError, Learner, core
from minout.codecs import Codes, ScalarCodec, Uint8Codec, codec_of
from minout.core import table
from oracle.codecs import AsTheyAre, Shrinking
from oracle.margin import SETTINGS, differs, model_bits, reloaded, saved, stream
from oracle.states import teach

X, Y = stream(3, examples=120, classes=4, features=5, apart=1.2)
X, Y = X + 0.01 * np.random.default_rng(0).normal(size=X.shape), [int(y) for y in Y]
MEMORIES = {"uint8": "uint8", "fitted": ScalarCodec.fit(X, bits=2), "own": Shrinking(5)}
every_memory = pytest.mark.parametrize("memory", MEMORIES.values(), ids=MEMORIES)


def taught(memory, rows=X, labels=Y, **settings):
    learner = Learner(**(SETTINGS["all"] | settings), memory=memory)
    learner.teach_many(rows, labels, at=0.0)
    return learner


def own(memory):
    """Return the codec if it is not saved."""
    return memory if isinstance(memory, Shrinking) else None


def read(memory, rows):
    """Return rows as a learner with this memory reads them."""
    codec = codec_of(memory).for_width(len(rows[0]))
    return codec.decode(codec.encode(rows))


@every_memory
@pytest.mark.parametrize("kind", ["plain", "all"])
def test_it_predicts_like_a_learner_that_was_taught_the_decoded_rows(memory, kind):
    learner = taught(memory, **SETTINGS[kind])
    plain = taught("auto", read(memory, X), **SETTINGS[kind])
    for _ in range(2):
        assert learner.misfits == plain.misfits
        for rows in (X, X + 0.3):
            expected = plain.scores(read(memory, rows))
            assert learner.scores(rows) == pytest.approx(expected, rel=1e-6, abs=1e-6)
        wrong = {i for i, label in enumerate(learner.predict(X).tolist()) if label != Y[i]}
        assert wrong <= set(learner.misfits)
        assert learner.audit().ok
        learner.consolidate()
        plain.consolidate()


@every_memory
def test_codes_are_taken_in_place_of_rows(memory):
    learner, one = taught(memory), X[7]
    learner.consolidate()
    stored = codec_of(memory).encode(X)
    assert [np.asarray(learner.code(i)).tolist() for i in range(len(X))] == stored.tolist()
    codes, code = Codes(stored), learner.code(7)
    for name in ("predict", "scores", "probabilities", "outputs", "expanded"):
        asked = getattr(learner, name)
        assert asked(codes).tobytes() == asked(X).tobytes()
    assert learner.explain(code).supports == learner.explain(one).supports
    assert learner.what_if(code, 1) == learner.what_if(one, 1)
    assert learner.teach(code, Y[7], id=7).certificate.moved == ()
    others = copy.deepcopy(learner), copy.deepcopy(learner)
    reports = [each.teach(x, 3, id="x") for each, x in zip(others, (code, one), strict=True)]
    assert reports[0].certificate == reports[1].certificate
    assert differs(*map(saved, others)) == []


@every_memory
def test_an_example_that_is_handed_out_is_the_decoded_row(memory):
    learner = taught(memory)
    rows = np.array([learner.example(i)[0] for i in range(len(X))])
    assert np.array_equal(rows, read(memory, X))
    is_same = learner.scores(rows).tobytes() == learner.scores(X).tobytes()
    assert is_same == (own(memory) is None)  # it is another input if it has another code


def test_a_codec_that_keeps_every_bit_changes_no_bit_of_a_stream():
    plain, coded = (
        taught(memory, refresh="manual", expand=None) for memory in ("auto", AsTheyAre(5))
    )
    for learner in (plain, coded):
        learner.correct(3, 2)
        learner.forget([5, 9])
    assert model_bits(plain) == model_bits(coded)
    assert plain.scores(X).tobytes() == coded.scores(X).tobytes()


@every_memory
def test_equal_codes_under_two_labels_are_both_listed(memory):
    learner = taught(memory)
    learner.teach(X[0] + 1e-9, (Y[0] + 1) % 4, id="twin")
    assert np.array_equal(learner.code(0), learner.code("twin"))
    for _ in range(2):
        assert {0, "twin"} <= set(learner.misfits)
        learner.consolidate()


@pytest.mark.parametrize(
    ("memory", "settings"),
    [
        ("uint8", {"expand": 3}),
        ("uint8", {"near_classes": 1}),
        (MEMORIES["fitted"], {"regions": 2}),
        (MEMORIES["own"], {}),
    ],
    ids=["hats", "far", "regions", "own"],
)
def test_after_consolidating_only_the_set_of_examples_matters(memory, settings):
    order = np.random.default_rng(1).permutation(80)
    one = taught(memory, **settings)
    one.forget(range(80, 120))
    other = taught(memory, X[order], [Y[i] for i in order], **settings)
    for learner in (one, other):
        learner.consolidate()
    assert model_bits(one) == model_bits(other)


@every_memory
def test_a_loaded_learner_or_a_copy_goes_on_alike(memory):
    dtype = "float32" if memory == "uint8" else "float64"
    learner = taught(memory, X[:60], Y[:60], features=Identity(dtype), expand=2)
    learner.forget([3, 4])
    others = [reloaded(learner, memory=own(memory))]
    others += [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    assert [differs(saved(each), saved(learner)) for each in others] == [[], [], []]
    for each in (learner, *others):
        each.teach_many(X[60:], Y[60:], at=0.0)
        assert each.audit().ok
        assert each.predict(X).tolist() == learner.predict(X).tolist()
    for each in (learner, *others):
        each.consolidate()
    assert [differs(saved(each), saved(learner)) for each in others] == [[], [], []]


@every_memory
def test_a_learner_that_was_taught_nothing_keeps_its_memory(memory):
    learner = Learner(memory=memory, **SETTINGS["plain"])
    other = reloaded(learner, memory=own(memory))
    for each in (learner, other):
        each.teach_many(X, Y, at=0.0)
    assert saved(other) == saved(learner)


def test_memory_and_the_file_really_shrink(tmp_path):
    rng = np.random.default_rng(0)
    labels = (np.arange(400) % 2).tolist()
    rows = rng.random((400, 300)) + 5.0 * np.array(labels)[:, None]
    taken, sizes = [], []
    for memory in ("auto", "uint8"):
        gc.collect()
        tracemalloc.start()
        learner = Learner(**SETTINGS["plain"], refresh="manual", memory=memory)
        learner.teach_many(rows, labels)
        gc.collect()
        taken.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        learner.save(tmp_path / memory)
        sizes.append((tmp_path / memory).stat().st_size)
    assert taken[1] < taken[0] / 4
    assert sizes[1] < sizes[0] / 4


def test_only_blocks_of_rows_are_decoded_at_a_time(monkeypatch):
    rows, most = np.random.default_rng(0).normal(size=(600, 40)), []
    decode = Uint8Codec.decode

    def noting(codec, codes, dtype=np.float64):
        most.append(len(codes) * codec.width)
        return decode(codec, codes, dtype)

    monkeypatch.setattr(table, "BLOCK", 2_000)
    monkeypatch.setattr(Uint8Codec, "decode", noting)
    monkeypatch.setattr("minout.core.settle.NUMBERS", 2_000)
    learner = Learner(**SETTINGS["plain"], memory="uint8")
    labels = np.arange(600) % 6
    learner.teach_many(rows, labels.tolist())
    most.clear()
    learner.settle()
    learner.teach(rows[0] + 0.1, 3)
    assert most
    assert max(most) <= 40 * 2 * 101  # all rows of two labels, to settle one separator


@every_memory
def test_blocks_of_rows_and_columns_change_no_bit(memory, monkeypatch):
    one = taught(memory, expand=3)
    one.consolidate()
    assert one.expanded(X).shape[1] > 5
    monkeypatch.setattr(table, "BLOCK", 1)
    monkeypatch.setattr(table, "COLUMNS", 1)
    other = taught(memory, expand=3)
    other.consolidate()
    assert model_bits(one) == model_bits(other)


def test_a_damaged_code_is_found():
    state = core.State(core.Settings(), 5, np.dtype("f8"), codec_of("uint8").for_width(5))
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        state = teach(state, x, y, i).state
    assert core.audit(state).ok
    state.examples.given[11, 3] ^= 1
    differences = core.audit(state).differences
    assert "The row of example 11 is not the one that was stored." in differences


def test_a_file_is_loaded_with_its_codec_only(tmp_path):
    other = Shrinking(5)
    other.fingerprint = "another"
    for memory, given, said in (
        (Shrinking(5), None, "which is not saved; pass it as `memory`"),
        (Shrinking(5), other, "but `memory` is another"),
        ("uint8", other, "a model knows the codes of one codec only"),
        ("auto", other, "stores rows as they are"),
    ):
        taught(memory, X[:40], Y[:40]).save(tmp_path / "model")
        with pytest.raises(InvalidInputError, match=said):
            Learner.load(tmp_path / "model", memory=given)


def test_what_does_not_fit_is_refused_in_a_sentence():
    plain, coded = taught("auto"), taught("uint8")
    code = coded.code(0)
    for call, said in (
        (lambda: plain.code(0), "stored as they are"),
        (lambda: plain.teach(code, 1), "no codec"),
        (lambda: coded.predict(Codes(np.zeros(6, np.uint8))), "codes of 7 bytes, but got shape"),
        (lambda: coded.teach(Codes(np.full(7, 127, np.uint8)), 1), "not finite or too large"),
        (lambda: Learner(memory="uint8").teach(code, 1), "first example must be a row"),
        (lambda: Learner(memory=Shrinking(4)).teach(X[0], 1), "rows of 4 numbers"),
    ):
        with pytest.raises(InvalidInputError, match=said):
            call()


def test_the_first_example_may_be_a_code_if_the_codec_has_a_width():
    codec = MEMORIES["fitted"]
    assert saved(taught(codec, Codes(codec.encode(X)))) == saved(taught(codec))
