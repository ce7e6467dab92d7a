"""The same bits for any number of parts, and for results in any order."""

import pickle

import numpy as np
import pytest

from minout import Learner, ScalarCodec
from minout.core import calibration, settle, sums
from oracle.codecs import Shrinking
from oracle.margin import clusters, differs, saved
from tests.cluster.conftest import Shuffled

PINNED = {"refresh": "manual", "C": 5.0, "whiten": True, "lda_prior": True, "standardize": True}
PLAIN = {"regions": 1, "expand": None}
KINDS = {
    "straight": PINNED | PLAIN,
    "plain metric": PINNED | PLAIN | {"whiten": False, "lda_prior": False},
    "regions": PINNED | {"regions": 2, "expand": None},
    "hats": PINNED | {"regions": 1, "expand": 3},
    "missing": PINNED | {"regions": 2, "expand": 3, "missing": "mean"},
    "far": PINNED | PLAIN | {"near_classes": 2},
    "bytes": PINNED | PLAIN | {"memory": "uint8"},
    "bits": PINNED | {"regions": 2, "expand": 3},
    "own codec": PINNED | PLAIN | {"memory": Shrinking(4)},
}


def drawn(kind, seed, weighs):
    rows, labels = clusters(seed, classes=6, each=9, features=4)
    more = {"memory": ScalarCodec.fit(rows, bits=4)} if kind == "bits" else {}
    rng = np.random.default_rng(seed)
    rows[rng.integers(0, len(rows), 5)] = rows[0]  # equal rows, under several labels
    if kind == "missing":
        rows[rng.random(rows.shape) < 0.1] = np.nan
    weights = rng.choice([0.3, 1.0, 2.0], len(rows)) if weighs else None
    learner = Learner(**KINDS[kind], **more)
    learner.teach_many(rows, labels, weights=weights)
    learner.forget(learner.ids[3::11])
    learner.correct(learner.ids[0], labels[1])
    return learner


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("seed", "weighs"), [(0, False), (1, True)])
def test_the_bits_do_not_depend_on_parts_or_on_the_order_of_results(kind, seed, weighs):
    learner = drawn(kind, seed, weighs)
    before, twins = pickle.dumps(learner), []
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (calibration, "MOST", 3),
            (sums, "LEAF", 4),
            (sums, "BLOCK", 4),
            (settle, "NUMBERS", 64),
        ):
            patch.setattr(module, name, value)
        learner.consolidate()
        for parts in (1, 2, 4, 7):
            shuffled = Shuffled(parts, seed + parts)
            twins.append(pickle.loads(before))
            twins[-1].consolidate(shuffled)
            assert shuffled.tasks > 2 * (parts - 1)  # sums, and two rounds of pairs
    for twin in twins:
        assert differs(saved(learner), saved(twin)) == []


def test_never_one_task_for_each_pair():
    learner = Learner(**KINDS["straight"])
    learner.teach_many(*clusters(1, classes=16, each=4))
    shuffled = Shuffled(7, 0)
    learner.consolidate(shuffled)
    assert shuffled.tasks <= 4 * 7 < 16 * 15 // 2  # two sums, two rounds
    assert learner.is_consolidated
