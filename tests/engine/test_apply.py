"""`apply` can be interrupted anywhere and made again; `Rollback` goes back."""

import gc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minout
from minout import Learner, engine
from minout.engine.state import Move
from oracle.eighths import arrays
from oracle.interruptions import lines_of, was_interrupted
from oracle.margin import SETTINGS as PINNED
from oracle.margin import clusters, differs, stream
from oracle.states import new_state, taught_state, teach, twin, written

HOME = str(Path(minout.__file__).parent)
ROWS, LABELS = stream(3, examples=40, features=2, apart=0.5)
NAMES = ["abc"[y] for y in LABELS.tolist()]
SETTINGS = PINNED | {
    "far means": PINNED["means"] | {"near_classes": 1},
    "far all": PINNED["all"] | {"near_classes": 1},
}
REFRESHES_AFTER = 11
"""With the next row after so many there is a refresh."""


def taught(count, **pinned):
    return taught_state(ROWS[:count], NAMES[:count], **(SETTINGS["loose"] | pinned))


def contents(state):
    """Return all of a state: what is saved, and what the last step moved."""
    move = state.last_move
    moved = None if move is None else engine.partition(state)
    return written(state), moved


def one_more(state, count):
    return engine.teach(state, ROWS[count], NAMES[count], "new")


def relabelled_to_empty(state):
    return engine.relabel(state, state.place_of["alone"], "a")._replace(
        corrected={"alone": ("single",)}
    )


def with_a_single(count):
    state = taught(count)
    teach(state, [5.0, 5.0], "single", "alone")
    return state


def fast(state):
    """Teach a row that suits every separator: a copy of one with margins above the bound."""
    for i, (x, y) in enumerate(zip(ROWS, NAMES, strict=True)):
        margins = state.margins(x, *state.regions.of(y))
        if margins.min() >= 0.5 and f"e{i}" in state.place_of:
            delta = engine.teach(state, x, y, "new")
            assert not delta.separators
            return delta
    raise AssertionError


def moving(state):
    delta = engine.teach(state, -ROWS[2], NAMES[2], "new")
    assert delta.separators
    assert delta.refresh is None
    return delta


def refreshing(state):
    delta = one_more(state, REFRESHES_AFTER)
    assert delta.refresh is not None
    return delta


def taking_back(state):
    """Teach rows that add classes and bring a refresh; return the change that leads back."""
    rollback = engine.Rollback(state)
    for i, (x, y) in enumerate(zip(ROWS[7:20], NAMES[7:20], strict=True)):
        label = "later" if i % 4 == 2 else y
        delta = engine.teach(state, x, label, f"more {i}")
        rollback.record(delta)
        engine.apply(state, delta)
    back = rollback.delta()
    assert back.region_count < len(state.regions)
    assert state.frame.schedule.refresh_at > back.frame.schedule.refresh_at
    return back


FAR_ROWS, FAR_LABELS = clusters(2, classes=6, each=4, features=2, apart=2.0)
FAR = SETTINGS["lda"] | {"C": 5.0, "near_classes": 1}


def far():
    """Return a state with four examples of each of six classes, most of whose pairs are far."""
    return taught_state(FAR_ROWS, FAR_LABELS, **FAR)


def far_teach(state, label):
    delta = engine.teach(state, np.array([0.3, -0.2]), label, "new")
    assert delta.refresh is None
    assert delta.discriminants
    assert any(each.is_far for each in delta.separators.values())
    return delta


def far_first(state):
    """Teach the class with which far pairs begin."""
    delta = engine.teach(state, np.array([3.0, 3.0]), 9, "new")
    assert state.separators.far is None
    assert delta.all_separators is not None
    return delta


def far_back(state):
    """Teach new classes, renew discriminants, refresh; return the change that leads back."""
    rollback, refreshed = engine.Rollback(state), 0
    for i, x in enumerate(FAR_ROWS[:10]):
        label = (FAR_LABELS[i] + 1) % 6 if i % 4 else 10 + i % 3
        delta = engine.teach(state, x + 0.25, label, f"more {i}")
        refreshed += delta.refresh is not None
        rollback.record(delta)
        engine.apply(state, delta)
    assert refreshed
    return rollback.delta()


CHANGES = {
    "teach a row that fits": (lambda: taught(13), fast),
    "teach a row that moves": (lambda: taught(13), moving),
    "teach the first row": (lambda: new_state(2), lambda s: one_more(s, 0)),
    "teach a new class": (
        lambda: taught(13),
        lambda s: engine.teach(s, np.array([3.0, -3.0]), "new", "new"),
    ),
    "refresh": (lambda: taught(REFRESHES_AFTER), refreshing),
    "correct to a new class": (lambda: taught(13), lambda s: engine.relabel(s, 1, "new")),
    "correct the last of a class": (lambda: with_a_single(12), relabelled_to_empty),
    "forget": (lambda: taught(13), lambda s: engine.forget(s, np.array([0, 1, 2, 5]))),
    "forget a class": (
        lambda: taught(13),
        lambda s: engine.forget(s, np.sort(s.regions.members[1].places)),
    ),
    "forget everything": (lambda: taught(6), lambda s: engine.forget(s, np.arange(6))),
    "take back": (lambda: taught(7), taking_back),
}
FAR_CHANGES = {
    "far pairs begin": (
        lambda: taught_state(FAR_ROWS[:6], [i % 2 for i in range(6)], **FAR),
        far_first,
    ),
    "far, a new class": (far, lambda s: far_teach(s, 9)),
    "far, a new discriminant": (far, lambda s: far_teach(s, FAR_LABELS[0])),
    "far, correct": (far, lambda s: engine.relabel(s, 1, (s.label_at(1) + 2) % 6)),
    "far, forget a class": (
        far,
        lambda s: engine.forget(s, np.sort(s.regions.members[2].places)),
    ),
    "far, take back a refresh": (far, far_back),
}
ALL_CHANGES = CHANGES | FAR_CHANGES


@pytest.mark.parametrize("change", ALL_CHANGES)
def test_apply_can_be_interrupted_at_any_line_and_made_again(change):
    make, step = ALL_CHANGES[change]
    start = make()
    prepared = twin(start)
    delta = step(prepared)
    before = contents(prepared)
    if "take back" not in change:  # to compute a change changes nothing
        assert before == contents(start)
    numbers = lines_of(HOME, lambda: engine.apply(prepared, delta), most=15)
    after = contents(prepared)
    assert before != after
    assert engine.audit(prepared).ok
    if "take back" in change:
        assert after == contents(start)
    engine.apply(prepared, delta)
    assert contents(prepared) == after
    for number in numbers:
        state = twin(start)
        delta = step(state)
        for line in (number, max(number // 2, 1)):  # a second time, earlier
            assert was_interrupted(line, HOME, lambda: engine.apply(state, delta))  # noqa: B023
        engine.apply(state, delta)
        assert contents(state) == after, number
    assert len(numbers) > 5


STEPS = st.lists(
    st.tuples(arrays(2, lowest=-12, highest=12), st.sampled_from("abcd")), min_size=1, max_size=14
)
KINDS = st.sampled_from([*SETTINGS])


@given(STEPS, STEPS, STEPS, KINDS)
def test_several_changes_are_taken_back_at_once(first, given_up, then, kind):
    state, plain = (new_state(2, **SETTINGS[kind]) for _ in range(2))
    for each in (state, plain):
        for i, (x, label) in enumerate(first):
            teach(each, x, label, i)
    before, rollback = contents(state), engine.Rollback(state)
    for i, (x, label) in enumerate(given_up):
        delta = engine.teach(state, x, label.upper() if i % 3 else label, f"given up {i}")
        rollback.record(delta)
        engine.apply(state, delta)
    engine.apply(state, rollback.delta())
    assert contents(state) == before
    engine.apply(state, rollback.delta())
    assert contents(state) == before
    for each in (state, plain):
        for i, (x, label) in enumerate(then):
            teach(each, x, label, f"then {i}")
    assert differs(written(state), written(plain)) == []
    assert engine.audit(state).ok


def moves():
    gc.collect()
    return sum(type(each) is Move for each in gc.get_objects())


def test_the_last_move_does_not_hold_on_to_the_one_before_it():
    rng = np.random.default_rng(1)
    learner, before, moved = Learner(), moves(), 0
    for i in range(40):
        moved += bool(learner.teach(rng.normal(size=3), i % 4).certificate.moved)
    assert moved > 10
    assert learner.partition()
    assert moves() == before + 1
