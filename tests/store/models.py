"""Small models of every kind that a file can hold, and what can be compared of them."""

import sqlite3

import numpy as np

from minout import Learner, ScalarCodec, store
from minout.features import Identity

PINNED = {"C": 5.0, "whiten": False, "lda_prior": False, "standardize": False, "regions": 1}
METRIC = {"C": 5.0, "whiten": True, "lda_prior": True, "standardize": True, "regions": 1}
NOW = 1_700_000_000.0
CODEC = ScalarCodec(4, [-3.0] * 3, [3.0, 4.0, 5.0])
SETTINGS = {
    "plain": PINNED | {"expand": None},
    "metric": METRIC | {"expand": None, "features": Identity("float32")},
    "regions": METRIC | {"regions": 3, "expand": None},
    "hats": METRIC | {"expand": 2},
    "missing": METRIC | {"expand": None, "missing": "mean"},
    "window": METRIC | {"expand": None, "keep": 25},
    "codes": METRIC | {"expand": 2, "memory": CODEC},
    "far": METRIC | {"expand": None, "near_classes": 2},
    "auto": {},
}
"""Settings that store different things, by a short name."""


def rows_and_labels(seed, count, *, labels=3):
    """Draw rows in multiples of 1/8 about a centre for each label; the labels overlap."""
    rng = np.random.default_rng(seed)
    centres = np.rint(3.2 * rng.normal(size=(labels, 3)))
    numbers = rng.integers(0, labels, count)
    rows = (centres[numbers] + rng.integers(-8, 9, (count, 3))) / 8
    return rows, [f"c{n}" for n in numbers]


def taught(kind, *, count=40, learner=None):
    """Return a learner of some kind that was taught, corrected, and has forgotten examples."""
    learner = Learner(**SETTINGS[kind]) if learner is None else learner
    rows, labels = rows_and_labels(5, count, labels=7 if kind == "far" else 3)
    if kind == "missing":
        rows[::5, 1] = np.nan
    weights = [0.5 + n % 4 for n in range(count)] if kind == "metric" else None
    times = [NOW + n for n in range(count)]
    learner.teach_many(rows, labels, weights=weights, at=times)
    if kind != "window":
        learner.correct(3, "c1" if labels[3] != "c1" else "c2")
        learner.forget([5, 6])
    learner.notes["of"] = kind
    return learner


def questions(count=12):
    """Return rows to ask a model about: near those stored, and far from them."""
    rng = np.random.default_rng(0)
    far = np.repeat([0.5, 2.0, 20.0], [4, 4, count - 8])
    return rng.normal(size=(count, 3)) * far[:, None]


def answers(learner):
    """Return what a model says: scores as bits, ids, labels, misfits, corrections."""
    if not len(learner):
        return (learner.ids, learner.notes)
    rows = questions()
    return (
        learner.scores(rows).tobytes(),
        learner.predict(rows).tolist(),
        learner.ids,
        learner.misfits,
        learner.pending,
        learner.corrected,
        [learner.example(each)[1] for each in learner.ids],
        [(learner.weight(each), learner.time(each)) for each in learner.ids],
        learner.notes,
    )


def records(source):
    """Return all records of a file, of bytes or of a learner, without their versions."""
    if isinstance(source, Learner):
        source = store.to_bytes(source._state, store.encode_notes(source.notes))
    connection = sqlite3.connect(":memory:" if isinstance(source, bytes) else source)
    try:
        if isinstance(source, bytes):
            connection.deserialize(source)
        found = {}
        for table in ("examples", "rows", "separators", "frame"):
            cursor = connection.execute(f"SELECT * FROM {table} ORDER BY 1")
            names = [each[0] for each in cursor.description]
            found[table] = [
                {name: each for name, each in zip(names, row, strict=True) if name != "version"}
                for row in cursor
            ]
        return found
    finally:
        connection.close()


def differing(one, other):
    """Name the records in which two of them differ."""
    one, other = records(one), records(other)
    return [
        (table, next(iter(row.values())), [name for name in row if row[name] != twin.get(name)])
        for table in one
        for row, twin in zip(one[table], other[table] + [{}] * len(one[table]), strict=False)
        if row != twin
    ] + [table for table in one if len(one[table]) != len(other[table])]
