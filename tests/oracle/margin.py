"""A learner from outside: all that it knows, its separators by label, small streams."""

import copy
import tempfile
from pathlib import Path

import numpy as np

from minout import InvalidInputError, Learner

STRAIGHT = {"regions": 1, "expand": None}
SETTINGS = {
    "plain": STRAIGHT | {"C": 50.0, "whiten": False, "lda_prior": False, "standardize": False},
    "loose": STRAIGHT | {"C": 0.5, "whiten": False, "lda_prior": False, "standardize": False},
    "scaled": STRAIGHT | {"C": 5.0, "whiten": False, "lda_prior": False, "standardize": True},
    "whitened": STRAIGHT | {"C": 50.0, "whiten": True, "lda_prior": False, "standardize": False},
    "means": STRAIGHT | {"C": 5.0, "whiten": False, "lda_prior": True, "standardize": False},
    "lda": STRAIGHT | {"C": 500.0, "whiten": True, "lda_prior": True, "standardize": False},
    "all": STRAIGHT | {"C": 5.0, "whiten": True, "lda_prior": True, "standardize": True},
    "auto": STRAIGHT,
}
"""Pinned settings by a short name."""

IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where files are written that are only compared."""


def saved(learner):
    """Return all that a learner knows, as plain values by name that can be compared."""
    view, ids = {}, learner.ids
    if learner.width is not None:
        view = learner.inspect()._asdict()
        del view["images"], view["places"]  # a cache, and numbers that nobody sees
        view["sums"] = view["sums"]._replace(scatter=None, scattered=0)  # a cache, too
        for name in ("K", "precision"):  # of a symmetric matrix the lower half is stored
            if view[name] is not None and view[name].ndim == 2:
                view[name] = np.tril(view[name])
        view["members"] = {name: frozenset(each) for name, each in view["members"].items()}
    facts = {
        "settings": learner.settings,
        "width": learner.width,
        "notes": copy.deepcopy(learner.notes),
        "schema": learner.schema.to_notes(),
        "corrected": dict(learner.corrected),
        "consolidated": learner.is_consolidated,
        "labels of ids": [learner.example(each)[1] for each in ids],
        "rows": [learner.example(each)[0] for each in ids],
        "weights": [learner.weight(each) for each in ids],
        "times": [learner.time(each) for each in ids],
        "ids": ids,
    }
    return {name: plain(value) for name, value in {**view, **facts}.items()}


def plain(value):
    """Return a value with its arrays as bytes."""
    if isinstance(value, np.ndarray):
        return bits(value)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return tuple(plain(each) for each in value)
    return value


def reloaded(learner, features=None, memory=None):
    """Return a learner that was loaded from the file that another one saved."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        learner.save(Path(folder) / "model")
        return Learner.load(Path(folder) / "model", features=features, memory=memory)


def differs(first, second):
    """Name the facts in which two learners differ, as `saved` returns them."""
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]


def last_move(learner):
    """Return what `partition` tells of the last call, None if it tells nothing; it is not saved."""
    try:
        return learner.partition()
    except InvalidInputError:
        return None


def everything(learner):
    """Return all of a learner that a call could change: what is saved, and the last move."""
    return saved(learner), last_move(learner)


def model_bits(learner):
    """Return the model by label: choice, origin, and each pair's w and b, turned low to high."""
    view = learner.inspect()
    found = {pair: (bits(w), bits(b)) for pair, (w, b) in by_label(view).items()}
    return view.choice, bits(view.origin), found


def by_label(view):
    """Return w and b of each pair of regions (a, b), a < b, by name, positive on the side of a."""
    found = {}
    for (low, high), each in view.separators.items():
        w, b = each.w + 0.0, np.float64(each.b) + 0.0
        if low < high:
            found[low, high] = w, b
        else:
            found[high, low] = 0.0 - w, 0.0 - b
    return found


def margins_by_label(view, x, label):
    """Return the margins of a row under a label, {other: margin}, and the rounding to allow for."""
    found = {}
    for (a, b), (w, bias) in by_label(view).items():
        if label in (a, b):
            z = np.asarray(x, dtype=float) - view.origin
            f = float(w @ z + bias)
            error = 1e-14 * len(z) * (float(np.abs(w) @ np.abs(z)) + abs(float(bias)))
            found[b if label == a else a] = (f if label == a else -f), error
    return found


def all_margins(view, known):
    """Return {(id, other region): (margin, rounding)} of all that is known, {id: (row, region)}."""
    found = {}
    if not known:
        return found
    ids, labels = list(known), [label for _, label in known.values()]
    Z = np.array([row for row, _ in known.values()]) - view.origin
    for (a, b), (w, bias) in by_label(view).items():
        f, size = Z @ w + bias, np.abs(Z) @ np.abs(w) + abs(bias)
        each = view.separators[(a, b) if (a, b) in view.separators else (b, a)]
        if each.is_far:  # its margins are sums of these terms
            rows = np.array([known[i][0] for i in each.ids]).reshape(-1, len(w)) - view.origin
            images = np.abs(rows * view.K if view.K.ndim == 1 else rows @ view.K)
            size += np.abs(Z) @ (each.alpha @ images + 10.0 * np.abs(each.prior_w))
            size += each.alpha.sum() + 10.0 * abs(each.prior_b)
        for i in [i for i, each in enumerate(labels) if each == a]:
            found[ids[i], b] = float(f[i]), 1e-14 * len(w) * float(size[i])
        for i in [i for i, each in enumerate(labels) if each == b]:
            found[ids[i], a] = -float(f[i]), 1e-14 * len(w) * float(size[i])
    return found


def in_regions(learner, view, known):
    """Return {id: (expanded row, name of its region)} of {id: (row, label)}.

    The name is the label if every label has one region.
    """
    name_of = {i: name for name, ids in view.members.items() for i in ids}
    if not known:
        return {}
    rows = learner.expanded([row for row, _ in known.values()])
    return {i: (row, name_of[i]) for i, row in zip(known, rows, strict=True)}


def consolidated_copy(learner):
    """Return a copy of a learner that has been consolidated; the learner is not touched."""
    twin = copy.deepcopy(learner)
    twin.consolidate()
    return twin


def stream(seed, *, examples=30, classes=3, features=3, apart=1.0, parts=8):
    """Draw rows in multiples of 1/parts about a centre for each class, and labels."""
    rng = np.random.default_rng(seed)
    centres = np.rint(apart * parts * rng.normal(size=(classes, features)))
    labels = rng.integers(0, classes, examples)
    return (centres[labels] + rng.integers(-parts, parts + 1, (examples, features))) / parts, labels


def bits(array):
    """Return the shape and the bytes of an array."""
    array = np.asarray(array)
    return array.shape, array.tobytes()


def clusters(seed, *, classes=9, each=5, features=4, apart=1.5, dtype="float64"):
    """Draw normal rows about a normal centre for each class, in random order, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(classes), each))
    centres = apart * rng.normal(size=(classes, features))
    rows = centres[labels] + rng.normal(size=(len(labels), features))
    return rows.astype(dtype), labels.tolist()
