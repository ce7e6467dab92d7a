"""A learner that was saved and loaded says the same, and goes on like the one that was saved."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from long import LONG
from minout import Encoder, Identity, Learner, Projection, Scattering
from minout.core import pool as pool_module
from minout.errors import InvalidInputError, UnwritableError
from oracle.margin import SETTINGS, STRAIGHT, differs, reloaded, saved, stream

PROBE = np.random.default_rng(0).normal(size=(30, 3))


def step(learner, rng, n):
    """Do one of the things that can be done, at random."""
    what = rng.integers(10)
    if what == 0 and len(learner) > 3:
        return learner.forget(learner.ids[int(rng.integers(len(learner)))])
    if what == 1 and len(learner) > 3:
        return learner.correct(learner.ids[int(rng.integers(len(learner)))], int(rng.integers(3)))
    y = int(rng.integers(3 if n < 40 else 4))
    row = (rng.integers(-8, 9, 3) + 6 * (np.arange(3) == y)) / 8
    return learner.teach(row, y, id=int(rng.integers(10**9)))


@settings(max_examples=200 if LONG else 6)
@given(st.sampled_from([*SETTINGS]), st.sampled_from(["float64", "float32"]), st.integers(0, 10**6))
def test_a_loaded_learner_says_the_same_and_goes_on_alike(kind, dtype, seed):
    rng = np.random.default_rng(seed)
    learner = Learner(**SETTINGS[kind], features=Identity(dtype))
    for n in range(int(rng.integers(1, 120))):
        step(learner, rng, n)
    if rng.integers(3) == 0:
        learner.consolidate()
    other = reloaded(learner)
    assert differs(saved(learner), saved(other)) == []
    assert learner.scores(PROBE).tobytes() == other.scores(PROBE).tobytes()
    assert (learner.misfits, learner.pending) == (other.misfits, other.pending)
    twin = copy.deepcopy(rng)
    for n in range(40):
        step(learner, rng, n)
        step(other, twin, n)
        assert learner.predict(PROBE).tolist() == other.predict(PROBE).tolist()
    assert other.audit().ok
    learner.consolidate()
    other.consolidate()
    assert differs(saved(learner), saved(other)) == []


@pytest.mark.parametrize("features", [Identity(), Identity("float32")], ids=["float64", "float32"])
def test_a_loaded_learner_with_large_pools_goes_on_alike(monkeypatch, features):
    monkeypatch.setattr(pool_module, "CHEAP", 0)  # so that small pools take the way of large ones
    X, y = load_digits(return_X_y=True)
    learner = Learner(C=1.0, whiten=True, lda_prior=True, features=features, **STRAIGHT)
    learner.teach_many(X[:200], y[:200].tolist())
    other = reloaded(learner)
    assert learner.scores(X).tobytes() == other.scores(X).tobytes()
    for each in (learner, other):
        each.teach_many(X[200:260], y[200:260].tolist())
        assert each.audit().ok
    assert learner.predict(X).tolist() == other.predict(X).tolist()
    learner.consolidate()
    other.consolidate()
    assert differs(saved(learner), saved(other)) == []


def test_notes_words_and_an_empty_learner_come_back():
    learner = Learner(C=2.0, refresh="manual", features="projection")
    learner.notes["columns"] = ["a", "ä,b"]
    other = reloaded(learner)
    assert other.notes == {"columns": ["a", "ä,b"]}
    assert other.settings == learner.settings
    assert other.features == Projection()
    assert len(other) == 0
    other.teach([1.0, 2.0], "naïve, \n label", id="ü")
    last = reloaded(other)
    assert last.ids == ["ü"]
    assert last.classes.tolist() == ["naïve, \n label"]


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


def test_built_in_maps_come_back_by_themselves():
    for features in (Scattering((8, 9), scales=2), Identity("float32"), Projection(7, 3)):
        learner = Learner(features=features)
        learner.teach(np.arange(72.0), 0)
        assert reloaded(learner).features == features


def test_what_cannot_be_saved_is_refused_and_leaves_no_file(tmp_path):
    (tmp_path / "other").write_text("no folder")
    with pytest.raises(UnwritableError, match="The model could not be written"):
        Learner().save(tmp_path / "other" / "model")
    learner = Learner()
    learner.notes["thing"] = object()
    with pytest.raises(InvalidInputError, match="`notes`"):
        learner.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_loaded_model_with_regions_goes_on_when_labels_come_and_go():
    rows, labels = stream(5, examples=60, features=3, apart=0.4)
    first = Learner(C=5.0, whiten=True, lda_prior=True, standardize=True, regions=3, expand=None)
    first.teach_many(rows, [int(label) for label in labels], at=0.0)
    second = reloaded(first)
    assert max(len(each) for each in second.regions().values()) > 1
    for learner in (first, second):
        learner.teach([9.0, 0.0, 0.0], 7, at=0.0)
        learner.forget_class(0)
        learner.teach([0.0, 9.0, 0.0], 8, at=0.0)
        learner.teach_many(rows[:9], [9] * 9, at=0.0)
        learner.forget(learner.ids[:3])
        assert learner.audit().ok
    assert first.predict(rows).tolist() == second.predict(rows).tolist()
    for learner in (first, second):
        learner.consolidate()
    assert differs(saved(first), saved(second)) == []
