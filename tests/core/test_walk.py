"""Any walk of teaching, correcting, forgetting, consolidating and asking keeps every promise."""

import os
from unittest import mock

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from minout import InvalidInputError, Learner
from minout.core import draft
from minout.errors import NotConverged
from minout.features import Identity
from oracle import far, separators
from oracle.codecs import Shrinking
from oracle.margin import (
    SETTINGS,
    all_margins,
    bits,
    by_label,
    consolidated_copy,
    differs,
    everything,
    in_regions,
    model_bits,
    reloaded,
    saved,
)

EIGHTHS = st.integers(-16, 16).map(lambda n: n / 8)
WEIGHTS = st.sampled_from([1.0, 1.0, 2.0, 0.5, 3.0, 0.3])
FLOATS = st.floats(-4, 4, allow_subnormal=False).map(lambda x: round(x, 3))


class Walk(RuleBasedStateMachine):
    """A learner beside dictionaries {id: (row, label)} and {id: weight}."""

    kinds = (*SETTINGS,)
    refreshes = ("auto", "manual")
    near_classes = ("auto",)
    regions, expands, keeps = (1,), (None,), ("all",)
    memories = ("auto",)
    words, numbers = ("pear", "fig", "", "plum"), (7, -3, 0, 1)

    @initialize(data=st.data())
    def begin(self, data):
        def drawn(values, label=None):
            return data.draw(st.sampled_from(values), label=label)

        self.settings = SETTINGS[drawn(self.kinds, "settings")] | {
            "refresh": drawn(self.refreshes),
            "near_classes": drawn(self.near_classes),
            "regions": drawn(self.regions),
            "expand": drawn(self.expands),
            "keep": drawn(self.keeps),
        }
        self.dtype = drawn(["float64", "float32"])
        self.width = drawn([2, 3], "features")
        memory = drawn(self.memories, "memory")
        self.settings["memory"] = memory if isinstance(memory, str) else memory(self.width)
        self.learner = self.new_learner()
        self.coordinates = drawn([EIGHTHS, FLOATS])
        self.names = [*drawn([self.words, self.numbers])]
        self.known, self.weights, self.times, self.turns = {}, {}, {}, 0
        self.tight = self.has_taught = False
        self.judged = None

    @rule(data=st.data(), own=st.none() | st.integers(0, 30) | st.text(max_size=2))
    def teach(self, data, own):
        row, label = self.drawn_row(data), data.draw(st.sampled_from(self.names))
        if own in self.known:
            own = None
        before, start = self.start(), everything(self.learner)
        at = self.drawn_time(data)
        said = self.learner.what_if(row, label, at)
        assert everything(self.learner) == start
        weight = data.draw(WEIGHTS)
        report = self.learner.teach(row, label, id=own, weight=weight, at=at)
        self.weights[report.example_id] = weight
        if own is None:
            assert isinstance(report.example_id, int)
            assert report.example_id not in self.known
        else:
            assert report.example_id == own
        self.known[report.example_id] = row, label
        self.fall_out(report, at)
        self.judge(report.certificate, before, refreshed=report.refresh is not None)
        assert said.is_out == (report.example_id not in self.known)
        if not said.is_out:
            self.judge_pending(report)
            self.judge_said(said, report)
        assert not self.learner.is_consolidated

    @rule(seed=st.integers(0, 2**16), count=st.integers(5, 30), apart=st.sampled_from([0, 1, 8]))
    def teach_several(self, seed, count, apart):
        rng = np.random.default_rng(seed)
        centres = apart * rng.integers(-8, 9, (len(self.names), self.width))
        for i in range(count):
            k = int(rng.integers(0, len(self.names)))
            row = ((centres[k] + rng.integers(-8, 9, self.width)) / 8).tolist()
            before, weight = self.start(), float(rng.choice([1.0, 1.0, 2.0, 0.7]))
            report = self.learner.teach(row, self.names[k], weight=weight)
            self.known[report.example_id] = row, self.names[k]
            self.weights[report.example_id] = weight
            self.fall_out(report, self.NOW)
            if i % 7 == 0:
                self.judge(report.certificate, before, refreshed=report.refresh is not None)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def teach_again(self, data):
        example, start = self.drawn_id(data), everything(self.learner)
        weight = self.weights[example]
        report = self.learner.teach(*self.known[example], id=example, weight=weight)
        assert report.certificate.moved == ()
        assert report.label == self.known[example][1]
        assert everything(self.learner) == start

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def correct(self, data):
        example, label = self.drawn_id(data), data.draw(st.sampled_from(self.names))
        before = self.start()
        same = self.known[example][1] == label
        start = everything(self.learner)
        weight = data.draw(st.none() | WEIGHTS)
        report = self.learner.correct(example, label, weight)
        self.known[example] = self.known[example][0], label
        if not same:
            self.fall_out(report, self.times.get(example))
        assert (report.example_id, report.label) == (example, label)
        same = same and weight in (None, self.weights[example])
        if example in self.known:
            self.weights[example] = weight or self.weights[example]
        if same:
            assert everything(self.learner) == start
        else:
            self.judge(report.certificate, before, refreshed=report.refresh is not None)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def update(self, data):
        example, row, before = self.drawn_id(data), self.drawn_row(data), self.start()
        stored, label = self.stored_as(example), self.known[example][1]
        report = self.learner.update(example, row)
        assert (report.example_id, report.label) == (example, label)
        assert report.certificate.forgotten == ()
        if self.stored_as(example) != stored:  # it is now the last
            del self.known[example]
        self.known[example] = row, label
        assert self.learner.weight(example) == self.weights[example]
        if self.stored_as(example) != stored:
            self.judge(report.certificate, before, refreshed=report.refresh is not None)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def forget(self, data):
        ids = data.draw(st.lists(st.sampled_from([*self.known]), max_size=3, unique=True))
        before, self.has_taught = self.start(), True
        certificate = self.learner.forget(ids if len(ids) != 1 else ids[0])
        for example in ids:
            del self.known[example]
        self.judge(certificate, before)

    @precondition(lambda self: len({label for _, label in self.known.values()}) > 1)
    @rule(data=st.data())
    def forget_class(self, data):
        label = data.draw(st.sampled_from(sorted({label for _, label in self.known.values()})))
        before = self.start()
        certificate = self.learner.forget_class(label)
        self.known = {i: known for i, known in self.known.items() if known[1] != label}
        self.judge(certificate, before)

    @precondition(lambda self: self.is_taught)
    @rule()
    def settle(self):
        before, start = self.start(), everything(self.learner)
        waited = bool(self.learner.pending)
        certificate = self.learner.settle()
        assert self.learner.pending == []
        if self.keeps == ("all",):
            assert bool(certificate.moved) == waited
        assert certificate.moved or not waited
        if not certificate.moved:
            assert everything(self.learner) == start
        self.judge(certificate, before)

    @precondition(lambda self: self.is_taught)
    @rule()
    def consolidate(self):
        before = set(self.learner.misfits)
        found = self.learner.consolidate()
        now = set(self.learner.misfits)
        assert set(found.certificate.misfits) == now - before
        assert set(found.certificate.cleared) == before - now
        assert found.refresh.choice == self.learner.choice
        self.judge_all_moved(set(found.certificate.moved))
        self.judge_least(found.certificate)
        assert self.learner.is_consolidated
        self.tight = True

    @precondition(lambda self: self.is_taught)
    @rule(data=st.data())
    def ask(self, data):
        start, learner = everything(self.learner), self.learner
        row, label = self.drawn_row(data), data.draw(st.sampled_from(self.names))
        learner.what_if(row, label)
        learner.scores([row])
        suspects = learner.suspects(3)
        assert all(self.known[each.id][1] == each.label for each in suspects)
        if self.known:
            learner.predict([row], unknown=label)
            learner.explain(row)
        learner.audit()
        assert everything(learner) == start

    @precondition(lambda self: len({label for _, label in self.known.values()}) > 1)
    @rule(data=st.data())
    def teach_all_in_another_order(self, data):
        order = [*self.known]
        np.random.default_rng(data.draw(st.integers(0, 99))).shuffle(order)
        other = self.new_learner(keep="all")
        for example in order:
            other.teach(*self.known[example], id=example, weight=self.weights[example])
        ours, theirs = (model_bits(consolidated_copy(each)) for each in (self.learner, other))
        assert ours == theirs

    @precondition(lambda self: self.is_taught)
    @rule()
    def go_on_from_a_file(self):
        other = reloaded(self.learner, memory=self.own_codec())
        assert differs(saved(other), saved(self.learner)) == []
        if self.known:
            rows = [row for row, _ in self.known.values()]
            assert other.scores(rows).tobytes() == self.learner.scores(rows).tobytes()
        assert (other.misfits, other.pending) == (self.learner.misfits, self.learner.pending)
        self.learner = other

    @invariant()
    def nothing_is_lost(self):
        learner = self.learner
        assert len(learner) == len(self.known)
        assert learner.ids == [*self.known]
        assert learner.classes.tolist() == sorted({label for _, label in self.known.values()})
        assert all(example in learner for example in self.known)

    @invariant()
    def every_example_is_fitted_or_a_misfit(self):
        if not self.is_taught:
            return
        audit = self.learner.audit()
        assert audit.ok, audit.differences
        assert audit.examples == len(self.known)
        misfits = self.learner.misfits
        assert len(set(misfits)) == len(misfits)
        listed, bound = set(misfits), 1.0 - 1e-6 if self.tight else 0.5 - self.rounding()
        view = self.learner.inspect()
        slacks, twins, close = self.slacks(view), set(), set()
        pending = self.pending(view)
        assert sorted({self.learner.ids.index(i) for i, _ in pending}) == [
            self.learner.ids.index(i) for i in self.learner.pending
        ]
        assert set(audit.pending) == set(self.learner.pending)
        for (example, other), (m, error) in all_margins(
            view, in_regions(self.learner, view, self.known)
        ).items():
            if (example, other) not in pending:
                assert m + slacks.get((example, other), 0.0) >= bound - error
            else:
                assert not self.tight
            if abs(m) <= error:
                close.add(example)
            elif m < 0.0:
                assert example in listed
                twins.add(self.stored_as(example))
        right = [i for i in self.known if i not in listed and i not in close]
        if right:
            predicted = self.learner.predict([self.known[i][0] for i in right])
            assert predicted.tolist() == [self.known[i][1] for i in right]
        for example in listed - close:  # for a reason of its own, or of an equal row
            assert self.stored_as(example) in twins or close
        for example in self.known:  # equal rows are named together
            assert self.stored_as(example) not in twins or example in listed
        self.tight = False

    @invariant()
    def sums_are_those_of_what_is_stored(self):
        if not self.is_taught:
            return
        view = self.learner.inspect()
        sums, counts = view.sums, view.counts
        if sums.stale:
            return
        seen = [i for i in self.known if view.serials[i] < sums.seen]
        known = in_regions(self.learner, view, self.known)
        for c, name in enumerate(view.names[: len(counts)]):
            rows = [np.array(known[i][0]) for i in seen if known[i][1] == name]
            weights = [self.weights[i] for i in seen if known[i][1] == name]
            assert counts[c] == pytest.approx(sum(weights), abs=1e-10)
            parts = [w * (row - sums.shift) for w, row in zip(weights, rows, strict=True)]
            total = sum(parts, np.zeros(len(sums.shift)))
            assert sums.rows[c] == pytest.approx(total, abs=1e-10)
        assert all(known[i][1] in view.names[: len(counts)] for i in seen)

    @invariant()
    def consolidated_copy_is_what_the_slow_reference_finds(self):
        if len({label for _, label in self.known.values()}) < 2:
            return
        before, self.judged = self.judged, (dict(self.known), dict(self.weights))
        self.turns += 1
        if (len(self.known) > 40 or before == self.judged) and self.turns % 4:
            return
        twin = consolidated_copy(self.learner)
        new = twin.inspect()
        rows, names = zip(*in_regions(twin, new, self.known).values(), strict=True)
        labels = [label for _, label in self.known.values()]
        settings = new.choice._asdict()
        del settings["sharpness"], settings["lead"], settings["hats"]
        settings |= {"regions": names, "weights": [self.weights[i] for i in self.known]}
        origin, pairs = self.reference(new, np.array(rows), labels, settings)
        assert new.origin == pytest.approx(origin, abs=1e-12)
        found = by_label(new)
        assert set(found) == set(pairs)
        for pair, (w, b) in found.items():
            other = pairs[pair]
            size = np.abs(other.w).max() + abs(other.b) + 1e-3
            assert w == pytest.approx(other.w, rel=1e-6, abs=1e-6 * size)
            assert b == pytest.approx(other.b, rel=1e-6, abs=1e-6 * size)

    def reference(self, _, rows, labels, settings):
        """Return the origin and the optimum of each pair of regions."""
        wanted = separators.model(rows, labels, **settings)
        return wanted.origin, wanted.pairs

    def drawn_row(self, data):
        if self.known and data.draw(st.integers(0, 3)) == 0:
            return data.draw(st.sampled_from([row for row, _ in self.known.values()]))
        row = data.draw(st.lists(self.coordinates, min_size=self.width, max_size=self.width))
        return np.array(row, dtype=self.dtype).tolist()

    def drawn_id(self, data):
        return data.draw(st.sampled_from([*self.known]))

    def new_learner(self, **more):
        return Learner(**(self.settings | more), features=Identity(self.dtype))

    def stored_as(self, example):
        """Return the bits of what is stored of a row."""
        return bits(self.learner.example(example)[0])

    def own_codec(self):
        """Return the codec if it is not saved."""
        memory = self.settings["memory"]
        return memory if isinstance(memory, Shrinking) else None

    NOW = 1_700_000_000.0

    def drawn_time(self, _):
        return self.NOW

    def fall_out(self, report, _):
        """Without a window nothing is forgotten."""
        assert report.certificate.forgotten == ()

    @property
    def is_taught(self):
        """Whether something was taught, forgotten since or not."""
        return self.has_taught or len(self.known) > 0

    def rounding(self):
        """Return what the precision of the images may cost between consolidations."""
        return 1e-9 if self.dtype == "float64" else 1e-5

    def start(self):
        """Return what a step is judged by: misfits, and the separators with their origin."""
        if not self.is_taught:
            return set(), {}, b""
        view = self.learner.inspect()
        weights = {pair: (w.tobytes(), b) for pair, (w, b) in by_label(view).items()}
        return set(self.learner.misfits), weights, bits(view.origin)

    def judge(self, certificate, before, *, refreshed=False):
        """Assert that a certificate says what changed, and no more."""
        listed, weights, origin = before
        now = set(self.learner.misfits)
        assert not set(certificate.misfits) & set(certificate.cleared)
        assert set(certificate.misfits) == now - listed
        gone = listed - set(self.known)  # forgotten: these may be named as cleared or not
        assert set(certificate.cleared) - gone == listed - now - gone
        self.judge_least(certificate)
        moved = {frozenset(pair) for pair in certificate.moved}
        view = self.learner.inspect()
        label_of = dict(zip(view.names, view.labels, strict=True))
        others = {
            pair
            for pair, (w, b) in by_label(view).items()
            if frozenset(label_of[name] for name in pair) not in moved
            and pair in weights
            and (w.tobytes(), b) != weights[pair]
        }
        if self.loses_regions(weights, view):
            others = set()  # they have other numbers now
        self.judge_others(others, view, refreshed=refreshed)
        if weights and not refreshed and len(self.learner.classes):
            assert bits(view.origin) == origin

    def loses_regions(self, weights, view):
        """Return whether there were regions that are gone, of labels that are not."""
        before = {name for pair in weights for name in pair}
        labels = {(each,) for each in view.labels} | set(view.labels)
        gone = before - set(view.names)
        return any((each[:1] if isinstance(each, tuple) else each) in labels for each in gone)

    def judge_others(self, others, _, *, refreshed):
        """Assert that no separator has changed that a certificate does not name."""
        assert others == set(), refreshed

    def judge_all_moved(self, moved):
        """Assert that a consolidation moved every separator."""
        classes = sorted({label for _, label in self.known.values()})
        assert moved == {(a, b) for a in classes for b in classes if a < b}

    def judge_least(self, certificate):
        """Assert that no example of a moved pair is below the least margin, but for misfits."""
        view = self.learner.inspect()
        assert all(a != b for a, b in certificate.moved)
        assert len(set(certificate.moved)) == len(certificate.moved)
        if len(view.names) > len(set(view.labels)):
            return  # of some regions of a label, other separators may not have moved
        margins = all_margins(view, in_regions(self.learner, view, self.known))
        for a, b in certificate.moved:
            for example, (_, label) in self.known.items():
                if label in (a, b):
                    m, error = margins[example, b if label == a else a]
                    assert m <= error or m >= certificate.least_margin - error

    def judge_said(self, said, report):
        """Assert that teaching an example did what `what_if` said of it."""
        certificate, names = report.certificate, set(self.learner.classes.tolist())
        assert said.forgotten == certificate.forgotten
        assert said.refresh == (report.refresh is not None)
        if said.refresh:
            assert set(self.known) - {report.example_id} <= set(said.interfered)
            return
        assert said.pending == certificate.pending
        moved = {frozenset(pair) for pair in certificate.moved}
        touched = {frozenset(neuron) for neuron in said.neurons if set(neuron) <= names}
        assert moved <= touched
        if not said.forgotten:  # otherwise regions may be gone
            assert moved == touched

    def judge_pending(self, report):
        """Assert that a report names the separators in which its example waits."""
        example, (_, label) = report.example_id, self.known[report.example_id]
        view = self.learner.inspect()
        label_of = dict(zip(view.names, view.labels, strict=True))
        waits = {other for i, other in self.pending(view) if i == example}
        assert {frozenset(pair) for pair in report.pending} == {
            frozenset((label, label_of[other])) for other in waits
        }

    def pending(self, view):
        """Return the pairs (id, other region) that wait for the next settle of a separator."""
        found, known = set(), in_regions(self.learner, view, self.known)
        for (low, high), each in view.separators.items():
            for example in each.pending:
                found.add((example, high if known[example][1] == low else low))
        return found

    def slacks(self, view):
        """Return the slack of each example against each other region."""
        found = {}
        for (low, high), each in view.separators.items():
            for example, sign, alpha in zip(each.ids, each.signs, each.alpha, strict=True):
                slack = view.choice.lam * alpha / self.weights[example]
                found[example, high if sign > 0 else low] = slack
        return found


class Pinned(Walk):
    kinds = tuple(name for name in SETTINGS if name != "auto")


class Chosen(Walk):
    kinds, regions, expands = ("auto",), ("auto",), ("auto",)


class Divided(Walk):
    """With several regions per label, and with hat functions of the columns."""

    regions, expands = (1, 2, 3), (None, 1, 2)
    words, numbers = ("pear", "fig", ""), (7, -3, 0)

    @invariant()
    def equal_examples_are_in_one_region_after_consolidating(self):
        if self.known and self.learner.is_consolidated:
            view = self.learner.inspect()
            found = {}
            for example, (row, name) in in_regions(self.learner, view, self.known).items():
                key = tuple(row.tolist()), self.known[example][1]
                assert found.setdefault(key, name) == name

    @invariant()
    def regions_are_those_of_their_labels(self):
        if self.is_taught:
            listed = {
                i: label
                for label, parts in self.learner.regions().items()
                for p in parts
                for i in p
            }
            assert listed == {i: label for i, (_, label) in self.known.items()}
            assert all(p for parts in self.learner.regions().values() for p in parts)


class Refused(Walk):
    """With batches that are refused in the middle."""

    @rule(seed=st.integers(0, 2**16), first=st.integers(1, 9))
    def teach_many_and_be_refused(self, seed, first):
        rng, start, made = np.random.default_rng(seed), everything(self.learner), 0
        rows = (rng.integers(-16, 17, (8, self.width)) / 8).tolist()
        labels = [self.names[k] for k in rng.integers(0, len(self.names), 8).tolist()]
        real = draft.settle

        def settle(*args):
            nonlocal made
            made += 1
            if made >= first:
                raise NotConverged("on purpose")
            return real(*args)

        with mock.patch.object(draft, "settle", settle):
            try:
                reports = self.learner.teach_many(rows, labels)
            except InvalidInputError:
                assert everything(self.learner) == start
                return
        for row, label, report in zip(rows, labels, reports, strict=True):
            self.known[report.example_id] = row, label
            self.weights[report.example_id] = 1.0
            self.fall_out(report, self.NOW)


class Windowed(Refused):
    """With a window; times may go back."""

    keeps = (1, 4, 12, {"per_label": 1}, {"per_label": 3}, "5s", "20s")
    regions, expands = (1, 1, 2), (None, None, 2)

    def drawn_time(self, data):
        return self.NOW + data.draw(st.integers(-10, 10))

    def fall_out(self, report, at):
        """Assert that the examples that a certificate names are those that fall out, the oldest."""
        example, keep = report.example_id, self.settings["keep"]
        self.times[example] = at
        latest = max(self.times[i] for i in self.known)  # of those that are stored
        label = self.known[example][1]
        mine = [i for i in self.known if isinstance(keep, int) or self.known[i][1] == label]
        mine.sort(key=lambda i: (self.times[i], [*self.known].index(i)))
        if isinstance(keep, str):
            since = latest - int(keep[:-1])
            out = {i for i in self.known if self.times[i] < since}
        else:
            most = keep if isinstance(keep, int) else keep["per_label"]
            out = set(mine[: max(len(mine) - most, 0)])
        assert set(report.certificate.forgotten) == out
        for i in out:
            del self.known[i], self.times[i], self.weights[i]
        self.has_taught = True

    @precondition(lambda self: self.is_taught)
    @rule(data=st.data())
    def set_keep(self, data):
        keep, before = data.draw(st.sampled_from(self.keeps)), self.start()
        certificate = self.learner.set_keep(keep)
        self.settings["keep"] = keep
        stored = set(self.learner.ids)
        assert set(certificate.forgotten) == set(self.known) - stored
        for i in certificate.forgotten:
            del self.known[i], self.times[i], self.weights[i]
        if isinstance(keep, int):
            assert len(stored) <= keep
        self.judge(certificate, before)


class Coded(Refused):
    """With rows that are stored as codes."""

    regions, expands, keeps = (1, 1, 2), (None, None, 2), ("all",)
    memories = ("uint8", Shrinking)

    @invariant()
    def rows_are_those_that_were_taught_encoded_and_decoded(self):
        if self.own_codec() is not None:
            for example, (row, _) in self.known.items():
                decoded = self.own_codec().decode(self.own_codec().encode([row]))[0]
                decoded = decoded.astype(self.dtype)
                assert self.learner.example(example)[0].tolist() == decoded.tolist()


class CodedWindowed(Windowed):
    memories = Coded.memories


class Far(Refused):
    """With few near pairs, where far pairs without support follow the discriminants."""

    kinds = ("means", "lda", "all", "auto")
    near_classes = (1, 2)
    words, numbers = ("pear", "fig", "", "plum", "lime", "kiwi"), (7, -3, 0, 1, 4, -9)

    @invariant()
    def predictions_are_the_first_of_the_highest_scores(self):
        if not self.known:
            return
        rows = [[0.0] * self.width, *(row for row, _ in self.known.values())]
        best = self.learner.scores(rows).argmax(axis=1)
        assert self.learner.predict(rows).tolist() == self.learner.classes[best].tolist()
        audit = self.learner.audit()
        if not audit.too_close:
            assert set(audit.misfits) == set(self.learner.misfits)

    def reference(self, view, rows, labels, settings):
        """Take ties between distances as they were decided; then everything from scratch."""
        k, regions = self.settings["near_classes"], settings["regions"]
        far_pairs = {pair for pair, each in named(view).items() if each.is_far}
        if len(set(regions)) <= k + 1 or not settings["lda_prior"]:
            assert far_pairs == set()
            return super().reference(view, rows, labels, settings)
        weights = settings["weights"]
        _, K = separators.ground(
            rows,
            labels,
            columns=settings["standardize"],
            metric=settings["whiten"],
            weights=weights,
        )
        squares = far.distances(K, separators.class_means(rows, regions, weights))
        squares = {pair: each for pair, each in squares.items() if not self.are_siblings(*pair)}
        near, doubtful = far.near_pairs(squares, k)
        pairs = set(named(view))
        assert far_pairs | doubtful == (pairs - near) | doubtful
        return far.model(rows, labels, k, **settings, far=far_pairs)

    def are_siblings(self, a, b):
        """Return whether two names are those of regions of one label."""
        return isinstance(a, tuple) and a[0] == b[0]

    def judge_others(self, others, view, *, refreshed):
        """Assert that only far pairs without support follow the discriminant of one class."""
        for pair in others:
            assert named(view)[pair].is_far
            assert named(view)[pair].ids == ()
        if others and not refreshed:
            assert set.intersection(*(set(pair) for pair in others))

    def judge_all_moved(self, moved):
        """Assert that a consolidation moved every separator for which something is stored."""
        view = self.learner.inspect()
        label_of = dict(zip(view.names, view.labels, strict=True))
        pairs = {(label_of[a], label_of[b]) for a, b in named(view)}
        stored = [pair for pair, each in named(view).items() if each.ids or not each.is_far]
        assert {(label_of[a], label_of[b]) for a, b in stored} <= moved <= pairs


class FarWindowed(Windowed, Far):
    regions, expands = (1,), (None,)


class FarDivided(Far):
    regions = (2, 3)


class FarCoded(Far):
    memories = Coded.memories


def named(view):
    """Return the separators by pair of labels (a, b), a < b."""
    return {(min(pair), max(pair)): each for pair, each in view.separators.items()}


WALKS = {
    "pinned": (Pinned, 5, {}),
    "chosen": (Chosen, 2, {}),
    "all wait": (Walk, 2, {"separators.LARGE_POOL": 0, "separators.PENDING_SHARE": 3.0}),
    "many wait": (Walk, 2, {"separators.LARGE_POOL": 2, "separators.PENDING_SHARE": 0.9}),
    "fitted wait": (Walk, 2, {"separators.COSTLY": 30, "separators.FITTED_SHARE": 2.0}),
    "regions": (Divided, 3, {}),
    "window": (Windowed, 4, {}),
    "window, many wait": (
        Windowed,
        3,
        {"separators.LARGE_POOL": 4, "separators.PENDING_SHARE": 0.9},
    ),
    "codes": (Coded, 3, {}),
    "codes, one by one": (Coded, 2, {"table.BLOCK": 1, "table.COLUMNS": 1, "settle.NUMBERS": 1}),
    "codes, window": (CodedWindowed, 2, {}),
    "far": (Far, 3, {}),
    "far, codes": (FarCoded, 2, {}),
    "far, regions": (FarDivided, 2, {}),
    "far, window": (FarWindowed, 2, {}),
}
"""By a short name: the machine, how many walks are drawn, and constants of the engine."""
LONGER = 30 if os.environ.get("MINOUT_LONG") else 1


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_keeps_every_promise(walk, monkeypatch):
    machine, count, constants = WALKS[walk]
    for name, value in constants.items():
        monkeypatch.setattr(f"minout.core.{name}", value)
    limits = settings(max_examples=count * LONGER, stateful_step_count=25)
    run_state_machine_as_test(machine, settings=limits)
