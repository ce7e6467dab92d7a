"""What every feature map promises, whichever it is."""

import hashlib
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.features import Encoder, FeatureMap, HashedText, Identity, Projection, Scattering
from minout.features._wavelets import make_plan


def halves(batch):
    return np.asarray(batch, dtype=np.float64) / 2


MAPS = {
    "identity": Identity(),
    "identity in float32": Identity("float32"),
    "scattering": Scattering(),
    "scattering in color": Scattering((8, 9, 2), scales=2, orientations=3),
    "scattering of few, odd maps": Scattering((12, 12), scales=3, orientations=1),
    "projection": Projection(),
    "projection to few": Projection(7, seed=5),
    "text": HashedText(),
    "text in few": HashedText(7, seed=5),
    "encoder": Encoder(halves),
    "encoder in float64": Encoder(halves, dtype="float64"),
}
every_map = pytest.mark.parametrize("features", MAPS.values(), ids=MAPS)
every_map_of_numbers = pytest.mark.parametrize(
    "features",
    [each for each in MAPS.values() if not isinstance(each, Encoder | HashedText)],
    ids=[name for name in MAPS if "encoder" not in name and "text" not in name],
)


def batch(features, count, seed=0):
    """Draws rows with many zeros, as images have them, and with numbers of every size; or texts."""
    rng = np.random.default_rng(seed)
    if isinstance(features, HashedText):
        letters = [*"aäbcdeE .!\n中文字😀"]
        return np.array(["".join(rng.choice(letters, rng.integers(5, 60))) for _ in range(count)])
    width = int(np.prod(getattr(features, "image_shape", None) or (12, 12)))
    sizes = 10.0 ** rng.integers(-3, 4, (count, 1))
    return rng.normal(size=(count, width)) * (rng.random((count, width)) < 0.5) * sizes


@every_map
@settings(max_examples=15)
@given(st.lists(st.integers(0, 39), max_size=30))
def test_a_row_depends_neither_on_its_company_nor_on_how_it_lies_in_memory(features, picked):
    X, picked = batch(features, 40), np.array(picked, dtype=np.int64)
    rows = features.transform(X)
    assert isinstance(features, FeatureMap)
    assert rows.dtype == features.dtype
    assert len(np.unique(rows, axis=0)) == 40
    assert features.transform(np.asfortranarray(X[picked])).tobytes() == rows[picked].tobytes()
    assert features.transform(np.repeat(X, 2, axis=0)[::2]).tobytes() == rows.tobytes()
    assert features.transform(X[:7].tolist()).tobytes() == rows[:7].tobytes()


@every_map
def test_a_batch_is_neither_changed_nor_kept(features):
    X = batch(features, 5)
    before = X.copy()
    rows = features.transform(X)
    assert (before == X).all()
    assert not np.shares_memory(rows, X)
    rows[:] = 7
    assert (features.transform(X) != 7).all()


@every_map
def test_pickled_and_read_again_it_is_the_same_map(features):
    again = pickle.loads(pickle.dumps(features))
    X = batch(features, 2)
    assert again == features
    assert again.fingerprint == features.fingerprint
    assert again.transform(X).tobytes() == features.transform(X).tobytes()


@every_map
def test_threads_that_start_together_get_the_same_rows(features):
    X = batch(features, 8)
    expected = features.transform(X).tobytes()
    make_plan.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: features.transform(X).tobytes(), range(8))) == {expected}


def summary(features):
    rows = features.transform(batch(features, 20))
    return f"{features.fingerprint} {hashlib.sha256(rows.tobytes()).hexdigest()}"


def test_another_process_gives_the_same_fingerprints_and_rows():
    ran = subprocess.run(
        [sys.executable, __file__],
        env=os.environ | {"PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    own = [summary(each) for each in MAPS.values() if not isinstance(each, Encoder)]
    assert ran.stdout.splitlines() == own


def settings_that_differ():
    yield from (Identity(), Identity("float32"))
    yield from (Scattering(), Scattering((28, 28)), Scattering((28, 28, 1)), Scattering((14, 56)))
    yield from (Scattering(scales=2), Scattering(orientations=3), Scattering((28, 28), scales=2))
    yield from (Projection(), Projection(512), Projection(seed=1))
    yield from (HashedText(), HashedText(512), HashedText(seed=1))
    yield from (Encoder(halves), Encoder(halves, dtype="float64"), Encoder(halves, "a name"))


def test_other_settings_have_another_fingerprint_and_the_same_have_the_same():
    once, twice = list(settings_that_differ()), list(settings_that_differ())
    assert len({each.fingerprint for each in once}) == len(once)
    assert [each.fingerprint for each in once] == [each.fingerprint for each in twice]
    assert once == twice
    assert len(set(once)) == len(once)


def test_settings_that_mean_the_same_have_one_fingerprint():
    for one, other in (
        (Identity("float32"), Identity(np.dtype(np.float32))),
        (Scattering((28, 28)), Scattering([np.int64(28), 28])),
        (Scattering(scales=np.int8(2)), Scattering(scales=2)),
        (Projection(np.int64(9), seed=np.int8(3)), Projection(9, seed=3)),
        (HashedText(np.int64(9)), HashedText(9)),
    ):
        assert (one, one.fingerprint) == (other, other.fingerprint)


BAD = {
    "NaN": [[1.0, float("nan"), 0.0, 0.0]],
    "infinity": [[0.0] * 4, [1.0, -float("inf"), 0.0, 0.0]],
    "one row": [1.0, 2.0, 3.0, 4.0],
    "no features": np.zeros((3, 0)),
    "words": [["1", "2", "3", "4"]],
    "ragged": [[1.0], [2.0, 3.0]],
    "None": None,
    "masked": np.ma.array(np.ones((2, 144)), mask=np.eye(2, 144)),
    "a number too large for a float": [[10**400, 1]],
}


@every_map_of_numbers
@pytest.mark.parametrize("X", BAD.values(), ids=BAD)
def test_what_are_not_rows_of_numbers_is_refused_in_a_sentence(features, X):
    with pytest.raises(InvalidInputError) as caught:
        features.transform(X)
    assert "\n" not in str(caught.value)


if __name__ == "__main__":
    for each in MAPS.values():
        if not isinstance(each, Encoder):
            print(summary(each))
