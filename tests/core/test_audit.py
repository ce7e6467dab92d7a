"""The audit is independent: whatever is bent behind the engine's back, it says so."""

import ctypes
from fractions import Fraction

import numpy as np
import pytest

from minout import Learner, core, maths
from minout.features import Identity
from oracle.margin import SETTINGS, margins_by_label, stream
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dtype", "apart"), [("float64", 0.3), ("float32", 2.0)])
def test_an_honest_learner_passes_and_the_numbers_are_those_of_a_scan(kind, dtype, apart):
    learner = taught(kind, apart=apart, dtype=dtype)
    for _ in range(2):
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
        learner.consolidate()


def bent_weights(state):
    W, b = state.separators.W, state.separators.b
    for row in state.separators.at.tolist():
        for k in range(4):
            for bent in (-W[row, k] or 1.0, W[row, k] * (1.0 + 1e-3) + 1e-3):
                yield (W, (row, k), bent), ""
        yield (b, row, b[row] + 1e-2), "separator of"


def bent_alphas(state):
    for alpha in (writable(each.pool.alpha) for each in state.separators.records.values()):
        for i, kept in enumerate(alpha.tolist()):
            for bent in (kept + 0.1 * max(alpha.max(), 1.0), 0.5 * kept if kept else 1.0):
                yield (alpha, i, bent), "separator of"


def writable(values):
    """Return the same memory as an array that can be written, which a pool does not allow."""
    return np.ctypeslib.as_array((ctypes.c_double * len(values)).from_address(values.ctypes.data))


def bent_labels(state):
    regions = state.examples.regions
    for place in range(60):
        yield (regions, place, (regions[place] + 1) % 3), "differs from the stored examples"


def bent_rows(state):
    blob = state.examples.table[17].view(np.uint8)
    for bit in range(0, 8 * len(blob), 5):
        yield (blob, bit // 8, blob[bit // 8] ^ (1 << bit % 8)), "row of example 'e17'"


def bent_counts(state):
    violations = state.examples.violations
    for place in range(60):
        for change in (1, -1):
            yield (violations, place, violations[place] + change), f"'e{place}'"


def bent_lists(state):
    listed = state.listed
    for digest, count in [*listed.items()]:
        yield (listed, digest, count + 1), "list of misfits"
        yield (listed, digest, 0), "list of misfits"


def bent_ids(state):
    places = state.examples.places_of_ids
    yield (places, "e3", places["e4"]), "ids do not match"


BENT = [
    *((bent_weights, kind, 1.0) for kind in KINDS),
    *((bent_alphas, kind, apart) for kind in ("plain", "all") for apart in (0.3, 1.0)),
    *((bent_counts, "plain", apart) for apart in (0.3, 2.0)),
    *((bent, "plain", 0.3) for bent in (bent_labels, bent_rows, bent_lists, bent_ids)),
]


@pytest.mark.parametrize(("bent", "kind", "apart"), BENT)
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_whatever_is_bent_is_noticed(bent, kind, apart):
    state, tried = bendable(kind, apart=apart), 0
    for (values, where, wrong), words in bent(state):
        kept = values[where]
        values[where] = wrong
        assert any(words in each for each in core.audit(state).differences), where
        values[where] = kept
        tried += 1
    assert tried
    assert core.audit(state).ok


def vanished_row(state):
    state.examples.stored[5] = False
    return "list of label"


def missing_member(state):
    state.regions.members[1].count -= 1
    return "list of label"


def example_that_leans_on_nothing(state):
    pools = [each.pool for each in state.separators.records.values()]
    free = next(p for p in range(60) if all(p not in pool.places for pool in pools))
    state.examples.table[free] = state.frame.geometry.origin
    return f"'e{free}' has a margin below"


@pytest.mark.parametrize("lost", [vanished_row, missing_member, example_that_leans_on_nothing])
def test_whatever_is_lost_is_noticed(lost):
    state = bendable(apart=2.0)
    words = lost(state)
    assert any(words in each for each in core.audit(state).differences)


def test_the_audit_asks_no_kernel_for_a_margin(monkeypatch):
    learner = taught()
    for name in ("activations", "region_margins", "scores", "settle", "multiply"):
        monkeypatch.setattr(f"minout.kernels.{name}", None)
    assert learner.audit().ok


def test_margins_nearer_to_zero_than_rounding_are_counted_not_complained_of():
    learner = Learner(**SETTINGS["plain"])
    learner.teach([0.0, 0.0], 0)
    learner.teach([0.0, 0.0], 1)
    learner.consolidate()
    found = learner.audit()
    assert found.ok, found.differences
    assert learner.misfits == [0, 1]  # a margin of 0 is no fit
    margins = [margins_by_label(learner.inspect(), [0.0, 0.0], y)[1 - y] for y in (0, 1)]
    near = sum(abs(m) <= error for m, error in margins)
    assert found.too_close == near == 2


@pytest.mark.parametrize(("size", "width"), [(1e-3, 1), (1.0, 33), (1e6, 300)])
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
