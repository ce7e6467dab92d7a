"""Arguments of kernels that do not fit: refused before anything is read or written."""

import numpy as np
import pytest

from minout import kernels
from minout.maths import NgramWeights, SparseRows

PLANES, LINES = np.zeros((2, 4, 6), np.float32), np.zeros((4, 6), np.float32)
FOUR = np.zeros((2, 3, 4, 6), np.float32)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


TYPES = {
    "dtype": (kernels.moduli, PLANES.astype(float), PLANES[:, :, :3].copy()),
    "axes": (kernels.moduli, LINES, PLANES),
    "strides": (kernels.moduli, PLANES[:, :, ::2], PLANES),
    "order": (kernels.moduli, np.asfortranarray(PLANES), PLANES),
    "bytes": (kernels.moduli, PLANES.astype(">f4"), PLANES),
    "read only": (kernels.moduli, PLANES, read_only(PLANES[:, :, :3])),
    "a list": (kernels.moduli, PLANES.tolist(), PLANES),
    "no capsule": (kernels.train_unit, None, None, np.random.default_rng(0), None),
}


@pytest.mark.parametrize("call", TYPES.values(), ids=TYPES)
def test_other_types_are_refused(call):
    kernel, *arguments = call
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernel(*arguments)


def unit(k=2, n=3):
    return kernels.UnitTable(np.ones((k, n)), np.zeros((k, n), bool), np.zeros(n, np.int64))


def lesson(new=2):
    products, positive = np.ones((3, 3)), np.zeros(3, bool)
    return kernels.Lesson(new, products, positive, 0.1, False, 0.1, 1, 0.0, 1.0, 0, -1)


def log(new=2):
    return kernels.Log(np.zeros((2, new + 1)), np.zeros((3, new), bool), np.zeros(5, np.int64))


def starts(*places):
    return np.array(places, dtype=np.int64)


BITS = np.random.PCG64(0)
ROWS = SparseRows(np.ones(3), np.arange(3, dtype=np.uint64), starts(0, 1, 3))
TEXT = np.zeros(3, np.uint32)
NONE = NgramWeights(np.zeros(0, np.uint64), np.zeros(0))
SHAPES = {
    "filters": (kernels.filtered, PLANES, PLANES[:, :3], FOUR),
    "spectra": (kernels.filtered, PLANES, PLANES, FOUR),
    "a grid": (kernels.filtered, PLANES, PLANES, np.zeros((2, 2, 3, 6), np.float32)),
    "no grid": (kernels.filtered, PLANES, PLANES, np.zeros((2, 2, 0, 6), np.float32)),
    "moduli": (kernels.moduli, PLANES, PLANES),
    "windows": (kernels.pooled, PLANES, LINES, LINES, np.zeros((2, 16), np.float32)),
    "cells": (kernels.pooled, PLANES, LINES[:, :4], LINES, np.zeros((2, 15), np.float32)),
    "borders": (kernels.even_out, PLANES, starts(0, 5), 0.0),
    "descending": (kernels.even_out, PLANES, starts(0, 4, 2), 0.0),
    "paths": (kernels.even_out, np.zeros((2, 4, 9), np.float32)[:, :, :6], starts(0, 4), 0.0),
    "rows": (kernels.project, ROWS, 0, np.zeros((3, 8), np.float32)),
    "a start": (kernels.project, ROWS._replace(starts=starts(0, 4, 3)), 0, LINES[:2]),
    "a width": (kernels.project, ROWS, 0, np.zeros((2, 3), np.float32)),
    "an end": (kernels.hash_texts, TEXT, starts(0, 4), 0, NONE, NONE, LINES[:1]),
    "before": (kernels.hash_texts, TEXT, starts(-1, 2), 0, NONE, NONE, LINES[:1]),
    "an n-gram": (kernels.hash_ngrams, TEXT, starts(0, 4), True, np.zeros(1, np.uint64)),
    "the unit": (kernels.train_unit, unit(n=2), lesson(), BITS.capsule, log()),
    "the lesson": (kernels.train_unit, unit(n=9), lesson(new=3), BITS.capsule, log(new=3)),
    "the log": (kernels.train_unit, unit(), lesson(), BITS.capsule, log(new=1)),
}


@pytest.mark.parametrize("call", SHAPES.values(), ids=SHAPES)
def test_shapes_that_do_not_fit_are_refused(call):
    kernel, *arguments = call
    with pytest.raises(ValueError, match=r"fit|divide|ascend|side by side"):
        kernel(*arguments)


def arguments():
    """Return the arguments of `scores`: three regions, five rows of four features."""
    W, b, at = np.ones((3, 4)), np.ones(3), np.arange(3, dtype=np.int32)
    return [W, b, at, np.ones((5, 4)), np.zeros(4), np.arange(3), np.zeros((5, 3))]


@pytest.mark.parametrize(
    ("place", "change"),
    [
        pytest.param(0, lambda W: W.astype("f4"), id="single"),
        pytest.param(0, lambda W: W.astype(">f8"), id="byte-order"),
        pytest.param(0, lambda W: W[0], id="axes"),
        pytest.param(0, np.asfortranarray, id="fortran"),
        pytest.param(0, lambda W: W.tolist(), id="list"),
        pytest.param(1, lambda b: np.repeat(b, 2)[::2], id="strides"),
        pytest.param(2, lambda at: at.astype("i8"), id="long"),
        pytest.param(3, lambda X: X.astype("f2"), id="half"),
        pytest.param(5, lambda owner: owner.astype("u8"), id="unsigned"),
        pytest.param(6, read_only, id="read-only"),
    ],
)
def test_an_array_that_does_not_fit_is_refused(place, change):
    kernels.scores(*arguments())
    given = arguments()
    given[place] = change(given[place])
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels.scores(*given)


def test_records_are_tuples_with_the_right_number_of_arrays():
    W, b, at, X, origin, owner, _ = arguments()
    rows, start, clipped = np.arange(5), np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.bool_)
    for order in ((owner, owner), kernels.Order(owner, owner)):
        kernels.best_first(W, b, at, X, origin, rows, start, order, 1, start.copy(), clipped)
    for order in ((owner,), (owner, owner, owner), [owner, owner], (owner, owner.tolist())):
        with pytest.raises(TypeError):
            kernels.best_first(W, b, at, X, origin, rows, start, order, 1, start.copy(), clipped)


floats, ints, slots = np.zeros, lambda n: np.zeros(n, np.int64), lambda n: np.zeros(n, np.int32)
codes, bools = lambda *shape: np.zeros(shape, np.uint8), lambda n: np.zeros(n, np.bool_)
order = kernels.Order(np.arange(3), np.arange(3))
far = kernels.Far(
    floats((3, 4)), floats(3), ints(3), floats(3), slots(3), ints(1), ints(1), floats((1, 3)),
    floats(0), ints(0), floats((1, 4)), ints(1), floats((1, 4)), floats(1),
)  # fmt: skip
table, rows, v = floats((5, 4)), ints(2), floats(4)
V = np.zeros((3, 4), np.float32)

FITTING = {
    "activations": (v, 0.0, table, rows, v, floats(2)),
    "region_margins": (table, floats(5), slots(3), v, v, ints(3), 0, 0.0, floats(3)),
    "scores": arguments(),
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
    "far_margins": (far, v, v, 0.0, 0, 0.0, floats(3)),
    "far_scores": (far, table, v, floats(5), floats((5, 3))),
    "far_winners": (far, table, v, floats(5), order, ints(5), floats(5)),
}  # fmt: skip
"""Arguments of each kernel whose shapes fit: 3 regions, 4 features, 5 rows."""


@pytest.mark.parametrize("name", FITTING)
def test_arrays_whose_shapes_do_not_fit_each_other_are_refused(name):
    kernel, (*given, out) = getattr(kernels, name), FITTING[name]
    kernel(*given, out)
    for short in (out[:-1], out[..., :-1]):
        with pytest.raises(ValueError, match="shapes"):
            kernel(*given, short)
