"""`apply` can be interrupted anywhere and made again; `Rollback` goes back."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import engine
from oracle.eighths import arrays
from oracle.margin import SETTINGS as PINNED
from oracle.margin import clusters, differs, stream
from oracle.states import new_state, taught_state, teach, twin, written

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


def before_a_refresh():
    return taught(REFRESHES_AFTER)


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


def far(count=24):
    """Return a state with four examples of each of six classes, most of whose pairs are far."""
    return taught_state(FAR_ROWS[:count], FAR_LABELS[:count], **FAR)


def far_teach(state, label, x=(0.3, -0.2), *, renews=True):
    delta = engine.teach(state, np.array(x), label, "new")
    assert delta.refresh is None
    assert bool(delta.discriminants) == renews
    assert any(each.is_far for each in delta.separators.values())
    return delta


def far_first(state):
    """Teach the class with which far pairs begin."""
    delta = engine.teach(state, np.array([3.0, 3.0]), 9, "new")
    assert state.separators.far is None
    assert delta.all_separators is not None
    return delta


def far_back(state, count):
    """Teach new classes and renew discriminants; return the change that leads back."""
    rollback, seen = engine.Rollback(state), [0, 0, 0]
    for i, x in enumerate(FAR_ROWS[:count]):
        label = (FAR_LABELS[i] + 1) % 6 if i % 4 else 10 + i % 3
        delta = engine.teach(state, x + 0.25, label, f"more {i}")
        seen[0] += delta.label is not None
        seen[1] += bool(delta.discriminants) and delta.label is None
        seen[2] += delta.refresh is not None
        rollback.record(delta)
        engine.apply(state, delta)
    assert min(seen[:2]) > 0
    assert (seen[2] > 0) == (count > 6)
    return rollback.delta()


FAR_CHANGES = {
    "far, a row that moves": (
        lambda: far(21),
        lambda s: far_teach(s, FAR_LABELS[21], FAR_ROWS[0], renews=False),
    ),
    "far, a new class": (far, lambda s: far_teach(s, 9)),
    "far, a new discriminant": (far, lambda s: far_teach(s, FAR_LABELS[0])),
    "far pairs begin": (
        lambda: taught_state(FAR_ROWS[:6], [i % 2 for i in range(6)], **FAR),
        far_first,
    ),
    "far, correct": (far, lambda s: engine.relabel(s, 1, (s.label_at(1) + 2) % 6)),
    "far, correct to a new class": (far, lambda s: engine.relabel(s, 1, 9)),
    "far, forget": (far, lambda s: engine.forget(s, np.array([0, 1, 2, 5]))),
    "far, forget a class": (
        far,
        lambda s: engine.forget(s, np.sort(s.regions.members[2].places)),
    ),
    "far, forget everything": (far, lambda s: engine.forget(s, np.arange(24))),
    "far, take back": (far, lambda s: far_back(s, 6)),
    "far, take back a refresh": (far, lambda s: far_back(s, 10)),
}

CHANGES = {
    "teach a row that fits": (lambda: taught(13), fast),
    "teach a row that moves": (lambda: taught(13), moving),
    "teach the first row": (lambda: new_state(2), lambda s: one_more(s, 0)),
    "teach a second class": (
        lambda: taught_state(ROWS[:1], ["a"]),
        lambda s: engine.teach(s, ROWS[1], "b", "new"),
    ),
    "teach a new class": (
        lambda: taught(13),
        lambda s: engine.teach(s, np.array([3.0, -3.0]), "new", "new"),
    ),
    "refresh": (before_a_refresh, refreshing),
    "correct": (
        lambda: taught(13),
        lambda s: engine.relabel(s, 1, "b" if s.label_at(1) != "b" else "c")._replace(
            corrected={"e1": (s.label_at(1),)}
        ),
    ),
    "correct to a new class": (lambda: taught(13), lambda s: engine.relabel(s, 1, "new")),
    "correct the last of a class": (lambda: with_a_single(12), relabelled_to_empty),
    "forget": (lambda: taught(13), lambda s: engine.forget(s, np.array([0, 1, 2, 5]))),
    "forget a class": (
        lambda: taught(13),
        lambda s: engine.forget(s, np.sort(s.regions.members[1].places)),
    ),
    "forget everything": (lambda: taught(6), lambda s: engine.forget(s, np.arange(6))),
    "take back": (lambda: taught(7), taking_back),
    **FAR_CHANGES,
}


def interrupt_at_line(number):
    """Raise KeyboardInterrupt when so many lines have run inside of `apply`."""
    ran, depth = 0, 0

    def inside(frame, event, _):
        nonlocal ran, depth
        if event == "line":
            ran += 1
            if ran == number:
                raise KeyboardInterrupt
        if event == "return" and frame.f_code is engine.apply.__code__:
            depth -= 1
        return inside

    def trace(frame, event, _):
        nonlocal depth
        if event == "call" and frame.f_code is engine.apply.__code__:
            depth += 1
        return inside if depth else None

    return trace


def interrupted(number, state, delta):
    """Apply a change; return whether it was interrupted at that line."""
    tracing = sys.gettrace()
    sys.settrace(interrupt_at_line(number))
    try:
        engine.apply(state, delta)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(tracing)
    return False


@pytest.mark.parametrize("change", CHANGES)
def test_apply_can_be_interrupted_at_any_line_and_made_again(change):
    make, step = CHANGES[change]
    start = make()
    prepared = twin(start)
    delta = step(prepared)
    before = contents(prepared)
    engine.apply(prepared, delta)
    after = contents(prepared)
    assert before != after
    number, step_size = 0, 1
    if change in FAR_CHANGES:  # these are long
        step_size = 47 if "take back" in change else 11
    while True:
        number += step_size
        state = twin(start)
        delta = step(state)
        if not interrupted(number, state, delta):
            break
        interrupted(max(number // 2, 1), state, delta)  # a second time, earlier
        engine.apply(state, delta)
        assert contents(state) == after, number
    assert number > 15


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_is_applied_twice_is_applied_once(change):
    make, step = CHANGES[change]
    state = make()
    delta = step(state)
    engine.apply(state, delta)
    once = contents(state)
    engine.apply(state, delta)
    assert contents(state) == once


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("error", [MemoryError, ValueError])
def test_what_fails_for_want_of_room_changes_nothing(change, error, monkeypatch):
    def fail(*_):
        raise error

    make, step = CHANGES[change]
    state = make()
    delta = step(state)
    before = contents(state)
    with monkeypatch.context() as patch:
        patch.setattr("minout.engine.separators.Separators.make_room", fail)
        with pytest.raises(error):
            engine.apply(state, delta)
    assert contents(state) == before
    engine.apply(state, delta)
    assert engine.audit(state).ok


@pytest.mark.parametrize("change", [each for each in CHANGES if "take back" not in each])
def test_computing_a_change_changes_nothing(change):
    make, step = CHANGES[change]
    state = make()
    before = contents(state)
    first, second = step(state), step(state)
    assert contents(state) == before
    assert first.certificate == second.certificate


STEPS = st.lists(
    st.tuples(arrays(2, lowest=-12, highest=12), st.sampled_from("abcd")), min_size=1, max_size=14
)
KINDS = st.sampled_from([*SETTINGS])


@settings(max_examples=50)
@given(STEPS, KINDS, st.sampled_from(["float64", "float32"]))
def test_a_change_that_is_taken_back_leaves_no_bit_behind(steps, kind, dtype):
    state = new_state(2, dtype=dtype, **SETTINGS[kind])
    plain = new_state(2, dtype=dtype, **SETTINGS[kind])
    for i, (x, label) in enumerate(steps):
        before = contents(state)
        other = "abcd"["dcba".index(label)]
        delta = engine.teach(state, (2.0 - x).astype(dtype), other, "another")
        rollback = engine.Rollback(state)
        rollback.record(delta)
        engine.apply(state, delta)
        engine.apply(state, rollback.delta())
        assert contents(state) == before
        assert state.ids == plain.ids
        for each in (state, plain):
            teach(each, x, label, i)
    assert differs(written(state), written(plain)) == []
    assert engine.audit(state).ok


@settings(max_examples=50)
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
