"""What a kernel cannot read or write as it is, it refuses: nothing is copied or converted."""

import numpy as np
import pytest

from minout import kernels


def arguments():
    """Return the arguments of `scores`: three regions, five rows of four features."""
    W, b, at = np.ones((3, 4)), np.ones(3), np.arange(3, dtype=np.int32)
    return [W, b, at, np.ones((5, 4)), np.zeros(4), np.arange(3), np.zeros((5, 3))]


def read_only(array):
    array.flags.writeable = False
    return array


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
