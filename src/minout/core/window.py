"""The window: which stored examples are forgotten ("fall out") when another one is taught.

Examples are ordered by time, and by the order of teaching where times are equal. The oldest fall
out first. A *place* is the number of a stored row.
"""

import re
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minout._typing import Ints, Label
from minout.core.examples import About, Examples
from minout.core.regions import NO_PLACES

if TYPE_CHECKING:
    from minout.core.state import State

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
MOST = 2**31


class Window(NamedTuple):
    """The limit of a window: on the examples in all, on those of each label, or on their age.

    One of the three is a number, the others are None.
    """

    examples: int | None = None
    per_label: int | None = None
    seconds: float | None = None


def window(keep: Any) -> Window | None:
    """Return the window that the setting `keep` means, None for "all"; else raise ValueError."""
    if isinstance(keep, str):
        if keep == "all":
            return None
        found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?) ?([smhdw])", keep, re.ASCII)
        if found and float(found[1]) > 0.0:
            return Window(seconds=float(found[1]) * SECONDS[found[2]])
    elif is_number(keep):
        return Window(examples=int(keep))
    elif isinstance(keep, dict) and list(keep) == ["per_label"] and is_number(keep["per_label"]):
        return Window(per_label=int(keep["per_label"]))
    raise ValueError(keep)


def is_number(value: object) -> bool:
    """Return whether a value is a whole number from 1 that a setting may be."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST


class Ages:
    """Heaps of the stored examples by age, one for all or one for each label, and the latest one.

    A cache. Entries of examples that are no longer stored, or have another label, stay in a heap
    until they come first.
    """

    def __init__(self, state: "State") -> None:
        self._by_label = state.settings.window is not None and (
            state.settings.window.per_label is not None
        )
        self._heaps: dict[Label | None, list[tuple[float, int, int]]] = {}
        groups: dict[Label | None, Ints] = {None: state.examples.places()}
        if self._by_label:
            groups = {label: state.regions.places_of(label) for label in state.regions.names}
        for key, places in groups.items():
            self._heaps[key] = _entries(state.examples, sorted_by_age(state.examples, places))
        ends = [heap[-1] for heap in self._heaps.values() if heap]
        self._latest = max(ends, default=None)

    def add(self, label: Label, place: int, about: About) -> None:
        """Add an example, in place."""
        entry = about.time, about.serial, place
        heappush(self._heaps.setdefault(self._key(label), []), entry)
        if self._latest is None or entry > self._latest:
            self._latest = entry

    def oldest(self, state: "State", label: Label) -> tuple[float, int, int] | None:
        """Return time, serial number and place of the oldest example, of the label or of all."""
        heap = self._heaps.get(self._key(label), [])
        while heap:
            is_stored = _is_stored(state.examples, heap[0])
            if is_stored and (not self._by_label or state.label_at(heap[0][2]) == label):
                return heap[0]
            heappop(heap)
        return None

    def latest(self, state: "State") -> float | None:
        """Return the latest time of a stored example; None if there is none.

        Constant time, unless the latest example has been forgotten.
        """
        examples = state.examples
        if self._latest is not None and not _is_stored(examples, self._latest):
            places = examples.places()
            last = _entries(examples, sorted_by_age(examples, places)[-1:])
            self._latest = last[0] if last else None
        return None if self._latest is None else self._latest[0]

    def _key(self, label: Label) -> Label | None:
        return label if self._by_label else None


def _is_stored(examples: Examples, entry: tuple[float, int, int]) -> bool:
    _, serial, place = entry
    return bool(examples.stored[place] and examples.serials[place] == serial)


def _entries(examples: Examples, places: Ints) -> list[tuple[float, int, int]]:
    times, serials = examples.times[places].tolist(), examples.serials[places].tolist()
    return list(zip(times, serials, places.tolist(), strict=True))


def falling_out(
    state: "State", label: Label, about: About, by_age: Callable[[], Ages]
) -> tuple[Ints, bool]:
    """Return the places that fall out when an example of a label is added, ascending.

    The second result is whether the new example itself falls out, because it is too old. `by_age`
    returns the ages of the stored examples.
    """
    limits = state.settings.window
    if limits is None:
        return NO_PLACES, False
    if limits.seconds is not None:
        return _too_old(state, label, about, limits.seconds, by_age())
    most, size = limits.examples, state.count
    if limits.per_label is not None:
        most, size = limits.per_label, state.regions.size(label)
    assert most is not None
    excess = size + 1 - most
    if excess <= 0:
        return NO_PLACES, False
    if excess == 1:
        first = by_age().oldest(state, label)
        assert first is not None
        is_out = (about.time, about.serial) < first[:2]
        return (NO_PLACES, True) if is_out else (np.array([first[2]]), False)
    places = state.examples.places() if limits.per_label is None else state.regions.places_of(label)
    oldest = sorted_by_age(state.examples, places)[:excess]
    newest = state.examples.about(int(oldest[-1]))
    is_out = (about.time, about.serial) < (newest.time, newest.serial)
    return np.sort(oldest[:-1] if is_out else oldest), is_out


def _too_old(
    state: "State", label: Label, about: About, seconds: float, ages: Ages
) -> tuple[Ints, bool]:
    latest = ages.latest(state)
    since = (about.time if latest is None else max(latest, about.time)) - seconds
    first, out = ages.oldest(state, label), NO_PLACES
    if first is not None and first[0] < since:
        places = state.examples.places()
        out = places[state.examples.times[places] < since]
    return out, about.time < since


def outside(state: "State", limits: Window | None) -> Ints:
    """Return the stored places that are outside a window, ascending."""
    if limits is None:
        return NO_PLACES
    examples, places = state.examples, state.examples.places()
    if limits.seconds is not None:
        times = examples.times[places]
        return np.asarray(places[times < times.max(initial=-np.inf) - limits.seconds])
    groups: Iterable[Ints] = [places]
    most = limits.examples
    if limits.per_label is not None:
        groups, most = map(state.regions.places_of, state.regions.names), limits.per_label
    assert most is not None
    found = [sorted_by_age(examples, each)[: max(len(each) - most, 0)] for each in groups]
    return np.sort(np.concatenate([NO_PLACES, *found]))


def sorted_by_age(examples: Examples, places: Ints) -> Ints:
    """Return some places in the order of age, the oldest first."""
    return np.asarray(places[np.lexsort((examples.serials[places], examples.times[places]))])
