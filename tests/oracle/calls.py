"""Arguments of each kernel that fit each other: 3 regions, 4 features, 5 rows, or so."""

import numpy as np

from minout import kernels
from minout.maths import NgramWeights, SparseRows

floats, ints, slots = np.zeros, lambda n: np.zeros(n, np.int64), lambda n: np.zeros(n, np.int32)
codes, bools = lambda *shape: np.zeros(shape, np.uint8), lambda n: np.zeros(n, np.bool_)
none, order = np.empty((0, 0)), kernels.Order(np.arange(3), np.arange(3))
far = kernels.Far(
    floats((3, 4)), floats(3), np.arange(3), floats(3), np.full(3, -1, np.int32), ints(2),
    np.array([0, 2]), floats((2, 3)), floats(2), ints(2), floats((1, 4)), ints(1), floats((1, 4)),
    floats(1), none,
)  # fmt: skip
table, rows, v = floats((5, 4)), ints(2), floats(4)
V, X = np.zeros((3, 4), np.float32), np.ones((5, 4))
planes, lines = np.zeros((2, 4, 6), np.float32), np.zeros((4, 6), np.float32)

one, eye, three = np.ones(3), np.eye(3), np.arange(3)
pool = kernels.Rows(eye, three, one, one, one)
regions = kernels.Divided(three, np.array([0, 1, 3]), np.arange(2), one)
priors = kernels.ClassPriors(np.ones((2, 3)), np.ones((2, 4)), np.eye(2), np.eye(2))
products = kernels.Products(eye, np.ones((4, 3)), none, none)
candidates = kernels.Candidates(eye, one, one, one, three, eye)
leaving = kernels.Leaving(
    np.ones((2, 2), np.int64), *[np.ones((2, 3))] * 2, *[np.ones(2)] * 2, np.ones((2, 3)),
    np.ones(2), *[np.ones((2, 3))] * 2,
)  # fmt: skip
factor = kernels.Factor(np.eye(3), ints(3), np.ones(1, np.int64))

unit = kernels.UnitTable(np.ones((2, 3)), np.zeros((2, 3), bool), ints(3))
lesson = kernels.Lesson(2, np.ones((3, 3)), bools(3), 0.1, False, 0.1, 1, 0.0, 1.0, 0, -1)
log = kernels.Log(floats((2, 3)), np.zeros((3, 2), bool), ints(5))
text, grams = np.zeros(3, np.uint32), NgramWeights(np.zeros(1, np.uint64), np.zeros(1))
sparse = SparseRows(np.ones(3), np.arange(3, dtype=np.uint64), np.array([0, 1, 3]))

points, four = np.arange(12.0).reshape(4, 3) ** 2, np.arange(4)
shared = kernels.Shared(
    points, np.ones(4), kernels.digests(points).view(np.uint64).reshape(-1, 2), np.zeros(3),
    np.eye(3), np.eye(3), 0.1, points.copy(), four, four,
)  # fmt: skip
limits = kernels.Limits(1.0, 1e-3, 30, 0.0, 0.0, 0.0, 3, 1e7)
members = kernels.Pool(four[[0, 2]], np.array([1.0, -1.0]), np.zeros(2), ints(2))
task = kernels.Task(0, 0, 1, np.zeros(3), 0.0, members, four[:2], four[2:])

FITTING = {
    "activations": (v, 0.0, table, rows, v, floats(2)),
    "region_margins": (table, floats(5), slots(3), v, v, np.arange(3), 0, 0.0, floats(3)),
    "scores": (np.ones((3, 4)), one, np.arange(3, dtype="i4"), X, v, np.arange(3), floats((5, 3))),
    "products": (table, v, floats(5)),
    "add_multiples": (table.copy(), rows, table, rows, floats(2)),
    "decode_columns": (codes(5, 4), 15, v, v, v, table.copy()),
    "decode_levels": (codes(5, 4), floats(256), floats(5), table.copy()),
    "best_first": (
        table, floats(5), slots(3), table, v, rows, ints(5), order, 1, ints(5), bools(5)
    ),
    "proposals": (V, V[:, 0].copy(), table, v, ints(5)),
    "pair_values": (v, v, floats(2), 1.0, table, rows, floats(2), table, rows, v, floats(2)),
    "discriminant_margins": (
        floats((3, 4)), floats(3), floats(2), table, rows, rows, rows, v, floats(2)
    ),
    "far_margins": (far, v, v, 0.0, 0, 9.0, floats(3)),
    "far_scores": (far, table, v, floats(5), floats(5), floats((5, 3))),
    "far_winners": (far, table, v, floats(5), order, ints(5), floats(5)),
    "newton": (eye, one, 0.1, one.copy(), factor),
    "best_step": (one, one, -1.0, 1.0, 0.1),
    "newton_primal": (pool, np.eye(4), 0.1, np.zeros(4), kernels.no_sums(3, 4), one.copy()),
    "pair_scores": (products, regions, priors, np.ones(1), np.empty((1, 4, 2))),
    "multiply": (np.eye(4), np.eye(4), np.eye(4), 0, 4),
    "values_left_out": (candidates, leaving, 0.1, np.empty(2)),
    "settle": (shared, limits, [task]),
    "train_unit": (unit, lesson, np.random.PCG64(0), log),
    "project": (sparse, 0, lines[:2]),
    "hash_texts": (text, np.array([0, 3]), 0, grams, grams, lines[:1]),
    "hash_ngrams": (text, np.array([0, 3]), True, np.zeros(1, np.uint64)),
    "filtered": (planes, planes, np.zeros((2, 2, 2, 3), np.float32)),
    "moduli": (planes, planes[:, :, :3].copy()),
    "pooled": (planes, lines[:, :4].copy(), lines, np.zeros((2, 16), np.float32)),
    "even_out": (planes.copy(), np.array([0, 2, 4]), 0.1),
}  # fmt: skip


def part(given, path):
    """Return what is at a path of places in nested tuples and lists, such as records."""
    for place in path:
        given = given[place]
    return given


def changed(given, path, change):
    """Return the arguments with another thing at a path."""
    if not path:
        return change(given)
    place, *rest = path
    parts = [*given[:place], changed(given[place], rest, change), *given[place + 1 :]]
    if isinstance(given, list):
        return parts
    return type(given)(*parts) if hasattr(given, "_fields") else tuple(parts)


def paths(given, kind=np.ndarray):
    """Yield the path of each array, or other kind of thing."""
    for place, each in enumerate(given):
        if isinstance(each, kind):
            yield (place,)
        elif isinstance(each, tuple | list):
            yield from ((place, *path) for path in paths(each, kind))


def fresh(name):
    """Return the arguments of a kernel that fit, in arrays of their own."""
    given = FITTING[name]
    for path in paths(given):
        given = changed(given, path, np.copy)
    return given
