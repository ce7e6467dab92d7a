"""Regions: a label has one region or more, and each stored example belongs to one.

A separator stands between two regions of different labels. That of regions low < high has the
number high(high - 1)/2 + low and is positive on the side of low. The kernels number them alike.
Numbers of two regions of one label are not used.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from minout._typing import Bools, Ints, Label
from minout.kernels import Order

NO_PLACES: Ints = np.empty(0, dtype=np.int64)
LEAST_ROWS = 5  # a label with n different examples has at most n // 5 regions, and at least one
LONGEST_LABEL = 10_000
"""The most characters of a label: an array of labels takes as many for each of them."""


FEW = 10_000  # up to this many pairs of places are compared one by one


def among(places: Ints, others: Ints) -> Bools:
    """Return for each place whether it is one of some others."""
    if len(others) == 1:
        return np.asarray(places == others[0])
    if len(places) * len(others) < FEW:  # np.isin takes 25 µs for a few
        return np.asarray((places[:, None] == others).any(axis=1))
    return np.isin(places, others)


def overlap(places: Ints, others: Ints) -> bool:
    """Return whether some place is one of some others."""
    return len(places) > 0 and bool(np.count_nonzero(among(places, others)))


def without(places: Ints, others: Ints) -> Ints:
    """Return the places except some others: the same array if it has none of them."""
    return places[~among(places, others)] if overlap(places, others) else places


def pair_number(a: int, b: int) -> int:
    """Return the number of the separator of regions a and b."""
    high, low = max(a, b), min(a, b)
    return high * (high - 1) // 2 + low


def pair_numbers(a: Ints | int, b: Ints | int) -> Ints:
    """Return the numbers of the separators of regions a and b, element by element."""
    high, low = np.maximum(a, b), np.minimum(a, b)
    return np.asarray(high * (high - 1) // 2 + low)


def regions_of(pair: int) -> tuple[int, int]:
    """Return the regions (low, high) of a separator."""
    high = (1 + math.isqrt(8 * pair + 1)) // 2
    return pair - high * (high - 1) // 2, high


def regions_of_all(pairs: Ints) -> tuple[Ints, Ints]:
    """Return the regions low and high of some separators."""
    high = ((1.0 + np.sqrt(8.0 * pairs + 1.0)) / 2.0).astype(np.int64)
    high -= high * (high - 1) // 2 > pairs  # rounding
    high += high * (high + 1) // 2 <= pairs
    return pairs - high * (high - 1) // 2, high


def pair_count(regions: int) -> int:
    """Return how many numbers of separators there are with a number of regions."""
    return regions * (regions - 1) // 2


def pairs_between(owner: Ints) -> list[int]:
    """Return the numbers of all pairs of regions of different labels, ascending."""
    parts = [
        pair_count(high) + np.flatnonzero(owner[:high] != owner[high])
        for high in range(1, len(owner))
    ]
    between: list[int] = np.concatenate([NO_PLACES, *parts]).tolist()
    return between


def region_count(rows: int, most: int) -> int:
    """Return into how many regions at most a label with this many different rows is divided."""
    return min(most, max(rows // LEAST_ROWS, 1))


class Members:
    """The places of one region, in the order in which they were added; never changed.

    Like `Examples`, it has spare capacity: `appended` writes behind the last place that anybody
    sees. Without its first place it shares the array, too.
    """

    __slots__ = ("_places", "_start", "_tail", "count")

    def __init__(self, places: Ints = NO_PLACES) -> None:
        self._places, self._start, self.count = places, 0, len(places)
        self._tail = [len(places)]  # how far the shared array is in use

    @property
    def places(self) -> Ints:
        """The places, as a view."""
        return self._places[self._start : self._start + self.count]

    def appended(self, place: int) -> "Members":
        """Return members with one more place."""
        more, end = self._sharing(self._start, self.count + 1), self._start + self.count
        if end == len(self._places) or self._tail[0] != end:
            room = np.empty(max(self.count, 8), dtype=np.int64)
            more._places, more._start = np.concatenate([self.places, room]), 0
            more._tail, end = [self.count], self.count
        more._tail[0] = end + 1
        more._places[end] = place
        return more

    def without(self, places: Ints) -> "Members":
        """Return the members except those at some places."""
        if len(places) == 1 and self.count and self._places[self._start] == places[0]:
            return self._sharing(self._start + 1, self.count - 1)  # the oldest, in a window
        return Members(self.places[~among(self.places, places)])

    def _sharing(self, start: int, count: int) -> "Members":
        twin = Members.__new__(Members)
        twin._places, twin._start, twin.count = self._places, start, count
        twin._tail = self._tail
        return twin


class Regions:
    """The label of each region, by number, and its members; a label has one region or more.

    It is never changed.
    """

    __slots__ = ("_largest", "_of_label", "_order", "labels", "members")

    def __init__(self, labels: Iterable[Label] = (), members: Iterable[Members] = ()) -> None:
        self.labels: list[Label] = list(labels)
        self.members: list[Members] = list(members)
        self._of_label = _by_label(self.labels)
        self._order: Order | None = None
        self._largest: int | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> list[Label]:
        """The labels, each once, in the order in which their first regions are numbered."""
        return list(self._of_label)

    def of(self, label: Label) -> tuple[int, ...]:
        """Return the regions of a label, ascending; none if it is not stored."""
        return self._of_label.get(label, ())

    def index(self, c: int) -> int:
        """Return the number of a region among those of its label, from 0."""
        return self.of(self.labels[c]).index(c)

    def size(self, label: Label) -> int:
        """Return the number of a label's examples."""
        regions = self.of(label)
        if len(regions) == 1:
            return self.members[regions[0]].count
        return sum(self.members[c].count for c in regions)

    @property
    def largest(self) -> int:
        """The number of examples of the most frequent label."""
        largest = self._largest
        if largest is None:
            self._largest = largest = max(map(self.size, self._of_label), default=0)
        return largest

    def places_of(self, label: Label) -> Ints:
        """Return the places of a label's examples, ascending."""
        parts = [self.members[c].places for c in self.of(label)]
        return np.sort(np.concatenate([NO_PLACES, *parts]))

    @property
    def order(self) -> Order:
        """Regions in the order of their labels: the rank of each, and the number of its label."""
        order = self._order
        if order is None:
            order = order_of(self.labels)
            self._order = order  # complete: other threads may read it
        return order

    def with_members(self, changed: Mapping[int, Members], label: Label | None = None) -> "Regions":
        """Return the regions with other members for some of them, and a new one with a label."""
        twin, largest = Regions.__new__(Regions), self._largest
        twin.labels, twin._of_label, twin._order = self.labels, self._of_label, self._order
        twin.members, twin._largest = self.members.copy(), None
        if label is not None:
            twin.labels, twin._order, largest = [*self.labels, label], None, None
            twin._of_label = _by_label(twin.labels)
            twin.members.append(Members())
        for c, members in changed.items():
            twin.members[c] = members
        if largest is not None:
            for c in changed:
                old, new = self.size(twin.labels[c]), twin.size(twin.labels[c])
                if new < old == largest:  # another label may be the most frequent one now
                    return twin
                largest = max(largest, new)
            twin._largest = largest
        return twin

    def without(self, dropped: Iterable[int]) -> "Regions":
        """Return the regions without some of them, numbered again from 0."""
        gone = set(dropped)
        kept = [c for c in range(len(self)) if c not in gone]
        return Regions([self.labels[c] for c in kept], [self.members[c] for c in kept])


def order_of(labels: Sequence[Label]) -> Order:
    """Return rank and owner of regions with these labels: see `Regions.order`."""
    number = {label: n for n, label in enumerate(sorted(set(labels)))}
    owner = np.array([number[label] for label in labels], dtype=np.int64)
    rank = np.empty(len(labels), dtype=np.int64)
    rank[np.argsort(owner, kind="stable")] = np.arange(len(labels))
    return Order(rank, owner)


def _by_label(labels: Sequence[Label]) -> dict[Label, tuple[int, ...]]:
    found: dict[Label, list[int]] = {}
    for c, label in enumerate(labels):
        found.setdefault(label, []).append(c)
    return {label: tuple(each) for label, each in found.items()}
