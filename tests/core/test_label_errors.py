"""Probabilities of labels when examples are left out, how many are wrong, and which."""

import copy
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

from minout import InvalidInputError, Learner, core, maths
from oracle import separators
from oracle.margin import SETTINGS, STRAIGHT, clusters, everything, stream

KINDS = {
    **{kind: SETTINGS[kind] for kind in ("plain", "loose", "all", "auto")},
    "far": SETTINGS["lda"] | {"near_classes": 1},
    "regions": {"regions": 3, "expand": None},
    "hats": {"regions": 1, "expand": 3},
    "codes": {"memory": "uint8"},
}


def taught(kind="plain", *, each=14, classes=4, seed=0, apart=0.9, wrong=0, **settings):
    rows, labels = clusters(seed, classes=classes, each=each, apart=apart)
    labels[:wrong] = [(label + 1) % classes for label in labels[:wrong]]
    learner = Learner(**(KINDS[kind] | settings))
    weights = [1.0 + i % 3 for i in range(len(labels))]
    learner.teach_many(rows, labels, [f"e{i}" for i in range(len(labels))], weights)
    return learner


def with_wrong_labels(X, y, share, seed=0, **settings):
    rng = np.random.default_rng(seed)
    wrong = rng.permutation(len(y))[: round(share * len(y))]
    labels, classes = y.copy(), len(set(y.tolist()))
    labels[wrong] = (y[wrong] + rng.integers(1, classes, len(wrong))) % classes
    learner = Learner(refresh="manual", **settings)
    learner.teach_many(X, labels.tolist(), list(range(len(y))))
    learner.consolidate()
    return learner, set(wrong.tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_sum_to_1_and_nothing_changes(kind):
    learner = taught(kind, apart=3.0)
    if kind in ("loose", "auto", "far", "hats"):
        learner.consolidate()
    before = everything(learner)
    for found in (learner.label_probabilities(), learner.left_out_probabilities()):
        assert found.shape == (56, 4)
        assert (found >= 0.0).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    learner.label_errors(), learner.suspects(5), learner.conflicts()
    assert everything(learner) == before


@pytest.mark.parametrize("kind", ["plain", "all", "far", "hats", "codes"])
def test_probabilities_left_out_are_those_after_really_forgetting(kind):
    learner = taught(kind)
    learner.consolidate()
    left_out, plain = learner.left_out_probabilities(), []
    really = []
    for i in learner.ids:
        row, _ = learner.example(i)
        twin = copy.deepcopy(learner)
        twin.forget(i)
        really.append(twin.probabilities([row])[0])
        plain.append(learner.probabilities([row])[0])
    off, without = (np.abs(np.array(really) - each) for each in (left_out, np.array(plain)))
    assert without.max() > 0.02  # leaving out changes something
    assert off.mean() < 0.5 * without.mean()


def test_with_regions_probabilities_left_out_are_nearer_to_really_forgetting():
    learner = taught("regions", each=20)
    learner.consolidate()
    assert max(map(len, learner.regions().values())) > 1
    rows = np.array([learner.example(i)[0] for i in learner.ids])
    really = []
    for i, row in zip(learner.ids, rows, strict=True):
        twin = copy.deepcopy(learner)
        twin.forget(i)
        really.append(twin.probabilities([row])[0])
    off = np.abs(np.array(really) - learner.left_out_probabilities()).mean()
    assert off < 0.5 * np.abs(np.array(really) - learner.probabilities(rows)).mean()


def test_the_only_example_of_a_label_keeps_its_probabilities():
    learner = taught()
    learner.teach([9.0] * 4, 7, id="alone")
    row = learner.example("alone")[0]
    found = learner.left_out_probabilities()[-1]
    np.testing.assert_allclose(found, learner.probabilities([row])[0], rtol=1e-9)


def test_suspects_are_in_the_order_of_their_probabilities():
    learner = taught("loose", apart=3.0, wrong=6)
    found = learner.suspects(99)
    wrong = [each.probability for each in found]
    assert wrong == sorted(wrong, reverse=True)
    table, classes = learner.label_probabilities(), learner.classes.tolist()
    for each in found:
        row = table[learner.ids.index(each.id)]
        own = classes.index(each.label)
        assert each.probability == pytest.approx(1.0 - row[own], abs=1e-12)
        row[own] = -1.0
        assert each.suggested_label == classes[int(row.argmax())]
    likely = learner.suspects(likely=True)
    assert likely == [each for each in found if each.probability >= 0.5]
    assert learner.suspects(1, likely=True) == likely[:1]


def test_the_number_of_wrong_labels_is_the_sum_of_the_probabilities():
    learner = taught("loose", apart=3.0, wrong=6)
    errors, table = learner.label_errors(), learner.label_probabilities()
    own = [learner.example(i)[1] for i in learner.ids]
    wrong = 1.0 - table[np.arange(len(own)), np.searchsorted(learner.classes, own)]
    assert errors.wrong == pytest.approx(wrong.sum())
    predicted = learner.classes[learner.left_out_probabilities().argmax(axis=1)]
    assert errors.low <= errors.wrong <= errors.high
    assert errors.high >= np.count_nonzero(predicted != own) > 4
    assert errors.likely == len(learner.suspects(likely=True))
    for label, each in errors.per_class.items():
        mine = np.array(own) == label
        assert each.wrong == pytest.approx(wrong[mine].sum())
        assert each.low <= each.wrong <= each.high <= each.examples == mine.sum()


def test_where_nothing_is_wrong_next_to_nothing_is_found():
    learner, _ = with_wrong_labels(*load_wine(return_X_y=True), 0.0)
    errors = learner.label_errors()
    assert errors.wrong < 1.0
    assert (errors.low, errors.likely, errors.examples) == (0, 0, 178)


@pytest.mark.parametrize(("planted", "least"), [(0, 0), (3, 0), (15, 4)])
def test_one_odd_label_in_a_hundred_is_not_called_wrong_for_certain(planted, least):
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 3, 300)
    X = 8.0 * np.eye(3)[labels] + rng.normal(size=(300, 3))
    labels[:planted] = (labels[:planted] + 1) % 3
    learner = Learner()
    learner.teach_many(X, labels.tolist())
    learner.consolidate()
    errors = learner.label_errors()
    assert errors.likely == planted
    assert least <= errors.low <= max(planted - 3, 0)
    assert sum(each.low for each in errors.per_class.values()) <= planted


@pytest.mark.parametrize("apart", [0.0, 0.5, 1.349], ids=["random", "low", "middle"])
@pytest.mark.parametrize("classes", [2, 4])
def test_where_labels_overlap_nothing_is_said_of_wrong_ones(classes, apart):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, classes, 300)
        X = rng.normal(size=(300, 4)) + apart * np.eye(4)[y]
        learner, _ = with_wrong_labels(X, y, 0.0, regions=1, expand=None)
        errors = learner.label_errors()
        assert not errors.reliable
        assert "The labels overlap" in errors.reason
        assert np.isnan(learner.label_probabilities()).all()
        assert learner.suspects(likely=True) == []
        assert all(np.isnan(each.probability) for each in learner.suspects(9))
        assert learner.expected_accuracy().reliable


def test_planted_wrong_labels_are_counted_and_found():
    X, y = load_digits(return_X_y=True)
    learner, wrong = with_wrong_labels(X[:500], y[:500], 0.1)
    errors = learner.label_errors()
    assert abs(errors.wrong - len(wrong)) < 0.1 * len(wrong)
    assert errors.low <= len(wrong) <= errors.high
    likely = {each.id for each in learner.suspects(likely=True)}
    assert len(likely & wrong) > 0.9 * max(len(wrong), len(likely))
    right = [each.suggested_label == y[each.id] for each in learner.suspects(len(wrong))]
    assert np.mean(right) > 0.9


def test_a_single_label_has_no_suspects_and_no_label_is_an_error():
    learner = Learner()
    with pytest.raises(InvalidInputError, match="not been taught"):
        learner.label_errors()
    learner.teach_many([[0.0], [1.0]], ["a", "a"])
    assert learner.suspects() == []
    assert learner.conflicts() == []
    assert learner.left_out_probabilities().tolist() == [[1.0], [1.0]]


def test_the_noise_model_counts_labels_that_were_drawn_from_it():
    found = [drawn_from_model(seed) for seed in range(12)]
    p, wrong = (np.concatenate(each) for each in list(zip(*found, strict=True))[:2])
    for high in (0.25, 0.5, 0.75, 1.0):  # as many are wrong as the probabilities say
        some = (p > high - 0.25) & (p <= high)
        assert abs(p[some].mean() - wrong[some].mean()) < 0.06
    assert sum(is_inside for _, _, is_inside in found) >= 10


def drawn_from_model(seed, n=1_000):
    """Return the probabilities of wrong labels, which are, and whether the interval holds."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 3)) * 6.0
    q = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    true = (q.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    T = np.array([[0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.15, 0.0, 0.85]])
    given = (T[true].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    found, wrong = maths.label_noise(scores, given, 0.7), given != true
    is_inside = found.low[-1] <= wrong.sum() <= found.high[-1]
    return 1.0 - found.posterior[np.arange(n), given], wrong, is_inside


# Suspects.


def streamed(*, wrong=0.0, seed=6, apart=1.0, examples=60, **settings):
    rows, labels = stream(seed, examples=examples, features=3, apart=apart)
    rng = np.random.default_rng(seed)
    bent = rng.random(examples) < wrong
    labels = np.where(bent, (labels + 1) % 3, labels)
    learner = Learner(**settings)
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        learner.teach(x, y, id=f"e{i}")
    return learner, rows, labels, {f"e{i}" for i in np.flatnonzero(bent)}


@pytest.mark.parametrize("lda", [False, True])
@pytest.mark.parametrize("apart", [0.3, 1.0])
def test_slack_is_how_far_the_slow_reference_stays_short(lda, apart):
    pins = {"C": 5.0, "whiten": lda, "lda_prior": lda, "standardize": False}
    learner, rows, labels, _ = streamed(**pins, **STRAIGHT, apart=apart)
    learner.consolidate()
    wanted = separators.model(rows, labels.tolist(), **pins)
    slack = {f"e{i}": each for i, each in enumerate(wanted.slack.tolist())}
    found = learner.suspects(100)
    assert {each.id: each.slack for each in found} == pytest.approx(
        {i: each for i, each in slack.items() if each > 1e-9}, rel=1e-6, abs=1e-8
    )
    wrong = [each.probability for each in found]
    assert wrong == sorted(wrong, reverse=True)
    assert all(each.label == labels[int(each.id[1:])] for each in found)


@pytest.mark.parametrize("n", [0, 1, 5, np.int64(2)], ids=["0", "1", "5", "numpy"])
def test_no_more_are_named_than_asked_for_and_they_are_the_first(n):
    learner, *_ = streamed(C=5.0, apart=0.3)
    before = everything(learner)
    assert learner.suspects(n) == learner.suspects(99)[:n]
    assert len(learner.suspects(n)) == n
    assert everything(learner) == before


def test_no_example_without_slack_is_suspected():
    learner = Learner(C=500.0, whiten=False, lda_prior=False, expand=None)
    for i in range(8):
        learner.teach([10.0 * (i % 2) + (i if i % 2 else -i), i / 8], i % 2, id=i)
    learner.consolidate()
    assert all(each.slack > 0.0 for each in learner.suspects(99))
    assert len(learner.suspects(99)) < 8


def test_a_corrected_suspect_is_no_longer_one():
    learner, _, _, wrong = streamed(C=50.0, wrong=0.05, apart=2.0)
    learner.consolidate()
    first = learner.suspects(1)[0]
    assert first.id in wrong
    learner.correct(first.id, first.suggested_label)
    assert first.id not in {each.id for each in learner.suspects(3)}


# Conflicts.


@pytest.mark.parametrize("kind", KINDS)
def test_equal_rows_under_different_labels_are_conflicts(kind):
    learner = taught(kind)
    learner.teach(learner.example("e3")[0], 2, id="copy")
    learner.consolidate()
    label = learner.example("e3")[1]
    assert label != 2
    assert learner.conflicts()[0] == ("e3", label, "copy", 2, 0.0)


@pytest.mark.parametrize("kind", ["plain", "all", "far", "hats"])
def test_conflicts_are_those_of_all_distances(kind, monkeypatch):
    monkeypatch.setattr(core, "conflicts", partial(core.conflicts, near=0.5))
    learner = taught(kind, each=40, apart=0.3)
    learner.consolidate()
    view, ids = learner.inspect(), learner.ids
    X = learner.expanded([learner.example(i)[0] for i in ids])
    K = np.diag(view.K) if view.K.ndim == 1 else view.K
    offsets = X[:, None] - X[None]
    distances = np.sqrt(np.einsum("abi,ij,abj->ab", offsets, K, offsets))
    typical = np.sqrt(np.square(distances).mean())
    labels = np.array([learner.example(i)[1] for i in ids])
    distances[labels[:, None] == labels[None]] = np.inf
    wanted = {}
    for i, nearest in enumerate(distances.argmin(axis=1).tolist()):
        if distances[i, nearest] <= 0.5 * typical:
            pair = (ids[min(i, nearest)], ids[max(i, nearest)])
            wanted[pair] = distances[i, nearest] / typical
    found = {(each.id, each.other_id): each.distance for each in learner.conflicts()}
    assert len(found) > 10
    assert found == pytest.approx(wanted, rel=1e-6)
