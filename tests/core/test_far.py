"""With few near pairs of many classes, all that holds with a few classes holds as before."""

import copy

import numpy as np
import pytest

from minout import InvalidInputError, Learner, core
from minout.features import Identity
from oracle import far, separators
from oracle.margin import (
    SETTINGS,
    STRAIGHT,
    by_label,
    clusters,
    differs,
    model_bits,
    reloaded,
    saved,
)
from oracle.states import taught_state

KINDS = {
    "means": SETTINGS["means"],
    "columns": SETTINGS["means"] | {"standardize": True},
    "lda": SETTINGS["lda"],
    "all": SETTINGS["all"],
}
VARIED = [
    ("means", "float64", 1),
    ("columns", "float32", 3),
    ("lda", "float64", 3),
    ("all", "float32", 1),
]
CASES = [case[:2] for case in VARIED]


def taught(rows, labels, *, near_classes=2, kind="lda", dtype="float64", **settings):
    settings = KINDS.get(kind, {}) | settings
    learner = Learner(**settings, near_classes=near_classes, features=Identity(dtype))
    learner.teach_many(rows, labels, [f"e{i}" for i in range(len(labels))])
    return learner


def far_pairs(view):
    return {tuple(sorted(pair)) for pair, each in view.separators.items() if each.is_far}


@pytest.mark.parametrize(("kind", "dtype", "near_classes"), VARIED)
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
    assert len([each for each in view.separators.values() if each.is_far and each.ids]) == len(
        stored
    )
    assert 0 < len(stored) < len(far_pairs(view))


def alphas(view):
    """Return the α of the support vectors of each pair of labels, by id."""
    return {
        frozenset(pair): {i: a for i, a in zip(each.ids, each.alpha, strict=True) if a > 0.0}
        for pair, each in view.separators.items()
    }


@pytest.mark.parametrize(("kind", "dtype"), [*CASES, ("auto", "float64")])
def test_no_bit_depends_on_the_order_or_on_what_was_corrected_and_forgotten(kind, dtype):
    rows, labels = clusters(1, classes=8, each=4, apart=1.0, dtype=dtype)
    straight = taught(rows, labels, near_classes=2, kind=kind, dtype=dtype)
    rng = np.random.default_rng(1)
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
    assert alphas(straight.inspect()) == alphas(other.inspect())
    assert straight.audit().ok
    assert other.audit().ok


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


@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_scores_and_predictions_are_those_of_the_plain_formula(kind, dtype):
    learner, rows, labels = misc(kind=kind, dtype=dtype)
    view = learner.inspect()
    assert far_pairs(view)
    X = odd_rows(learner, rows, labels).astype(dtype)
    found, plain = learner.scores(X), far.scores(view, X)
    size = 1.0 + np.abs(X.astype(float) - view.origin).max(axis=1, keepdims=True)
    assert (np.abs(found - plain) <= 1e-9 * size * 10).all()
    names = learner.classes
    assert learner.predict(X).tolist() == names[found.argmax(axis=1)].tolist()
    assert np.array_equal(found, np.concatenate([learner.scores(x[None]) for x in X]))
    one_by_one = [learner.predict(x[None])[0] for x in X]
    assert one_by_one == learner.predict(X).tolist()
    clipped = found.max(axis=1) <= 0.0
    assert (learner.predict(X, unknown=-1) == -1).tolist() == clipped.tolist()


@pytest.mark.parametrize(("apart", "dtype"), [(0.3, "float64"), (3.0, "float32")])
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
    for seed in range(6):
        learner = mirrored(seed)
        found, middle = learner.audit(), [[0.0, 0.0]]
        assert found.ok, found.differences
        is_clipped = learner.scores(middle).max() <= 0.0  # or hardly above
        assert (learner.predict(middle, unknown=-1)[0] == -1) == is_clipped


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
        assert not said.refresh
        assert not renews or len(said.neurons) == 14  # all of its label
        for (unit, neuron), ids in said.neurons.items():
            s1, s2, _ = sets_of(view, known, unit, neuron)
            assert set(ids) == s1 | s2
        report = twin.teach(x, own, id="new")
        assert report.refresh is None
        moved = {frozenset(pair) for pair in report.certificate.moved}
        assert moved == {frozenset(pair) for pair in said.neurons}
        found = twin.partition() if moved else {}
        assert {frozenset(pair) for pair in found} == moved
        for (unit, neuron), sets in found.items():
            moved_far += (unit, neuron) in view.separators and view.separators[unit, neuron].is_far
            assert tuple(map(set, sets)) == sets_of(view, known, unit, neuron)
    assert moved_far > 0


def is_far(learner):
    return bool(far_pairs(learner.inspect()))


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


@pytest.mark.parametrize("refresh", ["auto", "manual"])
@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_learner_of_which_little_is_left_goes_on(left, refresh):
    rows, labels = clusters(12, classes=5, each=3)
    learner = taught(rows, labels, near_classes=1, refresh=refresh)
    learner.consolidate()
    assert is_far(learner)
    for label in range(left, 5):
        learner.forget_class(label)
        assert reloaded(learner).ids == learner.ids
    for i, (x, y) in enumerate(zip(rows[:10], labels[:10], strict=True)):
        learner.teach(x, y, id=f"again {i}")
        assert learner.audit().ok
        assert learner.predict(rows[: i + 1]).tolist() == labels[: i + 1] or learner.misfits
        other = reloaded(learner)
        assert differs(saved(other), saved(learner)) == []
        learner = other
    learner.consolidate()
    assert learner.audit().ok


@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_what_bounds_the_corrections_does(kind, dtype):
    learner, rows, labels = misc(kind=kind, dtype=dtype)
    state = taught_state(rows, labels, dtype=dtype, near_classes=2, **KINDS[kind])
    view, records = core.inspect(state), state.separators.records
    names = list(view.separators)  # by pair number
    X = odd_rows(learner, rows, labels).astype(dtype).astype(float)
    X = np.concatenate([X, np.random.default_rng(0).normal(size=(50, 4))])
    Z = X - view.origin
    K = np.diag(view.K) if view.K.ndim == 1 else view.K
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", Z, K, Z))
    bounds = {pair: each.bounds for pair, each in records.items() if each.is_far}
    tight = 0
    assert len(bounds) > 3
    for pair, (floor, ceiling, norm) in bounds.items():
        each = view.separators[names[pair]]
        assert each.is_far
        values = Z @ (each.w - each.prior_w) + each.b - each.prior_b
        rounding = 1e-10 * (1.0 + np.abs(Z).sum(axis=1) * np.abs(each.w).max())
        assert (values >= floor - norm * lengths - rounding).all()
        assert (values <= ceiling + norm * lengths + rounding).all()
        tight += floor == pytest.approx(ceiling, rel=1e-3)
    assert tight > 0


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


@pytest.mark.parametrize("size", [1e-39, 1e-42])
def test_rows_whose_discriminants_overflow_in_float32_are_fitted_or_listed(size):
    rng = np.random.default_rng(0)
    means, labels = 1.5 * rng.normal(size=(10, 2)), rng.integers(10, size=80)
    rows = ((means[labels] + rng.normal(size=(80, 2))) * size).astype(np.float32)
    pinned = {"near_classes": 1, "lda_prior": True, "whiten": False}
    learner = taught(rows, labels.tolist(), kind="auto", dtype="float32", **pinned)
    assert learner.audit().ok
    learner.consolidate()
    assert learner.audit().ok
