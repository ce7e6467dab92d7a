"""Repeat what changed since an earlier state on top of one that was computed from it meanwhile."""

from dataclasses import replace

import numpy as np

from minout._typing import Ints, Label
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
    old, new = old[left], new[right]
    names = {label: n for n, label in enumerate({*before.labels, *latest.labels})}
    labels, earlier = (_labels(each, at, names) for each, at in ((latest, new), (before, old)))
    changed = new[(labels != earlier) | (now.weights[new] != was.weights[old])]
    settings, schema = state.settings, latest.schema
    state = state.replaced(settings=replace(settings, keep="all"))  # `latest` is in the window
    if len(gone):
        state = forget(state, _places(state, before, gone)).state
    for n in changed.tolist():
        place = _places(state, latest, [n])[0]
        state = relabel(state, place, latest.label_at(n), float(now.weights[n])).state
    for n in late.tolist():
        weight, time, _ = now.about(n)
        state = state.replaced(examples=state.examples.numbered_from(int(now.keys[n])))
        step = teach(state, now.given[n], latest.label_at(n), now.ids[n], weight=weight, time=time)
        state = step.state
    return state.replaced(
        settings=settings,
        examples=state.examples.numbered_from(now.next_key),
        corrected=latest.corrected,
        next_id=latest.next_id,
        schema=schema,
    )


def _labels(state: State, places: Ints, numbers: dict[Label, int]) -> Ints:
    # The numbers of the labels at some places.
    by_region = np.array([numbers[label] for label in state.regions.labels], dtype=np.int64)
    return by_region[state.examples.regions[places]]


def _places(state: State, other: State, places: Ints | list[int]) -> Ints:
    # Where a state has the examples that are at some places of another one, ascending.
    found = [state.place_of(other.examples.ids[place]) for place in places]
    return np.sort(np.array(found, dtype=np.int64))
