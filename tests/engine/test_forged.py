"""Files with a valid checksum that nobody saved, and bugs that are not the fault of a file."""

import contextlib
import copy
import json

import numpy as np
import pytest

from faults import forge_archive
from minout import InvalidInputError, Learner, engine
from minout.codecs import ProductCodec, ScalarCodec
from minout.engine import frame, packing, step
from minout.errors import MinoutError, MissingDataError, NotConverged
from minout.features import HashedText, RandomFourier
from minout.store import read_archive, write_archive
from oracle.margin import clusters, stream

FORGERIES = 400
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


@pytest.fixture(scope="module")
def coded(tmp_path_factory):
    """Return the facts and arrays of a model whose rows are codes of a codec with bounds."""
    path = tmp_path_factory.mktemp("coded") / "model"
    rows, labels = stream(5, examples=50, features=3, apart=0.4)
    learner = Learner(
        C=5.0,
        whiten=True,
        lda_prior=True,
        standardize=True,
        expand=2,
        memory=ScalarCodec(4, [-3.0, -3.0, -3.0], [3.0, 4.0, 5.0]),
    )
    learner.teach_many(rows, [int(label) for label in labels])
    learner.correct(3, 7)
    learner.forget([5, 6])
    learner.save(path)
    return read_archive(path, "minout model", 2)


@pytest.fixture(scope="module")
def products(tmp_path_factory):
    """Return the facts and arrays of a model whose rows are codes of a product codec."""
    path = tmp_path_factory.mktemp("products") / "model"
    rows, labels = stream(5, examples=50, features=3, apart=0.4)
    learner = Learner(C=5.0, memory=ProductCodec.fit(rows, bytes_per_row=2))
    learner.teach_many(rows, [int(label) for label in labels])
    learner.save(path)
    return read_archive(path, "minout model", 2)


def works(learner):
    """Ask and teach a model that may be a forger's: it may complain, but must not fail."""
    learner.scores(np.zeros((2, 3)))
    learner.predict([[0.5, 0.5, 0.5], [9.0, 9.0, 9.0]])
    learner.audit()
    for change in (
        lambda: learner.teach([0.5, 0.5, 0.5], 2, id="one more"),
        lambda: learner.teach([0.6, 0.5, 0.5], 99),
        lambda: learner.forget("one more"),
        lambda: learner.forget_class(99),
        learner.consolidate,
    ):
        with contextlib.suppress(MinoutError):  # numbers of a forger's may not be separable
            change()
    learner.scores(np.zeros((2, 3)))


def forged(whole, rng):
    """Change one thing, at random, as a forger would who makes the checksum anew."""
    about, arrays = copy.deepcopy(whole[0]), dict(whole[1])
    if rng.random() < 0.5:
        facts = about["state"]
        while True:
            key = str(rng.choice(list(facts)))
            if not isinstance(facts[key], dict) or not facts[key] or rng.random() < 0.4:
                break
            facts = facts[key]
        others = [None, -1, 10**6, 1.5, "x", [], [1], {}, {"a": 1}, True, [None], [[1, 2]]]
        if rng.random() < 0.3:
            del facts[key]
        else:
            facts[key] = others[int(rng.integers(len(others)))]
        return about, arrays
    name = str(rng.choice(list(arrays)))
    array = arrays[name].copy()
    changes = [
        lambda: array[:-1],
        lambda: np.concatenate([array, array]),
        lambda: array.astype(np.float32 if array.dtype.kind != "f" else np.int64),
        lambda: array.reshape(-1, 1),
        lambda: array.astype("U3"),
        lambda: np.full_like(array, np.nan if array.dtype.kind == "f" else 1),
        lambda: array - 100 if array.dtype.kind == "i" else np.zeros(0),
        lambda: array + 100 if array.dtype.kind == "i" else array[:0],
        lambda: None,
    ]
    arrays[name] = changes[int(rng.integers(len(changes)))]()
    if arrays[name] is None:
        del arrays[name]
    return about, arrays


def test_a_forged_file_is_refused_in_a_sentence_or_is_a_model(whole, tmp_path):
    rng, refused = np.random.default_rng(0), 0
    for _ in range(FORGERIES):
        about, arrays = forged(whole, rng)
        write_archive(tmp_path / "forged", about, arrays, "The model")
        try:
            learner = Learner.load(tmp_path / "forged")
        except MinoutError:
            refused += 1
            continue
        learner.scores(np.zeros((2, 3)))
        learner.audit()  # may complain, but must not fail
        with contextlib.suppress(MinoutError):  # numbers of a forger's may not be separable
            learner.teach([0.5, 0.5, 0.5], 2, id="one more")
            learner.consolidate()
    assert FORGERIES / 2 < refused < FORGERIES


@pytest.mark.parametrize(
    ("model", "seed"), [("far", 1), ("bent", 2), ("coded", 3), ("products", 4)]
)
def test_a_forged_file_of_any_form_is_refused_in_a_sentence_or_is_a_model(
    model, seed, tmp_path, request
):
    rng, refused = np.random.default_rng(seed), 0
    for _ in range(FORGERIES // 2):
        write_archive(
            tmp_path / "forged", *forged(request.getfixturevalue(model), rng), "The model"
        )
        try:
            learner = Learner.load(tmp_path / "forged")
        except MinoutError:
            refused += 1
            continue
        works(learner)
    assert FORGERIES / 4 < refused < FORGERIES / 2


WRONG_MEMORY = {
    "nothing": None,
    "a list": [],
    "no fingerprint": {"fingerprint": None},
    "another fingerprint": {"fingerprint": "scalar-1-0123456789abcdef"},
    "another width": {"width": 4},
    "a text as width": {"width": "3"},
    "more bytes": {"bytes": 3},
    "no dtype": {"dtype": "int8"},
    "a list as dtype": {"dtype": []},
    "another name": {"name": "product"},
    "an unknown name": {"name": "zip"},
    "a list as name": {"name": ["scalar"]},
    "no settings": {"settings": None},
    "other settings": {"settings": {"bits": 4}},
    "more settings": {"settings": {"bits": 4, "width": 3, "low": 0}},
    "a width below 0": {"settings": {"bits": 4, "width": -3}},
    "a huge width": {"settings": {"bits": 4, "width": 10**400}},
    "three bits": {"settings": {"bits": 3, "width": 3}},
}


@pytest.mark.parametrize("change", WRONG_MEMORY.values(), ids=WRONG_MEMORY)
def test_a_codec_that_is_not_described_properly_is_refused(coded, tmp_path, change):
    about, arrays = copy.deepcopy(coded[0]), coded[1]
    memory = about["state"]["memory"]
    about["state"]["memory"] = memory | change if isinstance(change, dict) else change
    refuse(tmp_path / "forged", about, arrays)


WRONG_ARRAYS = {
    "no bounds": ("memory.low", None),
    "bounds of another width": ("memory.low", np.zeros(4)),
    "bounds in another order": ("memory.low", np.full(3, 9.0)),
    "infinite bounds": ("memory.high", np.full(3, np.inf)),
    "other bounds": ("memory.high", np.full(3, 5.5)),
    "texts as bounds": ("memory.high", np.array(["a", "b", "c"])),
    "numbers as codes": ("rows", np.zeros((50, 3))),
    "codes of another size": ("rows", np.zeros((50, 3), np.uint8)),
    "codes of another type": ("rows", np.zeros((50, 2), np.int8)),
    "fewer codes": ("rows", np.zeros((49, 2), np.uint8)),
}


@pytest.mark.parametrize(("name", "array"), WRONG_ARRAYS.values(), ids=WRONG_ARRAYS)
def test_codes_and_bounds_that_do_not_fit_are_refused(coded, tmp_path, name, array):
    about, arrays = coded[0], dict(coded[1])
    assert arrays["rows"].shape == (50, 2)
    if array is None:
        del arrays[name]
    else:
        arrays[name] = array
    refuse(tmp_path / "forged", about, arrays)


@pytest.mark.parametrize("memory", ["uint8", "uint4"])
def test_a_code_that_stands_for_no_number_is_refused(tmp_path, memory):
    learner = Learner(memory=memory)
    learner.teach_many([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0, 1, 2])
    learner.save(tmp_path / "model")
    about, arrays = read_archive(tmp_path / "model", "minout model", 2)
    header = {"uint8": np.array([2_000], "<i2"), "uint4": np.array([np.inf], "<f4")}[memory]
    rows = arrays["rows"].copy()
    rows[1, : header.nbytes] = header.view(np.uint8)
    refuse(tmp_path / "forged", about, arrays | {"rows": rows})


@pytest.mark.parametrize("name", ["of", "left", "middle", "right", "height"])
@pytest.mark.parametrize("value", [-7, 99, np.nan, np.inf])
def test_hats_that_no_column_has_are_refused(bent, tmp_path, name, value):
    about, arrays = copy.deepcopy(bent[0]), dict(bent[1])
    array = arrays[f"hats.{name}"] = arrays[f"hats.{name}"].copy()
    if array.dtype.kind == "i" and not np.isfinite(value):
        return
    array[1] = value
    write_archive(tmp_path / "forged", about, arrays, "The model")
    if (name, value) in {("left", -7), ("right", 99), ("height", 99)}:  # a hat, if a strange one
        works(Learner.load(tmp_path / "forged"))
        return
    with pytest.raises(MissingDataError):
        Learner.load(tmp_path / "forged")


@pytest.mark.parametrize("name", ["regions", "hats"])
@pytest.mark.parametrize("value", ["auto", None, 1.0, -1, True, 2**40])
def test_a_number_of_regions_or_knots_in_use_that_is_none_is_refused(bent, tmp_path, name, value):
    about, arrays = copy.deepcopy(bent[0]), dict(bent[1])
    about["state"]["choice"][name] = value
    write_archive(tmp_path / "forged", about, arrays, "The model")
    with pytest.raises(MissingDataError):
        Learner.load(tmp_path / "forged")


def test_regions_whose_labels_are_exchanged_are_refused(bent, tmp_path):
    about, arrays = copy.deepcopy(bent[0]), dict(bent[1])
    labels = about["state"]["labels"]
    other = next(i for i, each in enumerate(labels) if each != labels[0])
    labels[other] = labels[0]  # pairs between them would be those of siblings
    write_archive(tmp_path / "forged", about, arrays, "The model")
    with pytest.raises(MissingDataError):
        Learner.load(tmp_path / "forged")


FAR_NAMES = [
    *("near_classes", "near", "mean", "V", "half", "reach", "scale", "pairs", "support"),
    *("support.sizes", "coef", "bounds", "misfits", "misfits.sizes"),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FAR_NAMES)
def test_any_number_of_a_far_pair_is_refused_or_the_model_works(far, tmp_path, name):
    about, arrays = far
    array = arrays[f"far.{name}"]
    wild = [0, -1, 1, 10**6, 2**31, 2**62, -(2**63)]
    if array.dtype.kind == "f":
        wild = [0.0, -1.0, 1e-300, 1e30, -1e30, np.nan, np.inf, -np.inf]
    refused = 0
    with np.errstate(all="ignore"):
        changed = [
            np.where(
                np.arange(array.size).reshape(array.shape) == array.size // 2, value, array
            ).astype(array.dtype)
            for value in wild
        ]
        changed += [np.full_like(array, value) for value in np.array(wild).astype(array.dtype)]
    changed += [-array, array[::-1].copy(), array[:-1], array[:0], np.roll(array, 1, axis=0)]
    for each in changed:
        write_archive(tmp_path / "forged", about, {**arrays, f"far.{name}": each}, "The model")
        try:
            learner = Learner.load(tmp_path / "forged")
        except MissingDataError:
            refused += 1
        else:
            works(learner)
    assert refused > 0


@pytest.mark.parametrize("name", FAR_NAMES)
def test_a_model_with_far_pairs_lacks_none_of_their_arrays(far, tmp_path, name):
    about, arrays = far
    refuse(tmp_path / "forged", about, {k: v for k, v in arrays.items() if k != f"far.{name}"})


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


@pytest.mark.parametrize(
    "value",
    [0, -1, True, 1.5, "some", None, HUGE],
    ids=["zero", "minus", "true", "half", "word", "none", "huge"],
)
def test_near_classes_in_a_file_that_mean_nothing_are_refused(far, tmp_path, value):
    about = copy.deepcopy(far[0])
    about["state"]["settings"]["near_classes"] = value
    refuse(tmp_path / "forged", about, far[1])


def test_the_file_that_is_forged_is_a_model(whole, tmp_path):
    write_archive(tmp_path / "same", *whole, "The model")
    assert Learner.load(tmp_path / "same").audit().ok


@pytest.mark.parametrize("error", [ZeroDivisionError, OverflowError, FloatingPointError, KeyError])
def test_a_bug_is_not_told_as_numbers_that_differ_in_size(monkeypatch, error):
    learner = Learner()
    learner.teach_many([[0.0], [1.0], [2.0]], ["a", "b", "a"])

    def broken(*_, **__):
        raise error

    monkeypatch.setattr(frame.maths, "plain", broken)
    monkeypatch.setattr(step, "measured", broken)
    with pytest.raises(error):
        learner.teach([5.0], "b")
    with pytest.raises(error):
        learner.consolidate()
    assert len(learner) == 3


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


def test_only_a_separator_that_cannot_be_solved_asks_for_other_scales(monkeypatch):
    learner = Learner()
    learner.teach([0.0], "a")

    def unsolved(*_, **__):
        raise NotConverged

    monkeypatch.setattr(engine, "teach", unsolved)
    with pytest.raises(InvalidInputError, match="scale the features"):
        learner.teach([1.0], "b")


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


@pytest.mark.parametrize("value", [[], {}], ids=["list", "dict"])
def test_a_feature_map_whose_name_is_no_text_is_refused(whole, tmp_path, value):
    about = copy.deepcopy(whole[0])
    about["features"]["name"] = value
    write_archive(tmp_path / "forged", about, whole[1], "The model")
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


LABELS = {
    "nul": "a\0",
    "half": "half \ud800",
    "long": "x" * 10_001,
    "65 bits": 2**63,
    "least": -(2**63),
    "huge": 10**400,
}


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
def test_a_label_that_no_user_can_set_is_refused(tmp_path, label):
    learner = Learner()
    learner.teach_many([[0.0], [1.0]], ["a", "b"] if isinstance(label, str) else [1, 2])
    learner.save(tmp_path / "model")
    about, arrays = read_archive(tmp_path / "model", "minout model", 2)
    about["state"]["labels"][0] = label
    text = json.dumps(about).encode()  # ASCII, in which half a character can be written
    forge_archive.write_with(tmp_path / "forged", text, arrays)
    with pytest.raises(MissingDataError, match="was truncated or changed"):
        Learner.load(tmp_path / "forged")


def test_a_label_of_ten_thousand_characters_is_the_longest(tmp_path):
    learner = Learner()
    learner.teach_many([[0.0], [1.0]], ["a", "x" * 10_000])
    with pytest.raises(InvalidInputError, match="at most 10,000 characters; this one has 10,001"):
        learner.teach([0.5], "x" * 10_001)
    learner.save(tmp_path / "model")
    assert Learner.load(tmp_path / "model").predict([[1.0]])[0] == "x" * 10_000


@pytest.mark.parametrize("name", ["x" * 10**5, "two\nlines"], ids=["long", "lines"])
def test_a_feature_map_with_a_strange_name_is_refused_in_one_short_sentence(whole, tmp_path, name):
    about = copy.deepcopy(whole[0])
    about["features"]["fingerprint"] = name
    write_archive(tmp_path / "forged", about, whole[1], "The model")
    with pytest.raises(MissingDataError) as caught:
        Learner.load(tmp_path / "forged")
    assert len(str(caught.value)) < 300 + len(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_rows_that_are_too_large_to_be_taught_are_refused(whole, tmp_path):
    about, arrays = whole
    rows = arrays["rows"].copy()
    rows[0, 0] = 1.1e100
    refuse(tmp_path / "forged", about, {**arrays, "rows": rows})


def test_waves_that_the_rows_do_not_have_are_refused(tmp_path):
    learner = Learner(features=RandomFourier(4))
    learner.teach_many([[0.0], [1.0]], ["a", "b"])
    learner.save(tmp_path / "model")
    about, arrays = read_archive(tmp_path / "model", "minout model", 2)
    many = RandomFourier(10**11)  # 800 GB for one column
    about["features"]["settings"]["features"] = 10**11
    about["features"]["fingerprint"] = many.fingerprint
    refuse(tmp_path / "forged", about, arrays)


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


def test_a_coefficient_below_zero_is_refused(whole, tmp_path):
    about, arrays = whole
    refuse(tmp_path / "forged", about, {**arrays, "pool.alpha": -arrays["pool.alpha"]})


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


def test_arrays_of_another_type_or_shape_are_refused(whole, large, far, tmp_path):
    names = set()
    for about, arrays in (whole, *large, far):
        for name in sorted(set(arrays) - names):
            names.add(name)
            array = arrays[name]
            others = {np.dtype(each) for each in (">f8", "f4", "f2", ">i8", "i4", "i1", "u1", "?")}
            with np.errstate(all="ignore"):
                changed = [array.astype(each) for each in others - {array.dtype}]
            changed += [array[..., None], array[None]]
            changed += [np.concatenate([array, array])] if array.size else []
            for each in changed:
                refuse(tmp_path / "forged", about, {**arrays, name: each})
    assert {"factor.0.order", "newton.0.q", "newton.0.u", "newton.0.inside", "pool.signs"} < names


@pytest.mark.parametrize("name", ["newton.0.L", "newton.0.q"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, 1e300], ids=["zero", "minus", "nan", "huge"])
def test_sums_that_no_solver_made_are_computed_anew(large, tmp_path, name, value):
    about, arrays = large[0]
    learners = []
    for each in (arrays, {**arrays, name: np.full_like(arrays[name], value)}):
        write_archive(tmp_path / "forged", about, each, "The model")
        learner = Learner.load(tmp_path / "forged")
        learner.teach([9.0, 0.0, 0.0], 0)
        learner.teach([9.0, 0.0, 0.0], 1)
        learner.settle()
        learners.append(learner)
    honest, other = (each.scores(np.eye(3)) for each in learners)
    assert other == pytest.approx(honest, abs=1e-9)
    assert learners[1].audit().ok


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
