"""The worst examples of a check: the lowest margins, of equal ones those with the lowest digest."""

import numpy as np
import pytest

from minout.core.check import WORST, judge
from minout.core.images import Images
from minout.core.pool import Pool, Problem
from minout.maths import Geometry, Prior


@pytest.mark.parametrize("seed", range(3))
def test_equal_margins_are_picked_by_digest_whatever_their_places(seed):
    n, rng = 4 * WORST, np.random.default_rng(seed)
    names = rng.bytes(16 * n)
    digests = np.frombuffer(names, dtype="S16")
    geometry = Geometry(np.zeros(1), np.ones(1), np.ones(1))
    images = Images(geometry)
    problem = Problem(np.zeros((n, 1)), np.ones(n), digests, geometry, images, 1.0)
    margins = np.where(digests < np.sort(digests)[n // 2], 0.5, -0.5)
    places, pool = rng.permutation(n), Pool(Prior(np.zeros(1), 0.0))
    found = judge(np.zeros(1), 0.0, places, np.ones(n), margins[places], pool, problem, 1.0)
    wanted = np.sort(digests[margins < 0.0])[:WORST]
    assert digests[found.places].tolist() == wanted.tolist()
    assert {*found.misfits.tolist()} == {*np.flatnonzero(margins < 0.0).tolist()}
    assert found.least == 0.5
