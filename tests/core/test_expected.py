"""The expected accuracy is that of really leaving each example out."""

import copy

import numpy as np
import pytest
from scipy.stats import norm

from minout import InvalidInputError, Learner
from minout.core import left_out
from minout.features import Identity
from oracle import leave_one_out
from oracle.margin import SETTINGS, STRAIGHT, clusters, everything, reloaded, saved

DTYPES = ["float64", "float32"]


def taught(rows, labels, kind="plain", dtype="float64", weights=None, **settings):
    learner = Learner(**(SETTINGS[kind] | settings), features=Identity(dtype))
    learner.teach_many(rows, labels, [f"e{i}" for i in range(len(labels))], weights)
    return learner


def overlapping(seed=0, *, each=12, classes=4, dtype="float64", **shape):
    """Draw classes that overlap, and the first three rows once more."""
    rows, labels = clusters(seed, classes=classes, each=each, apart=0.9, dtype=dtype, **shape)
    return np.vstack([rows, rows[:3]]), [*labels, *labels[:3]]


def scores(learner):
    """Return the left-out scores of all examples."""
    state = learner._state
    return left_out.left_out_scores(state, state.examples.places())


# Against really leaving out.

MANY = {"classes": 9, "each": 5}
CASES = {
    **{kind: (kind, {}, {}) for kind in SETTINGS},
    "float32": ("all", {"dtype": "float32"}, {}),
    "more columns than rows": ("all", {"features": 60}, {}),
    "large": ("all", {"each": 80, "classes": 2, "features": 2}, {}),
    "regions": ("means", {"classes": 3, "each": 16}, {"regions": 2}),
    "hats": ("all", {"classes": 3}, {"expand": 3}),
    "far": ("all", MANY, {"near_classes": 2}),
    "far, by alpha": ("lda", MANY | {"features": 50}, {"near_classes": 2}),
    "far, with regions": ("means", {"classes": 6, "each": 12}, {"near_classes": 1, "regions": 2}),
}
"""Settings, the shape of the data, and more settings, by a short name."""


@pytest.mark.parametrize("few", [128, 0], ids=["small", "large"])
@pytest.mark.parametrize("case", CASES)
def test_scores_are_those_of_really_leaving_out(case, few, monkeypatch):
    kind, shape, more = CASES[case]
    if few == 128 and case == "large":
        few = 160  # by default its rows are too many to be solved for again
    monkeypatch.setattr(left_out, "FEW", few)
    rows, labels = overlapping(3, **shape)
    labels[-1] = (labels[-1] + 1) % 2  # of two pairs of equal rows, and one with two labels
    weights = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(labels))
    learner = taught(rows, labels, kind, shape.get("dtype", "float64"), weights.tolist(), **more)
    learner.consolidate()
    before, found = everything(learner), scores(learner)
    wanted = leave_one_out.scores(learner, few=few)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    assert np.abs(found - learner.scores(rows)).max(axis=1).mean() > 0.005
    is_right = wanted.argmax(axis=1) == np.array(labels)
    expected = learner.expected_accuracy()
    assert expected.accuracy == pytest.approx(np.average(is_right, weights=weights), rel=1e-12)
    for label, each in expected.per_class.items():
        mine = np.array(labels) == label
        share = np.average(is_right[mine], weights=weights[mine])
        assert (each.examples, each.accuracy) == (mine.sum(), pytest.approx(share, rel=1e-12))
    assert everything(learner) == before


def really_right(rows, labels, learner):
    """Return how many examples a new learner predicts without them and one of each other label."""
    choice, places = learner.choice._asdict(), learner.inspect().places
    digests = learner._state.examples.digests[[places[i] for i in learner.ids]]
    settings = {name: choice[name] for name in ("C", "whiten", "lda_prior", "standardize")}
    names, right = sorted(set(labels)), 0
    order = [[i for i in np.argsort(digests) if labels[i] == name] for name in names]
    for own in order:
        for place, i in enumerate(own):
            gone = {i, *(each[place] for each in order if place < len(each))}
            rest = [j for j in range(len(labels)) if j not in gone]
            other = Learner(**settings, **STRAIGHT)
            other.teach_many(rows[rest], [labels[j] for j in rest])
            other.consolidate()
            right += other.predict(rows[[i]])[0] == labels[i]
    return right


def test_as_many_are_right_as_when_a_new_learner_is_taught_the_others():
    judged = expected = right = 0
    for seed, (classes, each, features) in enumerate(
        [(2, 20, 3), (3, 12, 5), (5, 8, 4), (2, 15, 60), (4, 8, 40)]
    ):
        rows, labels = clusters(seed, classes=classes, each=each, features=features, apart=0.6)
        learner = taught(rows, labels, ["auto", "all", "means", "whitened", "lda"][seed])
        learner.consolidate()
        mine, judged = learner.expected_accuracy().accuracy * len(labels), judged + len(labels)
        expected, right = expected + round(mine), right + really_right(rows, labels, learner)
    assert abs(expected - right) <= 0.02 * judged
    assert 0.4 * judged < right < 0.9 * judged


@pytest.mark.parametrize("after", [lambda learner: learner, reloaded], ids=["same", "loaded"])
def test_an_example_is_not_taken_out_of_a_metric_that_it_is_not_in(after):
    rows, _ = clusters(2, classes=1, each=12)
    learner = taught(rows[:11], [*"aaaaaaaaaab"], "whitened", refresh="manual")
    learner.consolidate()
    new = rows[[10]] + 0.1 * (rows[:10].mean(axis=0) - rows[10])
    before = learner.scores(new)
    learner.teach(new[0], "a")
    assert np.abs(learner.scores(new) - before).max() > 0.1
    learner = after(learner)
    # The only example of the other label stays, so nothing else leaves.
    np.testing.assert_allclose(scores(learner)[11:], before, atol=1e-8)


# Examples.


@pytest.mark.parametrize("copies", [1, 2])
def test_a_label_of_one_example_or_of_equal_ones_is_not_predicted_without_it(copies):
    rows = [[10.0 * k + i] for k in range(10) for i in range(3)] + [[200.0]] * copies
    expected = taught(rows, [*np.repeat(range(10), 3).tolist(), *[10] * copies]).expected_accuracy()
    assert expected.per_class[10][::3] == (0.0, copies)
    assert expected.per_class[0].accuracy == 1.0


def test_equal_rows_leave_together_also_if_they_have_two_labels():
    rows, labels = clusters(2, classes=2, each=10, apart=4.0)
    learner = taught(rows, labels)
    once = scores(learner)
    learner.teach_many(rows[:3], labels[:3])
    learner.teach(rows[3], 1 - labels[3])
    learner.consolidate()
    twice = scores(learner)
    np.testing.assert_allclose(twice[[20, 21, 22]], twice[:3], atol=1e-8)
    assert once[3].argmax() == twice[3].argmax() == labels[3]


def test_the_interval_is_that_of_wilson_widened():
    expected = taught(*clusters(0, classes=4, apart=0.9)).expected_accuracy()
    z = 1.3 * norm.ppf(0.975)
    for each in (expected, *expected.per_class.values()):
        assert 0.0 < each.low < each.accuracy < each.high < 1.0
        for end in (each.low, each.high):
            chance = z**2 * end * (1.0 - end) / each.examples
            assert (end - each.accuracy) ** 2 == pytest.approx(chance, rel=1e-9)


def test_labels_are_in_their_order():
    rows, labels = overlapping()
    learner = taught(rows[::-1], [f"l{9 - label}" for label in labels[::-1]])
    assert list(learner.expected_accuracy().per_class) == learner.classes.tolist()


# Reading only.


@pytest.mark.parametrize("near_classes", ["all", 2], ids=["near", "far"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reading_changes_no_bit_and_a_loaded_copy_expects_the_same(dtype, near_classes):
    rows, labels = overlapping(classes=8, dtype=dtype)
    learner = taught(rows, labels, "all", dtype, near_classes=near_classes)
    learner.correct("e1", (labels[1] + 1) % 8)
    learner.forget(["e2", "e30"])
    for _ in range(2):
        before = everything(learner)
        expected = learner.expected_accuracy()
        assert everything(learner) == before
        for other in (reloaded(learner), copy.deepcopy(learner)):
            assert other.expected_accuracy() == expected
            assert scores(other).tobytes() == scores(learner).tobytes()
            assert saved(other) == before[0]
        learner.consolidate()


@pytest.mark.parametrize("case", ["auto", "all", "lda", "regions", "hats", "far"])
def test_all_that_is_said_of_a_set_is_the_same_to_the_last_bit_in_any_order(case):
    kind, shape, more = CASES[case]
    rows, labels = overlapping(1, **shape)
    found = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(labels))
        learner = taught(rows[order], [labels[i] for i in order], kind, **more)
        learner.consolidate()
        by_example = np.argsort(order)
        tables = learner.left_out_probabilities(), learner.label_probabilities()
        said = [each[by_example].tobytes() for each in tables]
        found.append((said, learner.expected_accuracy(), repr(learner.label_errors())))
        found[-1] += (learner.choice.sharpness, learner.choice.lead)
    assert found[0] == found[1] == found[2]


def test_the_lead_makes_left_out_labels_more_probable_where_many_labels_overlap():
    found = []
    for apart in (0.9, 6.0):
        rng = np.random.default_rng(3)
        labels = rng.integers(0, 7, 300)
        X = apart * rng.normal(size=(7, 4))[labels] + rng.normal(size=(300, 4))
        learner = Learner(C=5.0, whiten=False, lda_prior=False, regions=1, expand=None)
        learner.teach_many(X, labels.tolist())
        learner.consolidate()
        places = np.arange(300)
        scores = left_out.left_out_scores(learner._state, places)
        probable = learner.left_out_probabilities()[places, labels]
        others = []  # with no lead and any sharpness
        for sharpness in np.geomspace(0.2, 50.0, 60):
            raised = np.exp(sharpness * scores)
            others.append(np.log(raised[places, labels] / raised.sum(axis=1)).sum())
        found.append((learner.choice.lead, np.log(probable).sum() - max(others)))
    assert found[0][0] < 1.0
    assert found[0][1] > 1.0
    assert found[1][0] == 1.0


def test_without_examples_it_is_refused():
    with pytest.raises(InvalidInputError, match="not been taught"):
        Learner().expected_accuracy()
    learner = taught([[0.0], [1.0]], ["a", "b"])
    learner.forget(learner.ids)
    with pytest.raises(InvalidInputError, match="nothing to predict"):
        learner.expected_accuracy()
