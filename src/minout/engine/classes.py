"""The labels and the stored examples of each class number."""

from collections.abc import Iterable

import numpy as np

from minout._typing import Ints, Label


class Members:
    """The places of one class, in the order in which they were added.

    Like `Examples`, it has spare capacity: `appended` writes after the last place and returns a
    new object that counts one more.
    """

    __slots__ = ("_places", "count")

    def __init__(self, places: Ints | None = None) -> None:
        self._places: Ints = np.empty(8, dtype=np.int64) if places is None else places
        self.count = 0 if places is None else len(places)

    @property
    def places(self) -> Ints:
        """The places, as a view."""
        return self._places[: self.count]

    def appended(self, place: int) -> "Members":
        """Return members with one more place."""
        more = Members.__new__(Members)
        more._places, more.count = self._places, self.count + 1
        if self.count == len(self._places):
            room = np.empty(max(self.count, 8), dtype=np.int64)
            more._places = np.concatenate([self._places, room])
        more._places[self.count] = place
        return more

    def without(self, places: Ints) -> "Members":
        """Return the members except those at some places."""
        return Members(self.places[~np.isin(self.places, places)])


class Classes:
    """The labels in the order of their numbers, and the members of each."""

    __slots__ = ("_rank", "labels", "members", "number")

    def __init__(self, labels: Iterable[Label] = (), members: Iterable[Members] = ()) -> None:
        self.labels: list[Label] = list(labels)
        self.members: list[Members] = list(members)
        self.number: dict[Label, int] = {label: c for c, label in enumerate(self.labels)}
        self._rank: Ints | None = None

    @property
    def rank(self) -> Ints:
        """The place of each class in the order of the labels: (classes,)."""
        rank = self._rank
        if rank is None:
            order = sorted(range(len(self)), key=self.labels.__getitem__)
            rank = np.empty(len(self), dtype=np.int64)
            rank[order] = np.arange(len(self))
            self._rank = rank  # complete: other threads may read it
        return rank

    def __len__(self) -> int:
        return len(self.labels)

    def set_members(self, c: int, members: Members) -> None:
        """Replace the members of class c, in place."""
        self.members[c : c + 1] = [members]

    def set_label(self, c: int, label: Label) -> None:
        """Give class c, the last one or a new one, its label, in place."""
        self.labels[c:] = [label]
        self.number[label] = c
        self._rank = None

    def keep_first(self, count: int) -> None:
        """Drop all classes after the first few, in place."""
        for label in self.labels[count:]:
            self.number.pop(label, None)
        del self.labels[count:], self.members[count:]
        self._rank = None

    def without(self, dropped: Iterable[int]) -> "Classes":
        """Return the classes without some of them, numbered again from 0."""
        gone = set(dropped)
        kept = [c for c in range(len(self)) if c not in gone]
        return Classes([self.labels[c] for c in kept], [self.members[c] for c in kept])
