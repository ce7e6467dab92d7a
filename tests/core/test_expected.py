"""The expected accuracy is that of leaving each example out."""

import copy

import numpy as np
import pytest
from scipy.stats import binomtest

from minout import InvalidInputError, Learner, core, maths
from minout.core import separators
from minout.features import Identity
from oracle import leave_one_out
from oracle.margin import SETTINGS, clusters, everything, reloaded, saved

PINNED = {name: each for name, each in SETTINGS.items() if each}
DTYPES = ["float64", "float32"]


@pytest.fixture(autouse=True)
def trusted(monkeypatch):
    """Give estimates for few rows too: what they are is tested here, not where they hold."""
    monkeypatch.setattr(core.left_out, "ROWS_PER_FEATURE", 0)


def taught(rows, labels, kind="plain", dtype="float64", **settings):
    learner = Learner(**(SETTINGS[kind] | settings), features=Identity(dtype))
    learner.teach_many(rows, labels, [f"e{i}" for i in range(len(labels))])
    return learner


def overlapping(seed=0, *, each=12, classes=4, dtype="float64", **shape):
    """Draw classes that overlap, and the first three rows once more."""
    rows, labels = clusters(seed, classes=classes, each=each, apart=0.9, dtype=dtype, **shape)
    return np.vstack([rows, rows[:3]]), [*labels, *labels[:3]]


def agrees(learner):
    """Compare all counts with those of solving for the remaining support vectors; return them."""
    gaps = leave_one_out.gaps(learner, really=False)
    assert min(map(abs, gaps.values())) > 1e-5  # no label hangs on rounding
    before = everything(learner)
    expected = learner.expected_accuracy()
    assert everything(learner) == before
    for label, found in expected.per_class.items():
        mine = [gaps[i] > 0.0 for i in learner.ids if learner.example(i)[1] == label]
        assert (found.examples, found.accuracy) == (len(mine), sum(mine) / len(mine))
    right = sum(each > 0.0 for each in gaps.values())
    assert (expected.examples, expected.accuracy) == (len(gaps), right / len(gaps))
    assert 0 < right < len(gaps)
    return right, len(gaps)


# Against solving again.


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", PINNED)
def test_counts_are_those_of_solving_for_the_rest_of_the_support(kind, dtype):
    learner = taught(*overlapping(dtype=dtype), kind, dtype)
    agrees(learner)
    learner.consolidate()
    agrees(learner)


def test_counts_hold_after_corrections_and_forgetting():
    rows, labels = overlapping(1)
    learner = taught(rows, labels, "means")
    rng = np.random.default_rng(1)
    for i in rng.choice(len(labels), 6, replace=False).tolist():
        learner.correct(f"e{i}", (labels[i] + 1) % 4)
    learner.forget([f"e{i}" for i in rng.choice(len(labels), 6, replace=False)])
    agrees(learner)


@pytest.mark.parametrize("kind", ["plain", "all"])
def test_counts_hold_in_separators_with_more_rows_than_dimensions(kind):
    learner = taught(*overlapping(each=120, classes=2, features=2), kind)
    (separator,) = learner.inspect().separators.values()
    assert len(separator.ids) > 64  # from so many rows on the weights are solved for
    agrees(learner)
    learner.consolidate()
    agrees(learner)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["means", "lda", "all"])
def test_counts_hold_with_far_pairs(kind, dtype):
    rows, labels = clusters(1, classes=9, each=6, apart=0.8, dtype=dtype)
    learner = taught(rows, labels, kind, dtype, near_classes=2)
    far = [each for each in learner.inspect().separators.values() if each.is_far]
    assert sum(len(each.ids) for each in far) > 10
    agrees(learner)
    learner.consolidate()
    agrees(learner)


def test_counts_hold_while_examples_are_pending(monkeypatch):
    monkeypatch.setattr(separators, "LARGE_POOL", 4)
    monkeypatch.setattr(separators, "PENDING_SHARE", 5.0)
    learner = taught(*overlapping(each=20, classes=3), "means", refresh="manual")
    assert len(learner.pending) > 5
    assert set(learner.pending) & set(learner.misfits)
    agrees(learner)


def test_few_examples_are_judged_differently_when_they_are_really_left_out():
    judged = differ = 0
    for seed in range(3):
        learner = taught(*overlapping(seed), ["plain", "means", "all"][seed])
        learner.consolidate()
        gaps = leave_one_out.gaps(learner, really=True)
        right = sum(each > 0.0 for each in gaps.values())
        expected = learner.expected_accuracy()
        judged += len(gaps)
        differ += abs(round(expected.accuracy * len(gaps)) - right)
    assert judged == 3 * 51
    assert differ <= 0.02 * judged


def test_examples_without_slack_anywhere_are_right_when_they_are_really_left_out():
    learner = taught(*clusters(3, classes=3, each=15, apart=4.0), "plain")
    learner.consolidate()
    supports = [leave_one_out.support(each) for each in learner.inspect().separators.values()]
    others = set(learner.ids) - {i for each in supports for i in each}
    gaps = leave_one_out.gaps(learner, really=True)
    assert len(others) > 20
    assert all(gaps[i] > 0.0 for i in others)
    wrong = sum(gaps[i] <= 0.0 for i in learner.ids)
    assert learner.expected_accuracy().accuracy == 1.0 - wrong / len(learner)


# Examples.


def test_the_accuracy_of_two_gaussians_is_near_the_best_possible():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 2_000)
    rows = rng.normal(size=(2_000, 5)) + np.outer(2 * labels - 1, [1.2816, 0, 0, 0, 0])
    expected = taught(rows, labels.tolist(), "all").expected_accuracy()
    assert expected.low < 0.9 < expected.high  # the Bayes error is 10 %
    assert 0.02 < expected.high - expected.low < 0.03


def test_random_labels_are_not_expected_to_be_predicted():
    rng = np.random.default_rng(1)
    learner = taught(rng.normal(size=(200, 300)), rng.integers(0, 2, 200).tolist(), "plain")
    learner.consolidate()
    assert len(learner.misfits) < 10  # they are fitted
    assert 0.35 < learner.expected_accuracy().accuracy < 0.65


def test_the_only_example_of_a_label_counts_as_wrong():
    learner = taught([[0.0], [0.1], [5.0]], ["a", "a", "b"])
    expected = learner.expected_accuracy()
    assert expected.per_class["b"][::3] == (0.0, 1)
    assert expected.per_class["a"][::3] == (1.0, 2)
    assert (expected.accuracy, expected.examples) == (2 / 3, 3)


def test_of_two_equal_rows_one_stays():
    rows = [[0.0], [0.1], [0.2], [9.0]]
    alone = taught(rows, ["a", "a", "a", "b"]).expected_accuracy()
    twice = taught([*rows, [9.0]], ["a", "a", "a", "b", "b"]).expected_accuracy()
    assert (alone.per_class["b"].accuracy, twice.per_class["b"].accuracy) == (0.0, 1.0)


def test_equal_rows_with_two_labels_are_wrong():
    learner = taught([[0.0], [3.0], [0.0], [3.0]], ["a", "b", "b", "a"])
    assert learner.expected_accuracy().accuracy == 0.0


@pytest.mark.parametrize(
    ("labels", "wanted"), [("aaabb", (1.0, 0.0)), ("aabbb", (0.0, 0.0))], ids=["a", "b"]
)
def test_of_equal_scores_the_first_label_wins(labels, wanted, monkeypatch):
    # Without one of three, each label has two equal rows: scores are equal, once they are rounded.
    real = maths.margins_left_out
    monkeypatch.setattr(maths, "margins_left_out", lambda *args: real(*args).round(9) + 0.0)
    learner = taught([[0.0]] * 5, list(labels), refresh="manual")
    found = learner.expected_accuracy().per_class
    assert (found["a"].accuracy, found["b"].accuracy) == wanted


def test_with_one_label_everything_is_right_but_a_single_example():
    learner = taught([[0.0]], ["a"])
    assert learner.expected_accuracy().accuracy == 0.0
    learner.teach([1.0], "a")
    expected = learner.expected_accuracy()
    assert (expected.accuracy, expected.examples) == (1.0, 2)
    assert expected.per_class["a"] == (*expected[:3], 2)


def test_the_interval_is_that_of_wilson():
    expected = taught(*overlapping()).expected_accuracy()
    for each in (expected, *expected.per_class.values()):
        right = round(each.accuracy * each.examples)
        wanted = binomtest(right, each.examples).proportion_ci(0.95, method="wilson")
        assert (each.low, each.high) == pytest.approx(tuple(wanted), abs=1e-12)


def test_labels_are_in_their_order():
    rows, labels = overlapping()
    learner = taught(rows[::-1], [f"l{9 - label}" for label in labels[::-1]])
    assert list(learner.expected_accuracy().per_class) == learner.classes.tolist()


# Reading only.


@pytest.mark.parametrize("near_classes", ["all", 2], ids=["near", "far"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reading_changes_no_bit_and_a_loaded_copy_expects_the_same(dtype, near_classes):
    rows, labels = overlapping(classes=8, dtype=dtype)
    learner = taught(rows, labels, "means", dtype, near_classes=near_classes)
    for _ in range(2):
        before = everything(learner)
        expected = learner.expected_accuracy()
        assert everything(learner) == before
        for other in (reloaded(learner), copy.deepcopy(learner)):
            assert other.expected_accuracy() == expected
            assert saved(other) == before[0]
        learner.consolidate()


def test_consolidated_models_of_one_set_expect_the_same():
    rows, labels = overlapping()
    first, second = taught(rows, labels, "auto"), taught(rows[::-1], labels[::-1], "auto")
    first.consolidate()
    second.consolidate()
    assert first.expected_accuracy() == second.expected_accuracy()


def test_without_examples_it_is_refused():
    with pytest.raises(InvalidInputError, match="not been taught"):
        Learner().expected_accuracy()
    learner = taught([[0.0], [1.0]], ["a", "b"])
    learner.forget(learner.ids)
    with pytest.raises(InvalidInputError, match="nothing to predict"):
        learner.expected_accuracy()
