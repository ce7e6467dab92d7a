"""What a move can disturb (docs/theory.md): whatever is said of it, against a scan of everything.

The scan is written from the definitions and shares no code with the engine.
"""

from collections import Counter

import numpy as np
import pytest

from minout import InvalidInputError, Learner
from oracle.margin import SETTINGS, everything

MANUAL = {"refresh": "manual", "whiten": False}
KINDS = {
    "two": {"regions": 2, "expand": None, "lda_prior": False, "C": 5.0, **MANUAL},
    "three_lda": {"regions": 3, "expand": None, "whiten": True, "lda_prior": True, "C": 1.0},
    "two_hats": {"regions": 2, "expand": 2, "lda_prior": True, "C": 5.0, **MANUAL},
    "hats": {"regions": 1, "expand": 2, "lda_prior": False, "C": 5.0, **MANUAL},
    "loose": SETTINGS["loose"],
    "lda": SETTINGS["lda"] | {"C": 5.0},
    "means": SETTINGS["means"] | {"refresh": "manual"},
    "auto": SETTINGS["auto"],
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
    learner = Learner(**{"standardize": False} | KINDS[kind])
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
    start, said = everything(learner), learner.what_if(x, y)
    assert everything(learner) == start
    report = learner.teach(x, y)
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
    assert list(said.interfered) == [each for each in ids if each in set(said.interfered)]
    told = {frozenset(neuron) for neuron in said.neurons}
    assert {frozenset(pair) for pair in report.certificate.moved} <= told
    assert is_new or len(told) == len(set(report.certificate.moved))
    for (unit, other), found in said.neurons.items():
        s1, s2, _ = scan.sets(unit, other, moved)
        assert set(found) == s1 | s2
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
