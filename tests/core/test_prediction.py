"""`predict` computes few separators and answers as if it had computed all of them."""

import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import Learner, core, maths
from minout.core import prediction
from minout.features import Identity
from oracle.eighths import drawn
from oracle.states import taught_state

TIE = {"C": 5.0, "whiten": False, "lda_prior": False, "standardize": False}


def full(learner, X):
    """Return the labels that all scores give."""
    return learner.classes[learner.scores(X).argmax(axis=1)]


def blobs(rng, classes, each, width, *, apart, labels=None):
    centres = apart * rng.normal(size=(classes, width))
    numbers = rng.permutation(np.repeat(np.arange(classes), each))
    rows = centres[numbers] + rng.normal(size=(len(numbers), width))
    return rows, [int(c) if labels is None else labels[c] for c in numbers]


def random_state(rng, classes, width, *, grid, dtype="float64"):
    """Return a state whose separators are drawn, not learned: most rows are in no class."""
    labels = rng.permutation([f"l{c}" for c in range(classes)]).tolist()
    rows = np.arange(classes * width).reshape(classes, width)
    state = taught_state(rows, labels, dtype=dtype, **TIE)
    changed = {}
    for pair in range(classes * (classes - 1) // 2):
        w = drawn(rng, width, size=2) if grid else rng.normal(size=width)
        b = float(drawn(rng, size=2)) if grid else float(rng.normal())
        w = w * (rng.random() > 0.2)
        changed[pair] = state.separators[pair]._replace(w=w, b=b)
    separators = state.separators
    return state.replaced(separators=separators.replaced(changed, separators.scores))


def answers(state, X):
    """Return the winners of the full evaluation, and whether their scores are 0 or less."""
    order = np.argsort(state.regions.order.rank)
    scores = state.region_scores(X)[:, order]
    return order[scores.argmax(axis=1)].tolist(), (scores.max(axis=1) <= 0.0).tolist()


def winners(state, X):
    found = core.winners(state, X)
    return found.regions.tolist(), found.clipped.tolist()


@given(
    st.sampled_from([1, 2, 3, 5, 10, 60]),
    st.sampled_from([1, 3, 40]),
    st.booleans(),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 9_999),
)
def test_winners_are_those_of_all_scores(classes, width, grid, dtype, seed):
    rng = np.random.default_rng(seed)
    state = random_state(rng, classes, width, grid=grid, dtype=dtype)
    rows = drawn(rng, 300, width, size=2) if grid else rng.normal(size=(300, width))
    X = rows.astype(dtype)
    wanted = answers(state, X)
    assert winners(state, X) == wanted
    order = rng.permutation(len(X))
    found = core.winners(state, np.ascontiguousarray(X[order]))
    assert found.regions.tolist() == np.array(wanted[0])[order].tolist()
    for i in range(8):
        assert winners(state, X[i : i + 1]) == ([wanted[0][i]], [wanted[1][i]])
    assert winners(state, X[:0]) == ([], [])


@given(st.integers(2, 7), st.integers(0, 999), st.sampled_from(["inf", "nan", "noise", "huge"]))
def test_a_nonsense_proposal_changes_no_answer(classes, seed, kind):
    rng = np.random.default_rng(seed)
    state = random_state(rng, classes, 5, grid=True)
    X = drawn(rng, 100, 5, size=2)
    wanted = answers(state, X)
    known = int(rng.integers(1, classes + 3))  # it may be older than a class, or than its removal
    V, v = rng.normal(size=(known, 5)), rng.normal(size=known)
    if kind != "noise":
        V[rng.random(V.shape) < 0.5] = {"inf": np.inf, "nan": np.nan, "huge": 3e38}[kind]
    nonsense = prediction.Proposal(V.astype("f4"), v.astype("f4"), state.separators.moves)
    state.separators.proposal = nonsense
    for X_, wanted_ in ((X, wanted), (X[:3], (wanted[0][:3], wanted[1][:3]))):
        assert winners(state, X_) == wanted_
    assert state.separators.proposal is nonsense


@pytest.mark.parametrize("labels", [None, ["z", "m", "a", "ab", "A"]], ids=["numbers", "words"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_predict_is_the_full_evaluation_while_learning(dtype, labels):
    rng = np.random.default_rng(4)
    rows, names = blobs(rng, 5, 12, 6, apart=0.8, labels=labels)
    learner = Learner(C=50.0, features=Identity(dtype))
    X = 2.0 * rng.normal(size=(70, 6))
    unknown, rejected = "nobody" if labels else 99, 0
    for i, (x, y) in enumerate(zip(rows, names, strict=True)):
        learner.teach(x, y)
        wanted = full(learner, X)
        assert learner.predict(X).tolist() == wanted.tolist()
        assert learner.predict(X[i % 70][None])[0] == wanted[i % 70]
        clipped = learner.scores(X).max(axis=1) <= 0.0
        expected = [unknown if c else y for c, y in zip(clipped, wanted.tolist(), strict=True)]
        assert learner.predict(X, unknown=unknown).tolist() == expected
        rejected += clipped.sum()
    assert 100 < rejected < 60 * len(rows)
    learner.forget_class(names[0])
    assert learner.predict(X).tolist() == full(learner, X).tolist()
    learner.consolidate()
    assert learner.predict(X).tolist() == full(learner, X).tolist()


def test_many_classes_need_few_separators():
    rng = np.random.default_rng(1)
    classes, width = 80, 48
    centres = 3.0 * rng.normal(size=(classes, width))
    pairs = classes * (classes - 1) // 2
    state = taught_state(centres, range(classes), **TIE)
    X = centres[rng.integers(0, classes, 400)] + rng.normal(size=(400, width))
    assert winners(state, X) == answers(state, X)
    assert core.winners(state, X).computed < 1.1 * classes * len(X) < pairs * len(X) / 15
    noise = 10.0 * rng.normal(size=(400, width))
    assert winners(state, noise) == answers(state, noise)
    assert core.winners(state, noise).computed < 1.5 * classes * len(X)


def test_threads_that_predict_at_the_same_time_agree():
    rng = np.random.default_rng(6)
    rows, labels = blobs(rng, 8, 10, 6, apart=1.0)
    learner = Learner(**TIE)
    learner.teach_many(rows, labels)
    X = rng.normal(size=(200, 6))
    wanted, different = full(learner, X).tolist(), []

    def ask():
        for _ in range(10):
            learner._state.separators.proposal = None
            if learner.predict(X).tolist() != wanted:
                different.append(1)

    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(old)
    assert not different


def test_scores_of_many_rows_are_those_of_each_row():
    rng = np.random.default_rng(7)
    state = random_state(rng, 40, 70, grid=False)
    X = rng.normal(size=(400, 70))
    scores = state.scores(X)
    assert all(state.scores(X[i : i + 1]).tobytes() == scores[i].tobytes() for i in range(400))


def test_probabilities_are_a_softmax_of_the_scores():
    rng = np.random.default_rng(8)
    rows, labels = blobs(rng, 4, 12, 6, apart=1.0)
    learner = Learner(**TIE)
    learner.teach_many(rows, labels)
    learner.consolidate()
    X = 3.0 * rng.normal(size=(60, 6))
    scores = learner.scores(X)
    for choice in (learner.choice, learner.choice._replace(lead=0.125)):
        raised = np.exp(choice.sharpness * np.where(scores > 0, choice.lead * scores, scores))
        wanted = raised / raised.sum(axis=1, keepdims=True)
        assert core.probabilities(scores, choice) == pytest.approx(wanted)
        assert (core.probabilities(scores, choice).argmax(axis=1) == scores.argmax(axis=1)).all()
    wanted = core.probabilities(scores, learner.choice)
    assert learner.probabilities(X).tolist() == wanted.tolist()
    large = maths.softmax(np.array([[1000.0, -1000.0], [1.0, 1.0 + np.log(3.0)]]))
    assert large == pytest.approx(np.array([[1.0, 0.0], [0.25, 0.75]]))


def unaligned(X):
    """Return rows that begin at an odd address."""
    memory = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:]
    rows = memory.view(X.dtype).reshape(X.shape)
    rows[:] = X
    return rows


FORMS = {
    "by columns": np.asfortranarray,
    "every other": lambda X: np.repeat(X, 2, axis=0)[::2],
    "other bytes": lambda X: X.astype(X.dtype.newbyteorder()),
    "unaligned": unaligned,
    "list": np.ndarray.tolist,
}


@pytest.mark.parametrize("form", FORMS)
def test_scores_do_not_depend_on_how_rows_lie_in_memory_and_rows_stay_as_they_are(form):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 5)), [0, 1, 2] * 30
    learner, test = Learner(), rng.normal(size=(40, 5))
    learner.teach_many(X, y)
    test[0] = -0.0
    given = test.copy()
    given.flags.writeable = False
    scores, labels = learner.scores(given), learner.predict(given)
    assert (learner.scores(FORMS[form](test)) == scores).all()
    assert (learner.predict(FORMS[form](test)) == labels).all()
    assert given.tobytes() == test.tobytes()
    assert not np.shares_memory(learner.expanded(given), given)
