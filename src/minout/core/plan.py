"""What a step will do, decided before anything is computed: `teach` does it, `what_if` reports it.

A separator moves in a step if the row that comes is short in it (its margin is below 0.5) and does
not wait, if it is one of a new region, if the score of its region is renewed, if support vectors
leave it, or if a refresh is due, which moves all of them.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints, Label
from minout.core.examples import About
from minout.core.regions import NO_PLACES, overlap, pair_number, regions_of
from minout.core.separators import SUFFICIENT_MARGIN, Separator
from minout.core.state import State
from minout.core.window import Ages, falling_out

NO_MARGINS: Floats = np.empty(0)


class Row(NamedTuple):
    """The row that a step puts into a region of a label, as separators see it.

    `place` is that of a stored example that changes its region, None for a new one.
    """

    x: Floats
    label: Label
    place: int | None = None


class Plan(NamedTuple):
    """What a step will do; regions and pairs have the numbers of the state before it.

    `region` is that of the row; None if it gets a new one, or if there is no row. `margins` are its
    margins there, `least` the least of them, against the regions that stay. The examples at the
    places `out` leave the model; `is_out` is whether the row does not stay, either. `emptied` are
    the regions that are dropped. With `refresh` everything is computed again. With `renews` the
    score of the region is, so that all its separators move. `settled` are the pairs that move
    otherwise; the row joins the pools of those in `short`, and in those of `waits` it waits. `left`
    has the separators that examples leave, without them.
    """

    region: int | None = None
    margins: Floats = NO_MARGINS
    least: float = np.inf
    out: Ints = NO_PLACES
    is_out: bool = False
    emptied: tuple[int, ...] = ()
    refresh: bool = False
    renews: bool = False
    settled: frozenset[int] = frozenset()
    short: frozenset[int] = frozenset()
    waits: tuple[int, ...] = ()
    left: Mapping[int, Separator] = MappingProxyType({})

    @property
    def moves_nothing(self) -> bool:
        """Whether an example of a known label comes, and no separator changes."""
        changes = self.refresh or self.renews or self.settled or self.waits or self.left
        return not (changes or self.region is None or self.emptied or self.is_out)


def plan_to_teach(state: State, row: Row, about: About, by_age: Callable[[], Ages]) -> Plan:
    """Return what teaching a new row does; `by_age` returns the ages of the stored examples."""
    out, is_out = falling_out(state, row.label, about, by_age)
    if is_out:
        return Plan(*state.placed(row.x, row.label), is_out=True)
    return plan(state, row, out)


def plan(
    state: State,
    row: Row | None,
    out: Ints = NO_PLACES,
    *,
    may_wait: bool = True,
    may_refresh: bool = True,
) -> Plan:
    """Return what a step does that adds or moves a row, or none, and removes examples.

    `may_wait` is whether separators with large pools may wait before they are solved again;
    `may_refresh` is False if a refresh that was due has failed.
    """
    if row is None:
        emptied, left, lost = _leaving(state, out, None, may_wait=False)
        return Plan(out=out, emptied=emptied, settled=lost, left=left)
    leaving = out if row.place is None else np.sort(np.append(out, row.place))
    region, margins, least = state.placed(row.x, row.label)
    if row.place is not None and state.label_at(row.place) == row.label:
        region = int(state.examples.regions[row.place])
        margins = state.margins(row.x, region)
        least = float(margins.min(initial=np.inf))
    found = Plan(region, margins, least, out)
    if len(leaving):
        emptied, left, lost = _leaving(state, leaving, region, may_wait=may_wait)
        if emptied and region is not None:
            least = float(np.delete(margins, emptied).min(initial=np.inf))
        found = found._replace(emptied=emptied, left=left, settled=lost, least=least)
    others = len(state.regions.labels) - len(state.regions.of(row.label))
    if found.emptied:
        others -= sum(state.regions.labels[c] != row.label for c in found.emptied)
    if not others:
        return found  # with a single label there is no separator
    if may_refresh and _refresh_due(state, row, region, leaving, len(found.emptied)):
        return found._replace(refresh=True)
    if region is None:
        return found
    if state.frame.choice.lda_prior and _renewal_due(state, region, leaving):
        found = found._replace(renews=True)
    elif found.least >= SUFFICIENT_MARGIN:
        return found
    return _with_short(state, found, leaving, may_wait=may_wait)


def _with_short(state: State, found: Plan, leaving: Ints, *, may_wait: bool) -> Plan:
    # With the pairs in which the row is short, and whether it waits in them.
    region, margins, short, waits = found.region, found.margins, set(), []
    assert region is not None
    for o in np.flatnonzero(margins < SUFFICIENT_MARGIN).tolist():
        if o in found.emptied:
            continue
        pair = pair_number(region, o)
        short.add(pair)
        if not may_wait or found.renews or pair in found.settled:
            continue
        one = found.left.get(pair) or state.separators.records.get(pair)
        if one is not None and one.waits(margins[o], _rows(state, pair, leaving) + 1):
            short.remove(pair)
            waits.append(pair)
    settled = found.settled | short
    return found._replace(settled=settled, short=frozenset(short), waits=tuple(waits))


def _leaving(
    state: State, leaving: Ints, region: int | None, *, may_wait: bool
) -> tuple[tuple[int, ...], dict[int, Separator], frozenset[int]]:
    # The regions that are emptied when examples leave and one comes into a region; the separators
    # that they leave, without them; and which of those are to be solved again.
    counts = Counter(state.examples.regions[leaving].tolist())
    members, owner = state.regions.members, state.regions.order.owner
    emptied = tuple(c for c in sorted(counts) if c != region and members[c].count == counts[c])
    violates = bool(state.examples.violations[leaving].any())
    separators, left, lost = state.separators, {}, set()
    for c in sorted(counts.keys() - {*emptied}):
        others = np.flatnonzero(owner != owner[c]).tolist()
        if not (overlap(separators.in_use(c, others), leaving) or violates):
            continue
        others = [o for o in others if o not in emptied]
        for pair in separators.holding((pair_number(c, o) for o in others), leaving):
            old = separators.records[pair]
            left[pair] = new = old.without(leaving)
            rows = _rows(state, pair, leaving) + (region in regions_of(pair))
            if new.left > old.left and not (may_wait and new.may_wait(0, rows)):
                lost.add(pair)
    return emptied, left, frozenset(lost)


def _rows(state: State, pair: int, leaving: Ints) -> int:
    # The number of examples of two regions after some have left.
    members, (low, high) = state.regions.members, regions_of(pair)
    count = members[low].count + members[high].count
    if not len(leaving):
        return count
    return count - int(np.count_nonzero(np.isin(state.examples.regions[leaving], [low, high])))


def _renewal_due(state: State, region: int, leaving: Ints) -> bool:
    # Whether one more example in a region brings a new score of it.
    count = state.regions.members[region].count + 1
    if len(leaving):
        count -= int(np.count_nonzero(state.examples.regions[leaving] == region))
    return state.frame.schedule.priors_due(state.settings, region, count)


def _refresh_due(state: State, row: Row, region: int | None, leaving: Ints, emptied: int) -> bool:
    settings, regions, due = state.settings, state.regions, state.frame.schedule.refresh_due
    if region is None and settings.turns_far(len(regions) + 1 - emptied):
        return True
    count, is_new = state.count + 1 - len(leaving), row.place is None
    turnover = 2 * (state.taught + is_new) - count
    least = max(regions.largest, regions.size(row.label) + 1) - len(leaving)
    may_be_due = due(settings, turnover, count - least)
    if not may_be_due or not len(leaving):
        return may_be_due
    sizes = Counter({label: regions.size(label) for label in regions.names})
    sizes[row.label] += 1
    sizes.subtract(state.label_at(place) for place in leaving.tolist())
    return due(settings, turnover, count - max(sizes.values()))
