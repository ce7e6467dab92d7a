"""The margin learner behind the door: one exact separator per pair of classes.

Classes are numbered as they come; the separator of classes o < c has number c(c - 1)/2 + o and is
positive on the side of o. Examples are known by their place in the memory; ids are the caller's.
"""

import time
from collections.abc import Callable

import numpy as np

from minout import kernels, maths
from minout._typing import Floats, Ints
from minout.learner._before import Before
from minout.learner._check import MANY
from minout.learner._members import Members
from minout.learner._moments import RunningMoments
from minout.learner._reference import Reference
from minout.learner._settle import Job, Settled, settle
from minout.learner._sketch import DIRECTIONS, LARGEST, Sketch
from minout.learner.certificate import Certificate, Id, Label, Refresh
from minout.maths import Geometry, Prior
from minout.memory import RamMemory, give_back
from minout.rules import Choice, Ground, MarginRule, Pictures, Pool, Shape, choose, picked

SELDOM = 128
"""One in so many moves, and every refresh, ends with giving back memory that is not needed."""
LEFT_ALONE = 0.5
"""θ: while streaming, a stored example is left alone while its public margin reaches this."""
TIGHT = 1.0 - 1e-9
"""What consolidate() asks of everybody who has no private parameter."""
WIDE = 4_096
"""A metric of more columns than this, of 134 MB, is used only if it is pinned."""
FIRST_PRIORS = 5
"""Priors of a class are renewed at 5, 20, 80, … examples of it."""
NOBODY: Ints = np.empty(0, dtype=np.int64)


class Margin:
    """Owns memory, separators, pools and sums, and keeps them in step.

    Every change is worked out beside what is there and put in place at the end; a change that
    fails or is interrupted leaves everything as it was.
    """

    def __init__(self, rule: MarginRule, memory: RamMemory) -> None:
        width = memory.features
        self.rule = rule
        self.memory = memory
        self.ids: list[Id] = []
        self.place_of: dict[Id, int] = {}
        self.labels: list[Label] = []
        self.class_of: dict[Label, int] = {}
        self.members: list[Members] = []
        self.W: Floats = np.zeros((1, width))
        self.b: Floats = np.zeros(1)
        self.pools: list[Pool] = []
        self.wrong: list[Ints] = []
        self.references: list[Reference] = []
        self.short: Ints = np.zeros(8, dtype=np.int64)
        """How many pairs of its class have each place on the wrong side: the exceptions' index."""
        self.listed: frozenset[int] = frozenset()
        """The digests of the rows on a wrong side."""
        self.prior_at: list[int] = []
        self.sketch: Sketch | None
        self.refresh_at: int
        self.chosen_at: tuple[int, int]
        self._begin(np.zeros(width, dtype=memory.dtype))
        self.before_move: Before | None = None

    def learn(self, x: Floats, label: Label, example_id: Id) -> tuple[Certificate, Refresh | None]:
        """Stores x (d,) under a label and settles the separators that do not suit it."""
        c = self.class_of.get(label)
        if c is not None and not self.is_due(c):
            least = float(self.margins(x, c).min())
            if least >= LEFT_ALONE:
                digest = self._store(x, c, example_id)
                equal_to_listed = (example_id,) if digest in self.listed else ()
                return Certificate((), 0, least, equal_to_listed, ()), None
        return self._learn_and_move(x, label, example_id)

    @kernels.one_blas_thread()
    def _learn_and_move(
        self, x: Floats, label: Label, example_id: Id
    ) -> tuple[Certificate, Refresh | None]:
        try:
            return self._step(x, label, example_id)
        except ArithmeticError:
            if not self.refreshes_next():
                raise
        # A refresh that fails is put off; the example is learned as things stand.
        due, self.refresh_at = self.refresh_at, 2 * self.refresh_at
        try:
            return self._step(x, label, example_id)
        except BaseException:
            self.refresh_at = due
            raise

    def _step(self, x: Floats, label: Label, example_id: Id) -> tuple[Certificate, Refresh | None]:
        before = Before(self)
        try:
            c = self.class_of.get(label)
            if c is None:
                c = self._add_class(label, x)
            self._store(x, c, example_id)
            step = self._settle_around(self.memory.end - 1, before)
            self.before_move = before
        except BaseException:
            before.put_back(self)
            raise
        before.let_go()
        if step[1] is not None or self.memory.end % SELDOM == 0:
            give_back()
        return step

    @kernels.one_blas_thread()
    def relabel(self, place: int, label: Label) -> tuple[Certificate, Refresh | None]:
        """Moves a stored example to another class, in one step."""
        before = Before(self)
        try:
            c = self.class_of.get(label)
            if c is None:
                c = self._add_class(label, self.memory.table[place])
            before.keep_labels(self)
            self.moments.remove(self.memory, np.array([place]))
            left = self._leave(np.array([place]))
            self.memory.relabel(place, c)
            self.moments.widen(len(self.labels))
            self.moments.put_back(self.memory, np.array([place]))
            self.members[c].append(place)
            first = self._settle_left(left, before)
            self._drop_empty()
            second, refresh = self._settle_around(place, before)
            self.before_move = None
        except BaseException:
            before.put_back(self)
            raise
        moved = tuple(dict.fromkeys(first.moved + second.moved))
        least = min(first.least_margin, second.least_margin)
        checked = first.checked + second.checked
        return second._replace(moved=moved, checked=checked, least_margin=least), refresh

    @kernels.one_blas_thread()
    def forget(self, places: Ints) -> Certificate:
        """Takes examples out and settles again the separators that rested on them."""
        before, done = Before(self), False
        try:
            before.keep_labels(self)
            self.moments.remove(self.memory, places)
            self.moments.leave_out(places)
            left = self._leave(places)
            before.leaving = places
            certificate = self._settle_left(left, before)
            self._drop_empty()
            appeared, cleared = self._note_exceptions(before)
            certificate = certificate._replace(exceptions=appeared, cleared=cleared)
            gone = {self.ids[place] for place in places.tolist()}
            kept = {i: place for i, place in self.place_of.items() if i not in gone}
            done = True
            self._wipe(places, kept)
        except BaseException:
            if done:  # forgotten is forgotten, interrupted or not
                self._wipe(places, kept)
            else:
                before.put_back(self)
            raise
        return certificate

    def is_due(self, c: int) -> bool:
        """Says whether one more example of class c brings a refresh, or new priors."""
        if self.rule.refresh == "manual" or len(self.labels) == 1:
            return False
        if self.refreshes_next():
            return True
        return self.choice.shape.prior and self.members[c].count + 1 >= self.prior_at[c]

    def first_choice(self) -> Choice:
        """Is what holds until there is enough to choose by."""
        return Choice(self.rule.shapes()[0], self.rule.prices()[0])

    def label_at(self, place: int) -> Label:
        """Is the label of a stored example."""
        return self.labels[int(self.memory.labels([place])[0])]

    def pair_of(self, a: Label, b: Label) -> int:
        """Numbers the separator of two labels."""
        return _pair(self.class_of[a], self.class_of[b])

    def refreshes_next(self) -> bool:
        """Says whether one more example brings a refresh."""
        return self.rule.refresh == "auto" and len(self.place_of) + 1 >= self.refresh_at

    def margins(self, x: Floats, c: int) -> Floats:
        """Gives the margins that x has as an example of class c: (classes,), inf against itself."""
        out = np.full(len(self.labels), np.inf)
        kernels.class_margins(self.W, self.b, x, self.geometry.origin, c, out)
        return out

    def activations(
        self, W: Floats, b: Floats, places: Ints, origin: Floats | None = None
    ) -> Floats:
        """Gives w·(x - origin) + b of some weights at stored rows: (len(W), len(places))."""
        out = np.empty((len(W), len(places)))
        origin = self.geometry.origin if origin is None else origin
        for w, bias, row in zip(W, b.tolist(), out, strict=True):
            kernels.activations(w, bias, self.memory.table, places, origin, row)
        return out

    def scores(self, X: Floats) -> Floats:
        """Gives the least margin that each row would have in each class: (n, classes)."""
        out = np.empty((len(X), len(self.labels)))
        kernels.scores(self.W, self.b, X, self.geometry.origin, out)
        return out

    def exceptions(self) -> Ints:
        """Lists the places on the wrong side of a separator of their class, and equal rows' places.

        Of equal rows under two labels one is wrong because the other is right: both are named.
        """
        return self.memory.equal_to(np.flatnonzero(self.short[: self.memory.end]))

    def set_wrong(self, wrong: list[Ints]) -> None:
        """Takes over who is on the wrong side of each separator."""
        self.wrong = wrong
        self.references = [Reference() for _ in wrong]
        self.short = np.zeros(max(self.memory.end, 8), dtype=np.int64)
        for places in wrong:
            self.short[places] += 1
        listed = np.flatnonzero(self.short[: self.memory.end])
        self.listed = frozenset(self.memory.digests(listed).tolist())

    def _store(self, x: Floats, c: int, example_id: Id) -> int:
        # Take a row in, and give its digest.
        place, count, move = self.memory.end, self.members[c].count, self.before_move
        try:
            if place == len(self.short):
                self.short = np.concatenate([self.short, np.zeros_like(self.short)])
            self.memory.add(x, c)
            self.members[c].append(place)
            self.ids.append(example_id)
            self.place_of[example_id] = place
            self.before_move = None
            return self.memory.digest(place)
        except BaseException:
            self.before_move = move
            self.memory.truncate(place)
            self.members[c].count = count
            del self.ids[place:]
            self.place_of.pop(example_id, None)
            raise

    def _add_class(self, label: Label, x: Floats) -> int:
        c = len(self.labels)
        if c == 0:
            self._begin(x)
        pairs = c * (c + 1) // 2
        if pairs > len(self.b):
            W, b = np.zeros((2 * pairs, self.W.shape[1])), np.zeros(2 * pairs)
            W[: len(self.b)], b[: len(self.b)] = self.W, self.b
            self.W, self.b = W, b
        self.labels.append(label)
        self.class_of[label] = c
        self.members.append(Members())
        self.prior_at.append(FIRST_PRIORS)
        nowhere = self._no_prior()
        self.pools.extend(Pool(nowhere) for _ in range(c))
        self.references.extend(Reference() for _ in range(c))
        self.wrong.extend(NOBODY for _ in range(c))
        return c

    def _begin(self, x: Floats) -> None:
        # Measure from the first row, until there is more to measure by.
        ones = np.ones(self.memory.features)
        self.choice = self.first_choice()
        self.moments = RunningMoments(x)
        self.moments.seen = self.memory.end
        self.geometry = Geometry(self.moments.shift, ones, ones)
        self.pictures = Pictures(self.geometry, self.memory.dtype)
        self.sketch, self.refresh_at, self.chosen_at = None, 2, (0, 0)

    def _settle_around(self, place: int, before: Before) -> tuple[Certificate, Refresh | None]:
        # Settle the pairs of a new member's class that do not suit it.
        c = int(self.memory.labels([place])[0])
        if len(self.labels) == 1:
            return self._settle([], LEFT_ALONE, before), None
        if self.rule.refresh == "auto" and len(self.place_of) >= self.refresh_at:
            return self._refresh(before)
        others = [o for o in range(len(self.labels)) if o != c]
        margins = self.margins(self.memory.table[place], c)
        renewed = self._priors_due(c)
        jobs, start = [], None
        for o in others:
            short, fresh = margins[o] < LEFT_ALONE, not len(self.pools[_pair(c, o)].places)
            if not (short or renewed or fresh):
                continue
            pool = self.pools[_pair(c, o)].copy()
            if renewed or fresh:
                start = start or self._starts()
                pool.restart(start(min(c, o), max(c, o)))
            if (short or fresh) and place not in pool.places:
                pool.join(np.array([place]), np.array([1.0 if c < o else -1.0]))
            jobs.append(self._job(min(c, o), max(c, o), pool))
        return self._settle(jobs, LEFT_ALONE, before), None

    def _priors_due(self, c: int) -> bool:
        if not self.choice.shape.prior:
            return False
        count = self.members[c].count
        due = count >= self.prior_at[c] and self.rule.refresh == "auto"
        if due or count == 1:
            self.prior_at[c] = _next_priors(count)
            self.moments.catch_up(self.memory, len(self.labels))
        return due

    def _leave(self, places: Ints) -> list[int]:
        # Take places out of their classes and pools; list the pairs that rested on them.
        rested = []
        for c in np.unique(self.memory.labels(places)).tolist():
            self.members[c] = self.members[c].without(places)
            for o in range(len(self.labels)):
                if o == c:
                    continue
                pair = _pair(c, o)
                self.references[pair] = Reference()
                self.short[self.wrong[pair]] -= 1
                self.wrong[pair] = self.wrong[pair][~np.isin(self.wrong[pair], places)]
                self.short[self.wrong[pair]] += 1
                pool = self.pools[pair]
                leaving = np.isin(pool.places, places)
                if leaving.any():
                    if (pool.alpha[leaving] > 0.0).any() and pair not in rested:
                        rested.append(pair)
                    self.pools[pair] = pool = pool.copy()
                    pool.leave(places)
        return rested

    def _settle_left(self, rested: list[int], before: Before) -> Certificate:
        jobs = []
        for high in range(1, len(self.labels)):
            for low in range(high):
                both = self.members[low].count and self.members[high].count
                if _pair(low, high) in rested and both:
                    jobs.append(self._job(low, high, self.pools[_pair(low, high)].copy()))
        return self._settle(jobs, LEFT_ALONE, before)

    def _drop_empty(self) -> None:
        # A class whose last example is gone leaves the model.
        kept = [c for c, members in enumerate(self.members) if members.count]
        if len(kept) == len(self.labels):
            return
        pairs = [_pair(low, high) for h, high in enumerate(kept) for low in kept[:h]]
        W, b = np.zeros((max(len(pairs), 1), self.W.shape[1])), np.zeros(max(len(pairs), 1))
        W[: len(pairs)], b[: len(pairs)] = self.W[pairs], self.b[pairs]
        new_number = {c: i for i, c in enumerate(kept)}
        labels = self.memory.labels_by_id()
        renamed = np.array([new_number.get(int(c), 0) for c in labels], dtype=np.int64)
        self.moments.keep_classes(kept)
        self.W, self.b = W, b
        self.pools = [self.pools[pair] for pair in pairs]
        self.wrong = [self.wrong[pair] for pair in pairs]
        self.references = [self.references[pair] for pair in pairs]
        self.members = [self.members[c] for c in kept]
        self.prior_at = [self.prior_at[c] for c in kept]
        self.labels = [self.labels[c] for c in kept]
        self.class_of = {label: c for c, label in enumerate(self.labels)}
        self.memory.relabel_all(renamed)
        self.short[:] = 0
        for wrong in self.wrong:
            self.short[wrong] += 1

    def _wipe(self, places: Ints, kept: dict[Id, int]) -> None:
        self.place_of, self.before_move = kept, None
        for place in places.tolist():
            if place in self.memory:
                self.memory.discard(place)
            self.pictures.discard(place)
            self.ids[place] = ""

    def _refresh(self, before: Before) -> tuple[Certificate, Refresh]:
        start = time.perf_counter()
        order = self.memory.ids()
        classes = len(self.labels)
        anew = len(order) >= 4 * self.chosen_at[0] or classes > 1.5 * self.chosen_at[1]
        if anew:
            anew = self._choose(order)
        self.moments.catch_up(self.memory, classes)
        give_back()  # each of these needs much, and not at the same time
        self._measure(order)
        give_back()
        self.pictures = Pictures(self.geometry, self.memory.dtype)
        certificate = self._settle_all(LEFT_ALONE, before)
        return certificate, Refresh(time.perf_counter() - start, self.choice, anew)

    def _settle_all(self, bound: float, before: Before) -> Certificate:
        jobs, start = [], self._starts()
        for high in range(1, len(self.labels)):
            for low in range(high):
                old = self.pools[_pair(low, high)]
                pool = old.on_new_ground(start(low, high))
                self.references[_pair(low, high)] = Reference()
                if not len(pool.places):
                    firsts = [self.members[c].places[0] for c in (low, high)]
                    pool.join(np.array(firsts), np.array([1.0, -1.0]))
                jobs.append(self._job(low, high, pool))
        pooled = [job.pool.places for job in jobs]
        if pooled:
            self.pictures.of(self.memory.table, np.unique(np.concatenate(pooled)))
        certificate = self._settle(jobs, bound, before)
        self.refresh_at = 2 * len(self.place_of)
        self.prior_at = [_next_priors(members.count) for members in self.members]
        return certificate

    def _choose(self, order: Ints) -> bool:
        labels, digests = self.memory.labels(order), self.memory.digests(order)
        few = picked(digests, labels)
        if len(np.unique(labels[few])) < 2:
            return False
        X = self.memory.rows(order[few]).astype(np.float64)
        self.choice = choose(X, labels[few], digests[few], self._shapes(), self.rule.prices())
        self.chosen_at = (len(order), len(self.labels))
        return True

    def _shapes(self) -> tuple[Shape, ...]:
        shapes = self.rule.shapes()
        narrow = tuple(shape for shape in shapes if not shape.metric)
        return narrow if narrow and self.memory.features > WIDE else shapes

    def _measure(self, order: Ints) -> None:
        shape, d = self.choice.shape, self.memory.features
        if not shape.metric:
            self.geometry = maths.plain(self.moments.moments(), columns=shape.columns)
        elif 2 * len(order) <= d:
            X, labels = self.memory.rows(order).astype(np.float64), self.memory.labels(order)
            moments = self.moments.moments()
            self.geometry = maths.metric_of_few(moments, X, labels, columns=shape.columns)
        else:
            self.moments.with_scatter(self.memory, order)
            self.geometry = maths.metric(self.moments.moments(), columns=shape.columns)
        self.sketch_anew(order)

    def sketch_anew(self, order: Ints) -> None:
        """Finds directions along which the stored rows vary most, where bounds pay."""
        self.sketch = None
        if len(order) >= MANY and self.memory.features > 2 * DIRECTIONS:
            by_digest = np.argsort(self.memory.digests(order), kind="stable")
            sample = self.memory.rows(order[by_digest[:MANY]])
            if np.abs(sample).max() <= LARGEST:
                self.sketch = Sketch(self.geometry.origin, sample)

    def _starts(self) -> Callable[[int, int], Prior]:
        # Where the separators of two classes start from.
        if not self.choice.shape.prior:
            nowhere = self._no_prior()
            return lambda _, __: nowhere
        means = self.moments.means()
        return lambda low, high: maths.prior(self.geometry, means[low], means[high])

    def _no_prior(self) -> Prior:
        return Prior(np.zeros(self.memory.features), 0.0)

    def _job(self, low: int, high: int, pool: Pool) -> Job:
        pair = _pair(low, high)
        sides = (self.members[low].places, self.members[high].places)
        return Job(pair, low, high, pool, sides, self.references[pair])

    def _settle(self, jobs: list[Job], bound: float, before: Before) -> Certificate:
        if self.sketch is not None and jobs and not self.sketch.catch_up(self.memory):
            self.sketch = None
        table, pools = self.memory.table, len(self.pools)
        ground = Ground(table, self.geometry, self.pictures, self.choice.price, pools)
        settled = settle(jobs, ground, bound, self.sketch)
        before.keep_weights(self, [job.pair for job in jobs])
        return self._publish(settled, before)

    def _publish(self, settled: list[Settled], before: Before) -> Certificate:
        for job, w, b, found in settled:
            for places, more in ((self.wrong[job.pair], -1), (found.wrong, 1)):
                if len(places):
                    self.short[places] += more
            self.W[job.pair], self.b[job.pair] = w, b
            self.pools[job.pair], self.wrong[job.pair] = job.pool, found.wrong
        appeared, cleared = self._note_exceptions(before)
        return Certificate(
            tuple((self.labels[each.job.low], self.labels[each.job.high]) for each in settled),
            sum(each.found.checked for each in settled),
            min((each.found.least for each in settled), default=np.inf),
            appeared,
            cleared,
        )

    def _note_exceptions(self, before: Before) -> tuple[tuple[Id, ...], tuple[Id, ...]]:
        # Who has become an exception in this step, and who has ceased to be one.
        wrong = np.flatnonzero(self.short[: self.memory.end])
        self.listed = frozenset(self.memory.digests(wrong).tolist())
        appeared, cleared = before.changed(self)
        return (
            tuple(self.ids[place] for place in appeared.tolist()),
            tuple(self.ids[place] for place in cleared.tolist()),
        )


def _pair(a: int, b: int) -> int:
    high, low = max(a, b), min(a, b)
    return high * (high - 1) // 2 + low


def _next_priors(count: int) -> int:
    at = FIRST_PRIORS
    while at <= count:
        at *= 4
    return at
