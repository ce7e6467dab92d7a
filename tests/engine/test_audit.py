"""The audit is independent: whatever is bent behind the engine's back, it says so."""

import importlib
from fractions import Fraction

import numpy as np
import pytest

from minout import Learner, engine, maths
from minout.features import Identity
from oracle.margin import SETTINGS, everything, margins_by_label, stream
from oracle.states import taught_state

KINDS = ["plain", "all", "auto"]


def taught(kind="plain", *, apart=1.0, dtype="float64"):
    rows, labels = stream(4, examples=60, features=4, apart=apart)
    learner = Learner(**SETTINGS[kind], features=Identity(dtype))
    learner.teach_many(rows, labels.tolist(), [f"e{i}" for i in range(60)])
    return learner


def bendable(kind="plain", *, apart=1.0, dtype="float64"):
    """Return a state of the engine, whose parts a test may bend: the subject is what audit sees."""
    rows, labels = stream(4, examples=60, features=4, apart=apart)
    return taught_state(rows, labels.tolist(), dtype=dtype, **SETTINGS[kind])


def differences(state):
    return engine.audit(state).differences


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("apart", [0.3, 2.0])
@pytest.mark.parametrize("renewed", [False, True])
def test_an_honest_learner_passes_and_the_numbers_are_those_of_a_scan(kind, dtype, apart, renewed):
    learner = taught(kind, apart=apart, dtype=dtype)
    if renewed:
        learner.consolidate()
    found, view = learner.audit(), learner.inspect()
    assert found.ok, found.differences
    margins, wrong = [], set()
    for example in learner.ids:
        mine = margins_by_label(view, *learner.example(example))
        margins += [m for m, _ in mine.values()]
        if min(m for m, _ in mine.values()) <= 0:
            wrong.add(example)
    assert (found.examples, found.margins) == (60, 120)
    assert found.least_margin == pytest.approx(min(m for m in margins if m > 0), rel=1e-9)
    assert wrong <= set(found.misfits) == set(learner.misfits)
    assert found.too_close == 0
    assert 0.0 < found.rounding_error < 1e-10


def test_asking_for_an_audit_changes_nothing():
    learner = taught("auto")
    before = everything(learner)
    assert learner.audit() == learner.audit()
    assert everything(learner) == before


@pytest.mark.parametrize("kind", KINDS)
def test_any_weight_that_is_bent_is_noticed(kind):
    state = bendable(kind)
    W, b = state.separators.W, state.separators.b
    for pair in range(3):
        for k in range(4):
            kept = W[pair, k]
            W[pair, k] = -kept if kept else 1.0
            assert differences(state)
            W[pair, k] = kept * (1.0 + 1e-3) + 1e-3
            assert differences(state)
            W[pair, k] = kept
        kept = b[pair]
        b[pair] = kept + 1e-2
        assert any("separator of" in each for each in differences(state))
        b[pair] = kept
    assert engine.audit(state).ok


@pytest.mark.parametrize("apart", [0.3, 2.0])
def test_any_count_of_violations_that_is_bent_is_noticed(apart):
    state = bendable(apart=apart)
    for place in range(60):
        for change in (1, -1):
            state.separators.violations[place] += change
            said = differences(state)
            assert any(f"'e{place}'" in each and "index" in each for each in said)
            state.separators.violations[place] -= change
    assert engine.audit(state).ok


def test_a_list_of_misfits_that_is_bent_is_noticed():
    state = bendable(apart=0.3)
    listed = state.separators.listed
    assert len(listed) > 3
    for digest, count in list(listed.items()):
        for bent in (count + 1, None):
            if bent is None:
                del listed[digest]
            else:
                listed[digest] = bent
            assert any("list of misfits" in each for each in differences(state))
            listed[digest] = count
    listed[1] = 1
    assert any("list of misfits" in each for each in differences(state))
    del listed[1]
    assert engine.audit(state).ok


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_any_bit_of_a_stored_row_that_turns_is_noticed(dtype):
    state = bendable(dtype=dtype)
    blob = state.examples.table[17].view(np.uint8)
    for bit in range(0, 8 * len(blob), 5):
        blob[bit // 8] ^= 1 << bit % 8
        with np.errstate(all="ignore"):
            said = differences(state)
        assert any("row of example 'e17'" in each for each in said)
        blob[bit // 8] ^= 1 << bit % 8
    assert engine.audit(state).ok


def test_any_label_that_is_bent_is_noticed():
    state = bendable()
    classes = state.examples.regions
    for place in range(60):
        kept = classes[place]
        classes[place] = (kept + 1) % 3
        assert any("differs from the stored examples" in each for each in differences(state))
        classes[place] = kept
    assert engine.audit(state).ok


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("apart", [0.3, 1.0])
def test_any_alpha_that_is_bent_is_noticed(kind, apart):
    state = bendable(kind, apart=apart)
    for pool in state.separators.pools.values():
        for i in range(len(pool.alpha)):
            kept = pool.alpha[i]
            for bent in (kept + 0.1 * max(pool.alpha.max(), 1.0), 0.5 * kept if kept else 1.0):
                pool.alpha[i] = bent
                assert any("separator of" in each for each in differences(state))
            pool.alpha[i] = kept
    assert engine.audit(state).ok


def test_a_row_that_vanished_is_noticed():
    state = bendable()
    state.examples.wipe(np.array([5]))
    assert any("ids do not match" in each for each in differences(state))


def test_an_id_that_leads_elsewhere_is_noticed():
    state = bendable()
    state.place_of["e3"] = state.place_of["e4"]
    assert any("ids do not match" in each for each in differences(state))


def test_a_member_that_is_missing_from_its_class_is_noticed():
    state = bendable()
    state.regions.members[1].count -= 1
    assert any("list of label" in each for each in differences(state))


def test_an_example_that_leans_on_nothing_is_noticed():
    state = bendable(apart=2.0)
    pools = state.separators.pools
    free = next(p for p in range(60) if all(p not in pool.places for pool in pools.values()))
    state.examples.table[free] = state.frame.geometry.origin
    assert any(f"'e{free}' has a margin below" in each for each in differences(state))


def test_the_audit_asks_no_kernel_for_a_margin(monkeypatch):
    learner = taught()
    for name in ("activations", "region_margins", "scores", "gram", "combine"):
        monkeypatch.setattr(f"minout.kernels.{name}", None)
    assert learner.audit().ok


def test_margins_nearer_to_zero_than_rounding_are_counted_not_complained_of():
    learner = Learner(**SETTINGS["plain"])
    learner.teach([0.0, 0.0], 0)
    learner.teach([0.0, 0.0], 1)
    learner.consolidate()
    found = learner.audit()
    assert found.ok, found.differences
    assert set(found.misfits) | set(learner.misfits) == {0, 1}
    margins = [margins_by_label(learner.inspect(), [0.0, 0.0], y)[1 - y] for y in (0, 1)]
    near = sum(abs(m) <= error for m, error in margins)
    assert found.too_close == near == 2


@pytest.mark.parametrize("block", [1, 7])
def test_blocks_of_any_size_give_the_same_audit(monkeypatch, block):
    learner = taught(apart=0.3)
    whole = learner.audit()
    # `minout.engine.audit` is the function; the module has the same name.
    monkeypatch.setattr(importlib.import_module("minout.engine.audit"), "BLOCK", block)
    parts = learner.audit()
    assert parts._replace(least_margin=0.0, rounding_error=0.0) == whole._replace(
        least_margin=0.0, rounding_error=0.0
    )
    assert parts.least_margin == pytest.approx(whole.least_margin, rel=1e-12)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("width", [1, 33, 700])
def test_the_bound_on_the_rounding_error_holds(size, width):
    rng = np.random.default_rng(5)
    learner = Learner(**SETTINGS["plain"])
    for i in range(12):
        learner.teach(size * (3.0 + rng.normal(size=width)), i % 2)
    view, bound = learner.inspect(), learner.audit().rounding_error
    w, b, origin = view.separators[0, 1].w, view.separators[0, 1].b, view.origin
    X = np.array([learner.example(i)[0] for i in learner.ids])
    b_of_all = np.array([b])
    plain = maths.margins(w[None], b_of_all, X, origin, np.zeros(12, dtype=int), 2)[:, 1]
    kernel = learner.scores(X)[:, 0]
    for x, by_numpy, by_kernel in zip(X, plain, kernel, strict=True):
        exact = Fraction(b)
        for k in range(width):
            exact += Fraction(float(w[k])) * (Fraction(float(x[k])) - Fraction(float(origin[k])))
        assert abs(Fraction(float(by_numpy)) - exact) <= Fraction(bound)
        assert abs(Fraction(float(by_kernel)) - exact) <= Fraction(bound)
        assert abs(Fraction(float(by_kernel)) - Fraction(float(by_numpy))) <= Fraction(bound)
