"""The state of the engine, a change of it, and `apply`, the only function that changes it."""

from collections.abc import Mapping
from heapq import heappop, heappush
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels, maths
from minout._typing import Floats, Id, Ints, Label
from minout.codecs import ExactCodec
from minout.engine.choice import Choice
from minout.engine.examples import Examples, StoredRow
from minout.engine.far import ClassRow, Support, lengths, pool_of
from minout.engine.frame import Frame
from minout.engine.pool import Problem
from minout.engine.regions import Members, Regions
from minout.engine.reports import NOTHING_MOVED, Certificate, Refresh
from minout.engine.separators import (
    NO_PLACES,
    SUFFICIENT_MARGIN,
    Separator,
    Separators,
    pair_count,
    regions_of,
)
from minout.engine.settings import Settings
from minout.engine.window import Ages

NOTHING: Mapping[Any, Any] = MappingProxyType({})
NONE = (None, None, None)
PIECE = 2**22
LEAST = 64
"""Scores are divided between threads into pieces of so many products, and so many rows."""


class Widths(NamedTuple):
    """The length of an example as passed in, and of its row; None before the first example."""

    given: int | None = None
    row: int | None = None


class Move(NamedTuple):
    """The separators that the last step moved, as they were before it.

    `weights` has w and b by number; with far pairs, `supports` has the supports of those that
    moved, and `row` the discriminant that was replaced. `regions` and `origin` are the number of
    regions and the origin before the step, `added` is the place of the row that it added, or -1.
    """

    weights: dict[int, tuple[Floats, float]]
    supports: dict[int, Support]
    row: ClassRow | None
    regions: int
    added: int
    origin: Floats


class State:
    """Everything that the engine stores between two steps.

    Attributes
    ----------
    settings : Settings
        The settings as the user passed them.
    examples : Examples
        Rows, region numbers and digests, by place.
    ids, place_of : list and dict
        The id at each place ("" where an example was forgotten), and the place of each id.
    regions : Regions
        Labels by region number, and the places of each region.
    separators : Separators
        One separator per pair of regions of different labels, and the index of misfits.
    frame : Frame
        What all separators share.
    widths : Widths
        The lengths of examples and rows.
    next_id : int
        The number from which the next free id is searched.
    taught : int
        The serial number of the next example; `consolidate` numbers the stored ones from 0 again.
    corrected : dict
        For each corrected example, the labels that it had before.
    notes : dict
        The user's own notes, saved with the rest.
    consolidated : bool
        Whether nothing has changed since the state was consolidated.
    last_move : Move or None
        The separators that the last step moved; not saved.
    """

    def __init__(
        self, settings: Settings, width: int, dtype: Any, codec: ExactCodec | None = None
    ) -> None:
        self.settings = settings
        self.examples = Examples(width, dtype, codec=codec)
        if settings.missing == "mean":
            self.examples = self.examples.expanded_by(maths.filling(width))
        self.ids: list[Id] = []
        self.place_of: dict[Id, int] = {}
        self.regions = Regions()
        self.separators = Separators(width)
        self.frame = Frame.first(settings, np.zeros(width, dtype=dtype), 0)
        self.widths = Widths()
        self.next_id = self.taught = 0
        self.corrected: dict[Id, tuple[Label, ...]] = {}
        self.notes: dict[str, Any] = {}
        self.consolidated = False
        self.last_move: Move | None = None
        self._drop_caches()

    def _drop_caches(self) -> None:
        # Ages and free places; they are computed again when they are needed.
        self._ages: Ages | None = None
        self._free: list[int] | None = None

    def follow(self, delta: "Delta") -> None:
        """Bring the caches of ages and free places up to a change that has been applied."""
        if delta.region_count is not None:
            self._drop_caches()
        if self._free is not None:
            for place in delta.removed.tolist():
                heappush(self._free, place)
        if delta.added is None and (delta.settings, delta.relabelled, delta.all_regions) != NONE:
            self._ages = None
        elif delta.added is not None and self._ages is not None:
            place = self.examples.added
            self._ages.add(self.label_at(place), place, self.examples.about(place))

    @property
    def turnover(self) -> int:
        """How many examples have been taught and forgotten since they were numbered from 0."""
        return 2 * self.taught - len(self.place_of)

    def by_age(self) -> Ages:
        """Return the stored examples by age."""
        if self._ages is None:
            self._ages = Ages(self)
        return self._ages

    def free_place(self) -> int:
        """Return the lowest place that is not in use."""
        if self._free is None:
            self._free = self.examples.free().tolist()  # sorted, so a heap
        while self._free and self.examples.stored[self._free[0]]:
            heappop(self._free)
        return self._free[0] if self._free else self.examples.end

    @property
    def labels(self) -> list[Label]:
        """The labels, each once, in the order of their first regions."""
        return self.regions.names

    @property
    def choice(self) -> Choice:
        """The settings in use."""
        return self.frame.choice

    def row_at(self, place: int) -> Floats:
        """Return a stored row without an expansion; it may be a view."""
        return self.examples.rows[place]

    def holds(self, place: int, x: NDArray[Any]) -> bool:
        """Return whether a row, or a code, is the one that is stored at a place."""
        row = self.examples.coded(x[None])[0]
        return np.array_equal(self.examples.given[place], row, equal_nan=True)

    def expanded(self, X: NDArray[Any]) -> Floats:
        """Return rows (n, d) as the separators see them, with the hats of their columns.

        With a codec they are encoded and decoded first; codes are decoded.
        """
        return maths.expanded(self.examples.expansion, self.examples.read(X))

    def label_at(self, place: int) -> Label:
        """Return the label of a stored example."""
        return self.regions.labels[int(self.examples.regions[place])]

    def margins(self, x: Floats, c: int) -> Floats:
        """Return the margins of an expanded row in region c: (regions,), inf within its label.

        With far pairs, a margin that is neither the least nor below the bound may be a lower bound.
        """
        out = np.full(len(self.regions), np.inf)
        self._margins(x, c, -np.inf, out)
        return out

    def _margins(self, x: Floats, c: int, enough: float, out: Floats) -> float:
        # Set the margins, and return the least; some may be missing if that is below `enough`.
        separators, geometry, owner = self.separators, self.frame.geometry, self.regions.order.owner
        W, b, origin = separators.W, separators.b, geometry.origin
        if separators.far is None:
            return float(kernels.region_margins(W, b, x, origin, owner, c, enough, out))
        length, far = float(lengths(geometry, x[None])[0]), self.far()
        return float(kernels.far_margins(far, x, origin, length, c, SUFFICIENT_MARGIN, out))

    def placed(self, x: Floats, label: Label) -> tuple[int | None, Floats]:
        """Return the region of a label where the least margin of an expanded row is highest.

        With the margins in it. Of equal regions it is the first; None if the label is not stored.
        """
        best, found, margins = -np.inf, None, np.empty(0)
        for c in self.regions.of(label):
            out = np.full(len(self.regions), np.inf)
            least = self._margins(x, c, best, out)
            if found is None or least > best:
                best, found, margins = least, c, out
        return found, margins

    def scores(self, X: Floats) -> Floats:
        """Return the scores of expanded rows for each label, in order: (n, labels).

        It is the highest score of its regions.
        """
        return self.label_scores(self.region_scores(X))

    def label_scores(self, scores: Floats) -> Floats:
        """Return the highest score of the regions of each label: (n, regions) → (n, labels)."""
        rank, owner = self.regions.order
        by_rank = np.argsort(rank)
        starts = np.searchsorted(owner[by_rank], np.arange(len(self.regions.names)))
        return np.maximum.reduceat(scores[:, by_rank], starts, axis=1)

    def region_scores(self, X: Floats) -> Floats:
        """Return the smallest margin that expanded rows would have in each region: (n, regions)."""
        out = np.empty((len(X), len(self.regions)))
        W, b, origin = self.separators.W, self.separators.b, self.frame.geometry.origin
        owner = self.regions.order.owner

        def compute(rows: slice) -> None:
            kernels.scores(W, b, X[rows], origin, owner, out[rows])

        def compute_far(rows: slice) -> None:
            norms = lengths(self.frame.geometry, X[rows])
            kernels.far_scores(self.far(), X[rows], origin, norms, out[rows])

        work = compute if self.separators.far is None else compute_far
        kernels.in_threads(work, pieces(len(X), X.shape[1] * pair_count(len(self.regions))))
        return out

    def far(self) -> kernels.Far:
        """Return what the kernels for far pairs take."""
        separators, owner = self.separators, self.regions.order.owner
        assert separators.far is not None
        return separators.far.for_kernels(self.frame.images, owner, separators.W, separators.b)

    def weights(self, pair: int, earlier: Move | None = None) -> tuple[Floats, float]:
        """Return w and b of a separator, now or before a move; those of a far pair are computed."""
        separators, frame = self.separators, self.frame
        was_far = earlier is not None and pair in earlier.supports
        if earlier is not None and pair in earlier.weights:
            return earlier.weights[pair]
        if separators.far is None or (pair in separators.pools and not was_far):
            return separators[pair].w, separators[pair].b
        low, high = regions_of(pair)
        support, row = separators.far.support(low, high), None
        if earlier is not None and was_far:
            support, row = earlier.supports[pair], earlier.row
        pool = pool_of(support, separators.far.prior(low, high, row))
        table, weights, lam = self.examples.table, self.examples.weights, frame.choice.lam
        problem = Problem(table, weights, frame.geometry, frame.images, lam)
        return pool.weights(problem)

    def misfits(self) -> Ints:
        """Return the places of all misfits, ascending.

        A misfit is on the wrong side of a separator of its region, or has the same row as such an
        example: of equal rows with two labels at most one can be on the right side.
        """
        listed = self.separators.listed
        if not listed:
            return NO_PLACES
        stored = self.examples.places()
        wanted = np.fromiter(listed, dtype=np.uint64, count=len(listed))
        return stored[np.isin(self.examples.digests[stored], wanted)]

    def pending(self) -> Ints:
        """Return the places that are pending in a separator, ascending."""
        limit, pending = pair_count(len(self.regions)), self.separators.pending
        parts = [places for pair, places in pending.items() if pair < limit]
        return np.unique(np.concatenate([NO_PLACES, *parts]))

    def names(self, places: Ints) -> tuple[Id, ...]:
        """Return the ids at some places."""
        return tuple(self.ids[place] for place in places.tolist())


def pieces(rows: int, products: int) -> list[slice]:
    """Divide rows that take so many products each into pieces that are worth a thread."""
    size = max(PIECE // max(products, 1), LEAST)
    return [slice(start, start + size) for start in range(0, rows, size)]


class Delta(NamedTuple):
    """A change of a state: returned by a step, applied by `apply`.

    Every field holds the value after the change, so applying it twice is the same as once. A field
    that is None or empty changes nothing. Its size is proportional to the change.

    Attributes
    ----------
    certificate, refresh : Certificate and Refresh or None
        The reports for the caller.
    settings : Settings or None
        Other settings of the user.
    examples : Examples or None
        The examples with one more row, which is already written to a place that is not in use.
    added : id or None
        The id of that row.
    restored : dict of place to Restored
        Rows that are put back after others have taken their places.
    relabelled : (place, region) or None
        A stored row that has another region.
    removed : array of int
        Places whose rows are overwritten with zeros.
    label : (region, label) or None
        A new region of a new label, numbered after the others.
    region_count : int or None
        The number of regions to keep: later ones are dropped.
    reduced : Reduced or None
        The parts without the dropped regions, numbered again from 0. All numbers in this change
        are the new ones.
    all_regions : Regions or None
        All regions at once, in place of those that there are.
    members : dict of region number to Members
    separators : dict of pair number to Separator
    all_separators : Separators or None
        All separators at once, in place of those that there are.
    discriminants : tuple of ClassRow
        With far pairs: regions with a new discriminant.
    frame : Frame or None
    violations : dict of place to int
        In how many separators a place is a misfit.
    listed : dict of digest to int
        How many places with that digest are misfits; 0 removes the digest.
    move : Move or None
        What `partition` needs; None if this step moved nothing or removed examples.
    corrected : dict of id to labels
        The earlier labels of examples; an empty tuple removes the id.
    next_id, taught, widths : int, int and Widths or None
    consolidated : bool
        Whether the state is consolidated afterwards.
    was_right : bool or None
        For the caller: whether the state before gave the row that is taught its label.
    """

    certificate: Certificate = NOTHING_MOVED
    refresh: Refresh | None = None
    settings: Settings | None = None
    examples: Examples | None = None
    added: Id | None = None
    restored: Mapping[int, "Restored"] = NOTHING
    relabelled: tuple[int, int] | None = None
    removed: Ints = NO_PLACES
    label: tuple[int, Label] | None = None
    region_count: int | None = None
    reduced: "Reduced | None" = None
    all_regions: Regions | None = None
    members: Mapping[int, Members] = NOTHING
    separators: Mapping[int, Separator] = NOTHING
    all_separators: Separators | None = None
    discriminants: tuple[ClassRow, ...] = ()
    frame: Frame | None = None
    violations: Mapping[int, int] = NOTHING
    listed: Mapping[int, int] = NOTHING
    move: Move | None = None
    corrected: Mapping[Id, tuple[Label, ...]] = NOTHING
    next_id: int | None = None
    taught: int | None = None
    widths: Widths | None = None
    consolidated: bool = False
    was_right: bool | None = None


class Restored(NamedTuple):
    """What was at a place: an id, a row and its image, if it had one; no row if it was free."""

    id: Id = ""
    row: StoredRow | None = None
    image: Floats | None = None


class Reduced(NamedTuple):
    """Examples, regions and separators without the regions that were dropped."""

    examples: Examples
    regions: Regions
    separators: Separators


def make_room(state: State, delta: Delta) -> None:
    """Grow arrays to hold a change.

    `apply` does this first. To call it before shows whether there is enough memory.
    """
    reduced = delta.reduced
    regions = state.regions if delta.all_regions is None else delta.all_regions
    separators = state.separators if reduced is None else reduced.separators
    separators = delta.all_separators or separators
    end = (delta.examples or state.examples).end
    if separators.far is not None:
        for row in delta.discriminants:
            separators.far.make_room(row.c + 1)
        near = sum(not each.is_far for each in delta.separators.values())
        separators.make_room(near, end)
        return
    if delta.label is not None:
        count = delta.label[0] + 1
    else:
        count = len(regions if reduced is None else reduced.regions)
    separators.make_room(pair_count(count), end)


def apply(state: State, delta: Delta) -> None:
    """Apply a whole change to a state: the only function that writes to one.

    If it is interrupted (Ctrl-C), the state is incomplete until the same change is applied again.
    """
    make_room(state, delta)
    if delta.reduced is not None:
        state.examples, state.regions, state.separators = delta.reduced
    for name, new in (("separators", delta.all_separators), ("examples", delta.examples)):
        if new is not None:
            setattr(state, name, new)
    if delta.added is not None:
        _name(state, delta.added)
    if delta.relabelled is not None:
        state.examples.relabel(*delta.relabelled)
    _write_regions(state, delta)
    _write_separators(state, delta)
    _put(state.corrected, delta.corrected)
    state.last_move, state.consolidated = delta.move, delta.consolidated
    for name in ("frame", "next_id", "taught", "widths", "settings"):
        if getattr(delta, name) is not None:
            setattr(state, name, getattr(delta, name))
    if len(delta.removed):
        _wipe(state, delta.removed)
    if delta.region_count is not None:
        _restore(state, delta.restored)
    state.follow(delta)


def _write_regions(state: State, delta: Delta) -> None:
    if delta.all_regions is not None:
        state.regions = delta.all_regions
    if delta.region_count is not None:
        state.regions.keep_first(delta.region_count)
        state.separators.keep_first(delta.region_count)
    if delta.label is not None:
        state.regions.set_label(*delta.label)
    for c, members in delta.members.items():
        state.regions.set_members(c, members)


def _write_separators(state: State, delta: Delta) -> None:
    separators = state.separators
    for row in delta.discriminants:
        assert separators.far is not None
        separators.far.set_class(row)
    for pair, separator in delta.separators.items():
        separators.put(pair, separator)
    if delta.added is not None:
        separators.violations[state.examples.added] = 0
    for place, count in delta.violations.items():
        separators.violations[place] = count
    _put(separators.listed, delta.listed)


def _name(state: State, added: Id) -> None:
    # Count the row that was added, under its id.
    place = state.examples.added
    state.examples.keep_added()
    state.ids[place : place + 1] = [added]
    state.place_of.pop(added, None)  # the latest row comes last
    state.place_of[added] = place


def _restore(state: State, restored: Mapping[int, Restored]) -> None:
    # Put rows back, and drop those that were added after the last place.
    del state.ids[state.examples.end :]
    for place, (example_id, row, image) in restored.items():
        state.ids[place] = example_id
        if row is None:
            state.examples.wipe(np.array([place]))
        else:
            state.examples.put(place, row)
        if image is not None:
            state.frame.images.put(place, image)
    state.place_of = {state.ids[place]: place for place in state.examples.in_order().tolist()}


def _put(old: dict[Any, Any], new: Mapping[Any, Any]) -> None:
    for key, value in new.items():
        if value:
            old[key] = value
        else:
            old.pop(key, None)


def _wipe(state: State, places: Ints) -> None:
    for place in places.tolist():
        if state.place_of.get(state.ids[place]) == place:
            del state.place_of[state.ids[place]]
        state.ids[place] = ""
    state.examples.wipe(places)
    state.frame.images.wipe(places)
    state.separators.violations[places] = 0
