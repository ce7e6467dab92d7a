"""Class scores: priors of near pairs are those of the specification, however scores came about."""

import numpy as np
import pytest

from minout import maths
from minout.core.regions import pair_count, pair_number, regions_of
from minout.core.scores import FIELDS, ClassScores
from minout.maths import Geometry

COUNTS = np.array([3.0, 5.0, 4.0, 9.0, 2.0, 7.0])
OWNER = np.array([0, 1, 1, 2, 3, 4])


def ground(*, full):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(4, 9))
    K = A @ A.T / 9.0 if full else rng.uniform(0.5, 2.0, 4)
    return Geometry(rng.normal(size=4), K, None), rng.normal(size=(6, 4))


def scores_of(geometry, means, near_classes=None):
    return ClassScores.of(geometry, means, COUNTS, 30, OWNER, near_classes)


def assert_equal(found, wanted):
    for name in FIELDS:
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-12), name


@pytest.mark.parametrize("full", [True, False], ids=["matrix", "diagonal"])
def test_the_prior_of_a_near_pair_is_the_discriminant_of_its_means(full):
    geometry, means = ground(full=full)
    scores, far = scores_of(geometry, means), scores_of(geometry, means, 1)
    compared = 0
    for pair in range(pair_count(6)):
        low, high = regions_of(pair)
        assert scores.near[pair] == (OWNER[low] != OWNER[high])
        wanted = maths.prior(geometry, means[low], means[high])
        for each in (scores, far):
            if each.near[pair]:
                found, compared = each.prior(pair), compared + 1
                assert found.w == pytest.approx(wanted.w, rel=1e-10)
                assert found.b == pytest.approx(wanted.b, rel=1e-10)
    assert compared > pair_count(6)
    assert 0 < far.near.sum() < scores.near.sum()


def test_equal_means_have_no_prior():
    geometry, means = ground(full=True)
    means[4] = means[0]
    prior = scores_of(geometry, means).prior(pair_number(0, 4))
    assert not prior.w.any()
    assert prior.b == 0.0


@pytest.mark.parametrize("c", [0, 3, 5])
def test_scores_that_were_renewed_are_those_of_the_new_means(c):
    geometry, means = ground(full=True)
    old, counts = means.copy(), COUNTS.copy()
    old[c], counts[c] = 7.0, 1.0
    before = ClassScores.of(geometry, old, counts, 30, OWNER, None)
    after = before.with_region(geometry, c, means[c], COUNTS[c], OWNER)
    assert_equal(after, scores_of(geometry, means))
    assert before.V[c].tolist() != after.V[c].tolist()  # the first ones are not changed


def test_scores_of_regions_that_come_and_go_are_those_of_what_stays():
    geometry, means = ground(full=True)
    whole = scores_of(geometry, means)
    first = whole.only([0, 1, 2, 3, 4])
    again = first.with_region(geometry, 5, means[5], COUNTS[5], OWNER)
    assert_equal(again, whole)
    few = [0, 2, 5]
    wanted = ClassScores.of(geometry, means[few], COUNTS[few], 30, OWNER[few], None)
    assert_equal(whole.only(few), wanted)
