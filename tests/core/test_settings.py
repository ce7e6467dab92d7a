"""Settings: what may be chosen, what is pinned, what is refused, and when a stream refreshes."""

import itertools

import numpy as np
import pytest

from minout import Learner
from minout.core import Settings, frame
from minout.core.choice import SHAPES, STRENGTHS
from minout.core.folds import Shape
from minout.errors import InvalidInputError
from oracle.margin import reloaded


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
        assert all(pin in ("auto", value) for pin, value in zip(pins, shape[:3], strict=True))
        assert shape.free_bias or not shape.lda_prior
    if "auto" not in pins:
        assert shapes[-1] == Shape(standardize, whiten, lda_prior)
        assert len(shapes) == 2 - lda_prior


def test_the_plainest_shape_and_the_highest_strength_come_first():
    assert Settings().shapes() == SHAPES
    sizes = [sum(shape) for shape in Settings().shapes() if shape.whiten or not shape.lda_prior]
    assert sizes == sorted(sizes)
    assert Settings().strengths() == tuple(sorted(STRENGTHS, reverse=True))
    assert Settings(C=2).strengths() == (2.0,)


@pytest.mark.parametrize(
    "settings",
    [
        {"C": np.float32(0.5)},
        {"C": np.int64(2)},
        {"whiten": np.True_},
        {"near_classes": np.uint8(3)},
    ],
    ids=["float32", "int64", "bool", "uint8"],
)
def test_settings_from_numpy_can_be_saved(settings):
    learner = Learner(**settings)
    learner.teach_many([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert reloaded(learner).settings == learner.settings == Settings(**settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("C", value)
            for value in (0.0, float("nan"), True, "cheap", None, [0.1], 1e-320, 10**400)
        ),
        *(("whiten", value) for value in ("yes", None)),
        *(("lda_prior", value) for value in (1, 0.0)),
        *(("refresh", value) for value in ("never", True)),
        *(("near_classes", value) for value in (0, True, 1.5, "some", None, 10**30)),
        *(("regions", value) for value in (0, 1.5, "two", True, 2**40)),
        *(("expand", value) for value in (0, 1.5, "three", True, 2**40)),
    ],
    ids=lambda value: str(value)[:9],
)
def test_settings_that_mean_nothing_are_refused_in_a_sentence(name, value):
    with pytest.raises(InvalidInputError, match=rf"^`{name}` must be .*\.$"):
        Learner(**{name: value})


def refreshes(labels):
    """Return after how many examples there was a refresh, and which of them chose settings."""
    rng, learner, found = np.random.default_rng(0), Learner(regions=1, expand=None), {}
    for n, label in enumerate(labels, start=1):
        refresh = learner.teach(rng.normal(size=3) + label, label).refresh
        if refresh is not None:
            found[n] = refresh.chose_settings
    return found


def test_in_a_shuffled_stream_a_refresh_comes_whenever_the_examples_have_doubled():
    found = refreshes([n % 3 for n in range(100)])
    assert [*found] == [2, 4, 8, 16, 32, 64]
    assert [n for n in found if found[n]] == [8, 32]


@pytest.mark.parametrize(
    ("labels", "at"),
    [
        ([0] * 300 + [1] * 299, [301, 316, 364, 556]),
        ([n // 40 for n in range(400)], [41, 56, 104, 208]),
    ],
    ids=["two", "ten"],
)
def test_of_labels_taught_one_after_the_other_only_the_second_adds_refreshes(labels, at):
    assert [*refreshes(labels)] == at


def test_a_third_label_brings_a_choice_at_the_next_refresh():
    assert refreshes([0] * 33 + [1] * 40 + [2] * 27) == {34: False, 49: True, 98: True}


def test_with_one_class_there_is_nothing_to_renew():
    learner = Learner(whiten=True, lda_prior=True)
    for row in np.random.default_rng(0).normal(size=(10, 2)):
        learner.teach(row, "only")
    assert not learner.what_if([0.5, 0.5], "only").refresh
    assert learner.teach([0.5, 0.5], "only").refresh is None


@pytest.mark.parametrize("pinned", [False, True], ids=["chosen", "pinned"])
def test_a_scale_and_a_prior_but_no_metric_are_tried_for_very_wide_rows_unless_pinned(
    pinned, monkeypatch
):
    tried, choose = [], frame.choose

    def recorded(table, options, stored):
        tried.append(any(shape.whiten for shape in options.shapes))
        assert Shape(standardize=True, whiten=tried[-1], lda_prior=True) in options.shapes
        return choose(table, options, stored)

    monkeypatch.setattr(frame, "choose", recorded)
    monkeypatch.setattr(frame, "WIDEST_METRIC", 20)
    for features, wide in ((20, False), (21, True)):
        tried.clear()
        learner, rng = Learner(whiten=True if pinned else "auto"), np.random.default_rng(0)
        for i in range(12):
            learner.teach(rng.normal(size=features) + (i % 2), i % 2)
        assert set(tried) == {pinned or not wide}
