"""Arguments of the solvers whose shapes do not fit each other are refused."""

import numpy as np
import pytest

from minout import kernels

v, A, ints, bools = np.ones(3), np.eye(3), np.arange(3), np.zeros(3, dtype=bool)
wide = np.eye(4)
rows = kernels.Rows(A, ints, v, v, v)
regions = kernels.Divided(ints, np.array([0, 1, 3]), np.arange(2), v)
priors = kernels.ClassPriors(np.ones((2, 3)), np.ones((2, 4)), np.eye(2), np.eye(2))
products = kernels.Products(A, np.ones((4, 3)), np.empty((0, 0)), np.empty((0, 0)))
candidates = kernels.Candidates(A, v, v, v, ints, A)
leaving = kernels.Leaving(np.ones((2, 2), np.int64), *[np.ones((2, 3))] * 2, *[np.ones(2)] * 2,
    np.ones((2, 3)), np.ones(2), *[np.ones((2, 3))] * 2)  # fmt: skip

FITTING = {
    "newton": (A, v, 0.1, v.copy(), kernels.empty_factor(3)),
    "best_step": (v, v, -1.0, 1.0, 0.1),
    "newton_primal": (rows, wide, 0.1, np.zeros(4), kernels.no_sums(3, 4), v.copy()),
    "pair_scores": (products, regions, priors, np.ones(1), np.empty((1, 4, 2))),
    "multiply": (wide, wide, wide.copy(), 0, 4),
    "values_left_out": (candidates, leaving, 0.1, np.empty(2)),
}  # fmt: skip


def shortened(given):
    """Yields the arguments with one array without the last entries of its last axis."""
    for place, each in enumerate(given):
        if isinstance(each, np.ndarray):
            yield [*given[:place], each[..., :-1], *given[place + 1 :]]


@pytest.mark.parametrize("name", FITTING)
def test_arrays_that_do_not_fit_are_refused(name):
    kernel, given = getattr(kernels, name), FITTING[name]
    kernel(*given)
    refused = 0
    for wrong in shortened(given):
        with pytest.raises(ValueError, match="shapes"):
            kernel(*wrong)
        refused += 1
    assert refused > 0


@pytest.mark.parametrize("name", ["newton", "newton_primal"])
def test_arrays_of_other_types_are_refused(name):
    kernel, given = getattr(kernels, name), FITTING[name]
    for place, each in enumerate(given):
        if isinstance(each, np.ndarray):
            for wrong in (each.astype("f2"), each.tolist(), each[None]):
                with pytest.raises(TypeError, match="incompatible function arguments"):
                    kernel(*given[:place], wrong, *given[place + 1 :])


def settled(**changes):
    """Settle a separator of two pairs of rows, with some fields of the records changed."""
    d, n = 3, 4
    table, places = np.arange(12.0).reshape(n, d) ** 2, np.arange(n)
    digests = kernels.digests(table).view(np.uint64).reshape(-1, 2)
    shared = kernels.Shared(
        table, np.ones(n), digests, np.zeros(d), np.eye(d), np.eye(d), 0.1,
        table.copy(), places, places,
    )  # fmt: skip
    limits = kernels.Limits(1.0, 1e-3, 30, 0.0, 0.0, 0.0, 3, 1e7)
    arrays = {
        "places": places[[0, 2]], "signs": np.array([1.0, -1.0]),
        "alpha": np.zeros(2), "idle": np.zeros(2, dtype=np.int64), "w": np.zeros(d),
    }  # fmt: skip
    mine = {name: cut(getattr(shared, name)) for name, cut in changes.items() if name in SHARED}
    own = {name: changes.get(name, np.copy)(each) for name, each in arrays.items()}
    w = own.pop("w")
    task = kernels.Task(0, 0, 1, w, 0.0, kernels.Pool(*own.values()), places[:2], places[2:])
    return kernels.settle(shared._replace(**mine), limits, [task])


SHARED = ("table", "weights", "digests", "origin", "K", "precision", "images")
TASK = ("w", "places", "signs", "alpha", "idle")


@pytest.mark.parametrize("name", SHARED + TASK)
def test_a_separator_whose_arrays_do_not_fit_is_refused(name):
    assert settled() is not None
    for axis in range(2 if name in ("table", "digests", "K", "precision", "images") else 1):
        with pytest.raises(ValueError, match="shapes"):
            settled(**{name: lambda each, axis=axis: np.delete(each, 0, axis).copy()})
