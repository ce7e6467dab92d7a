"""The next state under construction: reads from the present one, and collects the differences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Id, Ints, Label
from minout.core.examples import About
from minout.core.frame import FIRST_PRIORS, Frame, next_priors
from minout.core.images import Images
from minout.core.misfits import counts_after, misfit_changes
from minout.core.moments import RunningMoments
from minout.core.pool import Problem
from minout.core.regions import (
    NO_PLACES,
    Members,
    Regions,
    among,
    order_of,
    pair_count,
    pair_number,
    regions_of,
    regions_of_all,
)
from minout.core.reports import Certificate, Refresh
from minout.core.scores import ClassScores
from minout.core.separators import (
    NO_WEIGHTS,
    Separator,
    Separators,
    empty_separator,
    far_separator,
    have_room,
)
from minout.core.settle import settle
from minout.core.shortfall import Low, low_anywhere, low_around
from minout.core.state import Move, State, Step
from minout.core.table import Rows, blocks, first_rows, rows_at
from minout.core.work import HERE, Work
from minout.kernels import Pool, Task
from minout.maths import NO_EXPANSION, Expansion, expanded, filling

TOGETHER = 2**22  # separators with so many weights are settled at a time


class Draft:
    """The state after a step, stored as the differences from the present state.

    The state is only read. When the draft is made, regions that the step empties are dropped and a
    region for a new label is added; from then on regions and separators have their new numbers.
    `labels` has the label of each region. Whatever the step does not set here is read from the
    state. `work` settles separators.
    """

    def __init__(
        self,
        state: State,
        *,
        emptied: Sequence[int] = (),
        label: Label | None = None,
        work: Work = HERE,
    ) -> None:
        self.state, self._work = state, work
        self.examples = state.examples
        self.frame: Frame = state.frame
        self._dropped = tuple(emptied)
        self._kept: Sequence[int] = range(len(state.regions))
        self.labels = state.regions.labels
        self._order: kernels.Order | None = state.regions.order
        self._regrouped = self._expanded = False
        self._number: Ints = np.arange(len(state.regions))
        self._base = state.separators
        if self._dropped:
            self._kept = [c for c in self._kept if c not in self._dropped]
            self.labels = [state.regions.labels[c] for c in self._kept]
            self._number[self._kept] = np.arange(len(self._kept))
            places = state.examples.places()
            regions = np.zeros(state.examples.end, dtype=np.int64)
            regions[places] = self._number[state.examples.regions[places]]
            self.examples = state.examples.in_regions(regions)
            self._base = self._base.only(list(self._kept))
        self._is_new = label is not None and label not in self.labels
        if label is not None and self._is_new:
            self.labels = [*self.labels, label]
        if self._dropped or self._is_new:
            prior_at = [self.frame.schedule.prior_at[c] for c in self._kept]
            prior_at += [FIRST_PRIORS] * self._is_new
            self.set_schedule(prior_at=tuple(prior_at))
            self._order = None
        self.scores = self._base.scores
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
        if expansion.columns > 0 or bool(expansion.fill.any()):
            self.examples = self.examples.expanded_by(first)
        self._replaces_all, self.scores = True, ClassScores.zero(NO_PLACES, len(x))

    def expand(self, expansion: Expansion) -> None:
        """Expand all rows by other hat functions; every separator is to be settled anew."""
        self.examples = self.examples.expanded_by(expansion)
        rows = self.rows()
        moments = RunningMoments.about(rows.table[rows.order[0]], seen=self.taught)
        moments = moments.for_classes(len(self.labels))
        moments = moments.with_rows(rows)
        self.frame = self.frame._replace(moments=moments)
        self._expanded = True

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
        return int(self._number[region])

    def pair(self, pair: int) -> int:
        """Return the number that a pair of regions of the state has here."""
        if not self._dropped:
            return pair
        low, high = regions_of(pair)
        return pair_number(self.number(low), self.number(high))

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

    def evict(self, places: Ints) -> None:
        """Remove examples from the next state, after they have left their regions."""
        if len(places):
            self.drop_sums(places)
            self._removed = places

    def drop_sums(self, places: Ints) -> None:
        """Let the sums be computed anew, because rows leave their regions, some for good."""
        moments = self.frame.moments
        if self._dropped and len(moments.counts) > len(self._kept):
            moments = moments.only_classes(list(self._kept))
        moments = moments.without(self.examples.serials[places])
        self.frame = self.frame._replace(moments=moments)

    def leave(self, places: Ints, left: Mapping[int, Separator]) -> None:
        """Remove places from their regions; `left` has the separators without them."""
        self._left = places
        for region in sorted(set(self.state.examples.regions[places].tolist())):
            if region not in self._dropped:
                c = self.number(region)
                self._members[c] = self.members(c).without(places)
        self._separators |= {self.pair(pair): each for pair, each in left.items()}

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

    def _record(self, pair: int) -> Separator | None:
        known = None if self._replaces_all else self._base.records.get(pair)
        return self._separators.get(pair, known)

    def _has_support(self, pair: int) -> bool:
        record = self._record(pair)
        return record is not None and len(record.pool) > 0

    def is_added(self, c: int) -> bool:
        """Return whether region c is one that this step adds."""
        return c >= len(self._kept)

    def renew(self, c: int) -> None:
        """Compute the score of a region, which may be new, from the mean of its examples.

        All its separators are to be settled again.
        """
        pairs = [pair_number(c, o) for o in self.others(c)]
        if self.is_added(c):
            self.scores = self.scores.extended(self.owner)
        if self.frame.choice.lda_prior:
            self.catch_up()
            moments, geometry = self.frame.moments, self.frame.geometry
            mean, count = moments.mean(c), float(moments.counts[c])
            self.scores = self.scores.with_region(geometry, c, mean, count, self.owner)
            count, prior_at = self.members(c).count, self.frame.schedule.prior_at
            self.set_schedule(prior_at=(*prior_at[:c], next_priors(count), *prior_at[c + 1 :]))
        self._moved |= {pair: self._labels_of(pair) for pair in pairs}

    def rescore(self) -> None:
        """Start all separators again, from new scores of all regions."""
        self._separators.clear()
        self._replaces_all, choice = True, self.frame.choice
        if not choice.lda_prior:
            width, images = self.examples.width, self.frame.images
            room = self.count * self.examples.given[0].nbytes
            has_weights = have_room(len(self.labels), room, width) or not images.are_cheap
            self.scores = ClassScores.zero(self.owner, width, has_weights=has_weights)
            return
        moments, owner = self.frame.moments, self.owner
        near = self.state.settings.near(len(self.labels), choice)
        different = 0 if near is None else len(self.rows().distinct(owner).first)
        counts, means = moments.counts, moments.means()
        self.scores = ClassScores.of(self.frame.geometry, means, counts, different, owner, near)

    def stored_around(self, c: int) -> set[int]:
        """Return the pairs of a region that are near, or for which support vectors are stored."""
        pairs = [pair_number(c, o) for o in self.others(c)]
        return {pair for pair in pairs if self.scores.near[pair] or self._has_support(pair)}

    def low_around(self, c: int, bound: float) -> Low:
        """Find low margins in the other pairs of a region."""
        stored, plain = self.stored_around(c), np.zeros(len(self.labels), dtype=bool)
        plain[[o for o in self.others(c) if pair_number(c, o) not in stored]] = True
        if not plain.any():
            return {}
        rows = self.rows()
        own = np.count_nonzero(rows.regions == c) * np.count_nonzero(plain)
        self._note_checked(-1, int(own + np.count_nonzero(plain[rows.regions])), bound)
        return low_around(self.scores, c, plain, self.frame.geometry, rows, bound)

    def low_anywhere(self, settled: Sequence[int], bound: float) -> Low:
        """Find low margins in all far pairs, except those that are settled in any case."""
        pairs = np.arange(pair_count(len(self.labels)))
        low, high = regions_of_all(pairs)
        plain = ~self.scores.near & (self.owner[low] != self.owner[high])
        plain[list(settled)] = False
        if not plain.any():
            return {}
        rows, sides = self.rows(), np.concatenate([low[plain], high[plain]])
        against = np.bincount(sides, minlength=len(self.labels))
        self._note_checked(-1, int(against[rows.regions].sum()), bound)
        return low_anywhere(self.scores, plain, self.frame.geometry, rows, bound)

    def _note_checked(self, pair: int, margins: int, least: float) -> None:
        # A pair that is settled twice counts once; -1 stands for all far pairs without support.
        self._checked[pair] = margins, least

    def supports(self) -> dict[int, Pool]:
        """Return the pools of all pairs."""
        found = {pair: each.pool for pair, each in self._base.records.items()}
        return found | {pair: each.pool for pair, each in self._separators.items()}

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

    def pools(self, pairs: Iterable[int]) -> dict[int, Pool]:
        """Return the pools of some pairs, with their pending examples."""
        found = {}
        for pair in pairs:
            record = self._record(pair)
            found[pair] = pool = Pool() if record is None else record.pool
            if record is not None and len(record.pending):
                of_low = self.examples.regions[record.pending] == regions_of(pair)[0]
                found[pair] = pool.joined(record.pending, np.where(of_low, 1.0, -1.0))
        return found

    def postpone(self, pair: int, place: int, margin: float) -> None:
        """Let the example that was added wait for the next settle of a separator."""
        old = self._record(pair) or empty_separator(pair, self.scores)
        one = np.array([place])
        misfits = np.concatenate([old.misfits, one]) if margin <= 0.0 else old.misfits
        pending = np.concatenate([old.pending, one])
        self._separators[pair] = old._replace(misfits=misfits, pending=pending)
        self._postponed[pair] = margin <= 0.0
        self._least = min(self._least, margin)

    def settle(self, pools: Mapping[int, Pool], bound: float) -> None:
        """Settle some separators, by number, and store the results in the draft."""
        if not pools:
            return
        images = self.frame.images.fork()
        problem, pairs = self._problem(images), sorted(pools)
        together = max(TOGETHER // self.examples.width, 1)
        for start in range(0, len(pairs), together):
            tasks = self._tasks(pairs[start : start + together], pools)
            for task, w, b, pool, misfits, least in settle(tasks, problem, bound, self._work):
                one, pair, margin = Separator(w, b, pool, misfits), task.pair, least
                if not self.scores.near[pair]:
                    one, margin = self._decided(task, far_separator(pool, problem), images)
                elif not self.scores.has_weights:
                    one, margin = self._without_weights(task, one, least, images)
                self._separators[pair] = one
                self._moved[pair] = self.labels[task.low], self.labels[task.high]
                self._note_checked(pair, task.rows, margin)
        self.frame = self.frame._replace(images=images)

    def _tasks(self, some: list[int], pools: Mapping[int, Pool]) -> list[Task]:
        pairs = np.array(some)
        W, b = self.scores.priors(pairs)
        low, high = (each.tolist() for each in regions_of_all(pairs))
        places = {c: self.members(c).places for c in {*low, *high}}
        each = zip(pairs.tolist(), low, high, W, b.tolist(), strict=True)
        return [
            Task(pair, low, high, w, b, pools[pair], places[low], places[high])
            for pair, low, high, w, b in each
        ]

    def _problem(self, images: Images) -> Problem:
        examples, frame, pairs = self.examples, self.frame, int(np.count_nonzero(self.scores.near))
        table, end = first_rows(examples.table, examples.end), examples.end
        columns = table, examples.weights[:end], examples.digests[:end]
        return Problem(*columns, frame.geometry, images, frame.choice.lam, pairs)

    def _decided(self, task: Task, separator: Separator, images: Images) -> tuple[Separator, float]:
        # A far pair whose misfits are decided by the values that predictions are made of.
        table, origin, pool = self.examples.table, self.frame.geometry.origin, separator.pool
        pictures, places = images.of(table, pool.places), np.concatenate(task[-2:])
        scores, both, margins = self.scores, [task.low, task.high], np.empty(len(places))
        (a, b), half = scores.V[both], scores.halves[both]
        scale, coef = float(scores.scale[task.pair]), pool.signs * pool.alpha
        for part in blocks(table, len(places)):
            args = (a, b, half, scale, *pictures, coef, *rows_at(table, places[part]))
            kernels.pair_values(*args, origin, margins[part])
        margins[len(task.side) :] *= -1.0
        right = margins > 0.0
        least = float(margins[right].min(initial=np.inf))
        return separator._replace(misfits=places[~right]), least

    def _without_weights(
        self, task: Task, separator: Separator, least: float, images: Images
    ) -> tuple[Separator, float]:
        # A near pair that stores no weights: its misfits are decided by the values that predictions
        # are made of, where the least margin and the misfits with weights leave them in doubt.
        table, pool, misfits = self.examples.table, separator.pool, separator.misfits
        coef, places = pool.signs * pool.alpha, misfits
        rounding = images.rounding(table, self.examples.end) * float(pool.alpha.sum())
        if least <= rounding:
            places, least = np.concatenate(task[-2:]), np.inf
        if len(places):
            in_order = np.unique(pool.places)
            products = images.products(table[places], table, in_order)[:, pool.places]
            margins = np.cumsum(coef * (products + 1.0), axis=1)[:, -1]
            margins[~np.isin(places, task.side)] *= -1.0
            right = margins > 0.0
            misfits, least = places[~right], min(least, margins[right].min(initial=np.inf))
        return separator._replace(w=NO_WEIGHTS, b=0.0, misfits=misfits), float(least)

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
        base = Separators(self.scores) if self._replaces_all else self._base
        return base.replaced(self._separators, self.scores)

    def _move(self) -> Move | None:
        if not self._moved or self._relabelled or self._added < 0 or self._dropped:
            return None
        state, before = self.state, self.state.separators
        if self._regrouped or self._expanded or (self._replaces_all and self.scores.near_classes):
            return None  # other regions or columns, or too many separators to keep
        if len(self._removed) and before.has_far:
            return None  # the weights of far pairs are computed from rows that are gone
        moved = [pair for pair in self._moved if pair < pair_count(len(state.regions))]
        earlier = {pair: before.records.get(pair) for pair in moved}
        origin = state.frame.geometry.origin
        return Move(earlier, before.scores, len(state.regions), self._added, origin)

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
