"""Arguments of kernels that do not fit: refused before anything is read or written."""

import numpy as np
import pytest

from minout import kernels
from minout.maths import SparseRows

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
    "an end": (kernels.hash_texts, TEXT, starts(0, 4), 0, LINES[:1]),
    "before": (kernels.hash_texts, TEXT, starts(-1, 2), 0, LINES[:1]),
    "the unit": (kernels.train_unit, unit(n=2), lesson(), BITS.capsule, log()),
    "the lesson": (kernels.train_unit, unit(n=9), lesson(new=3), BITS.capsule, log(new=3)),
    "the log": (kernels.train_unit, unit(), lesson(), BITS.capsule, log(new=1)),
}


@pytest.mark.parametrize("call", SHAPES.values(), ids=SHAPES)
def test_shapes_that_do_not_fit_are_refused(call):
    kernel, *arguments = call
    with pytest.raises(ValueError, match=r"fit|divide|ascend|side by side"):
        kernel(*arguments)
