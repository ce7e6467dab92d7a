"""Sums depend on the set of rows only: not on their order, nor on how they are divided."""

import numpy as np
import pytest

from minout import kernels
from minout.core import sums
from minout.core.table import Rows

LEAF = 32


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Shrink the leaves and the blocks."""
    monkeypatch.setattr(sums, "LEAF", LEAF)
    monkeypatch.setattr(sums, "FEW", 8)
    monkeypatch.setattr(sums, "BLOCK", 16)


def drawn(seed=0, sizes=(3, 700, 20, 31, 33, 5, 5)):
    """Draw rows of classes of several sizes, with weights; some rows occur many times."""
    rng = np.random.default_rng(seed)
    regions = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(regions), 6)) * 10.0 ** rng.integers(-3, 4, size=6)
    X[regions == 1] = X[regions == 1][rng.integers(0, 400, 700)]
    X[np.flatnonzero(regions == 1)[:80]] = X[np.flatnonzero(regions == 1)[0]]
    weights = rng.choice([0.5, 1.0, 1.7, 3.0], len(X))
    return rows_of(X, weights, regions)


def rows_of(X, weights, regions):
    n = np.arange(len(X))
    return Rows(X, weights, n, regions, kernels.digests(X), n)


def all_sums(rows):
    shift = np.linspace(-1.0, 1.0, rows.table.shape[1])
    by_class = dict(sums.class_sums(rows, shift))
    return by_class, sums.scatter_of(rows, shift, np.float64)


def test_sums_are_those_of_numpy():
    rows = drawn()
    by_class, scatter = all_sums(rows)
    assert sums.runs(np.bincount(rows.regions)).tolist() == [3, 700, 20, 31, 33, 10]
    Z, weights = rows.table - np.linspace(-1.0, 1.0, 6), rows.weights
    np.testing.assert_allclose(scatter, (weights[:, None] * Z).T @ Z, rtol=1e-12, atol=1e-9)
    assert sorted(by_class) == [*range(7)]
    for c, total in by_class.items():
        mine, w = Z[rows.regions == c], weights[rows.regions == c, None]
        expected = np.concatenate(
            [w.sum(axis=0), (w * mine).sum(axis=0), (w * mine**2).sum(axis=0)]
        )
        np.testing.assert_allclose(total, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_sums_do_not_depend_on_the_order_of_the_rows(seed):
    rows = drawn()
    order = np.random.default_rng(seed).permutation(len(rows.order))
    other = rows_of(rows.table[order], rows.weights[order], rows.regions[order])
    (mine, scatter), (its, other_scatter) = all_sums(rows), all_sums(other)
    assert scatter.tobytes() == other_scatter.tobytes()
    assert {c: total.tobytes() for c, total in mine.items()} == {
        c: total.tobytes() for c, total in its.items()
    }


class Divided:
    """Work in so many parts, which notes how many items it got."""

    def __init__(self, parts):
        self.parts, self.items = parts, []

    def each(self, function, shared, items, _what):
        self.items.append(len(items))
        results = [function(*shared, item) for item in reversed(items)]
        return reversed(results)


@pytest.mark.parametrize("parts", [2, 7, 40, 1_000])
def test_whoever_sums_the_nodes_the_bits_are_the_same(parts):
    work, (expected, scatter) = Divided(parts), all_sums(drawn())
    by_class, other_scatter = all_sums(drawn()._replace(work=work))
    assert scatter.tobytes() == other_scatter.tobytes()
    assert {c: total.tobytes() for c, total in expected.items()} == {
        c: total.tobytes() for c, total in by_class.items()
    }
    assert all(min(parts, 6) <= count <= 7 + 2 * parts for count in work.items)


def test_the_depth_depends_on_the_number_of_rows():
    depths = [sums.depth_of(n) for n in (0, 1, LEAF, LEAF + 1, 2 * LEAF, 2 * LEAF + 1, 8 * LEAF)]
    assert depths == [0, 0, 0, 1, 1, 2, 3]


def sharded(rows, total, size, shards, bits=3):
    """Return the sum over rows that are divided between shards by the first bits of digests.

    A shard sums its branches of the tree, or gives its rows if leaves are larger than branches.
    """
    depth, prefix, nodes, loose = sums.depth_of(size), sums.leaves(rows.digests, bits), {}, []
    for shard in range(shards):
        which = np.flatnonzero(prefix % shards == shard)
        places = rows.order[which]
        own = rows.table[places], rows.weights[places], rows.regions[which]
        loose.append(own)
        if depth >= bits:
            mine = sums.sorted_rows(rows_of(*own))
            for number in range(shard, 2**bits, shards):
                nodes[number] = sums.branch(mine, total(mine), depth, bits, number)
    if depth >= bits:
        return sums.tree(bits, lambda number: nodes[number])
    mine = sums.sorted_rows(rows_of(*map(np.concatenate, zip(*loose, strict=True))))
    return sums.branch(mine, total(mine), depth)


@pytest.mark.parametrize("shards", [1, 2, 7])
def test_shards_that_have_some_prefixes_give_the_same_bits(shards):
    rows, shift = drawn(), np.linspace(-1.0, 1.0, 6)
    by_class, scatter = all_sums(rows)
    for c, total in by_class.items():
        mine = rows.picked(np.flatnonzero(rows.regions == c))
        found = sharded(
            mine,
            lambda own: lambda few: sums.leaf_sum(own.table, own.weights, few, shift),
            len(mine.order),
            shards,
        )
        assert found.tobytes() == total.tobytes()
    found, start, in_order = np.zeros((6, 6)), 0, np.argsort(rows.regions, kind="stable")
    for size in sums.runs(np.bincount(rows.regions)).tolist():
        found += sharded(
            rows.picked(in_order[start : start + size]),
            lambda own: (
                lambda few: sums.leaf_scatter(own.table, own.weights, few, shift, np.float64)
            ),
            size,
            shards,
        )
        start += size
    assert found[:3].tobytes() == scatter[:3].tobytes()
    assert found[3:, 3:].tobytes() == scatter[3:, 3:].tobytes()
