"""Arguments of the solvers whose shapes do not fit each other are refused."""

import numpy as np
import pytest

from minout import kernels
from oracle import calls

SOLVERS = ("newton", "best_step", "newton_primal", "pair_scores", "multiply", "values_left_out")


def shortened(given):
    """Yields the arguments with one array without the last entries of its last axis."""
    for place, each in enumerate(given):
        if isinstance(each, np.ndarray):
            yield [*given[:place], each[..., :-1], *given[place + 1 :]]


@pytest.mark.parametrize("name", SOLVERS)
def test_arrays_that_do_not_fit_are_refused(name):
    kernel, given = getattr(kernels, name), calls.fresh(name)
    kernel(*given)
    refused = 0
    for wrong in shortened(given):
        with pytest.raises(ValueError, match="shapes"):
            kernel(*wrong)
        refused += 1
    assert refused > 0


def settled(**changes):
    """Settle a separator of two pairs of rows, with some fields of the records changed."""
    shared, limits, [task] = calls.fresh("settle")
    mine = {name: cut(getattr(shared, name)) for name, cut in changes.items() if name in SHARED}
    pool = {name: getattr(task.pool, name) for name in POOL}
    own = {name: changes.get(name, np.copy)(each) for name, each in pool.items()}
    w = changes.get("w", np.copy)(task.w)
    changed = task._replace(w=w, pool=kernels.Pool(*own.values()))
    return kernels.settle(shared._replace(**mine), limits, [changed])


SHARED = ("table", "weights", "digests", "origin", "K", "precision", "images")
POOL = ("places", "signs", "alpha", "idle")


@pytest.mark.parametrize("name", [*SHARED, *POOL, "w"])
def test_a_separator_whose_arrays_do_not_fit_is_refused(name):
    assert settled() is not None
    for axis in range(2 if name in ("table", "digests", "K", "precision", "images") else 1):
        with pytest.raises(ValueError, match="shapes"):
            settled(**{name: lambda each, axis=axis: np.delete(each, 0, axis).copy()})


def test_the_values_of_a_pool_cannot_be_written():
    pool = calls.fresh("settle")[2][0].pool
    for name in POOL:
        with pytest.raises(ValueError, match="read-only"):
            getattr(pool, name)[0] = 1
