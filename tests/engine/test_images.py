"""Images of rows: each made once, found again, wiped when their row goes."""

import numpy as np
import pytest

from minout import maths
from minout.engine.images import Images
from minout.maths import Geometry
from oracle.eighths import drawn


def made(*, full=True, dtype="f8", d=3):
    rng = np.random.default_rng(1)
    A = drawn(rng, d, d)
    K = A @ A.T + np.eye(d) if full else 0.5 + rng.integers(0, 9, d) / 8
    geometry = Geometry(drawn(rng, d), K, None)
    return Images(geometry, np.dtype(dtype)), drawn(rng, 80, d).astype(dtype)


def of(images, table, places):
    """Return the images of some rows, one per row."""
    array, which = images.of(table, np.array(places))
    return array[which].tolist()


def wanted(images, table, places):
    """Return what the specification says they are."""
    return maths.images(images.geometry, table[places].astype(float)).tolist()


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "asked",
    [[[4]], [[1, 2], [0, 1, 2, 3, 4, 5]], [[*range(70)], [79, 3]]],
    ids=["one", "few", "many"],
)
def test_images_are_those_of_the_specification(full, dtype, asked):
    images, table = made(full=full, dtype=dtype)
    for places in asked:
        assert of(images, table, places) == wanted(images, table, places)
    assert images.count == len({place for places in asked for place in places})


def test_an_image_is_made_once():
    images, table = made()
    images.of(table, np.array([7, 8]))
    table[7] = 0.0
    array, which = images.of(table, np.array([7]))
    assert array[which[0]].any()


def test_a_place_may_be_asked_for_twice():
    images, table = made()
    assert of(images, table, [7, 3, 7, 7]) == wanted(images, table, [7, 3, 7, 7])
    assert images.count == 2


def test_restored_images_go_on_where_the_others_stood():
    images, table = made()
    images.of(table, np.array([7, 8, 5]))
    images.wipe(np.array([8]))
    twin, _ = made()
    array, places = images.kept()
    twin.restore(array.copy(), places)
    for each in (images, twin):
        each.wipe(np.array([5]))
        assert of(each, table, [8, 7, 5, 0]) == wanted(images, table, [8, 7, 5, 0])
    assert (images.count, twin.count) == (6, 5)  # no room is kept for what was wiped
    assert twin.kept()[1].tolist() == images.kept()[1].tolist()


def test_an_image_that_is_wiped_is_zero_and_made_anew_when_asked_for():
    images, table = made()
    array, which = images.of(table, np.array([7, 8]))
    wiped, kept = array[which[0]], array[which[1]].tolist()
    images.wipe(np.array([7]))
    images.wipe(np.array([7, 40]))
    assert not wiped.any()
    table[7] = 2.0
    found = of(images, table, [7, 8, 9])
    assert found[1] == kept
    assert [found[0], found[2]] == wanted(images, table, [7, 9])


def test_no_image_is_lost_when_room_runs_out():
    images, table = made()
    rng = np.random.default_rng(2)
    for _ in range(60):
        if rng.random() < 0.3:
            images.wipe(rng.integers(0, 80, 1))
        places = rng.permutation(80)[: rng.integers(1, 7)]
        assert of(images, table, places) == wanted(images, table, places)


@pytest.mark.parametrize("forked", [1, 40], ids=["in spare room", "in more room"])
def test_what_is_added_to_a_fork_the_original_does_not_see(forked):
    images, table = made()
    images.of(table, np.array([7, 8]))
    kept = [each.tolist() for each in images.kept()]
    fork = images.fork()
    assert of(fork, table, range(9, 9 + forked)) == wanted(images, table, range(9, 9 + forked))
    assert [each.tolist() for each in images.kept()] == kept
    table[9:50] *= -1.0  # other rows in the same places, since the fork was given up
    assert of(images, table, [20, 9, 7]) == wanted(images, table, [20, 9, 7])
    other = images.fork()
    assert of(other, table, [9, 10, 30, 8]) == wanted(images, table, [9, 10, 30, 8])
