"""Images of rows: each made once, found again, wiped when their row goes."""

import numpy as np
import pytest

from minout import maths
from minout.maths import Geometry
from minout.rules import Pictures
from oracle.eighths import drawn


def made(*, full=True, dtype="f8", d=3):
    rng = np.random.default_rng(1)
    A = drawn(rng, d, d)
    K = A @ A.T + np.eye(d) if full else 0.5 + rng.integers(0, 9, d) / 8
    geometry = Geometry(drawn(rng, d), K, None)
    return Pictures(geometry, np.dtype(dtype)), drawn(rng, 80, d).astype(dtype)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("asked", [[[4]], [[1, 2], [0, 1, 2, 3, 4, 5]], [[*range(70)], [79, 3]]])
def test_images_are_those_of_the_specification(full, dtype, asked):
    pictures, table = made(full=full, dtype=dtype)
    for places in asked:
        images, which = pictures.of(table, np.array(places))
        wanted = maths.images(pictures.geometry, table[places].astype(float))
        assert images[which].tolist() == wanted.tolist()
    assert len(pictures) == len({place for places in asked for place in places})


def test_an_image_is_made_once():
    pictures, table = made()
    pictures.of(table, np.array([7, 8]))
    table[7] = 0.0
    images, which = pictures.of(table, np.array([7]))
    assert images[which[0]].any()


def test_a_place_may_be_asked_for_twice():
    pictures, table = made()
    images, which = pictures.of(table, np.array([7, 3, 7, 7]))
    assert images[which].tolist() == maths.images(pictures.geometry, table[[7, 3, 7, 7]]).tolist()
    assert len(pictures) == 2


def test_restored_pictures_go_on_where_the_others_stood():
    pictures, table = made()
    pictures.of(table, np.array([7, 8, 5]))
    pictures.discard(8)
    twin, _ = made()
    images, of = pictures.kept()
    twin.restore(images.copy(), of)
    for each in (pictures, twin):
        each.discard(5)
        images, which = each.of(table, np.array([8, 7, 5, 0]))
        wanted = maths.images(pictures.geometry, table[[8, 7, 5, 0]])
        assert images[which].tolist() == wanted.tolist()
    assert len(twin) == len(pictures) == 6
    assert twin.kept()[1].tolist() == pictures.kept()[1].tolist()


def test_a_discarded_image_is_wiped_and_made_anew_when_asked_for():
    pictures, table = made()
    images, which = pictures.of(table, np.array([7, 8]))
    wiped, kept = images[which[0]], images[which[1]].copy()
    pictures.discard(7)
    pictures.discard(7)
    pictures.discard(40)
    assert not wiped.any()
    table[7] = 2.0
    images, which = pictures.of(table, np.array([7, 8, 9]))
    assert images[which[1]].tolist() == kept.tolist()
    wanted = maths.images(pictures.geometry, table[[7, 9]])
    assert images[which[[0, 2]]].tolist() == wanted.tolist()


def test_no_image_is_lost_when_room_runs_out():
    pictures, table = made()
    rng = np.random.default_rng(2)
    for _ in range(60):
        if rng.random() < 0.3:
            pictures.discard(int(rng.integers(0, 80)))
        places = rng.permutation(80)[: rng.integers(1, 7)]
        images, which = pictures.of(table, places)
        assert images[which].tolist() == maths.images(pictures.geometry, table[places]).tolist()
