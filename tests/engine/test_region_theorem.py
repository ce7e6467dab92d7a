"""The theorems about regions (docs/theory.md): random updates try to break them; then the engine.

The first part is written from the definitions and shares no code with the engine.
"""

import os
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest

from minout import InvalidInputError, Learner

UPDATES = 1_000_000 if os.environ.get("MINOUT_LONG") else 60_000
BATCH = 5_000
EXAMPLES = 4
NEVER = 127
"""In place of a separator between two regions of one label: it clips nothing."""
SHAPES = {
    "one_each": (1, 1, 1, 1),
    "two_labels": (3, 2),
    "two_each": (2, 2, 2),
    "mixed": (3, 1, 2),
    "one_with_many": (4, 1, 1),
}
MOVES = ("one", "of_one_region", "any")


class Batch(NamedTuple):
    """Updates of random models, each with its own stored examples; all numbers are in eighths.

    `owner` (R,) is the label of each region; `region` (B, N) that of each stored example; `before`
    and `after` (B, R, R, N) have the value of each separator at each example, positive on the side
    of the first region; `moved` (B, R, R) says which separators moved.
    """

    owner: np.ndarray
    region: np.ndarray
    before: np.ndarray
    after: np.ndarray
    moved: np.ndarray


def drawn(rng, shape, move, size):
    owner = np.repeat(np.arange(len(shape)), shape)
    first, second = np.nonzero(np.triu(owner[:, None] != owner))
    values, others = (drawn_values(rng, size, len(first)) for _ in range(2))
    favour(rng, values, owner[first], owner[second])
    moved = drawn_moves(rng, move, size, first, second)
    before = as_table(values, owner, first, second)
    after = as_table(np.where(moved[:, :, None], others, values), owner, first, second)
    which = np.zeros((size, len(owner), len(owner)), dtype=bool)
    which[:, first, second] = which[:, second, first] = moved
    # Three of four examples go to a region where they are fitted, if there is one.
    at_random = rng.integers(len(owner), size=(size, EXAMPLES))
    unclipped = (before > 0).all(axis=2)
    preferred = unclipped.any(axis=1) & (rng.random((size, EXAMPLES)) < 0.75)
    # Of two such siblings, the first or the last.
    last = len(owner) - 1 - unclipped[:, ::-1].argmax(axis=1)
    fitting = np.where(rng.random((size, EXAMPLES)) < 0.5, unclipped.argmax(axis=1), last)
    return Batch(owner, np.where(preferred, fitting, at_random), before, after, which)


def drawn_values(rng, size, pairs):
    # Linear functions of two columns in half of the models, free values in the others.
    free = rng.integers(-3, 4, (size - size // 2, pairs, EXAMPLES), dtype=np.int8)
    rows = rng.integers(-2, 3, (size // 2, 2, 1, EXAMPLES), dtype=np.int8)
    weights = rng.integers(-2, 3, (size // 2, 2, pairs, 1), dtype=np.int8)
    bias = rng.integers(-2, 3, (size // 2, pairs, 1), dtype=np.int8)
    linear = weights[:, 0] * rows[:, 0] + weights[:, 1] * rows[:, 1] + bias
    return np.concatenate([free, linear])


def favour(rng, values, first, second):
    # Most values become positive for one label, in place, so that its regions are often unclipped.
    label = rng.integers(second.max() + 1, size=(len(values), 1, EXAMPLES))
    some = rng.random(values.shape, dtype=np.float32) < 0.7
    np.abs(values, out=values, where=some & (first[:, None] == label))
    np.negative(np.abs(values), out=values, where=some & (second[:, None] == label))


def drawn_moves(rng, move, size, first, second):
    pairs = np.arange(len(first))
    if move == "one":
        return pairs == rng.integers(len(pairs), size=(size, 1))
    some = rng.random((size, len(pairs))) < 0.3
    if move == "any":
        return some
    region = rng.integers(second.max() + 1, size=(size, 1))
    return some & ((first == region) | (second == region))


def as_table(values, owner, first, second):
    table = np.full((len(values), len(owner), len(owner), EXAMPLES), NEVER, dtype=np.int8)
    table[:, first, second], table[:, second, first] = values, -values
    return table


class Model(NamedTuple):
    """What follows from the values of separators, for each update and each stored example.

    `clipped` (B, R, R, N): by which neurons of which region; `fitted` (B, N): in its own region;
    `outputs` (B, labels, N): clipped at 0; `right` (B, N): the label with the highest score, of
    equal ones the first, is that of the example.
    """

    clipped: np.ndarray
    fitted: np.ndarray
    outputs: np.ndarray
    right: np.ndarray


def modelled(batch, table):
    region_scores = table.min(axis=2)
    scores = np.stack(
        [region_scores[:, batch.owner == y].max(axis=1) for y in range(batch.owner.max() + 1)],
        axis=1,
    )
    own = np.take_along_axis(region_scores, batch.region[:, None], axis=1)[:, 0]
    right = scores.argmax(axis=1) == batch.owner[batch.region]
    return Model(table <= 0, own > 0, np.maximum(scores, 0), right)


def at_risk(batch, clipped):
    """Return for which regions (B, R, N) every neuron that clips an example is one that moves."""
    outside = (clipped & ~batch.moved[..., None]).any(axis=2)
    return ~outside & batch.moved.any(axis=2)[..., None]


def by_label(batch, of_regions):
    parts = [of_regions[:, batch.owner == y].any(axis=1) for y in range(batch.owner.max() + 1)]
    return np.stack(parts, axis=1)


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_update_breaks_a_theorem_and_each_case_occurs(shape, move):
    rng = np.random.default_rng([*SHAPES[shape], MOVES.index(move)])
    counts, left = Counter(), -(-UPDATES // (len(SHAPES) * len(MOVES)))
    while left > 0:
        batch = drawn(rng, SHAPES[shape], move, min(BATCH, left))
        counts += checked(batch)
        left -= len(batch.region)
    siblings = counts.pop("outputs at siblings", 0), counts.pop("at clipped siblings", 0)
    assert (min(siblings) > 0) == (max(SHAPES[shape]) > 1)
    assert len(counts) == 7
    assert min(counts.values()) > 5


def checked(batch):
    """Check the theorems on a batch, and count what happened in it."""
    old, new = modelled(batch, batch.before), modelled(batch, batch.after)
    label = batch.owner[batch.region]
    is_own = label[:, None] == np.arange(batch.owner.max() + 1)[None, :, None]

    # Theorem 1: a fitted example has its label, and no other label has an output.
    for each in (old, new):
        assert each.right[each.fitted].all()
        assert not (((each.outputs > 0) != is_own) & each.fitted[:, None]).any()

    # Only examples of a region of which a separator moved, and misfits, lose their fit or label.
    touched = np.take_along_axis(batch.moved.any(axis=2), batch.region, axis=1)
    lost_fit, lost_label = old.fitted & ~new.fitted, old.right & ~new.right
    assert not (lost_fit & ~touched).any()
    assert not (lost_label & ~touched & old.fitted).any()

    # At a fitted example of any other region each region of another label stays clipped by it.
    against_own = np.take_along_axis(batch.after, batch.region[:, None, None], axis=2)[:, :, 0]
    others = batch.owner[None, :, None] != label[:, None]
    assert not (others & (old.fitted & ~touched)[:, None] & (against_own >= 0)).any()

    # Theorem 2: an output changes only where nothing but neurons that moved clipped a region.
    risk = at_risk(batch, old.clipped)
    assert (risk == at_risk(batch, new.clipped)).all()
    changed = old.outputs != new.outputs
    assert not (changed & ~by_label(batch, risk)).any()

    # Fitted examples at risk are those of the region's label and of the neurons that moved.
    sides = np.take_along_axis(batch.moved, batch.region[:, None], axis=2)
    assert not (risk & others & ~sides & old.fitted[:, None]).any()

    # What happened: outputs change at fitted examples of siblings, clipped ones too.
    clipped_somewhere = (old.clipped.any(axis=2) & risk).any(axis=1)
    own = np.take_along_axis(changed, label[:, None], axis=1)[:, 0]
    siblings = old.fitted & ~touched & own
    return Counter(
        {
            "fitted": old.fitted.sum(),
            "undisturbed": (old.fitted & ~risk.any(axis=1)).sum(),
            "ties": (batch.before == 0).sum(),
            "lost their fit": lost_fit.sum(),
            "misfits that lost their label": (lost_label & ~old.fitted).sum(),
            "outputs at misfits": (changed & ~old.fitted[:, None]).sum(),
            "outputs of other labels": (changed & ~is_own & old.fitted[:, None]).sum(),
            "outputs at siblings": siblings.sum(),
            "at clipped siblings": (siblings & clipped_somewhere).sum(),
        }
    )


MANUAL = {"refresh": "manual", "whiten": False}
KINDS = {
    "two": {"regions": 2, "expand": None, "lda_prior": False, "C": 5.0, **MANUAL},
    "three_lda": {"regions": 3, "expand": None, "whiten": True, "lda_prior": True, "C": 1.0},
    "two_hats": {"regions": 2, "expand": 2, "lda_prior": True, "C": 5.0, **MANUAL},
    "hats": {"regions": 1, "expand": 2, "lda_prior": False, "C": 5.0, **MANUAL},
}


class Scan:
    """All separators of a learner, evaluated at the same stored examples in plain NumPy."""

    def __init__(self, learner, ids):
        groups = learner.regions()
        self.names = [(label, i) for label, each in groups.items() for i in range(len(each))]
        self.labels = [label for label, _ in self.names]
        self.ids = ids
        self.members = {
            (label, i): set(group) for label, each in groups.items() for i, group in enumerate(each)
        }
        rows = learner.expanded([learner.example(each)[0] for each in ids]).astype(np.float64)
        self.weights, self.values, self.clear = {}, {}, True
        for a, i in self.names:
            for b, j in self.names:
                if a < b:
                    w, bias, _ = learner.separator(a, b, regions=(i, j))
                    f = rows @ w + bias
                    sizes = np.abs(rows) @ np.abs(w) + abs(bias)
                    self.clear &= bool((np.abs(f) > 1e-12 * sizes).all())
                    self.weights[a, i, b, j] = (w.tolist(), bias)
                    self.values[a, i, b, j], self.values[b, j, a, i] = f, -f

    def clipped(self, region):
        """Return the neurons of a region that clip each example, as sets of regions."""
        found = [set() for _ in self.ids]
        for other in self.names:
            if other[0] != region[0]:
                for n in np.flatnonzero(self.values[*region, *other] <= 0.0).tolist():
                    found[n].add(other)
        return found

    def moved(self, later):
        """Return for each region which of its neurons are others, or new, in a later scan."""
        found = {region: set() for region in self.names}
        for (a, i, b, j), weights in later.weights.items():
            if self.weights.get((a, i, b, j)) != weights:
                for region, other in (((a, i), (b, j)), ((b, j), (a, i))):
                    if region in found:
                        found[region].add(other)
        return found

    def disturbed(self, moved):
        """Return the ids of the examples that a move can disturb in some region, by theorem 2."""
        return {
            example
            for region, neurons in moved.items()
            if neurons
            for example, clips in zip(self.ids, self.clipped(region), strict=True)
            if clips <= neurons
        }

    def sets(self, unit, other, moved):
        """Return S1, S2 and S3 of the moved neurons of one label against another, as sets."""
        unclipped, disturbed = set(), set()
        for region, neurons in moved.items():
            theirs = {each for each in neurons if each[0] == other}
            if region[0] != unit or not theirs:
                continue
            for example, clips in zip(self.ids, self.clipped(region), strict=True):
                if not clips:
                    unclipped.add(example)
                if clips <= theirs:
                    disturbed.add(example)
        return unclipped, disturbed - unclipped, set(self.ids) - disturbed


def stripes(seed, count):
    """Draw rows of three labels on a grid: long stripes side by side, the last rows far astray."""
    rng = np.random.default_rng(seed)
    labels, along = rng.integers(3, size=count), rng.uniform(0.0, 12.0, size=count)
    noise = np.where(np.arange(count) < 90, 0.9, 1.8)
    across = 4.0 * labels + np.sin(along / 2.0) + noise * rng.normal(size=count)
    return np.round(4.0 * np.stack([across, along], axis=1)) / 4.0, labels.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_what_if_and_partition_are_what_the_definitions_say(kind):
    counts = Counter()
    rows, labels = stripes(0, 140)
    learner = Learner(**KINDS[kind], standardize=False)
    learner.teach_many(rows[:90], labels[:90])
    learner.consolidate()
    for n, (x, y) in enumerate(zip(rows[90:], labels[90:], strict=True)):
        compared(learner, x, 3 if n == 40 else y, counts)  # 3 is a new label
    assert learner.audit().ok
    assert counts["clear"] > 30
    assert counts["moved"] > 10
    assert counts["changed"] > 150
    assert counts["kept"] > 1_500
    assert counts["misfits"] > 50
    assert (counts["siblings"] > 0) == (kind in ("two", "three_lda"))


def compared(learner, x, y, counts):
    """Teach an example; compare what was said before and after with a scan of everything."""
    ids = learner.ids
    stored = np.array([learner.example(each)[0] for each in ids])
    before, scan, outputs = set(learner.misfits), Scan(learner, ids), learner.outputs(stored)
    said, report = learner.what_if(x, y), learner.teach(x, y)
    if said.refresh:  # this moves everything
        return
    assert report.refresh is None
    later, now = Scan(learner, ids), learner.outputs(stored)
    moved = scan.moved(later)
    is_new = y not in scan.labels
    # Theorem 2: no clipped output changes outside of `interfered`, in no bit.
    known = now[:, [learner.classes.tolist().index(label) for label in dict.fromkeys(scan.labels)]]
    changed = {each for each, row in zip(ids, (known != outputs).any(axis=1), strict=True) if row}
    assert changed <= set(said.interfered)
    # Theorem 1: who lost the fit was in a region of which a separator moved.
    touched = {each for region in moved if moved[region] for each in scan.members[region]}
    became = (set(learner.misfits) - before) & set(ids)
    equal = {each for each in ids if (learner.example(each)[0] == x).all()}
    assert became <= touched | equal
    assert became <= set(report.certificate.misfits)
    counts["moved"] += bool(report.certificate.moved)
    counts["changed"] += len(changed)
    counts["kept"] += len(ids) - len(said.interfered)
    counts["misfits"] += len(before)
    counts["siblings"] += len(changed - touched - before)
    if not scan.clear:
        return
    counts["clear"] += 1
    assert set(said.interfered) == scan.disturbed(moved)
    if not report.certificate.moved:
        with pytest.raises(InvalidInputError, match="no last move"):
            learner.partition()
        return
    sets = learner.partition()
    expected = {(a[0], b[0]) for a in moved for b in moved[a] if b[0] in scan.labels}
    assert set(sets) == expected
    for (unit, other), found in sets.items():
        assert [set(each) for each in found] == list(scan.sets(unit, other, moved))
    assert is_new or {i for s in sets.values() for i in (*s.s1, *s.s2)} <= set(said.interfered)
