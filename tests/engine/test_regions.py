"""Regions: labels of several clusters, their separators, and what is said about them."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from minout import InvalidInputError, Learner, maths
from minout.engine import regions as engine_regions
from oracle.margin import everything, loaded, model_bits, saved

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


def test_the_choice_finds_how_many_regions_there_are():
    rows, labels = corners(120)
    learner = taught(rows, labels, regions="auto")
    learner.consolidate()
    assert learner.choice.regions == 2
    straight = [str(row[0] > 2.0) for row in rows]
    learner = taught(rows, straight, regions="auto")
    learner.consolidate()
    assert learner.choice.regions == 1
    assert learner.choice.hats == 0


def test_regions_list_every_example_once_under_its_label():
    rows, labels = corners()
    learner = taught(rows, labels)
    found = learner.regions()
    assert list(found) == ["other", "same"]
    for label, parts in found.items():
        assert sorted(i for part in parts for i in part) == [
            i for i, each in enumerate(labels) if each == label
        ]
    learner.consolidate()
    for parts in learner.regions().values():
        for part in parts:  # each is one corner
            corner = {tuple(np.round(np.array(rows[i]) / 4.0).tolist()) for i in part}
            assert len(corner) == 1


def test_a_new_example_joins_the_region_in_which_its_least_margin_is_highest():
    rows, labels = corners()
    learner = taught(rows, labels)
    before = learner.regions()
    report = learner.teach([3.9, 3.8], "same")
    near = next(part for part in learner.regions()["same"] if report.example_id in part)
    assert report.certificate.moved == ()
    assert any(set(near) - {report.example_id} == set(part) for part in before["same"])
    assert {tuple(np.round(np.array(rows[i]) / 4.0)) for i in near if i < len(rows)} == {(1.0, 1.0)}


def test_a_corrected_example_joins_a_region_of_its_new_label():
    rows, labels = corners()
    learner = taught(rows, labels)
    learner.correct(0, "same" if labels[0] == "other" else "other")
    assert learner.audit().ok
    assert sum(0 in part for parts in learner.regions().values() for part in parts) == 1
    learner.correct(1, "new")
    assert learner.regions()["new"] == [(1,)]
    assert learner.audit().ok


def test_a_region_whose_examples_are_forgotten_is_gone():
    rows, labels = corners()
    learner = taught(rows, labels)
    learner.forget(list(learner.regions()["same"][0]))
    assert [len(parts) for parts in learner.regions().values()] == [2, 1]
    assert learner.audit().ok
    learner.forget_class("other")
    assert list(learner.regions()) == ["same"]
    assert learner.predict([[0.0, 0.0]]).tolist() == ["same"]
    learner.teach([4.0, 0.0], "other")
    assert learner.audit().ok
    assert learner.predict([[4.1, 0.0]]).tolist() == ["other"]


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


@pytest.mark.parametrize("regions", [(2, 0), (0, -1), (0,), "ab", (0.0, 1), 3, (True, 0)])
def test_a_region_that_does_not_exist_is_one_sentence(regions):
    rows, labels = corners()
    learner = taught(rows, labels)
    with pytest.raises(InvalidInputError, match="region") as error:
        learner.separator("same", "other", regions)
    assert str(error.value).endswith(".")


def test_regions_may_be_numbers_of_numpy():
    rows, labels = corners()
    learner = taught(rows, labels)
    wanted = learner.separator("same", "other", (1, 0))
    for regions in ((np.int64(1), np.int64(0)), np.array([1, 0]), [1, 0]):
        found = learner.separator("same", "other", regions)
        assert found.weights.tolist() == wanted.weights.tolist()


@pytest.mark.parametrize("regions", [0, -1, 1.5, "two", True, None, 2**40])
def test_a_number_of_regions_that_makes_no_sense_is_one_sentence(regions):
    with pytest.raises(InvalidInputError, match="`regions` must be a whole number"):
        Learner(regions=regions)


@pytest.mark.parametrize("regions", [2, 50, 2**30])
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


@pytest.mark.parametrize("regions", [2, 3])
def test_after_consolidating_regions_do_not_depend_on_the_order(regions):
    rows, labels = corners(60, noise=1.4)
    wanted = None
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(rows))
        learner = Learner(**(PLAIN | {"regions": regions}))
        for i in order.tolist():
            learner.teach(rows[i], labels[i], id=i)
        learner.consolidate()
        found = (
            model_bits(learner),
            {label: [sorted(part) for part in parts] for label, parts in learner.regions().items()},
        )
        wanted = wanted or found
        assert found == wanted


def test_a_saved_learner_has_the_same_regions():
    rows, labels = corners(60, noise=1.4)
    learner = taught(rows, labels, regions=3)
    twin = loaded(saved(learner))
    assert twin.regions() == learner.regions()
    for each in (learner, twin):
        each.teach([2.0, 2.0], "same")
    assert saved(twin) == saved(learner)


def test_files_from_before_there_were_regions_are_read(tmp_path):
    learner = taught(*corners(), regions=1)
    about, arrays = engine_regions_free(learner)
    assert "regions" not in about["choice"]
    from minout.engine.packing import unpacked

    state = unpacked(about, arrays)
    assert state.choice.regions == 1
    assert state.choice.hats == 0
    assert state.settings.regions == "auto"


def engine_regions_free(learner):
    """Return what an earlier version would have packed."""
    from minout.engine.packing import packed

    about, arrays = packed(learner._state)
    about = copy.deepcopy(about)
    for name in ("regions", "expand"):
        del about["settings"][name]
    for name in ("regions", "hats"):
        del about["choice"][name]
    return about, arrays


def test_a_batch_that_is_refused_leaves_the_regions_as_they_were(monkeypatch):
    rows, labels = corners(60, noise=1.4)
    learner = taught(rows[:30], labels[:30])
    start = everything(learner)
    with pytest.raises(InvalidInputError):
        learner.teach_many([*rows[30:], [np.nan, 0.0]], [*labels[30:], "same"])
    assert everything(learner) == start


def test_what_if_names_examples_of_sibling_regions():
    # A row of region 0 of "a" that is unclipped in region 1 of "a", too, is disturbed when a
    # separator of region 1 moves.
    rng = np.random.default_rng(3)
    rows = np.concatenate(
        [rng.normal(size=(40, 2)), rng.normal(size=(20, 2)) + np.array([0.0, 5.0])]
    )
    labels = ["a"] * 40 + ["b"] * 20
    learner = taught(rows.tolist(), labels, refresh="manual")
    learner.consolidate()
    said = learner.what_if([0.0, 4.0], "a")
    parts = learner.regions()["a"]
    assert all(set(part) & set(said.interfered) for part in parts)
    before = learner.outputs(rows)
    learner.teach([0.0, 4.0], "a")
    changed = np.flatnonzero((learner.outputs(rows) != before).any(axis=1))
    assert len(changed)
    assert set(changed.tolist()) <= set(said.interfered)


def test_order_of_ranks_labels_first():
    rank, owner = engine_regions.order_of(["b", "a", "b", "c", "a"])
    assert owner.tolist() == [1, 0, 1, 2, 0]
    assert rank.tolist() == [2, 0, 3, 4, 1]


@settings(max_examples=40)
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


def test_clusters_are_about_as_good_as_those_of_scikit_learn():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(300, 3)) + 2.0 * rng.normal(size=(6, 3))[rng.integers(0, 6, 300)]
        centres = maths.centres(Z, 6)
        ours = ((Z[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum()
        theirs = KMeans(6, n_init=10, random_state=0).fit(Z).inertia_
        assert ours <= 1.1 * theirs
