"""The settings: what may be chosen, what is pinned, what is refused."""

import copy
import itertools

import numpy as np
import pytest

from minout import Learner
from minout.engine import Settings
from minout.engine.choice import SHAPES, STRENGTHS
from minout.engine.folds import Shape
from minout.errors import InvalidInputError


def test_with_nothing_pinned_everything_may_be_chosen():
    assert Settings().shapes() == SHAPES
    assert Settings().strengths() == STRENGTHS


@pytest.mark.parametrize(
    "pins",
    [*itertools.product([True, False, "auto"], repeat=3)],
    ids=lambda pins: " ".join(str(pin) for pin in pins),
)
def test_every_shape_that_may_be_chosen_respects_the_pins(pins):
    standardize, whiten, lda_prior = pins
    shapes = Settings(standardize=standardize, whiten=whiten, lda_prior=lda_prior).shapes()
    assert shapes
    assert len(set(shapes)) == len(shapes)
    for shape in shapes:
        assert all(pin in ("auto", value) for pin, value in zip(pins, shape, strict=True))
    if "auto" not in pins:
        assert shapes == (Shape(standardize, whiten, lda_prior),)


def test_the_plainest_shape_and_the_highest_strength_come_first():
    sizes = [sum(shape) for shape in Settings().shapes() if shape.whiten or not shape.lda_prior]
    assert sizes == sorted(sizes)
    assert list(Settings().strengths()) == sorted(Settings().strengths(), reverse=True)


@pytest.mark.parametrize(
    "C", [1, 0.5, np.float32(0.5), np.int64(2)], ids=["int", "float", "float32", "int64"]
)
def test_a_pinned_strength_is_the_only_one(C):
    assert Settings(C=C).strengths() == (float(C),)
    assert type(Settings(C=C).strengths()[0]) is float


@pytest.mark.parametrize("whiten", [np.True_, True], ids=["numpy", "python"])
def test_a_pin_from_numpy_is_a_pin(whiten):
    assert all(shape.whiten is True for shape in Settings(whiten=whiten).shapes())


@pytest.mark.parametrize(
    "settings",
    [{"C": np.float32(0.5)}, {"C": np.int64(2)}, {"C": np.longdouble(2)}, {"whiten": np.True_}],
    ids=["float32", "int64", "longdouble", "bool"],
)
def test_settings_from_numpy_can_be_saved_and_copied(settings, tmp_path):
    learner = Learner(**settings)
    learner.teach_many([[0.0], [1.0], [2.0]], [0, 1, 0])
    learner.save(tmp_path / "m")
    assert Learner.load(tmp_path / "m").settings == learner.settings == Settings(**settings)
    assert copy.deepcopy(learner).settings == learner.settings


def _shown(setting):
    name, value = setting
    return f"{name}={value}" if not isinstance(value, int) or value < 2**64 else f"{name}=huge"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"C": 0.0}, "`C` must be a positive number"),
        ({"C": -1.0}, "`C` must be a positive number"),
        ({"C": float("nan")}, "`C` must be a positive number"),
        ({"C": float("inf")}, "`C` must be a positive number"),
        ({"C": True}, "`C` must be a positive number"),
        ({"C": "cheap"}, "`C` must be a positive number"),
        ({"C": None}, "`C` must be a positive number"),
        ({"C": [0.1]}, "`C` must be a positive number"),
        ({"whiten": "yes"}, "`whiten` must be True, False"),
        ({"whiten": None}, "`whiten` must be True, False"),
        ({"lda_prior": 1}, "`lda_prior` must be True, False"),
        ({"standardize": 0.0}, "`standardize` must be True, False"),
        ({"refresh": "never"}, "`refresh` must be "),
        ({"refresh": True}, "`refresh` must be "),
        ({"C": 1e-320}, "`C` must be a positive number"),
        ({"C": 10**400}, "`C` must be a positive number"),
        ({"C": 10**5000}, "`C` must be a positive number"),
    ],
    ids=lambda each: "" if isinstance(each, str) else " ".join(map(_shown, each.items())),
)
def test_settings_that_mean_nothing_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(InvalidInputError, match=rf"^{sentence}.*\.$"):
        Settings(**settings)


def test_settings_cannot_be_changed_afterwards():
    with pytest.raises(AttributeError):
        Settings().C = 0.5
