"""Which stored examples a class has, in the order in which they came to it."""

import numpy as np

from minout._typing import Ints


class Members:
    """Keeps places in an array that grows; `places` is a view of those that count."""

    __slots__ = ("_places", "count")

    def __init__(self, places: Ints | None = None) -> None:
        self._places: Ints = np.empty(8, dtype=np.int64) if places is None else places
        self.count = 0 if places is None else len(places)

    @property
    def places(self) -> Ints:
        """Is where the members are."""
        return self._places[: self.count]

    def append(self, place: int) -> None:
        """Takes in one more."""
        if self.count == len(self._places):
            self._places = np.concatenate([self._places, np.empty_like(self._places)])
        self._places[self.count] = place
        self.count += 1

    def without(self, places: Ints) -> "Members":
        """Gives the members that are not among some places."""
        return Members(self.places[~np.isin(self.places, places)])
