"""Products in single precision bound the kernel's margins, and leave no decision to chance."""

import itertools

import numpy as np
import pytest

from minout import Learner
from minout.codecs import Uint8Codec
from minout.core import screen, settle
from minout.core.images import Images
from minout.core.pool import Problem
from minout.core.screen import Bounds, in_doubt, margin_bounds
from minout.core.table import CodedRows, activations
from minout.features import Identity
from minout.maths import NO_EXPANSION, Geometry
from oracle.margin import SETTINGS, everything

SIZES = (9, 14, 30, 5, 22)
PAIRS = [*itertools.combinations(range(len(SIZES)), 2)]


def problem_of(table, origin):
    geometry, n = Geometry(origin, np.ones(len(origin)), np.ones(len(origin))), len(table)
    images = Images(geometry)
    return Problem(table, np.ones(n), np.zeros(n, "S16"), geometry, images, 1.0)


def drawn(rng, table, scale):
    """Draw members of classes, and separators of all pairs of them."""
    members = np.split(rng.permutation(sum(SIZES)), np.cumsum(SIZES)[:-1])
    W, b = rng.normal(size=(len(PAIRS), table.shape[1])), rng.normal(size=len(PAIRS))
    return [(members[low], members[high]) for low, high in PAIRS], scale * W, scale * b


def bounded(problem, sides, W, b):
    """Return the bounds, and the margins that the kernel computes."""
    found = margin_bounds(PAIRS, sides, W, b, problem)
    for n, (low, high) in enumerate(sides):
        places, margins = np.concatenate([low, high]), np.empty(len(low) + len(high))
        activations(W[n], b[n], problem.table, places, problem.geometry.origin, margins)
        margins[len(low) :] *= -1.0
        yield found[n], margins


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-42, 1e-20, 1.0, 1e15])
@pytest.mark.parametrize("far", [0.0, 1.0, 1e4])
def test_margins_are_within_their_bounds(dtype, scale, far, monkeypatch):
    monkeypatch.setattr(screen, "BLOCK", 300)
    widths = []
    for seed, d in itertools.product(range(5), (1, 7, 90)):
        rng = np.random.default_rng(seed)
        origin = far * rng.normal(size=d)
        table = (origin + rng.normal(size=(sum(SIZES), d))).astype(dtype)
        for bounds, margins in bounded(problem_of(table, origin), *drawn(rng, table, scale)):
            assert (bounds.lower <= margins).all()
            assert (margins <= bounds.upper).all()
            widths.append((bounds.upper - bounds.lower).max() / max(scale, 1.0))
    assert 0.0 < max(widths) < 0.01 * (1.0 + far)


def test_the_bounds_of_codes_are_those_of_the_rows_that_they_stand_for(monkeypatch):
    monkeypatch.setattr(screen, "BLOCK", 40)
    rng = np.random.default_rng(1)
    codec = Uint8Codec().for_width(6)
    codes = codec.encode(rng.normal(size=(sum(SIZES), 6)))
    table = CodedRows(codes, codec, np.float64, NO_EXPANSION)
    for bounds, margins in bounded(problem_of(table, np.ones(6)), *drawn(rng, table, 1.0)):
        assert (bounds.lower <= margins).all()
        assert (margins <= bounds.upper).all()


@pytest.mark.parametrize(("row", "weight"), [(1e30, 1e30), (1e300, 1.0), (1.0, 1e60)])
def test_nothing_is_said_of_numbers_that_are_too_large_for_single_precision(row, weight):
    rng = np.random.default_rng(2)
    table = row * rng.normal(size=(sum(SIZES), 4))
    for bounds, margins in bounded(problem_of(table, np.zeros(4)), *drawn(rng, table, weight)):
        assert not (bounds.lower > margins).any()
        assert not (bounds.upper < margins).any()
        assert len(in_doubt(bounds, np.zeros(len(margins), bool), 1.0, len(margins))) > 0


@pytest.mark.parametrize("width", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("seed", range(100))
def test_what_is_in_doubt_is_enough_to_judge_by(seed, width):
    rng = np.random.default_rng(seed)
    n, most = int(rng.integers(1, 60)), int(rng.integers(1, 12))
    margins = np.round(rng.normal(rng.choice([0.0, 1.0, 3.0]), 1.0, n), 1)
    below, above = width * rng.random((2, n))
    bounds = Bounds(margins - below, margins + above)
    unknown = rng.random(n) < 0.1
    bounds.lower[unknown] = bounds.upper[unknown] = np.nan
    is_member = (rng.random(n) < 0.3) & (margins < 2.0)
    which = in_doubt(bounds, is_member, 1.0, most)
    assert which.tolist() == sorted({*which.tolist()})
    assert {*np.flatnonzero(is_member & (margins < 1.0)).tolist()} <= {*which.tolist()}

    def worst(among):
        """Return the `most` lowest below the bound, by margin and then by number."""
        low = [i for i in among if margins[i] < 1.0 and not is_member[i]]
        return sorted(low, key=lambda i: (margins[i], i))[:most]

    assert worst(which.tolist()) == worst(range(n))
    if not worst(range(n)):
        known = margins[which]
        assert known[known > 0.0].min(initial=9.0) == margins[margins > 0.0].min(initial=9.0)
        assert np.count_nonzero(known <= 0.0) == np.count_nonzero(margins <= 0.0)


@pytest.mark.parametrize(("kind", "dtype"), [("plain", "float64"), ("all", "float32")])
def test_a_model_does_not_depend_on_what_was_bounded(kind, dtype, monkeypatch):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 5, 150)
    rows = rng.normal(size=(150, 8)) + 0.9 * rng.normal(size=(5, 8))[labels]

    def walked(enough, block, margins):
        monkeypatch.setattr(settle, "WORTH_DIVIDING", 0)
        monkeypatch.setattr(settle, "MARGINS", margins)
        monkeypatch.setattr(screen, "ENOUGH", enough)
        monkeypatch.setattr(screen, "BLOCK", block)
        learner = Learner(**SETTINGS[kind], features=Identity(dtype))
        learner.teach_many(rows[:120], labels[:120].tolist(), at=0.0)
        learner.consolidate()
        learner.teach_many(rows[120:], labels[120:].tolist(), at=0.0)
        assert learner.misfits
        return everything(learner)

    exact = walked(10**9, 2**20, 2**24)
    assert walked(1, 2**20, 2**24) == exact
    assert walked(3, 40, 100) == exact
