"""With few near pairs of many classes, all that holds with a few classes holds as before."""

import copy
import io

import numpy as np
import pytest
from sklearn.base import clone

from minout import InvalidInputError, Learner, MinoutClassifier
from minout.engine import Choice, Settings
from minout.engine import settings as settings_module
from minout.features import Identity
from oracle import far, separators
from oracle.margin import (
    SETTINGS,
    STRAIGHT,
    bits,
    by_label,
    clusters,
    consolidated_copy,
    differs,
    everything,
    loaded,
    model_bits,
    saved,
)

KINDS = {
    "means": SETTINGS["means"],
    "columns": SETTINGS["means"] | {"standardize": True},
    "lda": SETTINGS["lda"],
    "all": SETTINGS["all"],
}
DTYPES = ["float64", "float32"]


def taught(rows, labels, *, near_classes=2, kind="lda", dtype="float64", **settings):
    settings = KINDS.get(kind, {}) | settings
    learner = Learner(**settings, near_classes=near_classes, features=Identity(dtype))
    learner.teach_many(rows, labels, [f"e{i}" for i in range(len(labels))])
    return learner


def far_pairs(view):
    return {tuple(sorted(pair)) for pair, each in view.separators.items() if each.is_far}


def arrays(learner):
    """Return the arrays that a learner saves."""
    with np.load(io.BytesIO(saved(learner))) as archive:
        return {name: archive[name] for name in archive.files}


# What is near, and the separators.


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("near_classes", [1, 3])
def test_the_model_is_that_of_the_slow_reference(kind, dtype, near_classes):
    rows, labels = clusters(1, classes=8, dtype=dtype)
    learner = taught(rows, labels, near_classes=near_classes, kind=kind, dtype=dtype)
    learner.consolidate()
    view = learner.inspect()
    pins = {name: each for name, each in KINDS[kind].items() if name not in STRAIGHT}
    origin, wanted = far.model(rows, labels, near_classes, **pins)
    assert far_pairs(view) == {pair for pair, each in wanted.items() if each.is_far}
    assert 0 < len(far_pairs(view)) < len(wanted)
    assert view.origin == pytest.approx(origin, abs=1e-12)
    stored = set()
    for (a, b), (w, bias) in by_label(view).items():
        each = wanted[a, b]
        size = np.abs(each.w).max() + abs(each.b)
        assert w == pytest.approx(each.w, abs=1e-6 * size)
        assert bias == pytest.approx(each.b, abs=1e-6 * size)
        used = {f"e{i}" for i, alpha in zip(each.mine, each.alpha, strict=True) if alpha > 1e-9}
        mine = view.separators[a, b] if (a, b) in view.separators else view.separators[b, a]
        alpha = dict(zip(mine.ids, mine.alpha.tolist(), strict=True))
        assert {i for i in alpha if alpha[i] > 0.0} == used
        if each.is_far and used:
            stored.add((a, b))
            assert set(alpha) == used
    pairs = arrays(learner)["far.pairs"]
    assert len(pairs) == len(stored)
    assert 0 < len(stored) < len(far_pairs(view))


def test_far_pairs_store_support_vectors_only():
    rows, labels = clusters(2, classes=10, each=3)
    learner = taught(rows, labels, near_classes=2)
    sizes = [len(each.ids) for each in learner.inspect().separators.values() if each.is_far]
    assert min(sizes) == 0 < max(sizes)
    for each in learner.inspect().separators.values():
        assert not each.is_far or (each.alpha > 0.0).all()


# Independence of order.


def by_row(learner):
    """Return what is saved of a consolidated model, with rows in the place of places."""
    found = arrays(learner)
    rows = found["rows"]
    out = {
        name: bits(array)
        for name, array in found.items()
        if name.split(".")[0] in ("W", "b", "origin", "K", "precision", "sums")
        or name in ("pool.alpha", "pool.signs", "pool.sizes")
        or name.startswith("far.")
    }
    for name in ("pool", "far.support"):
        out[name] = bits(rows[found[name]])
    for name in ("misfits", "far.misfits"):
        parts = np.split(found[name], np.cumsum(found[f"{name}.sizes"]))
        out[name] = [sorted(rows[part].tolist()) for part in parts]
    images = zip(rows[found["images.of"]], found["images"], strict=True)
    return out, {x.tobytes(): image.tobytes() for x, image in images}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [*KINDS, "auto"])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_bit_depends_on_the_order_or_on_what_was_corrected_and_forgotten(seed, kind, dtype):
    rows, labels = clusters(seed, classes=8, each=4, apart=1.0, dtype=dtype)
    straight = taught(rows, labels, near_classes=2, kind=kind, dtype=dtype)
    rng = np.random.default_rng(seed)
    other = Learner(**KINDS.get(kind, {}), near_classes=2, features=Identity(dtype))
    for n, i in enumerate(rng.permutation(len(labels)).tolist()):
        wrong = n % 5 == 3
        other.teach(rows[i], (labels[i] + 3) % 8 if wrong else labels[i], id=f"e{i}")
        if n % 7 == 2:
            other.teach(rng.normal(size=4).astype(dtype), int(rng.integers(0, 12)), id=f"x{n}")
        if n % 7 == 5:
            other.forget(f"x{n - 3}")
        if wrong and n % 2:
            other.correct(f"e{i}", labels[i])
        if n == 17:
            other.consolidate()
    for i, label in enumerate(labels):
        other.correct(f"e{i}", label)
    other.forget([each for each in other.ids if each[0] == "x"])
    straight.consolidate()
    other.consolidate()
    assert far_pairs(straight.inspect())
    assert model_bits(straight) == model_bits(other)
    assert by_row(straight) == by_row(other)
    assert straight.audit().ok
    assert other.audit().ok


def test_a_forgotten_class_leaves_no_trace():
    rows, labels = clusters(3, classes=9, each=4, apart=1.0)
    kept = [i for i, label in enumerate(labels) if label not in (2, 5)]
    never = taught(rows[kept], [labels[i] for i in kept], near_classes=2)
    learner = taught(rows, labels, near_classes=2)
    learner.forget_class(5)
    learner.forget_class(2)
    assert learner.audit().ok
    for each in (never, learner):
        each.consolidate()
    assert model_bits(never) == model_bits(learner)
    assert by_row(never) == by_row(learner)


# Predictions and scores.


def odd_rows(learner, rows, labels):
    """Return rows at which ties, cancellation or large numbers are to be expected."""
    means = [*separators.class_means(rows, labels).values()]
    middles = [(means[i] + means[j]) / 2.0 for i in range(4) for j in range(i)]
    view = learner.inspect()
    return np.array(
        [
            0.0 * rows[0],
            view.origin,
            *means,
            *middles,
            *rows[:12],
            *(1e6 * rows[:4]),
            *(-1e3 * rows[:4]),
            *(1e-9 * rows[:2]),
        ]
    )


def misc(seed=4, *, dtype="float64", kind="lda", apart=1.0):
    """Return a learner with duplicates under two labels, and two labels with the same mean."""
    rows, labels = clusters(seed, classes=9, each=5, apart=apart, dtype=dtype)
    twins = [rows[0], rows[1], rows[0] + 1, rows[0] - 1, rows[0] + 2, rows[0] - 2]
    rows = np.array([*rows, *twins], dtype=dtype)
    labels = [*labels, (labels[0] + 1) % 9, (labels[1] + 4) % 9, 20, 20, 21, 21]
    return taught(rows, labels, near_classes=2, kind=kind, dtype=dtype), rows, labels


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("renewed", [False, True], ids=["streamed", "consolidated"])
def test_scores_and_predictions_are_those_of_the_plain_formula(kind, dtype, renewed):
    learner, rows, labels = misc(kind=kind, dtype=dtype)
    if renewed:
        learner.consolidate()
    view = learner.inspect()
    assert far_pairs(view)
    X = odd_rows(learner, rows, labels).astype(dtype)
    found, plain = learner.scores(X), far.scores(view, X)
    size = 1.0 + np.abs(X.astype(float) - view.origin).max(axis=1, keepdims=True)
    assert (np.abs(found - plain) <= 1e-9 * size * 10).all()
    names = learner.classes
    assert learner.predict(X).tolist() == names[found.argmax(axis=1)].tolist()
    one_by_one = [learner.predict(x[None])[0] for x in X]
    assert one_by_one == learner.predict(X).tolist()
    clipped = found.max(axis=1) <= 0.0
    assert (learner.predict(X, unknown=-1) == -1).tolist() == clipped.tolist()


def test_ties_go_to_the_first_label():
    learner = Learner(**KINDS["means"], near_classes=1)
    corners = [[4.0, 0.0], [-4.0, 0.0], [0.0, 4.0], [0.0, -4.0]]
    for label, x in zip([3, 1, 0, 2], corners, strict=True):
        learner.teach_many([x, x], [10 - label, label])  # the same row, the last label first
    scores, predicted = learner.scores(corners), learner.predict(corners)
    tied = np.count_nonzero(scores == scores.max(axis=1, keepdims=True), axis=1)
    assert (tied > 1).any()
    assert predicted.tolist() == learner.classes[scores.argmax(axis=1)].tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_scores_do_not_depend_on_the_other_rows(dtype):
    learner, rows, labels = misc(dtype=dtype)
    X = odd_rows(learner, rows, labels).astype(dtype)
    X = np.concatenate([X] * 6)
    assert np.array_equal(learner.scores(X), np.concatenate([learner.scores(x[None]) for x in X]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("apart", [0.3, 3.0])
def test_stored_examples_are_predicted_or_listed(apart, dtype):
    learner, rows, labels = misc(apart=apart, dtype=dtype)
    for _ in range(2):
        audit, misfits = learner.audit(), set(learner.misfits)
        assert audit.ok, audit.differences
        assert set(audit.misfits) == misfits
        fitted = [i for i in range(len(labels)) if f"e{i}" not in misfits]
        assert learner.predict(rows[fitted]).tolist() == [labels[i] for i in fitted]
        assert {"e0", f"e{len(labels) - 6}"} <= misfits  # one row under two labels
        learner.consolidate()


def mirrored(seed):
    """Return a learner with two far labels, mirror images, that share the row in the middle."""
    rng = np.random.default_rng(seed)
    learner = Learner(**SETTINGS["means"] | {"C": 500.0}, near_classes=1)
    right = np.array([[3.0, 0.0]]) + rng.normal(size=(12, 2))
    right = np.concatenate([right, -3.0 * np.eye(2)[[0, 0, 0]] - rng.normal(size=(3, 2)) / 2])
    for x in [*right, np.zeros(2)]:
        learner.teach_many([x, -x], [0, 1])
    middle = right.mean(axis=0)
    for x in ([0.0, 0.2], [0.0, -0.2], [0.1, 0.1]):
        learner.teach_many([middle + x, -middle - x], [2, 3])
    learner.consolidate()
    assert learner.inspect().separators[0, 1].is_far
    return learner


def test_the_audit_allows_for_the_rounding_of_corrections():
    for seed in range(20):
        found = mirrored(seed).audit()
        assert found.ok, found.differences


@pytest.mark.parametrize(("seed", "size"), [(122, 1e48), (131, 1e79)])
def test_large_numbers_are_predicted_or_listed(seed, size):
    rng = np.random.default_rng(seed)
    learner = Learner(**SETTINGS["means"] | {"C": 500.0}, near_classes=1, refresh="manual")
    rows = np.repeat(3.0 * rng.normal(size=(6, 2)), 2, axis=0) + rng.normal(size=(12, 2))
    learner.teach_many(rows, np.repeat(np.arange(6), 2).tolist())
    learner.consolidate()
    learner.teach([size, size], 0, id="large")
    learner.teach([size, size / 2.0], 1, id="larger")
    for i in ("large", "larger"):
        row, label = learner.example(i)
        assert i in learner.misfits or learner.predict([row])[0] == label


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_the_softmax_of_the_scores(kind):
    learner, rows, _ = misc(kind=kind)
    X, view = rows[:9], learner.inspect()
    raised = np.exp(view.choice.sharpness * far.scores(view, X))
    wanted = raised / raised.sum(axis=1, keepdims=True)
    assert learner.probabilities(X) == pytest.approx(wanted, abs=1e-9)


# Queries.


@pytest.mark.parametrize("kind", KINDS)
def test_the_terms_of_an_explanation_add_up_to_the_margin(kind):
    learner, rows, labels = misc(kind=kind)
    view, seen_far, names = learner.inspect(), 0, learner.classes.tolist()
    for x in [*odd_rows(learner, rows, labels)[:20], *rows]:
        found, scores = learner.explain(x), far.scores(view, [x])[0]
        assert found.label == learner.predict([x])[0]
        size = 1.0 + np.abs(scores).max()
        assert [found.scores[name] for name in names] == pytest.approx(scores, abs=1e-9 * size)
        assert found.margin == pytest.approx(scores[names.index(found.label)], abs=1e-9 * size)
        total = found.prior + found.bias + sum(each.weight for each in found.supports)
        assert total == pytest.approx(found.margin, abs=1e-8 * size)
        pair = (found.label, found.runner_up)
        side = 1.0 if pair in view.separators else -1.0
        each = view.separators[pair if side > 0 else pair[::-1]]
        seen_far += each.is_far and len(each.ids) > 0
        assert found.separator == pytest.approx(side * each.w, abs=1e-12)
        assert {one.id for one in found.supports} == {
            i for i, alpha in zip(each.ids, each.alpha, strict=True) if alpha > 0.0
        }
    assert seen_far > 0


def test_the_separator_of_two_labels_is_that_of_the_view():
    learner, rows, _ = misc()
    view = learner.inspect()
    for (low, high), each in view.separators.items():
        for a, b, side in ((low, high, 1.0), (high, low, -1.0)):
            weights, bias, supports = learner.separator(a, b)
            assert weights == pytest.approx(side * each.w)
            wanted = side * (each.w @ (rows[3] - view.origin) + each.b)
            assert weights @ rows[3] + bias == pytest.approx(wanted, abs=1e-9)
            assert {one.id: one.alpha for one in supports} == {
                i: alpha for i, alpha in zip(each.ids, each.alpha, strict=True) if alpha > 0.0
            }


def test_suspects_are_the_most_probably_wrong_and_have_their_slack():
    learner, _, labels = misc(apart=0.5)
    view, slack = learner.inspect(), {}
    for each in view.separators.values():
        for i, alpha in zip(each.ids, each.alpha, strict=True):
            slack[i] = slack.get(i, 0.0) + view.choice.lam * alpha
    found = learner.suspects(10)
    assert len(found) == 10
    probabilities = [each.probability for each in found]
    assert probabilities == sorted(probabilities, reverse=True)
    for each in found:
        assert each.label == labels[int(each.id[1:])]
        assert each.slack == pytest.approx(slack.get(each.id, 0.0))
        assert each.suggested_label != each.label


def unit_masks(view, known, unit):
    """Return {other: which ids the neuron clips} of a unit, from the view's weights."""
    out = {}
    for (low, high), each in view.separators.items():
        if unit in (low, high):
            sign = 1.0 if unit == low else -1.0
            out[high if unit == low else low] = {
                i for i, x in known.items() if sign * (each.w @ (x - view.origin) + each.b) <= 0.0
            }
    return out


def sets_of(view, known, unit, other):
    """Return S1, S2 and S3 of the neuron of a unit, as sets of ids."""
    masks = unit_masks(view, known, unit)
    third = set().union(*(ids for o, ids in masks.items() if o != other))
    s1 = set(known) - third - masks[other]
    return s1, masks[other] - third, third


@pytest.mark.parametrize("renews", [False, True], ids=["same", "renewed"])
def test_partition_and_what_if_are_those_of_the_view(renews):
    rows, labels = clusters(6, classes=8, each=4, apart=0.7)
    learner, own, moved_far = taught(rows, labels, near_classes=2), 3, 0
    if not renews:  # the fifth example of a class renews its discriminant
        learner.teach(np.mean(rows[np.array(labels) == own], axis=0), own)
    for other in sorted({*labels} - {own}):
        twin = copy.deepcopy(learner)
        known, view = {i: twin.example(i)[0] for i in twin.ids}, twin.inspect()
        x = rows[labels.index(other)] + 0.05
        said = twin.what_if(x, own)
        assert said.refresh == renews
        for (unit, neuron), ids in said.neurons.items():
            s1, s2, _ = sets_of(view, known, unit, neuron)
            assert set(ids) == s1 | s2
        report = twin.teach(x, own, id="new")
        assert report.refresh is None
        moved = {frozenset(pair) for pair in report.certificate.moved}
        assert moved <= {frozenset(pair) for pair in said.neurons}
        found = twin.partition() if moved else {}
        assert {frozenset(pair) for pair in found} == moved
        for (unit, neuron), sets in found.items():
            moved_far += (unit, neuron) in view.separators and view.separators[unit, neuron].is_far
            assert tuple(map(set, sets)) == sets_of(view, known, unit, neuron)
    assert moved_far > 0


def test_a_new_class_can_disturb_those_that_no_neuron_clips():
    rows, labels = clusters(6, classes=8, each=4, apart=0.7)
    learner = taught(rows, labels, near_classes=2)
    known, view = {i: learner.example(i)[0] for i in learner.ids}, learner.inspect()
    said = learner.what_if(rows[3] + 0.05, 77)
    assert {neuron: set(ids) for neuron, ids in said.neurons.items()} == {
        (unit, 77): sets_of_unclipped(view, known, unit) for unit in view.labels
    }
    report = learner.teach(rows[3] + 0.05, 77)
    assert {frozenset(pair) for pair in report.certificate.moved} <= {
        frozenset(neuron) for neuron in said.neurons
    }


def sets_of_unclipped(view, known, unit):
    return set(known) - set().union(*unit_masks(view, known, unit).values())


# Turning on and off.


def is_far(learner):
    return bool(far_pairs(learner.inspect()))


def test_far_pairs_begin_with_the_class_that_crosses_the_limit():
    rows, labels = clusters(7, classes=6, each=3, apart=2.0)
    order = np.argsort(labels, kind="stable")
    learner = Learner(**KINDS["lda"], near_classes=3)
    for n, i in enumerate(order.tolist()):
        report = learner.teach(rows[i], labels[i])
        assert is_far(learner) == (labels[i] >= 4)  # five classes, one more than 3 + 1
        assert learner.audit().ok
        if n == 12:
            assert report.refresh is not None
    assert len(far_pairs(learner.inspect())) > 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("near_classes", [3, 4])
def test_an_example_that_is_corrected_to_that_class_leaves_its_own(near_classes, dtype):
    rows, labels = clusters(17, classes=5, each=3, apart=0.5, dtype=dtype)
    learner = taught(rows, [min(y, 3) for y in labels], near_classes=near_classes, dtype=dtype)
    if near_classes == 4:
        learner.teach(rows[0] + 1, 4)
    assert not is_far(learner)
    for i in ("e3", "e4", "e5"):
        twin = copy.deepcopy(learner)
        twin.correct(i, 9)
        assert is_far(twin)
        assert twin.audit().ok
        assert saved(loaded(saved(twin))) == saved(twin)


def test_a_correction_that_pushes_an_example_out_takes_it_out_of_far_pairs():
    rows, labels = clusters(0, classes=12, each=6, apart=0.7)
    learner = taught(rows, labels, keep={"per_label": 6})
    rng, pushed_out = np.random.default_rng(0), 0
    for _ in range(40):
        ids = learner.ids
        example, label = ids[int(rng.integers(len(ids)))], int(rng.integers(12))
        pushed_out += len(learner.correct(example, label).certificate.forgotten)
        for each in learner.inspect().separators.values():
            assert set(each.ids) <= set(learner.ids)
        assert learner.audit().ok
    assert pushed_out > 10


def test_all_pairs_are_near_again_when_few_classes_are_left():
    rows, labels = clusters(8, classes=6, each=4)
    learner = taught(rows, labels, near_classes=3)
    for label in (0, 3):
        learner.forget_class(label)
        assert learner.audit().ok
    assert is_far(learner)
    assert not is_far(consolidated_copy(learner))
    while learner.teach(rows[labels.index(1)] + 0.1, 1).refresh is None:
        assert learner.audit().ok
    assert not is_far(learner)
    assert learner.audit().ok
    learner.teach_many(rows[:12], labels[:12])
    learner.consolidate()
    assert is_far(learner)


def test_without_refreshes_far_pairs_begin_and_end_with_consolidate():
    rows, labels = clusters(9, classes=6, each=6)
    learner = taught(rows, labels, near_classes=2, refresh="manual")
    assert not is_far(learner)
    learner.consolidate()
    assert is_far(learner)
    learner.teach_many(rows + 0.3, labels)
    learner.teach_many(rows[:3] - 9.0, [50, 51, 52])
    assert is_far(learner)
    assert learner.audit().ok
    for label in (50, 51, 52, 0, 1, 2):
        learner.forget_class(label)
        assert learner.audit().ok
    learner.consolidate()
    assert not is_far(learner)


@pytest.mark.parametrize("near_classes", [1, "auto"])
def test_without_a_prior_there_are_no_far_pairs(near_classes):
    rows, labels = clusters(10, classes=6)
    learner = taught(
        rows, labels, near_classes=near_classes, kind="", lda_prior=False, whiten=False
    )
    learner.consolidate()
    assert not is_far(learner)
    plain = taught(rows, labels, near_classes="all", kind="", lda_prior=False, whiten=False)
    plain.consolidate()
    assert model_bits(learner) == model_bits(plain)


@pytest.mark.parametrize("limit", [5, 6, 2**31, "all", "auto"])
def test_up_to_one_class_more_than_the_limit_all_pairs_are_near(limit):
    rows, labels = clusters(11, classes=6)
    usual, learner = (taught(rows, labels, near_classes=each) for each in ("auto", limit))
    assert not is_far(learner)
    assert [each for each in differs(saved(usual), saved(learner)) if "settings" not in each] == []


@pytest.mark.parametrize("refresh", ["auto", "manual"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_learner_of_which_little_is_left_goes_on(left, dtype, refresh):
    rows, labels = clusters(12, classes=5, each=3, dtype=dtype)
    learner = taught(rows, labels, near_classes=1, dtype=dtype, refresh=refresh)
    learner.consolidate()
    assert is_far(learner)
    for label in range(left, 5):
        learner.forget_class(label)
        assert loaded(saved(learner)).ids == learner.ids
    for i, (x, y) in enumerate(zip(rows[:10], labels[:10], strict=True)):
        learner.teach(x, y, id=f"again {i}")
        assert learner.audit().ok
        assert learner.predict(rows[: i + 1]).tolist() == labels[: i + 1] or learner.misfits
        content = saved(learner)
        learner = loaded(content)
        assert saved(learner) == content
    learner.consolidate()
    assert learner.audit().ok


# Saving and loading.


def long_way(rows, labels, *, stop_every, dtype, **settings):
    """Teach, correct, forget and consolidate; return the files on the way."""
    learner = Learner(**settings, near_classes=2, features=Identity(dtype))
    files, seen = [], set()
    for i, (x, y) in enumerate(zip(rows, labels, strict=True)):
        report = learner.teach(x, y, id=i)
        seen |= {"refresh"} if report.refresh else set()
        if i % 7 == 6:
            learner.correct(learner.ids[-3], (y + 1) % 9)
        if i % 11 == 10:
            learner.forget([learner.ids[1], i])
        if i == 30:
            learner.forget_class(labels[29])
        if i == 36:
            learner.consolidate()
        files.append(saved(learner))
        if stop_every and i % stop_every == 0:
            learner = loaded(files[-1])
    assert seen
    assert is_far(learner)
    learner.consolidate()
    return [*files, saved(learner)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["means", "all"])
def test_saved_loaded_and_gone_on_is_never_stopped(kind, dtype):
    rows, labels = clusters(16, classes=9, each=6, apart=1.0, dtype=dtype)
    whole, often = (
        long_way(rows, labels, stop_every=each, dtype=dtype, **KINDS[kind]) for each in (0, 2)
    )
    for one, other in zip(whole, often, strict=True):
        assert differs(one, other) == []


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_bounds_the_corrections_does(kind, dtype):
    learner, rows, labels = misc(kind=kind, dtype=dtype)
    found, view = arrays(learner), learner.inspect()
    names = list(view.separators)  # by pair number
    X = odd_rows(learner, rows, labels).astype(dtype).astype(float)
    X = np.concatenate([X, np.random.default_rng(0).normal(size=(50, 4))])
    Z = X - view.origin
    K = np.diag(view.K) if view.K.ndim == 1 else view.K
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", Z, K, Z))
    tight = 0
    assert len(found["far.pairs"]) > 3
    for pair, (floor, ceiling, norm) in zip(
        found["far.pairs"].tolist(), found["far.bounds"].astype(float), strict=True
    ):
        each = view.separators[names[pair]]
        assert each.is_far
        values = Z @ (each.w - each.prior_w) + each.b - each.prior_b
        rounding = 1e-10 * (1.0 + np.abs(Z).sum(axis=1) * np.abs(each.w).max())
        assert (values >= floor - norm * lengths - rounding).all()
        assert (-values >= ceiling - norm * lengths - rounding).all()
        tight += floor == pytest.approx(-ceiling, rel=1e-3)
    assert tight > 0


# The default.


def test_by_default_the_first_class_above_the_limit_makes_pairs_far(monkeypatch):
    monkeypatch.setattr(settings_module, "MANY_CLASSES", 8)  # of many, this would take long
    monkeypatch.setattr(settings_module, "NEAR_CLASSES", 3)
    rows = 5.0 * np.random.default_rng(13).normal(size=(10, 3))
    learner = Learner(C=5.0, whiten=False, lda_prior=True, standardize=False)
    for label, x in enumerate(rows):
        report = learner.teach(x, label)
        assert is_far(learner) == (label >= 8)
        assert (report.refresh is not None) >= (label == 8)
    assert 10 * 3 / 2 <= len(arrays(learner)["far.near"]) <= 10 * 3
    for label in (7, 2):
        learner.forget_class(label)
    learner.consolidate()
    assert not is_far(learner)


@pytest.mark.parametrize(("classes", "turns"), [(199, False), (200, False), (201, True)])
def test_by_default_the_class_after_two_hundred_brings_a_refresh(classes, turns):
    settings = Settings(lda_prior=True)
    assert settings.turns_far(classes) == turns
    choice = Choice(lda_prior=True)
    assert (settings.near(classes, choice) is not None) == turns
    assert settings.near(classes, Choice(lda_prior=False)) is None
    assert not Settings(refresh="manual").turns_far(classes)


# Settings.


@pytest.mark.parametrize(
    "value",
    [0, -1, True, 1.5, "some", None, float("nan"), 10**30, 2**31 + 1, [1], np.array([1, 2])],
    ids=["zero", "minus", "true", "half", "word", "none", "nan", "huge", "large", "list", "array"],
)
def test_a_number_of_near_classes_that_means_nothing_is_refused_in_a_sentence(value):
    sentence = r"^`near_classes` must be a whole number from 1, \"all\" or \"auto\", not .*\.$"
    with pytest.raises(InvalidInputError, match=sentence):
        Learner(near_classes=value)
    rows, labels = clusters(14, classes=3)
    with pytest.raises(InvalidInputError, match=sentence):
        MinoutClassifier(near_classes=value).fit(rows, labels)


@pytest.mark.parametrize("value", [1, np.int64(7), np.uint8(3), "all", "auto", 2**31])
def test_a_number_of_near_classes_is_kept(value):
    learner = Learner(near_classes=value)
    assert learner.settings.near_classes == value
    assert type(learner.settings.near_classes) in (int, str)
    classifier = MinoutClassifier(near_classes=value)
    assert classifier.get_params()["near_classes"] == value
    assert clone(classifier).near_classes == value
    assert classifier.set_params(near_classes=4).near_classes == 4


def test_a_classifier_with_far_pairs_is_the_learner():
    rows, labels = clusters(15, classes=8)
    settings = KINDS["lda"] | {"near_classes": 2}
    classifier = MinoutClassifier(**settings).fit(rows, labels)
    learner = taught(rows, labels, near_classes=2)
    learner.consolidate()
    assert classifier.predict(rows).tolist() == learner.predict(rows).tolist()
    assert classifier.decision_function(rows) == pytest.approx(learner.scores(rows))
    assert is_far(learner)


def test_asking_changes_nothing():
    learner, rows, _ = misc()
    before = everything(learner)
    learner.explain(rows[0])
    learner.what_if(rows[0], 3)
    learner.what_if(rows[0], 99)
    learner.suspects(5)
    learner.separator(0, 20)
    learner.predict(rows)
    learner.probabilities(rows)
    learner.audit()
    learner.inspect()
    assert everything(learner) == before


# Numbers at the edge of what can be computed.


def test_a_discriminant_that_overflows_is_refused_and_changes_nothing():
    rng = np.random.default_rng(0)
    means = 3.0 * rng.normal(size=(5, 2))
    learner = Learner(near_classes=1, lda_prior=True, whiten=False, standardize=False)
    for k in range(40):
        learner.teach((means[k % 5] + rng.normal(size=2)) * 1e-60, k % 5)
    before = saved(learner)
    with pytest.raises(InvalidInputError, match="differ too much in size"):
        learner.teach([1e98, 1e98], 7)
    assert saved(learner) == before
    assert learner.audit().ok


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [1e-39, 1e-40, 1e-42])
def test_rows_whose_discriminants_overflow_in_float32_are_fitted_or_listed(seed, size):
    rng = np.random.default_rng(seed)
    means, labels = 1.5 * rng.normal(size=(10, 2)), rng.integers(10, size=80)
    rows = ((means[labels] + rng.normal(size=(80, 2))) * size).astype(np.float32)
    learner = taught(
        rows,
        labels.tolist(),
        near_classes=1,
        kind="auto",
        dtype="float32",
        lda_prior=True,
        whiten=False,
    )
    assert learner.audit().ok
    learner.consolidate()
    assert learner.audit().ok


def test_the_class_with_which_far_pairs_begin_brings_settings_with_the_prior(monkeypatch):
    monkeypatch.setattr(settings_module, "MANY_CLASSES", 8)
    monkeypatch.setattr(settings_module, "NEAR_CLASSES", 2)
    rng = np.random.default_rng(3)
    means = 2.0 * rng.normal(size=(9, 12))
    learner = Learner()
    for c in np.tile(np.arange(8), 6):
        learner.teach(means[c] + rng.normal(size=12), int(c))
    report = learner.teach(means[8], 8)
    assert report.refresh.chose_settings
    assert learner.choice.lda_prior
    assert far_pairs(learner.inspect())


def test_the_last_example_can_be_corrected_to_a_new_label():
    rows, labels = clusters(2, classes=5, each=4, features=2)
    learner = taught(rows, labels, near_classes=1)
    learner.forget(learner.ids[1:])
    learner.correct("e0", 9)
    assert learner.audit().ok
    learner.teach([5.0, 5.0], 3)
    assert learner.audit().ok
