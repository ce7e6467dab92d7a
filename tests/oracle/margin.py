"""The margin learner from outside: all its bits, its separators by label, small streams."""

import numpy as np

from minout.learner._consolidate import consolidated

PINS = {
    "plain": {"price": 0.01, "metric": False, "prior": False, "columns": False},
    "dear": {"price": 1.0, "metric": False, "prior": False, "columns": False},
    "columns": {"price": 0.1, "metric": False, "prior": False, "columns": True},
    "metric": {"price": 0.01, "metric": True, "prior": False, "columns": False},
    "prior": {"price": 0.1, "metric": False, "prior": True, "columns": False},
    "lda": {"price": 0.001, "metric": True, "prior": True, "columns": False},
    "all": {"price": 0.1, "metric": True, "prior": True, "columns": True},
    "auto": {},
}


def snapshot(learner):
    """Copies all that counts, to the last bit; what only saves time is left out."""
    door = {name: each for name, each in vars(learner._door).items() if name != "features"}
    margin = learner._margin
    if margin is None:
        return door, None
    memory, end = margin.memory, margin.memory.end
    pairs = len(margin.labels) * (len(margin.labels) - 1) // 2
    moments, geometry = margin.moments, margin.geometry
    return {
        "door": door,
        "next id": learner._next_id,
        "memory": (end, *(_bits(each[:end]) for each in (memory._rows, memory._labels))),
        "digests": (_bits(memory._digests[:end]), _bits(memory._alive[:end])),
        "beyond": [bool(memory._alive[end:].any()), bool(memory._rows[end:].any())],
        "ids": (list(margin.ids), list(margin.place_of.items())),
        "labels": (list(margin.labels), dict(margin.class_of)),
        "members": [each.places.tolist() for each in margin.members],
        "weights": (_bits(margin.W[:pairs]), _bits(margin.b[:pairs])),
        "pools": [_pool(pool) for pool in margin.pools],
        "wrong": [each.tolist() for each in margin.wrong],
        "short": margin.short[:end].tolist(),
        "short beyond": bool(margin.short[end:].any()),
        "choice": margin.choice,
        "geometry": [None if each is None else _bits(each) for each in geometry],
        "moments": (
            moments.seen,
            *(_bits(each) for each in (moments.shift, moments.counts, moments.sums)),
            _bits(moments.squares),
            None if moments.scatter is None else _bits(moments.scatter),
        ),
        "schedule": (margin.refresh_at, margin.chosen_at, list(margin.prior_at)),
        "sketched": margin.sketch is not None,
        "before": _weights_before(margin.before_move),
    }


def differs(first, second):
    """Names the parts in which two snapshots differ."""
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return [] if first == second else ["everything"]
    return [name for name in first if first[name] != second[name]]


def model_bits(margin):
    """Gives the model by label: origin, and each pair's w and b, turned from low to high."""
    found = {pair: (_bits(w), _bits(b)) for pair, (w, b) in by_label(margin).items()}
    return margin.choice, _bits(margin.geometry.origin), found


def by_label(margin):
    """Gives w and b of each pair of labels (a, b), a < b, positive on the side of a."""
    labels, found = margin.labels, {}
    for high in range(1, len(labels)):
        for low in range(high):
            pair = high * (high - 1) // 2 + low
            w, b = margin.W[pair] + 0.0, margin.b[pair] + 0.0
            if labels[low] < labels[high]:
                found[labels[low], labels[high]] = w, b
            else:
                found[labels[high], labels[low]] = 0.0 - w, 0.0 - b
    return found


def margins_by_label(learner, x, label):
    """Gives the margins of a row under a label, {other: margin}, and the rounding to allow for."""
    margin = learner._margin
    origin, found = margin.geometry.origin, {}
    for (a, b), (w, bias) in by_label(margin).items():
        if label in (a, b):
            z = np.asarray(x, dtype=float) - origin
            f = float(w @ z + bias)
            error = 1e-14 * len(z) * (float(np.abs(w) @ np.abs(z)) + abs(float(bias)))
            found[b if label == a else a] = (f if label == a else -f), error
    return found


def all_margins(learner, known):
    """Gives {(id, other label): (margin, rounding)} of all that is known, {id: (row, label)}."""
    margin, found = learner._margin, {}
    if not known:
        return found
    ids, labels = list(known), np.array([label for _, label in known.values()], dtype=object)
    Z = np.array([row for row, _ in known.values()]) - margin.geometry.origin
    for (a, b), (w, bias) in by_label(margin).items():
        f, size = Z @ w + bias, np.abs(Z) @ np.abs(w) + abs(bias)
        for i in np.flatnonzero(labels == a).tolist():
            found[ids[i], b] = float(f[i]), 1e-14 * len(w) * float(size[i])
        for i in np.flatnonzero(labels == b).tolist():
            found[ids[i], a] = -float(f[i]), 1e-14 * len(w) * float(size[i])
    return found


def consolidated_copy(learner):
    """Gives what consolidate() would make of a learner, which is not touched."""
    new, certificate, _ = consolidated(learner._margin)
    return new, certificate


def stream(seed, *, examples=30, classes=3, features=3, apart=1.0, parts=8):
    """Draws rows in multiples of 1/parts about a centre for each class, and labels."""
    rng = np.random.default_rng(seed)
    centres = np.rint(apart * parts * rng.normal(size=(classes, features)))
    labels = rng.integers(0, classes, examples)
    return (centres[labels] + rng.integers(-parts, parts + 1, (examples, features))) / parts, labels


def _pool(pool):
    names = ("places", "signs", "alpha", "idle")
    return (_bits(pool.prior.w), pool.prior.b, *(_bits(getattr(pool, name)) for name in names))


def _bits(array):
    array = np.asarray(array)
    return array.shape, array.tobytes()


def _weights_before(before):
    if before is None:
        return None
    return {pair: (_bits(w), b) for pair, (w, b) in before.weights.items()}
