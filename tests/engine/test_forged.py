"""Files with a valid checksum that nobody saved, and bugs that are not the fault of a file."""

import copy

import numpy as np
import pytest

from minout import Learner
from minout.engine import packing
from minout.errors import MissingDataError
from minout.features import HashedText
from minout.store import read_archive, write_archive
from oracle.margin import clusters, stream

HUGE = 10**400


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the facts and arrays of a model with everything a file can hold."""
    path = tmp_path_factory.mktemp("whole") / "model"
    rows, labels = stream(5, examples=50, features=3, apart=0.4)
    learner = Learner(C=500.0, whiten=True, lda_prior=True, standardize=True)
    learner.teach_many(rows, [int(label) for label in labels])
    learner.correct(3, 7)
    learner.forget([5, 6])
    learner.save(path)
    return read_archive(path, "minout model", 2)


@pytest.fixture(scope="module")
def far(tmp_path_factory):
    """Return the facts and arrays of a model with near pairs, and far ones with support."""
    path = tmp_path_factory.mktemp("far") / "model"
    rows, labels = clusters(5, classes=7, each=5, features=3, apart=0.8)
    learner = Learner(C=5.0, whiten=True, lda_prior=True, standardize=True, near_classes=2)
    learner.teach_many(rows, labels)
    learner.correct(3, 7)
    learner.forget([5, 6])
    learner.save(path)
    about, arrays = read_archive(path, "minout model", 2)
    assert len(arrays["far.pairs"]) > 2
    assert len(arrays["far.misfits"]) > 0
    assert not arrays["stored"][5]
    return about, arrays


@pytest.fixture(scope="module")
def bent(tmp_path_factory):
    """Return the facts and arrays of a model with regions and hat functions."""
    path = tmp_path_factory.mktemp("bent") / "model"
    rows, labels = stream(5, examples=60, features=3, apart=0.4)
    learner = Learner(C=5.0, whiten=True, lda_prior=True, standardize=True, regions=3, expand=2)
    learner.teach_many(rows, [int(label) for label in labels])
    learner.correct(3, 7)
    learner.forget([5, 6])
    learner.save(path)
    about, arrays = read_archive(path, "minout model", 2)
    assert len(about["state"]["labels"]) > 4
    assert len(arrays["hats.of"]) == 6
    return about, arrays


def test_a_code_that_stands_for_no_number_is_refused(tmp_path):
    learner = Learner(memory="uint8")
    learner.teach_many([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0, 1, 2])
    learner.save(tmp_path / "model")
    about, arrays = read_archive(tmp_path / "model", "minout model", 2)
    rows = arrays["rows"].copy()
    rows[1, :2] = np.array([2_000], "<i2").view(np.uint8)
    refuse(tmp_path / "forged", about, arrays | {"rows": rows})


def test_regions_whose_labels_are_exchanged_are_refused(bent, tmp_path):
    about, arrays = copy.deepcopy(bent[0]), dict(bent[1])
    labels = about["state"]["labels"]
    other = next(i for i, each in enumerate(labels) if each != labels[0])
    labels[other] = labels[0]  # pairs between them would be those of siblings
    write_archive(tmp_path / "forged", about, arrays, "The model")
    with pytest.raises(MissingDataError):
        Learner.load(tmp_path / "forged")


FAR_NUMBERS = {
    "far.near": lambda a: np.sort(np.append(a["far.near"][1:], a["far.pairs"][0])),
    "far.pairs": lambda a: np.sort(np.append(a["far.pairs"][1:], a["far.near"][0])),
    "far.support": lambda a: a["far.support"][::-1],
    "far.support.sizes": lambda a: np.roll(a["far.support.sizes"], 1) * 2,
    "far.coef": lambda a: -a["far.coef"],
    "far.misfits": lambda a: np.full_like(a["far.misfits"], 5),  # forgotten
    "images.of": lambda a: np.setdiff1d(a["images.of"], a["far.support"][:1]),
    "images": lambda a: a["images"].astype(np.float32),
}


@pytest.mark.parametrize("name", FAR_NUMBERS)
def test_numbers_of_far_pairs_that_contradict_each_other_are_refused(far, tmp_path, name):
    about, arrays = far
    changed = {**arrays, name: FAR_NUMBERS[name](arrays)}
    if name == "images.of":
        changed["images"] = arrays["images"][np.isin(arrays["images.of"], changed[name])]
    refuse(tmp_path / "forged", about, changed)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyError, ValueError, TypeError])
def test_a_bug_is_not_told_as_a_damaged_file(monkeypatch, tmp_path, error):
    learner = Learner()
    learner.teach_many([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    learner.save(tmp_path / "m")

    def broken(*_):
        raise error

    monkeypatch.setattr(packing, "_separators", broken)
    with pytest.raises(error):
        Learner.load(tmp_path / "m")


@pytest.mark.parametrize("name", ["members", "misfits", "pool"])
def test_sizes_whose_sum_wraps_around_are_refused(whole, tmp_path, name):
    about, arrays = whole
    sizes = np.zeros_like(arrays[f"{name}.sizes"])
    sizes[:3] = [2**63 - 1, 2**63 - 1, len(arrays[name]) + 2]
    forged = {**arrays, f"{name}.sizes": sizes}
    assert sizes.sum() == len(arrays[name])
    write_archive(tmp_path / "forged", about, forged, "The model")
    with pytest.raises(MissingDataError):
        Learner.load(tmp_path / "forged")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return the facts and arrays of a model whose pools are solved for w, and of one by factor."""
    folder, files = tmp_path_factory.mktemp("large"), []
    for features, whiten in ((3, True), (500, False)):
        rng = np.random.default_rng(features)
        rows, labels = rng.normal(size=(200, features)), rng.integers(0, 2, 200).tolist()
        learner = Learner(C=0.5, whiten=whiten, lda_prior=False, standardize=False, regions=1)
        learner.teach_many(rows, labels)
        learner.save(folder / str(features))
        files.append(read_archive(folder / str(features), "minout model", 2))
    assert "newton.0.L" in files[0][1]
    assert "factor.0" in files[1][1]
    return files


def refuse(path, about, arrays):
    write_archive(path, about, arrays, "The model")
    with pytest.raises(MissingDataError, match="was truncated or changed"):
        Learner.load(path)


FACTS = {
    "widths": [
        *([3, row] for row in (-1, 0, 4, 2**63, HUGE, None, True)),
        *([given, 3] for given in (-3, 0, 4, None, True)),
        [None, None],
    ],
    "choice.C": [0.0, -1.0, float("inf"), float("nan"), 1e-320, 1e308, HUGE, True, "auto"],
    "choice.sharpness": [0.0, -1.0, float("inf"), float("nan"), HUGE, True],
    "settings.C": [0.0, -1.0, float("inf"), float("nan"), HUGE, True, "x"],
    "settings.whiten": [1, "x", None],
    "next_id": [-1, HUGE, True],
    "seen": [-1, 10**6, HUGE, True],
    "scattered": [-1, 10**6, HUGE, True],
    "schedule.refresh_at": [1, [1], [-1, 1], [1, HUGE], [True, 1]],
    "schedule.chosen_at": [[1, 1], [HUGE, 1, 1], [1, HUGE, 1], [1, True, 1], [1, 1, -1]],
    "corrected": [[["nobody", [1]]], [[3, ["text"]]]],
}


@pytest.mark.parametrize("name", FACTS)
def test_a_fact_that_no_model_has_is_refused(whole, tmp_path, name):
    for value in FACTS[name]:
        about = copy.deepcopy(whole[0])
        *above, last = name.split(".")
        facts = about["state"]
        for each in above:
            facts = facts[each]
        assert type(facts[last]) is not type(value) or facts[last] != value
        facts[last] = value
        refuse(tmp_path / "forged", about, whole[1])


def test_rows_that_are_too_large_to_be_taught_are_refused(whole, tmp_path):
    about, arrays = whole
    rows = arrays["rows"].copy()
    rows[0, 0] = 1.1e100
    refuse(tmp_path / "forged", about, {**arrays, "rows": rows})


def test_another_width_than_that_of_the_rows_is_refused(tmp_path):
    learner = Learner(features=HashedText(8))
    learner.teach_many(["one", "two"], ["a", "b"])
    learner.save(tmp_path / "model")
    about, arrays = read_archive(tmp_path / "model", "minout model", 2)
    about["features"]["settings"]["width"] = 16
    about["features"]["fingerprint"] = HashedText(16).fingerprint
    refuse(tmp_path / "forged", about, arrays)


@pytest.mark.parametrize("name", ["regions", "hats"])
def test_more_regions_or_hats_than_were_chosen_are_refused(bent, tmp_path, name):
    about, arrays = copy.deepcopy(bent[0]), bent[1]
    state, setting = about["state"], {"regions": "regions", "hats": "expand"}[name]
    state["settings"][setting] = state["choice"][name] = 1
    refuse(tmp_path / "forged", about, arrays)


@pytest.mark.parametrize("name", ["K", "precision", "sums.rows", "prior.W", "prior.b"])
def test_numbers_that_are_not_finite_are_refused(whole, tmp_path, name):
    about, arrays = whole
    for value in (np.nan, np.inf):
        array = arrays[name].copy()
        array.flat[0] = value
        refuse(tmp_path / "forged", about, {**arrays, name: array})


NUMBERS = {
    "class": lambda array: np.where(np.arange(len(array)) == 5, 1, array),  # of a forgotten row
    "members.sizes": lambda array: array - array,
    "pool": lambda array: array[::-1],
    "pool.signs": lambda array: -array,
    "misfits": lambda array: array[[0, 0, *range(2, len(array))]],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_places_and_classes_that_contradict_each_other_are_refused(
    whole, tmp_path, name
):
    about, arrays = whole
    assert not arrays["stored"][5]
    refuse(tmp_path / "forged", about, {**arrays, name: NUMBERS[name](arrays[name])})


def test_an_example_that_is_pending_in_the_pool_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=700)
    learner = Learner()
    learner.teach_many(rng.normal(size=(700, 4)) + 0.2 * labels[:, None], labels.tolist())
    learner.save(tmp_path / "model")
    about, arrays = read_archive(tmp_path / "model", "minout model", 2)
    assert len(arrays["pending"])
    pending = arrays["pending"].copy()
    pending[0] = arrays["pool"][0]
    refuse(tmp_path / "forged", about, {**arrays, "pending": pending})


@pytest.mark.parametrize("number", [0, 1], ids=["newton", "factor"])
@pytest.mark.parametrize("value", [0.0, -0.0, 1e-320, 1e300], ids=["zero", "minus", "tiny", "huge"])
def test_a_factor_with_one_wrong_pivot_is_computed_anew(large, tmp_path, number, value):
    about, arrays = large[number]
    name = ("newton.0.L", "factor.0")[number]
    width = arrays["rows"].shape[1]
    for pivot in (0, 1, 2):
        L = arrays[name].copy()
        L[pivot * (pivot + 3) // 2] = value  # on the diagonal, of a lower half row by row
        write_archive(tmp_path / "forged", about, {**arrays, name: L}, "The model")
        learner = Learner.load(tmp_path / "forged")
        learner.forget(
            np.array(learner.ids)[arrays["pool"][arrays["pool.alpha"] > 0.0][:3]].tolist()
        )
        learner.teach(np.ones(width), 0)
        learner.teach(np.ones(width), 1)
        learner.settle()
        assert learner.audit().ok
