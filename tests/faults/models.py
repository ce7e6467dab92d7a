"""Small models of every kind that a file can hold, and rows to ask them about."""

import numpy as np

from minout import Learner, ScalarCodec
from minout.features import Identity

PINNED = {"C": 5.0, "whiten": False, "lda_prior": False, "standardize": False, "regions": 1}
METRIC = {"C": 5.0, "whiten": True, "lda_prior": True, "standardize": True, "regions": 1}
NOW = 1_700_000_000.0


def plain():
    """Two labels with names, no metric."""
    return _taught(Learner(**PINNED, expand=None), 1, names=True)


def whitened():
    """A metric, discriminants, misfits, a corrected and two forgotten examples."""
    learner = _taught(Learner(**METRIC, expand=None), 5, examples=40)
    learner.correct(3, 7)
    learner.forget([5, 6])
    return learner


def regions():
    """Several regions per label."""
    settings = METRIC | {"regions": 3}
    return _taught(Learner(**settings, expand=None), 5, examples=60)


def hats():
    """Hat functions of columns."""
    return _taught(Learner(**METRIC, expand=2), 5, examples=40)


def far():
    """Near pairs, and far ones with support and misfits."""
    rng = np.random.default_rng(5)
    labels = rng.permutation(np.repeat(np.arange(7), 5))
    rows = 0.8 * rng.normal(size=(7, 3))[labels] + rng.normal(size=(35, 3))
    learner = Learner(**METRIC, expand=None, near_classes=2)
    learner.teach_many(rows, labels.tolist(), at=NOW)
    learner.forget([5, 6])
    return learner


def codes():
    """Rows as codes, of a codec with bounds."""
    learner = Learner(**METRIC, expand=2, memory=ScalarCodec(4, [-3.0] * 3, [3.0, 4.0, 5.0]))
    return _taught(learner, 5, examples=40)


def window():
    """A window that examples have fallen out of."""
    return _taught(Learner(**METRIC, expand=None, keep=25), 7, examples=40)


def weights():
    """Weights and times."""
    rows, labels = _stream(9, 30)
    learner = Learner(**METRIC, expand=None, features=Identity("float32"))
    heavy = [0.5 + n % 4 for n in range(30)]
    learner.teach_many(rows, labels.tolist(), weights=heavy, at=[NOW + n for n in range(30)])
    return learner


KINDS = (plain, whitened, regions, hats, far, codes, window, weights)
MODELS = {each.__name__: each for each in KINDS}


def questions(count=12):
    """Return rows to ask a model about: near those stored, and far from them."""
    rng = np.random.default_rng(0)
    far = np.repeat([0.5, 2.0, 20.0], [4, 4, count - 8])
    return rng.normal(size=(count, 3)) * far[:, None]


def _taught(learner, seed, *, examples=20, names=False):
    rows, labels = _stream(seed, examples)
    learner.teach_many(rows, [f"c{n}" if names else int(n) for n in labels], at=NOW)
    return learner


def _stream(seed, examples):
    # Rows in multiples of 1/8 about a centre for each of three labels, which overlap.
    rng = np.random.default_rng(seed)
    centres = np.rint(3.2 * rng.normal(size=(3, 3)))
    labels = rng.integers(0, 3, examples)
    return (centres[labels] + rng.integers(-8, 9, (examples, 3))) / 8, labels
