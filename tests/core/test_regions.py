"""Regions: labels of several clusters, their separators, and what is said about them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import Learner, maths

PLAIN = {"C": 5.0, "whiten": False, "lda_prior": False, "standardize": False, "expand": None}


def corners(n=40, seed=0, noise=0.3):
    """Draw four clusters at the corners of a square; opposite ones have the same label."""
    rng = np.random.default_rng(seed)
    corner = np.arange(n) % 4
    centres = np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 4.0], [4.0, 0.0]])
    rows = centres[corner] + noise * rng.normal(size=(n, 2))
    labels = np.where(corner < 2, "same", "other")
    order = rng.permutation(n)
    return rows[order].tolist(), labels[order].tolist()


def taught(rows, labels, **changes):
    learner = Learner(**(PLAIN | {"regions": 2} | changes))
    learner.teach_many(rows, labels)
    return learner


def test_two_regions_per_label_divide_what_one_cannot():
    rows, labels = corners()
    for consolidated in (False, True):
        one, two = taught(rows, labels, regions=1), taught(rows, labels)
        if consolidated:
            one.consolidate()
            two.consolidate()
        assert two.misfits == []
        assert two.predict(rows).tolist() == labels
        assert len(one.misfits) > 10
        assert [len(parts) for parts in two.regions().values()] == [2, 2]
        assert two.audit().ok


def test_explain_names_the_regions_between_which_the_separator_stands():
    rows, labels = corners()
    learner = taught(rows, labels)
    x = [3.6, 3.7]
    found = learner.explain(x)
    weights, bias, supports = learner.separator(
        found.label, found.runner_up, (found.region, found.runner_up_region)
    )
    assert weights @ x + bias == pytest.approx(found.margin)
    assert found.separator == pytest.approx(weights)
    regions = learner.regions()
    mine = {*regions[found.label][found.region], *regions[found.runner_up][found.runner_up_region]}
    assert {each.id for each in found.supports} == {each.id for each in supports} <= mine
    assert found.scores == pytest.approx(
        dict(zip(learner.classes, learner.scores([x])[0], strict=True))
    )


def test_the_score_of_a_label_is_the_highest_of_its_regions():
    rows, labels = corners()
    learner = taught(rows, labels)
    X = np.random.default_rng(1).uniform(-1, 5, (50, 2))
    margins = [
        [
            [X @ w + b for w, b, _ in (learner.separator(a, o, (i, j)) for j in range(2))]
            for i in range(2)
        ]
        for a, o in (("other", "same"), ("same", "other"))
    ]
    wanted = np.array(margins).min(axis=2).max(axis=1).T
    assert learner.scores(X) == pytest.approx(wanted)
    assert learner.predict(X).tolist() == learner.classes[wanted.argmax(axis=1)].tolist()


@pytest.mark.parametrize("regions", [2, 2**30])
@pytest.mark.parametrize("rows", ["one each", "equal", "equal with two labels", "few"])
def test_more_regions_than_examples_is_the_plainest_form_that_fits(rows, regions):
    rng = np.random.default_rng(0)
    X = {
        "one each": [[0.0, 1.0], [1.0, 0.0], [3.0, 3.0]],
        "equal": [[1.0, 1.0]] * 12 + [[2.0, 2.0]] * 12,
        "equal with two labels": [[1.0, 1.0]] * 24,
        "few": rng.normal(size=(14, 2)).tolist(),
    }[rows]
    labels = ["a", "b", "c"] if rows == "one each" else ["a", "b"] * (len(X) // 2)
    if rows == "equal":
        labels = ["a"] * 12 + ["b"] * 12
    learner = taught(X, labels, regions=regions)
    for _ in range(2):
        assert learner.audit().ok
        counts = {len(parts) for parts in learner.regions().values()}
        assert counts == {1} if rows != "few" else max(counts) <= 2
        learner.consolidate()


@given(st.integers(1, 60), st.integers(1, 8), st.integers(0, 99), st.booleans())
def test_centres_are_a_local_optimum_of_k_means_and_clusters_are_not_empty(n, k, seed, grid):
    rng = np.random.default_rng(seed)
    Z = rng.integers(-3, 4, (n, 2)) / 2 if grid else rng.normal(size=(n, 2))
    weights = rng.choice([0.5, 1.0, 8.0], n) if seed % 2 else np.ones(n)
    centres = maths.centres(Z, k, weights)
    found = maths.nearest(Z, centres)
    assert 1 <= len(centres) <= k
    assert set(found.tolist()) == set(range(len(centres)))
    for c, centre in enumerate(centres):
        mean = np.average(Z[found == c], axis=0, weights=weights[found == c])
        assert centre == pytest.approx(mean, abs=1e-9)
    distances = ((Z[:, None] - centres) ** 2).sum(axis=2)
    assert (distances[np.arange(n), found] <= distances.min(axis=1) + 1e-9).all()
