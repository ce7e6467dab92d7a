"""Save, load and go on is the same to the last bit as never having stopped."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from long import LONG
from minout import Encoder, Identity, Learner, Projection, Scattering
from minout.engine import pool as pool_module
from minout.errors import InvalidInputError, MissingDataError, UnwritableError
from oracle.margin import SETTINGS, differs, parts, saved, stream


def through_a_file(learner, folder, features=None):
    learner.save(folder / "model")
    return Learner.load(folder / "model", features=features)


def unlike(first, second):
    """Name the parts in which two learners differ; what the last call moved is not saved."""
    return differs(saved(first), saved(second))


def step(learner, rng, n):
    """Do one of the things that can be done, at random, and return what it said."""
    what = rng.integers(10)
    if what == 0 and len(learner) > 3:
        return learner.forget(learner.ids[int(rng.integers(len(learner)))])
    if what == 1 and len(learner) > 3:
        report = learner.correct(learner.ids[int(rng.integers(len(learner)))], int(rng.integers(3)))
        return report.certificate
    y = int(rng.integers(3 if n < 40 else 4))
    row = (rng.integers(-8, 9, 3) + 6 * (np.arange(3) == y)) / 8
    report = learner.teach(row, y, id=int(rng.integers(10**9)))
    return report.certificate, report.refresh is None


@settings(max_examples=200 if LONG else 6)
@given(st.sampled_from([*SETTINGS]), st.sampled_from(["float64", "float32"]), st.integers(0, 10**6))
def test_stopping_changes_no_bit_of_what_follows(tmp_path_factory, kind, dtype, seed):
    folder = tmp_path_factory.mktemp("saved")
    rng = np.random.default_rng(seed)
    learner = Learner(**SETTINGS[kind], features=Identity(dtype))
    for n in range(int(rng.integers(1, 120))):
        step(learner, rng, n)
    if rng.integers(3) == 0:
        learner.consolidate()
    other = through_a_file(learner, folder)
    assert unlike(learner, other) == []
    twin = copy.deepcopy(rng)
    for n in range(60):
        assert step(learner, rng, n) == step(other, twin, n)
    assert unlike(learner, other) == []
    assert learner.consolidate().certificate == other.consolidate().certificate
    assert unlike(learner, other) == []
    assert other.audit().ok


@pytest.mark.parametrize("features", [Identity(), Identity("float32")], ids=["float64", "float32"])
def test_what_pools_carry_along_is_saved(tmp_path, monkeypatch, features):
    monkeypatch.setattr(pool_module, "CHEAP", 0)  # so that small pools keep what large ones keep
    X, y = load_digits(return_X_y=True)
    learner = Learner(C=1.0, whiten=True, lda_prior=True, features=features)
    for x, label in zip(X[:300], y[:300].tolist(), strict=True):
        learner.teach(x, label)
    assert any(name.startswith("factor.") for name in parts(saved(learner)))
    other = through_a_file(learner, tmp_path)
    for i in range(300, 420):
        mine, its = (each.teach(X[i], int(y[i])) for each in (learner, other))
        assert mine.certificate == its.certificate
    assert unlike(learner, other) == []


def test_notes_words_and_an_empty_learner_come_back(tmp_path):
    learner = Learner(C=2.0, refresh="manual", features="projection")
    learner.notes["columns"] = ["a", "ä,b"]
    other = through_a_file(learner, tmp_path)
    assert other.notes == {"columns": ["a", "ä,b"]}
    assert other.settings == learner.settings
    assert other.features == Projection()
    assert len(other) == 0
    other.teach([1.0, 2.0], "naïve, \n label", id="ü")
    last = through_a_file(other, tmp_path)
    assert last.ids == ["ü"]
    assert last.classes.tolist() == ["naïve, \n label"]


def test_a_forgotten_row_is_not_in_the_file(tmp_path):
    learner, secret = Learner(), np.array([0.123456789, 9.87654321])
    for i in range(8):
        learner.teach([i, -i], i % 2, id=f"row {i}")
    learner.teach(secret, 1, id="a secret name")
    learner.forget("a secret name")
    learner.consolidate()
    learner.save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    assert secret[:1].tobytes() not in content
    assert b"secret" not in content


def test_a_map_with_another_fingerprint_is_refused(tmp_path):
    def doubled(batch):
        return 2.0 * np.asarray(batch)

    learner = Learner(features=Encoder(doubled, name="doubled"))
    learner.teach([1.0, 2.0], 0)
    learner.save(tmp_path / "model")
    with pytest.raises(InvalidInputError, match="which is not saved; pass it as `features`"):
        Learner.load(tmp_path / "model")
    for other in ("identity", Scattering(), Encoder(doubled, name="tripled"), doubled):
        with pytest.raises(InvalidInputError, match="a model knows the rows of one map only"):
            Learner.load(tmp_path / "model", features=other)
    again = Learner.load(tmp_path / "model", features=Encoder(doubled, name="doubled"))
    assert again.predict([[1.0, 2.0]]).tolist() == [0]


def test_built_in_maps_come_back_by_themselves(tmp_path):
    for features in (Scattering((8, 9), scales=2), Identity("float32"), Projection(7, 3)):
        learner = Learner(features=features)
        learner.teach(np.arange(72.0), 0)
        assert through_a_file(learner, tmp_path).features == features


def test_bad_files_and_learners_are_refused(tmp_path):
    with pytest.raises(MissingDataError, match="There is no file"):
        Learner.load(tmp_path / "nothing")
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(MissingDataError, match="is not a minout model"):
        Learner.load(tmp_path / "other.npz")
    with pytest.raises(UnwritableError, match="The model could not be written"):
        Learner().save(tmp_path / "other.npz" / "model")
    learner = Learner()
    learner.notes["thing"] = object()
    with pytest.raises(InvalidInputError, match="`notes`"):
        learner.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_loaded_model_with_regions_goes_on_when_labels_come_and_go(tmp_path):
    rows, labels = stream(5, examples=60, features=3, apart=0.4)
    first = Learner(C=5.0, whiten=True, lda_prior=True, standardize=True, regions=3, expand=None)
    first.teach_many(rows, [int(label) for label in labels], at=0.0)
    first.save(tmp_path / "a")
    second = Learner.load(tmp_path / "a")
    assert max(len(each) for each in second.regions().values()) > 1
    for learner in (first, second):
        learner.teach([9.0, 0.0, 0.0], 7, at=0.0)
        learner.forget_class(0)
        learner.teach([0.0, 9.0, 0.0], 8, at=0.0)
        learner.teach_many(rows[:9], [9] * 9, at=0.0)
        learner.forget(learner.ids[:3])
        assert learner.audit().ok
    for step in (Learner.settle, Learner.consolidate):
        for learner, name in ((first, "b"), (second, "c")):
            step(learner)
            learner.save(tmp_path / name)
        assert (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()
