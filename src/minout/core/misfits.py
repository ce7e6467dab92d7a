"""How the index of misfits changes with a step: counts of violations, and listed digests.

A misfit is on the wrong side of a separator of its region, or has the same row as such an example.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Id, Ints
from minout.core.examples import Examples
from minout.core.regions import NO_PLACES
from minout.core.state import State


class MisfitChanges(NamedTuple):
    """What changes in the index, and the ids of new and of former misfits.

    `listed` says how many places with a digest are on the wrong side of a separator.
    """

    listed: dict[bytes, int]
    appeared: tuple[Id, ...]
    cleared: tuple[Id, ...]


def listed_in(examples: Examples) -> dict[bytes, int]:
    """Return how many places with a digest have violations, by digest."""
    stored = examples.places()
    wrong = stored[examples.violations[stored] > 0]
    digests, counts = np.unique(examples.digests[wrong], return_counts=True)
    return dict(zip(digests.tolist(), counts.tolist(), strict=True))


def counts_after(state: State, old: Sequence[Ints], new: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return the places whose violation count changes, and the new counts.

    `old` and `new` are the misfits of the separators that a step concerns, before and after it.
    """
    less, more = np.concatenate([NO_PLACES, *old]), np.concatenate([NO_PLACES, *new])
    if not len(less) and not len(more):
        return NO_PLACES, NO_PLACES
    places, which = np.unique(np.concatenate([less, more]), return_inverse=True)
    change = np.zeros(len(places), dtype=np.int64)
    np.add.at(change, which, np.repeat([-1, 1], [len(less), len(more)]))
    places, change = places[change != 0], change[change != 0]
    stored = places < state.examples.end
    change[stored] += state.examples.violations[places[stored]]
    return places, change


def misfit_changes(
    state: State, examples: Examples, places: Ints, counts: Ints, *, added: int, removed: Ints
) -> MisfitChanges:
    """Return the change of the index when some places get these violation counts.

    `examples` are those after the step, `added` is the place of a new one, or -1.
    """
    before, listed = state.listed, state.listed
    turned = (examples.violations[places] > 0) != (counts > 0)
    if turned.any():
        listed = before.copy()
    digests = examples.digests[places[turned]].tolist()
    for digest, is_misfit in zip(digests, counts[turned] > 0, strict=True):
        listed[digest] = listed.get(digest, 0) + (1 if is_misfit else -1)
        if not listed[digest]:
            del listed[digest]
    if not before and not listed:
        return MisfitChanges(listed, (), ())
    same = examples.equal_to(places[turned])
    candidates = np.concatenate([same, [added] if added >= 0 else [], removed]).astype(np.int64)
    gone = set(removed.tolist())
    appeared: list[Id] = []
    cleared: list[Id] = []
    for place in np.unique(candidates).tolist():
        digest = bytes(examples.digests[place])
        was = place != added and digest in before
        is_now = place not in gone and digest in listed
        if is_now != was:
            (appeared if is_now else cleared).append(examples.ids[place])
    return MisfitChanges(listed, tuple(appeared), tuple(cleared))
