"""Rows that are stored as codes: the model reads every row through the codec."""

import copy
import gc
import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from minout import Encoder, Identity, InvalidInputError, Learner
from minout.codecs import Codes, FloatCodec, ProductCodec, RowCodec, ScalarCodec, codec_of
from minout.engine import check, frame, sketch, table
from minout.store import read_archive, write_archive
from oracle.codecs import AsTheyAre, Shrinking
from oracle.margin import SETTINGS, differs, loaded, model_bits, saved, stream

X, Y = stream(3, examples=120, classes=4, features=5, apart=1.2)
X, Y = X + 0.01 * np.random.default_rng(0).normal(size=X.shape), [int(y) for y in Y]
MEMORIES = {
    "uint8": "uint8",
    "uint4": "uint4",
    "uint2": "uint2",
    "scalar": ScalarCodec(4, -6.0, 6.0),
    "fitted": ScalarCodec.fit(X, bits=2),
    "product": ProductCodec.fit(X, bytes_per_row=2),
    "own": Shrinking(5),
}
every_memory = pytest.mark.parametrize("memory", MEMORIES.values(), ids=MEMORIES)
every_saved_memory = pytest.mark.parametrize(
    "memory",
    [each for name, each in MEMORIES.items() if name != "own"],
    ids=[name for name in MEMORIES if name != "own"],
)


def taught(memory, rows=X, labels=Y, **settings):
    learner = Learner(**(SETTINGS["all"] | settings), memory=memory)
    learner.teach_many(rows, labels, at=0.0)
    return learner


def read(memory, rows):
    """Return rows as a learner with this memory reads them."""
    codec = codec_of(memory).for_width(len(rows[0]))
    return codec.decode(codec.encode(rows))


@every_memory
@pytest.mark.parametrize("kind", ["plain", "all"])
def test_it_predicts_like_a_learner_that_was_taught_the_decoded_rows(memory, kind):
    learner = taught(memory, **SETTINGS[kind])
    plain = taught("auto", read(memory, X), **SETTINGS[kind])
    others = X + 0.3
    for _ in range(2):
        assert learner.misfits == plain.misfits
        for rows in (X, others):
            expected = plain.scores(read(memory, rows))
            assert learner.scores(rows) == pytest.approx(expected, rel=1e-6, abs=1e-6)
            assert learner.predict(rows).tolist() == plain.predict(read(memory, rows)).tolist()
        learner.consolidate()
        plain.consolidate()


@every_memory
def test_every_original_is_predicted_right_or_listed(memory):
    learner = taught(memory)
    for _ in range(2):
        wrong = {i for i, label in enumerate(learner.predict(X).tolist()) if label != Y[i]}
        assert wrong <= set(learner.misfits)
        assert learner.audit().ok
        learner.consolidate()


@every_memory
def test_originals_have_the_codes_that_are_stored(memory):
    learner = taught(memory)
    learner.consolidate()
    codes = codec_of(memory).encode(X)
    for i in range(len(X)):
        assert np.asarray(learner.code(i)).tobytes() == codes[i].tobytes()
        report = learner.teach(X[i], Y[i], id=i)
        assert report.certificate.moved == ()


@every_saved_memory
def test_an_example_that_is_handed_out_predicts_like_the_original(memory):
    learner = taught(memory)
    for i in range(len(X)):
        row, label = learner.example(i)
        assert label == Y[i]
        assert np.array_equal(row, read(memory, X[i : i + 1])[0])
        assert learner.scores([row]).tobytes() == learner.scores(X[i : i + 1]).tobytes()


@every_memory
def test_codes_are_taken_in_place_of_rows(memory):
    learner, one = taught(memory), X[7]
    codes = Codes([np.asarray(learner.code(i)) for i in range(len(X))])
    code = learner.code(7)
    for name in ("predict", "scores", "probabilities", "outputs", "expanded"):
        asked = getattr(learner, name)
        assert asked(codes).tobytes() == asked(X).tobytes()
    assert learner.explain(code).supports == learner.explain(one).supports
    assert learner.what_if(code, 1) == learner.what_if(one, 1)
    assert learner.teach(code, Y[7], id=7).certificate.moved == ()
    other = copy.deepcopy(learner)
    assert learner.teach(code, 3, id="x").certificate == other.teach(one, 3, id="x").certificate
    assert differs(saved(learner), saved(other)) in ([], ["time"])


def test_a_decoded_row_may_have_another_code_and_then_the_code_is_the_example():
    learner = taught(Shrinking(5))
    row, _ = learner.example(3)
    assert learner.scores([row]).tobytes() != learner.scores(X[3:4]).tobytes()
    code = Codes(np.asarray(learner.code(3))[None])
    assert learner.scores(code).tobytes() == learner.scores(X[3:4]).tobytes()


def test_a_codec_that_keeps_every_bit_changes_no_bit_of_a_stream():
    plain, coded = (
        taught(memory, refresh="manual", expand=None) for memory in ("auto", AsTheyAre(5))
    )
    assert model_bits(plain) == model_bits(coded)
    assert plain.scores(X).tobytes() == coded.scores(X).tobytes()
    for learner in (plain, coded):
        learner.correct(3, 2)
        learner.forget([5, 9])
    assert model_bits(plain) == model_bits(coded)


@every_memory
def test_equal_codes_under_two_labels_are_both_listed(memory):
    learner = taught(memory)
    learner.teach(X[0] + 1e-9, (Y[0] + 1) % 4, id="twin")
    assert np.array_equal(learner.code(0), learner.code("twin"))
    assert {0, "twin"} <= set(learner.misfits)
    learner.consolidate()
    assert {0, "twin"} <= set(learner.misfits)


@every_memory
@pytest.mark.parametrize("settings", [{}, {"expand": 3}, {"regions": 2}, {"near_classes": 1}])
def test_the_order_does_not_matter_after_consolidating(memory, settings):
    order = np.random.default_rng(1).permutation(len(X))
    one = taught(memory, **settings)
    other = taught(memory, X[order], [Y[i] for i in order], **settings)
    for learner in (one, other):
        learner.consolidate()
    assert model_bits(one) == model_bits(other)


@every_memory
def test_forgetting_equals_never_having_learned(memory):
    one = taught(memory)
    one.forget(range(80, 120))
    other = taught(memory, X[:80], Y[:80])
    for learner in (one, other):
        learner.consolidate()
    assert model_bits(one) == model_bits(other)


@every_memory
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stopping_changes_no_bit_of_what_follows(memory, dtype):
    settings = {"features": Identity(dtype), "expand": 2}
    learner = taught(memory, X[:60], Y[:60], **settings)
    learner.forget([3, 4])
    own = memory if isinstance(memory, Shrinking) else None
    others = [loaded(saved(learner), memory=own)]
    others += [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    for each in (learner, *others):
        each.teach_many(X[60:], Y[60:], at=0.0)
    assert [differs(saved(each), saved(learner)) for each in others] == [[], [], []]
    for each in (learner, *others):
        each.consolidate()
        assert type(each.memory) is type(learner.memory)
    assert [differs(saved(each), saved(learner)) for each in others] == [[], [], []]


@every_memory
def test_a_window_holds_the_newest(memory):
    learner = taught(memory, keep=30)
    assert learner.ids == [*range(90, 120)]
    assert learner.audit().ok
    with pytest.raises(InvalidInputError):
        learner.code(89)


@every_memory
def test_a_learner_that_was_taught_nothing_keeps_its_memory(memory):
    learner = Learner(memory=memory)
    own = memory if isinstance(memory, Shrinking) else None
    other = loaded(saved(learner), memory=own)
    for each in (learner, other, copy.deepcopy(learner)):
        each.teach_many(X, Y, at=0.0)
    assert saved(other) == saved(learner)


def test_a_refused_batch_leaves_every_code_as_it_was():
    learner = taught("uint4", keep=100)
    before = saved(learner)
    with pytest.raises(InvalidInputError):
        learner.teach_many([*X[:3], [1e60] * 4 + [0.0]], [0, 1, 2, 3])
    assert saved(learner) == before


def test_memory_really_shrinks():
    rng = np.random.default_rng(0)
    labels = (np.arange(1_500) % 2).tolist()
    rows = rng.random((1_500, 400)) + 5.0 * np.array(labels)[:, None]
    taken, sizes = {}, {}
    for memory in ("auto", "uint8", "uint4", "uint2"):
        gc.collect()
        tracemalloc.start()
        learner = Learner(**SETTINGS["plain"], refresh="manual", memory=memory)
        for row, label in zip(rows, labels, strict=True):
            learner.teach(row, label)
        gc.collect()
        taken[memory] = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        sizes[memory] = len(saved(learner))
    assert taken["uint8"] < taken["auto"] / 4
    assert taken["uint4"] < taken["uint8"] / 1.5
    assert taken["uint2"] < taken["uint4"] / 1.3
    assert sizes["uint8"] < sizes["auto"] / 6
    assert sizes["uint2"] < sizes["uint8"] / 2.5


def test_only_blocks_of_rows_are_decoded_at_a_time(monkeypatch):
    rows, most = np.random.default_rng(0).normal(size=(600, 40)), []
    decode = FloatCodec.decode

    def noting(codec, codes, dtype=np.float64):
        most.append(len(codes) * codec.width)
        return decode(codec, codes, dtype)

    monkeypatch.setattr(table, "BLOCK", 2_000)
    monkeypatch.setattr(FloatCodec, "decode", noting)
    learner = Learner(**SETTINGS["plain"], memory="uint8")
    learner.teach_many(rows, (rows[:, 0] > 0.0).astype(int).tolist())
    monkeypatch.setattr("minout.engine.settle.WORTH_DIVIDING", 0)  # the way that large jobs take
    most.clear()
    learner.settle()
    learner.teach(rows[0] + 0.1, int(rows[0, 0] <= 0.0))
    pooled = max(len(each.ids) for each in learner.inspect().separators.values())
    assert most
    assert max(most) <= max(2_000, 40 * pooled)


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
    assert one.expanded(X).tobytes() == other.expanded(X).tobytes()


@pytest.mark.parametrize(("memory", "is_sketched"), [("uint8", True), ("uint4", False)])
def test_a_sketch_that_is_larger_than_the_codes_is_not_made(memory, is_sketched, monkeypatch):
    monkeypatch.setattr(frame, "MANY", 50)
    monkeypatch.setattr(check, "MANY", 50)
    assert sketch.BYTES < 1_100
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 120)
    rows = rng.normal(size=(120, 1_100)) + 0.05 * labels[:, None]
    learner = Learner(**SETTINGS["plain"], memory=memory)
    learner.teach_many(rows, labels.tolist())
    assert learner.inspect().sketched == is_sketched
    assert learner.audit().ok
    monkeypatch.setattr(frame, "MANY", 10**9)
    other = Learner(**SETTINGS["plain"], memory=memory)
    other.teach_many(rows, labels.tolist())
    assert model_bits(learner) == model_bits(other)


def test_a_damaged_code_is_found(tmp_path):
    taught("uint8").save(tmp_path / "model")
    about, arrays = read_archive(tmp_path / "model", "minout model", 2)
    rows = arrays["rows"].copy()
    rows[11, 3] ^= 1
    write_archive(tmp_path / "damaged", about, arrays | {"rows": rows}, "The model")
    differences = Learner.load(tmp_path / "damaged").audit().differences
    assert "The row of example 11 is not the one that was stored." in differences


def test_files_without_a_codec_say_nothing_of_it(tmp_path):
    taught("auto").save(tmp_path / "model")
    about, arrays = read_archive(tmp_path / "model", "minout model", 2)
    assert "memory" not in about["state"]
    assert not any(name.startswith("memory") for name in arrays)


def test_a_users_codec_must_be_passed_to_load(tmp_path):
    taught(Shrinking(5)).save(tmp_path / "own")
    taught("uint8").save(tmp_path / "coded")
    taught("auto").save(tmp_path / "plain")
    other = Shrinking(5)
    other.fingerprint = "another"
    for name, memory, said in (
        ("own", None, "which is not saved; pass it as `memory`"),
        ("own", other, "but `memory` is another"),
        ("coded", other, "but `memory` is another"),
        ("coded", RowCodec(4), "a model knows the codes of one codec only"),
        ("plain", other, "stores rows as they are"),
    ):
        with pytest.raises(InvalidInputError, match=said):
            Learner.load(tmp_path / name, memory=memory)
    assert Learner.load(tmp_path / "own", memory=Shrinking(5)).audit().ok
    assert Learner.load(tmp_path / "coded", memory=FloatCodec()).audit().ok


def test_what_does_not_fit_is_refused_in_a_sentence():
    plain, coded = taught("auto"), taught("uint8")
    code = coded.code(0)
    for call, said in (
        (lambda: plain.code(0), "stored as they are"),
        (lambda: plain.teach(code, 1), "no codec"),
        (lambda: plain.predict(Codes(np.zeros((1, 7), np.uint8))), "no codec"),
        (lambda: coded.code("nobody"), "There is no example"),
        (lambda: coded.predict(code), "codes of 7 bytes, shape \\(rows, bytes\\)"),
        (lambda: coded.teach(Codes(np.zeros(6, np.uint8)), 1), "codes of 7 bytes"),
        (lambda: coded.teach(Codes(np.full(7, 127, np.uint8)), 1), "not finite or too large"),
        (lambda: Learner(memory="uint8").teach(code, 1), "first example must be a row"),
        (lambda: Learner(memory=Shrinking(4)).teach(X[0], 1), "rows of 4 numbers"),
        (lambda: Learner(memory="uint16"), "`memory` must be"),
    ):
        with pytest.raises(InvalidInputError, match=said):
            call()


def test_the_first_example_may_be_a_code_if_the_codec_has_a_width():
    for memory in (MEMORIES["product"], Shrinking(5)):
        codes = codec_of(memory).encode(X)
        one, other = Learner(memory=memory), Learner(memory=memory)
        one.teach_many(Codes(codes), Y, at=0.0)
        other.teach_many(X, Y, at=0.0)
        assert saved(one) == saved(other)


def test_feature_maps_and_codecs_go_together():
    shorter = Encoder(lambda batch: np.asarray(batch)[:, :3], name="first three")
    learner = Learner(features=shorter, memory="uint8", **SETTINGS["all"])
    learner.teach_many(X, Y)
    assert learner.example(0)[0].dtype == np.float32
    assert learner.audit().ok
    other = loaded(saved(learner), features=shorter)
    assert other.scores(X).tobytes() == learner.scores(X).tobytes()


@pytest.mark.parametrize("load", [load_digits, load_breast_cancer], ids=["digits", "cancer"])
def test_accuracy_stays_with_8_bits(load):
    rows, labels = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(rows))[:600]
    learn, test = order[:400], order[400:]
    found = {}
    for memory in ("auto", "uint8"):
        learner = Learner(memory=memory)
        learner.teach_many(rows[learn], labels[learn].tolist())
        found[memory] = (learner.predict(rows[test]) == labels[test]).mean()
    assert found["uint8"] >= found["auto"] - 0.02
