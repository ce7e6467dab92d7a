"""Origin, scale, metric and prior against sums written out, and what they must not depend on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import maths
from minout.maths import Moments
from oracle import separators
from oracle.eighths import arrays

AWKWARD = [0.1, 0.7, 0.3, 1.1]


def moments(X, labels, shift=None):
    """Sums up, about the first row unless told."""
    shift = X[0] if shift is None else shift
    Z = X - shift
    classes = max(labels) + 1
    counts = np.array([np.count_nonzero(labels == c) for c in range(classes)], dtype=float)
    sums = np.array([Z[labels == c].sum(axis=0) for c in range(classes)])
    return Moments(shift, counts, sums, (Z * Z).sum(axis=0), Z.T @ Z)


def few(X, labels, *, columns, blocks=()):
    rows, counts = np.unique(np.column_stack([labels, X]), axis=0, return_counts=True)
    args = rows[:, 1:], rows[:, 0].astype(int), counts.astype(float)
    return maths.metric_of_few(moments(X, labels), *args, columns=columns, blocks=blocks)


def many(X, labels, *, columns, blocks=()):
    different = len(np.unique(np.column_stack([labels, X]), axis=0))
    return maths.metric(moments(X, labels), different, columns=columns, blocks=blocks)


def plain(X, labels, *, columns, blocks=()):
    different = len(np.unique(np.column_stack([labels, X]), axis=0))
    return maths.plain(moments(X, labels), different, columns=columns, blocks=blocks)


def square(matrix):
    return np.diag(matrix) if matrix.ndim == 1 else matrix


@st.composite
def sets(draw):
    """Draws rows and labels; every class has one at least."""
    classes = draw(st.integers(1, 3))
    n, d = draw(st.integers(classes, 9)), draw(st.integers(1, 4))
    more = st.lists(st.integers(0, classes - 1), min_size=n - classes, max_size=n - classes)
    labels = np.array([*range(classes), *draw(more)])
    return draw(arrays(n, d, lowest=-8, highest=8)), labels


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("made", [plain, many, few])
@given(sets(), st.sampled_from([(), ((0, 2),), ((1, 4),), ((0, 1), (1, 3))]))
def test_geometry_is_the_one_written_out(made, columns, drawn, blocks):
    X, labels = drawn
    blocks = tuple(block for block in blocks if block[1] <= X.shape[1])
    found = made(X, labels, columns=columns, blocks=blocks)
    scaling = {"columns": columns, "metric": made is not plain, "blocks": blocks}
    origin, K = separators.ground(X, labels.tolist(), **scaling)
    assert found.origin == pytest.approx(origin, abs=1e-12)
    assert square(found.K) == pytest.approx(K, rel=1e-8, abs=1e-9 * np.abs(K).max())
    if found.precision is not None:
        identity = square(found.K) @ square(found.precision)
        assert identity == pytest.approx(np.eye(X.shape[1]), abs=1e-8)


@pytest.mark.parametrize("made", [plain, many, few])
def test_with_columns_the_units_of_a_column_are_of_no_account(made):
    rng = np.random.default_rng(5)
    X, labels = rng.normal(size=(12, 3)), np.arange(12) % 3
    units = np.array([1e-4, 1.0, 1e6])
    once, other = made(X, labels, columns=True), made(X * units, labels, columns=True)
    inner = maths.images(once, X) @ (X - once.origin).T
    assert maths.images(other, X * units) @ (X * units - other.origin).T == pytest.approx(inner)


@pytest.mark.parametrize("made", [plain, many, few])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e6])
def test_a_constant_column_gets_a_finite_weight_and_bends_nothing(made, columns, constant):
    rng = np.random.default_rng(7)
    X, labels = rng.normal(size=(12, 2)), np.arange(12) % 3
    wide = np.column_stack([X, np.full(12, constant)])
    without = maths.images(made(X, labels, columns=columns), X)
    found = made(wide, labels, columns=columns)
    assert np.isfinite(found.K).all()
    if made is plain or columns is False:
        assert (maths.images(found, wide)[:, 2] == 0.0).all()
    if made is plain:
        assert maths.images(found, wide)[:, :2] == pytest.approx(without)


@pytest.mark.parametrize("made", [many, few])
@pytest.mark.parametrize("copies", [1, 2, 3, 7])
@pytest.mark.parametrize("columns", [False, True])
def test_without_scatter_inside_of_classes_the_metric_is_the_plain_one(made, copies, columns):
    rows = np.array([AWKWARD, AWKWARD[::-1], [5.3, 0.2, 1.7, 0.9]])
    X, labels = np.repeat(rows, copies, axis=0), np.repeat([0, 1, 2], copies)
    found, wanted = made(X, labels, columns=columns), plain(X, labels, columns=columns)
    assert square(found.K) == pytest.approx(square(wanted.K), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("made", [plain, many, few])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("rows", [[AWKWARD], [AWKWARD] * 3])
def test_rows_that_are_all_alike_are_measured_by_the_identity(made, columns, rows):
    X = np.array(rows)
    found = made(X, np.zeros(len(X), dtype=int), columns=columns)
    assert found.origin == pytest.approx(X[0])
    assert square(found.K) == pytest.approx(np.eye(4))


@pytest.mark.parametrize("made", [plain, many, few])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("size", [1e-160, 1e-155, 1e-150, 1e-100, 1e90, 1e100])
def test_numbers_of_any_size_give_a_finite_geometry(made, columns, size):
    rng = np.random.default_rng(8)
    X, labels = rng.uniform(-1, 1, (8, 2)) * size, np.arange(8) % 2
    found = made(X, labels, columns=columns)
    assert np.isfinite(found.origin).all()
    assert np.isfinite(found.K).all()
    assert np.isfinite(maths.images(found, X)).all()


@given(sets(), st.sampled_from([plain, many]))
def test_prior_is_at_plus_and_minus_one_on_the_two_means(drawn, made):
    X, labels = drawn
    ground = made(X, labels, columns=False)
    a, b = X[labels == 0].mean(axis=0), X[labels == max(labels)].mean(axis=0)
    found = maths.prior(ground, a, b)
    if (a == b).all():
        assert found.w.tolist() == [0.0] * X.shape[1]
        assert found.b == 0.0
        return
    assert found.w @ (a - ground.origin) + found.b == pytest.approx(1.0, abs=1e-9)
    assert found.w @ (b - ground.origin) + found.b == pytest.approx(-1.0, abs=1e-9)
    w, shift = separators.discriminant(square(ground.K), ground.origin, a, b)
    assert found.w == pytest.approx(w, rel=1e-9, abs=1e-9)
    assert found.b == pytest.approx(shift, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("made", "n"), [(few, 150), (many, 900)], ids=["few", "many"])
def test_the_metric_of_columns_that_go_together_is_that_of_a_stable_inverse(made, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 300)).cumsum(axis=1).cumsum(axis=1)
    labels = np.arange(n) % 3
    K = made(X, labels, columns=False).K
    _, wanted = separators.ground(X, labels.tolist(), columns=False, metric=True)
    np.testing.assert_allclose(K, wanted, rtol=0.0, atol=1e-11 * np.abs(K).max())
    assert np.linalg.eigvalsh(K)[0] > 0.0


def test_a_block_that_tells_nothing_of_the_classes_is_shrunk_to_nearly_nothing():
    rng = np.random.default_rng(3)
    labels = np.arange(300) % 3
    told, chance = rng.normal(size=(300, 20)), rng.normal(size=(300, 20))
    told[:, 0] += labels
    sums = moments(np.hstack([told, chance, labels[:, None]]), labels)
    found = maths.shrinkage(sums, 300, ((0, 20), (20, 40), (40, 41)))
    assert (found[:20] == found[0]).all()
    assert 0.8 < found[0] < 1.0
    assert (found[20:40] == 0.001).all()
    assert found[40] == 1.0
