"""How the index of misfits changes with a step: counts of violations, and listed digests.

A misfit is on the wrong side of a separator of its region, or has the same row as such an example.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Id, Ints
from minout.engine.examples import Examples
from minout.engine.separators import NO_PLACES
from minout.engine.state import State


class MisfitChanges(NamedTuple):
    """What changes in the index, and the ids of new and of former misfits.

    `violations` says in how many separators a place is on the wrong side, `listed` how many places
    with a digest are.
    """

    violations: dict[int, int]
    listed: dict[int, int]
    appeared: tuple[Id, ...]
    cleared: tuple[Id, ...]


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
    change[stored] += state.separators.violations[places[stored]]
    return places, change


def misfit_changes(
    state: State,
    examples: Examples,
    places: Ints,
    counts: Ints,
    *,
    added: tuple[int, Id] | None,
    removed: Ints,
) -> MisfitChanges:
    """Return the change of the index when some places get these violation counts.

    `examples` are those after the step, `added` the place and id of a new one.
    """
    before, end = state.separators, state.examples.end
    were = np.zeros(len(places), dtype=np.int64)
    were[places < end] = before.violations[places[places < end]]
    turned = (were > 0) != (counts > 0)
    digests, listed = examples.digests[places[turned]].tolist(), dict[int, int]()
    for digest, is_misfit in zip(digests, counts[turned] > 0, strict=True):
        known = listed.get(digest, before.listed.get(digest, 0))
        listed[digest] = known + (1 if is_misfit else -1)
    violations = dict(zip(places.tolist(), counts.tolist(), strict=True))
    if not before.listed and not listed:
        return MisfitChanges(violations, listed, (), ())
    new, new_id = added or (-1, "")
    same = examples.equal_to(places[turned])
    candidates = np.concatenate([same, [new] if added else [], removed]).astype(np.int64)
    gone = set(removed.tolist())
    appeared: list[Id] = []
    cleared: list[Id] = []
    for place in np.unique(candidates).tolist():
        digest = int(examples.digests[place])
        was = place != new and before.listed.get(digest, 0) > 0
        is_now = place not in gone and listed.get(digest, before.listed.get(digest, 0)) > 0
        if is_now != was:
            name = new_id if place == new else state.ids[place]
            (appeared if is_now else cleared).append(name)
    return MisfitChanges(violations, listed, tuple(appeared), tuple(cleared))
