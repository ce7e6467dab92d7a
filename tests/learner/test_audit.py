"""The audit is independent: whatever is bent behind the learner's back, it says so."""

from fractions import Fraction

import numpy as np
import pytest

from minout import Learner, maths
from minout.features import Identity
from minout.learner import _audit
from minout.rules import MarginRule
from oracle.margin import differs, margins_by_label, snapshot, stream

RULES = {
    "plain": MarginRule(price=0.01, metric=False, prior=False, columns=False),
    "lda": MarginRule(price=0.1, metric=True, prior=True, columns=True),
    "auto": MarginRule(),
}


def taught(rule="plain", *, examples=60, apart=1.0, dtype="float64"):
    rows, labels = stream(4, examples=examples, features=4, apart=apart)
    learner = Learner(rule=RULES[rule], features=Identity(dtype))
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        learner.teach(x, y, id=f"e{i}")
    return learner


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("apart", [0.3, 2.0])
@pytest.mark.parametrize("renewed", [False, True])
def test_an_honest_learner_passes_and_the_numbers_are_those_of_a_scan(rule, dtype, apart, renewed):
    learner = taught(rule, apart=apart, dtype=dtype)
    if renewed:
        learner.consolidate()
    found = learner.audit()
    assert found.ok, found.complaints
    margin = learner._margin
    margins, wrong = [], set()
    for example, place in margin.place_of.items():
        mine = margins_by_label(learner, margin.memory.table[place], margin.label_at(place))
        margins += [m for m, _ in mine.values()]
        if min(m for m, _ in mine.values()) <= 0:
            wrong.add(example)
    assert (found.examples, found.margins) == (60, 120)
    assert found.least_margin == pytest.approx(min(m for m in margins if m > 0), rel=1e-9)
    assert wrong <= set(found.exceptions) == set(learner.exceptions)
    assert found.too_close == 0
    assert 0.0 < found.slack < 1e-10


def test_asking_for_an_audit_changes_nothing():
    learner = taught("auto")
    before = snapshot(learner)
    assert learner.audit() == learner.audit()
    assert differs(snapshot(learner), before) == []


@pytest.mark.parametrize("rule", RULES)
def test_any_weight_that_is_bent_is_noticed(rule):
    learner = taught(rule)
    margin = learner._margin
    for pair in range(3):
        for k in range(4):
            kept = margin.W[pair, k]
            margin.W[pair, k] = -kept if kept else 1.0
            assert not learner.audit().ok
            margin.W[pair, k] = kept * (1.0 + 1e-3) + 1e-3
            assert not learner.audit().ok
            margin.W[pair, k] = kept
        kept = margin.b[pair]
        margin.b[pair] = kept + 1e-2
        assert any("separator of" in each for each in learner.audit().complaints)
        margin.b[pair] = kept
    assert learner.audit().ok


@pytest.mark.parametrize("apart", [0.3, 2.0])
def test_any_entry_of_the_index_that_is_bent_is_noticed(apart):
    learner = taught(apart=apart)
    for place in range(60):
        for change in (1, -1):
            learner._margin.short[place] += change
            complaints = learner.audit().complaints
            assert any(f"'e{place}'" in each and "index" in each for each in complaints)
            learner._margin.short[place] -= change
    assert learner.audit().ok


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_any_bit_of_a_stored_row_that_turns_is_noticed(dtype):
    learner = taught(dtype=dtype)
    blob = learner._margin.memory.table[17].view(np.uint8)
    for bit in range(0, 8 * len(blob), 5):
        blob[bit // 8] ^= 1 << bit % 8
        with np.errstate(all="ignore"):
            complaints = learner.audit().complaints
        assert any("row of example 'e17'" in each for each in complaints)
        blob[bit // 8] ^= 1 << bit % 8
    assert learner.audit().ok


def test_any_label_that_is_bent_is_noticed():
    learner = taught()
    labels = learner._margin.memory._labels
    for place in range(60):
        kept = labels[place]
        labels[place] = (kept + 1) % 3
        assert any("is not what is stored" in each for each in learner.audit().complaints)
        labels[place] = kept
    assert learner.audit().ok


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("apart", [0.3, 1.0])
def test_any_alpha_that_is_bent_is_noticed(rule, apart):
    learner = taught(rule, apart=apart)
    for pool in learner._margin.pools:
        for i in range(len(pool.alpha)):
            kept = pool.alpha[i]
            for bent in (kept + 0.1 * max(pool.alpha.max(), 1.0), 0.5 * kept if kept else 1.0):
                pool.alpha[i] = bent
                assert any("separator of" in each for each in learner.audit().complaints)
            pool.alpha[i] = kept
    assert learner.audit().ok


def test_a_row_that_vanished_is_noticed():
    learner = taught()
    learner._margin.memory.discard(5)
    assert any("ids do not lead" in each for each in learner.audit().complaints)


def test_an_id_that_leads_elsewhere_is_noticed():
    learner = taught()
    place_of = learner._margin.place_of
    place_of["e3"] = place_of["e4"]
    assert not learner.audit().ok


def test_a_member_that_is_missing_from_its_class_is_noticed():
    learner = taught()
    members = learner._margin.members[1]
    members.count -= 1
    assert any("list of class" in each for each in learner.audit().complaints)


def test_an_example_that_leans_on_nothing_is_noticed():
    learner = taught(apart=2.0)
    margin = learner._margin
    free = next(p for p in range(60) if all(p not in pool.places for pool in margin.pools))
    margin.memory.table[free] = margin.geometry.origin
    assert any(f"'e{free}' has a margin below" in each for each in learner.audit().complaints)


def test_the_audit_asks_no_kernel_for_a_margin(monkeypatch):
    learner = taught()
    for name in ("activations", "class_margins", "scores", "gram", "combine"):
        monkeypatch.setattr(f"minout.kernels.{name}", None)
    assert learner.audit().ok


def test_margins_nearer_to_zero_than_rounding_are_counted_not_complained_of():
    learner = Learner(rule=RULES["plain"])
    learner.teach([0.0, 0.0], 0)
    learner.teach([0.0, 0.0], 1)
    learner.consolidate()
    found = learner.audit()
    assert found.ok, found.complaints
    assert set(found.exceptions) | set(learner.exceptions) == {0, 1}


@pytest.mark.parametrize("block", [1, 7])
def test_blocks_of_any_size_give_the_same_audit(monkeypatch, block):
    learner = taught(apart=0.3)
    whole = learner.audit()
    monkeypatch.setattr(_audit, "BLOCK", block)
    parts = learner.audit()
    assert parts._replace(least_margin=0.0, slack=0.0) == whole._replace(
        least_margin=0.0, slack=0.0
    )
    assert parts.least_margin == pytest.approx(whole.least_margin, rel=1e-12)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("width", [1, 33, 700])
def test_the_slack_that_is_left_for_rounding_suffices(size, width):
    rng = np.random.default_rng(5)
    learner = Learner(rule=RULES["plain"])
    for i in range(12):
        learner.teach(size * (3.0 + rng.normal(size=width)), i % 2)
    margin, slack = learner._margin, learner.audit().slack
    w, b, origin = margin.W[0], float(margin.b[0]), margin.geometry.origin
    X = margin.memory.table[:12]
    plain = maths.margins(margin.W[:1], margin.b[:1], X, origin, np.zeros(12, dtype=int), 2)[:, 1]
    kernel = margin.scores(X)[:, 0]
    for x, by_numpy, by_kernel in zip(X, plain, kernel, strict=True):
        exact = Fraction(b)
        for k in range(width):
            exact += Fraction(float(w[k])) * (Fraction(float(x[k])) - Fraction(float(origin[k])))
        assert abs(Fraction(float(by_numpy)) - exact) <= Fraction(slack)
        assert abs(Fraction(float(by_kernel)) - exact) <= Fraction(slack)
        assert abs(Fraction(float(by_kernel)) - Fraction(float(by_numpy))) <= Fraction(slack)
