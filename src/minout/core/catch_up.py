"""Repeat what changed since an earlier state on top of one that was computed from it meanwhile."""

from dataclasses import replace

import numpy as np

from minout._typing import Ints
from minout.core.state import State
from minout.core.step import forget, relabel, teach


def can_catch_up(before: State, latest: State) -> bool:
    """Return whether two states have the same settings and columns."""
    return (before.settings, before.widths) == (latest.settings, latest.widths)


def caught_up(state: State, before: State, latest: State) -> State:
    """Return a state with the examples of `latest`; it has those of `before`.

    What was forgotten since is forgotten, what was corrected gets its label and weight, and what
    was taught is taught, in this order.
    """
    was, now = before.examples, latest.examples
    old, new = was.places(), now.places()
    _, left, right = np.intersect1d(was.keys[old], now.keys[new], True, return_indices=True)
    gone, late = np.delete(old, left), np.delete(new, right)
    settings, schema = state.settings, latest.schema
    state = state.replaced(settings=replace(settings, keep="all"))  # `latest` is in the window
    if len(gone):
        state = forget(state, _places(state, before, gone)).state
    for a, b in zip(old[left].tolist(), new[right].tolist(), strict=True):
        label, weight = latest.label_at(b), float(now.weights[b])
        if (label, weight) != (before.label_at(a), was.weights[a]):
            state = relabel(state, _places(state, latest, [b])[0], label, weight).state
    for b in late.tolist():
        weight, time, _ = now.about(b)
        state = state.replaced(examples=state.examples.numbered_from(int(now.keys[b])))
        step = teach(state, now.given[b], latest.label_at(b), now.ids[b], weight=weight, time=time)
        state = step.state
    return state.replaced(
        settings=settings,
        examples=state.examples.numbered_from(now.next_key),
        corrected=latest.corrected,
        next_id=latest.next_id,
        schema=schema,
    )


def _places(state: State, other: State, places: Ints | list[int]) -> Ints:
    # Where a state has the examples that are at some places of another one, ascending.
    found = [state.place_of(other.examples.ids[place]) for place in places]
    return np.sort(np.array(found, dtype=np.int64))
