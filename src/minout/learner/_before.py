"""What the margin learner was before a step, so that the step can be taken back."""

import copy
from typing import TYPE_CHECKING

import numpy as np

from minout._typing import Floats, Ints
from minout.learner._reference import Reference
from minout.maths import Geometry

if TYPE_CHECKING:
    from minout.learner._margin import Margin


NOBODY: Ints = np.empty(0, dtype=np.int64)


class Before:
    """Remembers a learner cheaply: what steps replace is kept by reference, the rest is copied."""

    def __init__(self, learner: "Margin") -> None:
        self._end = learner.memory.end
        self._kept = {name: getattr(learner, name) for name in _REPLACED}
        self._copied = {name: copy.copy(getattr(learner, name)) for name in _GROWN}
        self._counts = [members.count for members in learner.members]
        self._labels: Ints | None = None
        self.leaving = NOBODY
        self.weights: dict[int, tuple[Floats, float]] = {}
        self._written: list[tuple[Floats, Floats, int, Floats, float]] = []

    def keep_labels(self, learner: "Margin") -> None:
        """Copies the labels of all places, before one of them changes."""
        self._labels = learner.memory.labels_by_id()

    def keep_weights(self, learner: "Margin", pairs: list[int]) -> None:
        """Copies the weights of some separators, before they are written over."""
        for pair in pairs:
            w, b = learner.W[pair].copy(), float(learner.b[pair])
            self._written.append((learner.W, learner.b, pair, w, b))
            self.weights.setdefault(pair, (w, b))

    @property
    def classes(self) -> int:
        """Counts the classes that there were."""
        return len(self._counts)

    @property
    def origin(self) -> Floats:
        """Is where rows were measured from."""
        geometry: Geometry = self._kept["geometry"]
        return geometry.origin

    def changed(self, learner: "Margin") -> tuple[Ints, Ints]:
        """Lists the places that have become exceptions since, and those that have ceased to be."""
        short: Ints = self._copied["short"]
        if not short.any() and not learner.short.any():
            return NOBODY, NOBODY
        was, now = np.zeros((2, len(learner.short)), dtype=bool)
        was[: len(short)], now[:] = short > 0, learner.short > 0
        new = np.arange(self._end, learner.memory.end)
        turned = learner.memory.equal_to(np.flatnonzero(was != now))
        turned = np.unique(np.concatenate([turned, new, self.leaving]))
        digests = learner.memory.digests(turned)
        listed_before = np.isin(digests, learner.memory.digests(np.flatnonzero(was)))
        listed_before &= turned < self._end
        listed_now = np.isin(digests, learner.memory.digests(np.flatnonzero(now)))
        listed_now &= ~np.isin(turned, self.leaving)
        return turned[listed_now & ~listed_before], turned[listed_before & ~listed_now]

    def places(self, learner: "Margin") -> Ints:
        """Lists the places that were stored."""
        stored = learner.memory.ids()
        return stored[stored < self._end]

    def let_go(self) -> None:
        """Keeps of a step that is done only what tells of its move; it cannot be put back.

        Otherwise each move would hold on to the one before it, and to all pools that are gone.
        """
        self._kept = {"geometry": self._kept["geometry"]}
        self._copied, self._written = {}, []

    def put_back(self, learner: "Margin") -> None:
        """Makes the learner what it was."""
        for name, value in (*self._kept.items(), *self._copied.items()):
            setattr(learner, name, value)
        for W, b, pair, w, bias in reversed(self._written):
            W[pair], b[pair] = w, bias
        for members, count in zip(learner.members, self._counts, strict=True):
            members.count = count
        for place in range(self._end, len(learner.ids)):
            learner.place_of.pop(learner.ids[place], None)
        del learner.ids[self._end :]
        learner.memory.truncate(self._end)
        if self._labels is not None:
            learner.memory.relabel_all(self._labels)
        learner.pictures.discard(self._end)
        if learner.sketch is not None:  # an earlier one would say the same
            learner.sketch.forget_from(self._end)
        learner.references = [Reference() for _ in learner.references]


_REPLACED = (
    "W",
    "b",
    "place_of",
    "choice",
    "geometry",
    "pictures",
    "listed",
    "before_move",
    "refresh_at",
    "chosen_at",
)
_GROWN = (
    "labels",
    "class_of",
    "members",
    "pools",
    "wrong",
    "references",
    "short",
    "moments",
    "prior_at",
)
