"""After consolidating, an example of weight 2 is two equal examples, and weights add up."""

import numpy as np
import pytest

from minout import Learner
from minout.features import Identity
from oracle import leave_one_out
from oracle.margin import SETTINGS, by_label, clusters, saved

WITHIN = 1e-7
"""The relative deviation that rounding may cause; measured were at most 1e-11."""


def banana(seed, *, examples=90):
    """Draw rows of two labels that one straight line does not divide."""
    X = np.random.default_rng(seed).normal(size=(examples, 2))
    return X, (np.square(X).sum(axis=1) > 1.2).astype(int).tolist()


def straight(seed):
    X, y = clusters(seed, classes=3, each=14, features=4, apart=0.8)
    return X, y


def wide(seed):
    return clusters(seed, classes=3, each=10, features=80, apart=0.5)


def many(seed):
    return clusters(seed, classes=9, each=6)


CASES = {
    "loose": (straight, SETTINGS["loose"], "float64"),
    "scaled": (straight, SETTINGS["scaled"], "float32"),
    "lda": (straight, SETTINGS["lda"], "float64"),
    "all": (straight, SETTINGS["all"], "float32"),
    "auto": (straight, SETTINGS["auto"], "float64"),
    "more columns than rows": (wide, SETTINGS["all"], "float32"),
    "form chosen": (banana, {}, "float64"),
    "regions and hats": (banana, {"regions": 3, "expand": 4}, "float32"),
    "more hats than rows": (lambda seed: banana(seed, examples=25), {"expand": 30}, "float64"),
    "far": (many, SETTINGS["lda"] | {"near_classes": 1}, "float32"),
    "far, chosen": (many, SETTINGS["auto"] | {"near_classes": 1}, "float64"),
    "far, with regions": (many, SETTINGS["means"] | {"near_classes": 1, "regions": 2}, "float64"),
}
"""Data, settings and precision by a short name."""


def taught(X, y, weights=None, *, dtype="float64", **settings):
    """Teach all rows and consolidate."""
    learner = Learner(**settings, features=Identity(dtype))
    learner.teach_many(X, [int(each) for each in y], weights=weights)
    learner.consolidate()
    return learner


def assert_equal_models(first, second, X):
    """Compare choice, origin, w, b and probabilities, but for rounding."""
    one, two = first.inspect(), second.inspect()
    assert one.choice._replace(sharpness=1.0) == two.choice._replace(sharpness=1.0)
    assert one.choice.sharpness == pytest.approx(two.choice.sharpness, rel=WITHIN)
    ours, theirs = by_label(one), by_label(two)
    assert set(ours) == set(theirs)
    for pair, (w, b) in theirs.items():
        size = np.abs(w).max() + abs(b)
        assert ours[pair][0] == pytest.approx(w, abs=WITHIN * size)
        assert ours[pair][1] == pytest.approx(b, abs=WITHIN * size)
    assert one.origin == pytest.approx(two.origin, abs=WITHIN)
    assert first.probabilities(X) == pytest.approx(second.probabilities(X), abs=WITHIN)
    assert first.audit().ok
    assert second.audit().ok


@pytest.mark.parametrize("case", CASES)
def test_an_example_is_several_equal_ones_whose_weights_add_up_to_its_own(case):
    drawn, settings, dtype = CASES[case]
    X, y = drawn(3)
    rng = np.random.default_rng(0)
    X, y, times = X.astype(dtype), np.array(y), rng.integers(1, 4, len(y))
    again = rng.permutation(np.repeat(np.arange(len(y)), times))
    parts = np.where(again % 2, 1.0, rng.uniform(0.2, 2.0, len(again)))  # half are plain copies
    whole = np.bincount(again, parts)
    one = taught(X, y, whole.tolist(), dtype=dtype, **settings)
    several = taught(X[again], y[again], parts.tolist(), dtype=dtype, **settings)
    assert_equal_models(one, several, X)
    expected = one.expected_accuracy()[:3]
    assert several.expected_accuracy()[:3] == pytest.approx(expected, rel=WITHIN)
    unweighted = taught(X, y, dtype=dtype, **settings)
    assert unweighted.probabilities(X) != pytest.approx(one.probabilities(X), abs=1e-4)


@pytest.mark.parametrize("case", ["loose", "all", "regions and hats", "far"])
def test_all_weights_times_a_number_are_a_c_times_that_number(case):
    drawn, settings, _ = CASES[case]
    X, y = drawn(5)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    C = settings.get("C", 5.0)
    heavier = taught(X, y, (3.0 * weights).tolist(), **settings | {"C": C})
    closer = taught(X, y, weights.tolist(), **settings | {"C": 3.0 * C})
    one, two = heavier.inspect(), closer.inspect()
    assert one.choice._replace(C=1.0, sharpness=1.0) == two.choice._replace(C=1.0, sharpness=1.0)
    ours, theirs = by_label(one), by_label(two)
    for pair, (w, b) in theirs.items():
        size = np.abs(w).max() + abs(b)
        assert ours[pair][0] == pytest.approx(w, abs=WITHIN * size)
        assert ours[pair][1] == pytest.approx(b, abs=WITHIN * size)
    assert heavier.probabilities(X) == pytest.approx(closer.probabilities(X), abs=WITHIN)


def test_expected_accuracy_is_the_weighted_share_that_is_right_if_left_out():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 90)
    X = rng.normal(size=(90, 4)) + 0.3 * y[:, None]
    weights = rng.choice([0.02, 1.0, 20.0], 90)
    learner = taught(X, y, weights.tolist(), **SETTINGS["plain"])
    is_right = leave_one_out.scores(learner).argmax(axis=1) == y
    expected = learner.expected_accuracy()
    wanted = weights[is_right].sum() / weights.sum()
    assert expected.accuracy == pytest.approx(wanted, rel=1e-12)
    assert wanted != pytest.approx(is_right.mean(), abs=1e-3)
    assert expected.low < expected.accuracy < expected.high
    assert expected.high - expected.low > 2 * 1.96 * np.sqrt(0.25 / 90)  # few have most weight
    assert expected.examples == 90


def test_an_example_that_gets_another_weight_is_as_if_taught_with_it():
    X, y = straight(8)
    one = taught(X, y, **SETTINGS["all"])
    before = saved(one)
    assert one.correct(7, y[7], 1.0).certificate.moved == ()
    assert saved(one) == before
    one.correct(7, y[7], 9.0)
    one.correct(8, (y[8] + 1) % 3, 0.5)
    assert (one.weight(7), one.weight(8), one.weight(9)) == (9.0, 0.5, 1.0)
    assert one.audit().ok
    one.consolidate()
    weights, labels = np.ones(len(y)), [*y]
    weights[7], weights[8], labels[8] = 9.0, 0.5, (y[8] + 1) % 3
    assert_equal_models(one, taught(X, labels, weights.tolist(), **SETTINGS["all"]), X)


def test_sums_are_exact_after_an_example_of_very_large_weight_is_forgotten():
    X, y = straight(9)
    learner = Learner(**SETTINGS["all"])
    learner.teach_many(X, y)
    learner.teach(X.mean(axis=0) + 50.0, y[0], id="heavy", weight=1e9)
    learner.teach_many(X + 0.25, y)  # so that the heavy one is in the sums
    learner.forget("heavy")
    assert learner.inspect().sums.stale  # they are computed anew when they are next used
    learner.teach(X[0] + 9.0, 7)
    view = learner.inspect()
    assert not view.sums.stale
    seen = [learner.example(i)[0] for i in learner.ids if view.serials[i] < view.sums.seen]
    assert len(seen) > len(y)
    assert view.counts.sum() == pytest.approx(len(seen), abs=1e-9)
    total = np.sum(seen - view.sums.shift, axis=0)
    assert view.sums.rows.sum(axis=0) == pytest.approx(total, abs=1e-9)
    assert learner.audit().ok


def test_the_order_of_equal_rows_with_different_weights_changes_no_bit():
    X, y = straight(10)
    rows, labels = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    weights = np.tile([0.1, 0.2, 0.7], len(y))
    for settings in (SETTINGS["all"], {"regions": 2, "expand": 3}):
        found = []
        for seed in range(2):
            order = np.random.default_rng(seed).permutation(len(rows))
            learner = taught(rows[order], labels[order], weights[order].tolist(), **settings)
            found.append(
                {pair: (w.tolist(), b) for pair, (w, b) in by_label(learner.inspect()).items()}
            )
        assert found[0] == found[1]


@pytest.mark.parametrize("low", [1.0, 1e-9])
@pytest.mark.parametrize("high", [1e8, 1e9])
@pytest.mark.parametrize(("seed", "order"), [(0, 0), (1, 2), (5, 2)])
def test_very_different_weights_of_contradicting_rows_are_learned_in_any_order(
    seed, order, high, low
):
    rng = np.random.default_rng(seed)
    y, X = rng.integers(0, 3, 60), rng.integers(0, 3, size=(60, 2)).astype(float)
    weights = np.where(rng.random(60) < 0.3, high, low)
    found = []
    for places in (np.arange(60), np.random.default_rng(order).permutation(60)):
        learner = Learner(whiten=False, lda_prior=False, C=5.0)
        for place in places.tolist():
            learner.teach(X[place], int(y[place]), id=place, weight=float(weights[place]))
        assert learner.audit().ok
        learner.consolidate()
        found.append(learner.scores(X).tobytes())
    assert found[0] == found[1]
