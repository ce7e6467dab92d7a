"""The next state under construction: reads from the present one, and collects the differences."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Id, Ints, Label
from minout.core.examples import About
from minout.core.far import ClassRow, FarPairs, pool_of, support_of
from minout.core.frame import FIRST_PRIORS, Frame
from minout.core.images import Images
from minout.core.misfits import counts_after, misfit_changes
from minout.core.moments import RunningMoments
from minout.core.pool import Pool, Problem
from minout.core.regions import Members, Regions, among, order_of, without
from minout.core.reports import Certificate, Refresh
from minout.core.separators import (
    FAR,
    NO_PLACES,
    NO_PRIOR,
    Separator,
    Separators,
    pair_count,
    pair_number,
    regions_of,
)
from minout.core.settle import Job, settle
from minout.core.shortfall import Low, low_anywhere, low_around
from minout.core.state import Move, State, Step
from minout.core.table import Rows, blocks, rows_at
from minout.errors import NotConverged
from minout.maths import NO_EXPANSION, Expansion, Prior, expanded, filling


class Draft:
    """The state after a step, stored as the differences from the present state.

    The state is only read. When the draft is made, regions that the step empties are dropped and a
    region for a new label is added; from then on regions and separators have their new numbers.
    `labels` has the label of each region. Whatever the step does not set here is read from the
    state.
    """

    def __init__(
        self, state: State, *, emptied: Iterable[int] = (), label: Label | None = None
    ) -> None:
        self.state = state
        self.examples = state.examples
        self.frame: Frame = state.frame
        self._dropped = tuple(emptied)
        self._kept: Sequence[int] = range(len(state.regions))
        self.labels = state.regions.labels
        self._order: kernels.Order | None = None
        self._regrouped = self._expanded = False
        self._number: Ints | None = None
        if self._dropped:
            self._kept = [c for c in self._kept if c not in self._dropped]
            self.labels = [state.regions.labels[c] for c in self._kept]
            self._number = np.zeros(len(state.regions), dtype=np.int64)
            self._number[self._kept] = np.arange(len(self._kept))
            places = state.examples.places()
            regions = np.zeros(state.examples.end, dtype=np.int64)
            regions[places] = self._number[state.examples.regions[places]]
            self.examples = state.examples.in_regions(regions)
        self._is_new = label is not None and label not in self.labels
        if label is not None and self._is_new:
            self.labels = [*self.labels, label]
        if self._dropped or self._is_new:
            prior_at = [self.frame.schedule.prior_at[c] for c in self._kept]
            prior_at += [FIRST_PRIORS] * self._is_new
            self.set_schedule(prior_at=tuple(prior_at))
        else:
            self._order = state.regions.order
        separators = state.separators
        self._base = separators.only(list(self._kept)) if self._dropped else separators
        self.far = self._base.far
        self._row: ClassRow | None = None
        self._replaces_all = False
        self._members: dict[int, Members] = {}
        self._separators: dict[int, Separator] = {}
        self._added = -1
        self._relabelled = False
        self._removed = self._left = NO_PLACES
        self._moved: dict[int, tuple[Label, Label]] = {}
        self._postponed: dict[int, bool] = {}
        self._checked: dict[int, tuple[int, float]] = {}
        self._least = np.inf

    def begin(self, x: Floats) -> None:
        """Start with the frame of a first row."""
        expansion = self.examples.expansion
        first = filling(len(x)) if len(expansion.fill) else NO_EXPANSION
        x = expanded(first, x[None])[0]
        self.frame = Frame.first(self.state.settings, x, self.state.taught)
        self.set_schedule(prior_at=(FIRST_PRIORS,))
        is_expanded = expansion.columns > 0 or bool(expansion.fill.any())
        if is_expanded:
            self.examples = self.examples.expanded_by(first)
        if is_expanded or self.far is not None:  # of labels that have all been forgotten
            self.replace_all(None)

    def expand(self, expansion: Expansion) -> None:
        """Expand all rows by other hat functions; every separator is to be settled anew."""
        self.examples = self.examples.expanded_by(expansion)
        rows = self.rows()
        moments = RunningMoments.about(rows.table[rows.order[0]], seen=self.taught)
        moments = moments.for_classes(len(self.labels))
        moments = moments.with_rows(rows)
        self.frame = self.frame._replace(moments=moments)
        self._expanded = True
        self.replace_all(None)

    @property
    def largest(self) -> int:
        """The number of examples of the most frequent label after the step."""
        sizes = [self.members(c).count for c in range(len(self.labels))]
        return int(np.bincount(self.owner, sizes).max())

    def set_schedule(self, **changes: Any) -> None:
        """Change the schedule."""
        self.frame = self.frame._replace(schedule=self.frame.schedule._replace(**changes))

    @property
    def count(self) -> int:
        """The number of stored examples after the step."""
        return self.examples.count - len(self._removed)

    @property
    def taught(self) -> int:
        """How many examples have been taught after the step."""
        return self.state.taught + (self._added >= 0)

    @property
    def turnover(self) -> int:
        """How many examples have been taught and forgotten after the step."""
        return 2 * self.taught - self.count

    @property
    def owner(self) -> Ints:
        """The number of the label of each region."""
        if self._order is None:
            self._order = order_of(self.labels)
        return self._order.owner

    def number(self, region: int) -> int:
        """Return the number that a region of the state has here."""
        return region if self._number is None else int(self._number[region])

    def regroup(self, labels: list[Label], members: list[Ints]) -> None:
        """Divide all examples into new regions with these labels and places.

        Every separator is to be settled anew, with `settle_all`.
        """
        self.labels, self._order = labels, order_of(labels)
        self._members = {c: Members(places) for c, places in enumerate(members)}
        regions = np.zeros(self.examples.end, dtype=np.int64)
        for c, places in enumerate(members):
            regions[places] = c
        self.examples = self.examples.in_regions(regions)
        self._regrouped = True
        rows = self.rows()
        moments = self.frame.moments.regrouped(rows, len(labels))
        self.frame = self.frame._replace(moments=moments)
        self.replace_all(None)

    def add(self, x: NDArray[Any], c: int, example_id: Id, about: About) -> int:
        """Add a row to region c; return its place."""
        place = self._added = self.examples.end
        self.examples = self.examples.appended(x, c, example_id, about)
        self._members[c] = self.members(c).appended(place)
        return place

    def relabel(self, place: int, c: int) -> None:
        """Move a stored row, which has left its region, to region c."""
        regions = self.examples.regions[: self.examples.end].copy()
        regions[place] = c
        self.examples, self._relabelled = self.examples.in_regions(regions), True
        self._members[c] = self.members(c).appended(place)

    def weigh(self, place: int, weight: float) -> None:
        """Give a stored row, which has left all pools, another weight."""
        if weight != self.examples.weights[place]:
            self.examples = self.examples.weighed(place, weight)
            self.drop_sums(np.array([place]))

    def evict(self, places: Ints, *, may_wait: bool = True) -> list[int]:
        """Remove examples from the next state; return the pairs to settle: see `leave`."""
        if not len(places):
            return []
        self.drop_sums(places)
        self._removed = places
        return self.leave(places, may_wait=may_wait)

    def drop_sums(self, places: Ints) -> None:
        """Let the sums be computed anew, because rows leave their regions, some for good."""
        moments = self.frame.moments
        if self._dropped and len(moments.counts) > len(self._kept):
            moments = moments.only_classes(list(self._kept))
        moments = moments.without(self.examples.serials[places])
        self.frame = self.frame._replace(moments=moments)

    @property
    def removed(self) -> int:
        """How many examples the step removes."""
        return len(self._removed)

    def leave(self, places: Ints, *, may_wait: bool = False) -> list[int]:
        """Remove places from regions and pools; return the pairs to settle, ascending.

        These are the pairs that had them among their support vectors. If that may wait, separators
        with many support vectors keep their weights for now, and are not among them.
        """
        to_settle = set()
        problem, self._left = self._problem(self.frame.images), np.append(self._left, places)
        regions = sorted(set(self.state.examples.regions[places].tolist()))
        numbers = [self.number(known) for known in regions if known not in self._dropped]
        for c in numbers:
            self._members[c] = self.members(c).without(places)
        for c in numbers:
            for pair in self._holding(c, places):
                count = self._take_out(pair, places, problem)
                rows = sum(self.members(each).count for each in regions_of(pair))
                if count and not (may_wait and self._separators[pair].may_wait(0, rows)):
                    to_settle.add(pair)
        return sorted(to_settle)

    def _holding(self, c: int, places: Ints) -> list[int]:
        # The pairs of region c that hold one of some places, ascending.
        pairs, changed = [pair_number(c, o) for o in self.others(c)], self._separators
        known = [pair for pair in pairs if pair not in changed and not self.is_new(pair)]
        found = self._base.holding(known, places)
        found += [pair for pair in pairs if pair in changed and changed[pair].holds(places)]
        return sorted(found)

    def _take_out(self, pair: int, places: Ints, problem: Problem) -> int:
        # Remove places from a separator; return how many of its support vectors they are.
        old = self.separator(pair)
        pool, count = old.pool, 0
        if old.is_far:
            count = int(np.count_nonzero(among(old.support.places, places)))
        else:
            leaving = among(pool.places, places)
            count = int(np.count_nonzero(pool.alpha[leaving] > 0.0))
            pool = pool.without(places, problem) if leaving.any() else pool
        self._separators[pair] = old._replace(
            pool=pool,
            misfits=without(old.misfits, places),
            pending=without(old.pending, places),
            support=old.support.without(places),
            left=old.left + count,
        )
        return count

    def others(self, c: int) -> list[int]:
        """Return the regions of other labels than that of region c, ascending."""
        return np.flatnonzero(self.owner != self.owner[c]).tolist()

    def members(self, c: int) -> Members:
        """Return the members that region c will have."""
        if c in self._members:
            return self._members[c]
        if c >= len(self._kept):
            return Members()
        return self.state.regions.members[self._kept[c]]

    def separator(self, pair: int) -> Separator:
        """Return a separator as it will be."""
        if pair in self._separators:
            return self._separators[pair]
        if self.is_new(pair):
            return Separator.new(self.examples.width)
        return self._base[pair]

    def is_new(self, pair: int) -> bool:
        """Return whether a separator is one of a label that this step adds."""
        return pair >= pair_count(len(self._kept))

    def is_added(self, c: int) -> bool:
        """Return whether region c is one that this step adds."""
        return c >= len(self._kept)

    def is_far(self, low: int, high: int) -> bool:
        """Return whether a pair of regions will be far."""
        if self.far is None:
            return False
        if self._row is not None and self._row.c in (low, high):
            return not self._row.near[low + high - self._row.c]
        return not self.far.is_near(low, high)

    def renew(self, c: int) -> ClassRow:
        """Compute the discriminant of a region, which may be new, from the mean of its examples."""
        assert self.far is not None
        self.catch_up()
        moments = self.frame.moments
        count = float(moments.counts[c])
        with np.errstate(over="ignore", invalid="ignore"):
            row = self.far.row_of(self.frame.geometry, c, moments.mean(c), count, self.owner)
        if not (np.isfinite(row.V).all() and np.isfinite([row.square, row.half, row.reach]).all()):
            raise NotConverged("a discriminant overflowed")
        self._row = row
        pairs = (pair_number(c, o) for o in self.others(c))
        self._moved |= {pair: self._labels_of(pair) for pair in pairs}
        return row

    def low_around(self, bound: float) -> Low:
        """Find low margins in the far pairs without support of the region that was renewed."""
        far, row, geometry = self.far, self._row, self.frame.geometry
        assert far is not None
        assert row is not None
        plain = ~row.near & (self.owner != self.owner[row.c]) & ~far.supported(row.c)
        rows = self.rows()
        own = np.count_nonzero(rows.regions == row.c) * np.count_nonzero(plain)
        self._note_checked(-1, int(own + np.count_nonzero(plain[rows.regions])), bound)
        return low_around(far, row, plain, geometry, rows, bound)

    def low_anywhere(self, settled: set[int], bound: float) -> Low:
        """Find low margins in all far pairs, except those that are settled in any case."""
        far, geometry, rows = self.far, self.frame.geometry, self.rows()
        assert far is not None
        plain = ~far.near[: far.count, : far.count]
        plain &= self.owner[:, None] != self.owner
        for low, high in map(regions_of, settled):
            plain[low, high] = plain[high, low] = False
        self._note_checked(-1, int(plain.sum(axis=1)[rows.regions].sum()), bound)
        return low_anywhere(far, plain, geometry, rows, bound)

    def _note_checked(self, pair: int, margins: int, least: float) -> None:
        # A pair that is settled twice counts once; -1 stands for all far pairs without support.
        self._checked[pair] = margins, least

    def replace_all(self, near_classes: int | None) -> None:
        """Start all separators again; with far pairs if `near_classes` is a number."""
        self._separators.clear()
        self._replaces_all, self._row, self.far = True, None, None
        if near_classes is not None:
            moments = self.frame.moments
            means = moments.means()
            geometry, owner = self.frame.geometry, self.owner
            different = len(self.rows().distinct(owner).first)
            counts = moments.counts
            self.far = FarPairs.of(geometry, means, counts, different, owner, near_classes)

    def supports(self) -> dict[int, Pool]:
        """Return pools with the support vectors of all pairs; their priors are placeholders."""
        found = {}
        for pair in self._base.stored(self.owner[: len(self._kept)]):
            new = self._separators.get(pair)
            if new is None:
                found[pair] = self._base.support_of(pair)
            else:
                found[pair] = pool_of(new.support, NO_PRIOR) if new.is_far else new.pool
        return found

    def starts(self) -> Callable[[int, int], Prior]:
        """Return a function that returns the prior of the separator of two regions."""
        far, row = self.far, self._row
        if far is None:
            return self.frame.starts()
        return lambda low, high: far.prior(low, high, row)

    def margins(self, x: Floats, c: int) -> Floats:
        """Return the margins of x as an example in region c after the step; see `State.margins`."""
        if not self._separators and not self._dropped and not self._is_new:
            return self.state.margins(x, c)
        out = np.full(len(self.labels), np.inf)
        for o in self.others(c):
            value = self._values(pair_number(c, o), x[None], np.array([0]))[0]
            out[o] = value if c < o else -value
        return out

    def _values(self, pair: int, X: Floats, places: Ints) -> Floats:
        separator, origin = self.separator(pair), self.frame.geometry.origin
        low, high = regions_of(pair)
        if self.is_far(low, high):
            assert self.far is not None
            coef, of = separator.support.coef, separator.support.places
            pictures = self.frame.images.of(self.examples.table, of)
            return self.far.values(low, high, coef, pictures, X, places, origin, self._row)
        out = np.empty(len(places))
        kernels.activations(separator.w, separator.b, X, places, origin, out)
        return out

    def rows(self, order: Ints | None = None) -> Rows:
        """Return all stored rows, in the order of their places or in a given order."""
        if order is None:
            order = self.examples.places()
            order = order[~among(order, self._removed)] if len(self._removed) else order
        return self.examples.rows_in(order)

    def catch_up(self) -> None:
        """Add all rows that are not in the sums yet, or compute stale sums anew."""
        moments, count = self.frame.moments.for_classes(len(self.labels)), len(self.labels)
        rows = self.rows()
        if moments.stale:
            moments = moments.regrouped(rows, count)
        else:
            moments = moments.with_rows(rows.since(moments.seen))
        self.frame = self.frame._replace(moments=moments.seen_to(self.taught))

    def job(self, pair: int, pool: Pool) -> Job:
        """Return the work of settling one separator with a pool of its own."""
        low, high = regions_of(pair)
        sides = (self.members(low).places, self.members(high).places)
        return Job(pair, low, high, pool, sides)

    def job_from(self, pair: int, old: Separator) -> Job:
        """Return the work of settling a separator from its pool and its pending examples."""
        if old.is_far:
            pool = pool_of(old.support, self.starts()(*regions_of(pair)))
        else:
            pool = old.pool.fork()
        job, pending = self.job(pair, pool), old.pending
        if len(pending):
            of_low = self.examples.regions[pending] == job.low
            pool.join(pending, np.where(of_low, 1.0, -1.0))
        return job

    def postpone(self, pair: int, place: int, margin: float) -> None:
        """Let the example that was added wait for the next settle of a separator."""
        old, one = self.separator(pair), np.array([place])
        misfits = np.concatenate([old.misfits, one]) if margin <= 0.0 else old.misfits
        pending = np.concatenate([old.pending, one])
        self._separators[pair] = old._replace(misfits=misfits, pending=pending)
        self._postponed[pair] = margin <= 0.0
        self._least = min(self._least, margin)

    def settle(self, jobs: list[Job], bound: float) -> None:
        """Settle some separators and store the results in the draft."""
        if not jobs:
            return
        images = self.frame.images.fork()
        problem = self._problem(images)
        for job, w, b, found in settle(jobs, problem, bound):
            if not (np.isfinite(b) and np.isfinite(w).all()):
                raise NotConverged("a separator overflowed")
            separator = Separator(w, b, job.pool, found.misfits)
            least = found.least
            if self.is_far(job.low, job.high):
                support = support_of(job.pool, problem)
                separator, least = self._decided(job, FAR._replace(support=support), images)
            self._separators[job.pair] = separator
            self._moved[job.pair] = self.labels[job.low], self.labels[job.high]
            self._note_checked(job.pair, found.checked, least)
        self.frame = self.frame._replace(images=images)

    def _problem(self, images: Images) -> Problem:
        pairs = pair_count(len(self.labels)) if self.far is None else self.far.near_count
        examples, frame = self.examples, self.frame
        columns = examples.table, examples.weights, examples.digests
        return Problem(*columns, frame.geometry, images, frame.choice.lam, pairs)

    def _decided(self, job: Job, separator: Separator, images: Images) -> tuple[Separator, float]:
        # A far pair whose misfits are decided by the values that predictions are made of.
        assert self.far is not None
        table, origin, support = self.examples.table, self.frame.geometry.origin, separator.support
        pictures, places = images.of(table, support.places), np.concatenate(job.sides)
        margins = np.empty(len(places))
        for part in blocks(table, len(places)):
            rows = rows_at(table, places[part])
            args = (job.low, job.high, support.coef, pictures, *rows, origin, self._row)
            margins[part] = self.far.values(*args)
        margins[len(job.sides[0]) :] *= -1.0
        right = margins > 0.0
        least = float(margins[right].min(initial=np.inf))
        return separator._replace(misfits=places[~right]), least

    def finish(self, refresh: Refresh | None = None) -> Step:
        """Return the state after the step, and its certificate."""
        places, counts = self._violations()
        listed, appeared, cleared = misfit_changes(
            self.state, self.examples, places, counts, added=self._added, removed=self._removed
        )
        examples = self.examples.violating(places, counts)
        if len(self._removed):
            examples = examples.without(self._removed)
        state = self.state.replaced(
            examples=examples,
            regions=self._all_regions(),
            separators=self._all_separators(),
            frame=self.frame,
            listed=listed,
            last_move=self._move(),
            consolidated=False,
        )
        certificate = Certificate(
            tuple(dict.fromkeys(self._moved.values())),
            sum(count for count, _ in self._checked.values()),
            min([self._least, *(least for _, least in self._checked.values())]),
            appeared,
            cleared,
            tuple(dict.fromkeys(self._labels_of(pair) for pair in self._postponed)),
            self.state.names(self._removed),
        )
        return Step(state, certificate, refresh)

    def _labels_of(self, pair: int) -> tuple[Label, Label]:
        low, high = regions_of(pair)
        return self.labels[low], self.labels[high]

    def _all_regions(self) -> Regions:
        if self._regrouped:
            return Regions(self.labels, [self._members[c] for c in range(len(self.labels))])
        regions = self.state.regions
        if self._dropped:
            regions = regions.without(self._dropped)
        return regions.with_members(self._members, self.labels[-1] if self._is_new else None)

    def _all_separators(self) -> Separators:
        base = self._base
        if self._replaces_all:
            base = Separators(self.examples.width, self.far)
        row = None if self._replaces_all else self._row
        return base.replaced(self._separators, len(self.labels), row)

    def _move(self) -> Move | None:
        if not self._moved or self._relabelled or self._added < 0 or self._dropped:
            return None
        if self._regrouped or self._expanded or (self._replaces_all and self.far is not None):
            return None  # other regions or columns, or too many separators to keep
        state, before = self.state, self.state.separators
        if len(self._removed) and before.far is not None:
            return None  # the weights of far pairs are computed from rows that are gone
        moved = [pair for pair in self._moved if pair < pair_count(len(state.regions))]
        row, far = self._row, before.far
        if row is not None and far is not None:
            row = far.class_row(row.c) if row.c < far.count else None
        if far is None:
            earlier = {pair: before[pair] for pair in moved}
        else:  # the priors of far pairs are not needed, and there may be very many
            earlier = {pair: before.records.get(pair, FAR) for pair in moved}
        origin = state.frame.geometry.origin
        return Move(earlier, row, len(state.regions), self._added, origin)

    def _violations(self) -> tuple[Ints, Ints]:
        # The places whose violation count changes, and the new counts. In separators that were not
        # settled, only examples that left, and a new one that waits, are concerned.
        before, known = self._base, pair_count(len(self._kept))
        settled = [pair for pair in self._separators if pair in self._moved]
        others = [pair for pair in self._separators if pair not in self._moved and pair < known]
        gone = before.records.keys() - self._separators.keys() if self._replaces_all else ()
        old = [before.misfits(pair) for pair in (*settled, *gone) if pair < known]
        left = self._left[self.state.examples.violations[self._left] > 0]
        for misfits in (before.misfits(pair) for pair in others if len(left)):
            old.append(misfits[among(misfits, left)])
        for pair, record in self.state.separators.records.items() if self._dropped else ():
            if not set(regions_of(pair)).isdisjoint(self._dropped):
                old.append(record.misfits)
        new = [self._separators[pair].misfits for pair in settled]
        added = np.array([self._added])  # a postponed example is a new one
        new += [added for is_misfit in self._postponed.values() if is_misfit]
        return counts_after(self.state, old, new)
