"""Arguments of kernels that do not fit: refused before anything is read or written."""

import numpy as np
import pytest

from minout import kernels
from minout.maths import NgramWeights, SparseRows
from oracle import calls

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
    "no bits": (kernels.train_unit, *calls.fresh("train_unit")[:2], PLANES, calls.log),
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
    "moduli": (kernels.moduli, PLANES, PLANES.copy()),
    "no width": (kernels.filtered, PLANES[:, :, :0], PLANES[:, :, :0], FOUR[..., :1].copy()),
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
    "the unit": (kernels.train_unit, unit(n=2), lesson(), BITS, log()),
    "the lesson": (kernels.train_unit, unit(n=9), lesson(new=3), BITS, log(new=3)),
    "the log": (kernels.train_unit, unit(), lesson(), BITS, log(new=1)),
    "no new row": (kernels.train_unit, unit(), lesson(new=-1), BITS, log(new=0)),
}


@pytest.mark.parametrize("call", SHAPES.values(), ids=SHAPES)
def test_shapes_that_do_not_fit_are_refused(call):
    kernel, *arguments = call
    with pytest.raises(ValueError, match=r"fit|divide|ascend|side by side"):
        kernel(*arguments)


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
    given = calls.fresh("scores")
    kernels.scores(*given)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels.scores(*calls.changed(given, [place], change))


def test_records_are_tuples_with_the_right_number_of_arrays():
    W, b, at, X, origin, owner, _ = calls.fresh("scores")
    rows, start, clipped = np.arange(5), np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.bool_)
    for order in ((owner, owner), kernels.Order(owner, owner)):
        kernels.best_first(W, b, at, X, origin, rows, start, order, 1, start.copy(), clipped)
    for order in ((owner,), (owner, owner, owner), [owner, owner], (owner, owner.tolist())):
        with pytest.raises(TypeError):
            kernels.best_first(W, b, at, X, origin, rows, start, order, 1, start.copy(), clipped)


WITH_OUT = (
    "activations", "region_margins", "scores", "products", "add_multiples", "decode_columns",
    "decode_levels", "best_first", "proposals", "pair_values", "discriminant_margins",
    "far_margins", "far_scores", "far_winners",
)  # fmt: skip


@pytest.mark.parametrize("name", WITH_OUT)
def test_arrays_whose_shapes_do_not_fit_each_other_are_refused(name):
    kernel, (*given, out) = getattr(kernels, name), calls.fresh(name)
    kernel(*given, out)
    for short in (out[:-1], out[..., :-1]):
        with pytest.raises(ValueError, match="shapes"):
            kernel(*given, short)


@pytest.mark.parametrize("name", calls.FITTING)
def test_every_array_of_another_kind_is_refused(name):
    given = calls.fresh(name)
    getattr(kernels, name)(*given)
    for path in calls.paths(given):
        array = calls.part(given, path)
        wrong = [array.astype("c16"), array[None], array.tolist()]
        if array.dtype.itemsize > 1:
            wrong.append(array.astype(array.dtype.newbyteorder()))
        if array.size > 0:
            wrong.append(np.repeat(array, 4, axis=-1)[..., ::2])
        for each in wrong:
            with pytest.raises(TypeError, match="incompatible"):
                getattr(kernels, name)(*calls.changed(given, path, lambda _, each=each: each))


INDICES = [
    ("activations", "places", (3,), 5),
    ("region_margins", "at", (2,), 5),
    ("region_margins", "region", (6,), 3),
    ("scores", "at", (2,), 3),
    ("add_multiples", "places", (1,), 5),
    ("add_multiples", "picked", (3,), 5),
    ("best_first", "at", (2,), 5),
    ("best_first", "rows", (5,), 5),
    ("best_first", "start", (6,), 3),
    ("pair_values", "which", (5,), 5),
    ("pair_values", "places", (8,), 5),
    ("discriminant_margins", "places", (4,), 5),
    ("discriminant_margins", "own", (5,), 3),
    ("discriminant_margins", "other", (6,), 3),
    ("far_margins", "label", (4,), 3),
    ("far_margins", "start", (0, 5), 3),
    ("far_margins", "size", (0, 6), 3),
    ("far_scores", "places", (0, 9), 1),
    ("far_winners", "slot", (0, 11), 1),
    ("newton", "order", (4, 1), 3),
    ("newton", "size", (4, 2), 4),
    ("newton_primal", "places", (0, 1), 3),
    ("pair_scores", "rows", (1, 0), 3),
    ("settle", "sides", (2, 0, 6), 4),
    ("settle", "sides", (2, 0, 7), 4),
]
"""Kernels, their arrays of numbers of something, where these are, and how many things there are."""


@pytest.mark.parametrize(
    ("name", "what", "path", "end"), INDICES, ids=["-".join(each[:2]) for each in INDICES]
)
def test_numbers_of_what_does_not_exist_are_refused(name, what, path, end):
    kernel, given = getattr(kernels, name), calls.fresh(name)
    kernel(*given)
    given = calls.fresh(name)
    for wrong in (-1, end, np.iinfo("i4").min, np.iinfo("i4").max):
        now = calls.changed(
            given, path, lambda old, n=wrong: n if np.isscalar(old) else np.full_like(old, n)
        )
        says = f"^A number in {what} is {wrong}; it must be at least 0 and below {end}.$"
        with pytest.raises(ValueError, match=says):
            kernel(*now)


def test_how_many_rows_are_compared_together_is_not_below_0():
    given = calls.changed(calls.fresh("best_first"), (8,), lambda _: -(2**63))
    with pytest.raises(ValueError, match="A number in together is"):
        kernels.best_first(*given)


@pytest.mark.parametrize("wrong", [1, -2])
def test_a_far_pair_has_a_row_or_corrections_that_exist(wrong):
    given = calls.changed(calls.fresh("far_scores"), (0, 4), lambda at: at * 0 + np.int32(wrong))
    with pytest.raises(ValueError, match="A number in at is"):
        kernels.far_scores(*given)


@pytest.mark.parametrize("wrong", [-1, 4, np.iinfo("i8").max])
def test_places_in_a_pool_that_do_not_exist_are_refused(wrong):
    shared, limits, [task] = calls.fresh("settle")
    pool = kernels.Pool(np.array([0, wrong]), np.array([1.0, -1.0]), np.zeros(2), np.zeros(2, int))
    says = f"^A number in places is {wrong}; it must be at least 0 and below 4.$"
    with pytest.raises(ValueError, match=says):
        kernels.settle(shared, limits, [task._replace(pool=pool)])


def test_members_that_do_not_exist_are_refused():
    pool = calls.fresh("settle")[2][0].pool
    for wrong in (-1, 2):
        with pytest.raises(ValueError, match="shapes"):
            pool.picked(np.array([wrong]))
        with pytest.raises(ValueError, match="shapes"):
            pool.moved(np.arange(2))


def test_a_member_that_is_twice_in_a_factor_is_refused():
    products, weights, lam, alpha, factor = calls.fresh("newton")
    known = kernels.Factor(factor[0], np.zeros(3, int), np.array([2]))
    with pytest.raises(ValueError, match="twice"):
        kernels.newton(products, weights, lam, alpha, known)


@pytest.mark.parametrize(
    ("name", "path", "other"),
    [
        pytest.param("best_first", (9,), (6,), id="winner-start"),
        pytest.param("newton", (4, 1), (3,), id="order-alpha"),
        pytest.param("activations", (5,), (3,), id="out-places"),
        pytest.param("train_unit", (3, 2), (0, 2), id="sums-counters"),
    ],
)
def test_an_array_that_is_written_and_shares_memory_is_refused(name, path, other):
    given = calls.fresh(name)
    shared = calls.part(given, other)
    with pytest.raises(ValueError, match="shares memory"):
        getattr(kernels, name)(*calls.changed(given, path, lambda old: shared.view(old.dtype)))
