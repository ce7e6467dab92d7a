"""Stored rows and their images against dictionaries, walked through growth and gaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import maths
from minout.core.examples import About, Examples
from minout.core.images import Images
from minout.maths import Geometry
from oracle.eighths import arrays, drawn

STEPS = st.lists(
    st.tuples(arrays(2), st.integers(0, 9)) | st.integers(0, 20).map(lambda place: (place,)),
    max_size=40,
)


def made(rows, labels):
    examples = Examples(len(rows[0]))
    for n, (row, label) in enumerate(zip(rows, labels, strict=True)):
        examples = examples.appended(np.array(row), label, f"e{n}")
    return examples


def contents(examples):
    end = examples.end
    arrays = examples.table, examples.regions, examples.digests, examples.stored
    return end, *(each[:end].tobytes() for each in arrays), examples.places().tolist()


@given(STEPS)
def test_examples_hold_what_a_dictionary_would(steps):
    examples, known, end = Examples(2), {}, 0
    for step in steps:
        if len(step) == 2:
            row, label = step
            examples = examples.appended(row, label, f"e{end}", About(2.5, 9.0, end))
            known[end] = row.tolist(), label
            row[:] = 99.0
            end += 1
        elif known:
            place = sorted(known)[step[0] % len(known)]
            examples = examples.without(np.array([place]))
            del known[place]
        assert examples.places().tolist() == sorted(known)
        assert (examples.end, examples.count) == (end, len(known))
    for each in (examples, examples.only(examples.places())):
        places = each.places()
        assert each.table[places].tolist() == [row for row, _ in known.values()]
        assert each.regions[places].tolist() == [label for _, label in known.values()]
        assert [each.about(place) for place in places.tolist()] == [(2.5, 9.0, n) for n in known]
        assert [each.place_of(f"e{n}") for n in known] == places.tolist()
        assert all(each.place_of(f"e{n}") is None for n in range(end) if n not in known)


@pytest.mark.parametrize("count", [1, 5, 30], ids=["in spare room", "at the end", "in more room"])
def test_rows_that_are_appended_do_not_show_in_the_examples_before(count):
    examples = made([[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]], [1, 2, 3])
    before, more = contents(examples), examples
    for n in range(count):
        more = more.appended(np.full(2, 5.0), 9, f"more {n}")
    after = contents(more)
    assert more.end == 3 + count
    other = examples.appended(np.zeros(2), 4, "other")  # the others were given up
    assert (other.table[3].tolist(), other.regions[3]) == ([0.0, 0.0], 4)
    assert other.damaged().tolist() == []
    assert (contents(examples), contents(more)) == (before, after)
    assert (examples.place_of("other"), more.place_of("other")) == (None, None)


@given(arrays(8, 1, lowest=-2, highest=2), st.sets(st.integers(0, 7), max_size=3))
def test_equal_rows_find_each_other(rows, gone):
    examples = made(rows + 0.0, [0] * 8).without(np.array([*gone], dtype=int))
    places = examples.places()
    for place in places.tolist():
        equal = [other for other in places.tolist() if rows[other] == rows[place]]
        assert examples.equal_to(np.array([place])).tolist() == equal
        assert examples.find(rows[place] + 0.0).tolist() == equal
    assert examples.equal_to(places).tolist() == places.tolist()
    assert examples.equal_to(places[:0]).tolist() == []


# Images K(x - origin) of stored rows.


def images_of_rows(*, full=True, d=3):
    rng = np.random.default_rng(1)
    A = drawn(rng, d, d)
    K = A @ A.T + np.eye(d) if full else 0.5 + rng.integers(0, 9, d) / 8
    geometry = Geometry(drawn(rng, d), K, None)
    return Images(geometry), drawn(rng, 80, d)


def of(images, table, places):
    """Return the images of some rows, one per row."""
    array, which = images.of(table, np.array(places))
    return array[which].tolist()


def wanted(images, table, places):
    """Return what the specification says they are."""
    return maths.images(images.geometry, table[places].astype(float)).tolist()


@pytest.mark.parametrize("full", [True, False])
def test_no_image_is_lost_when_room_runs_out(full):
    images, table = images_of_rows(full=full)
    rng = np.random.default_rng(2)
    for _ in range(60):
        if rng.random() < 0.2:  # half of the rows are gone, the others have other places
            number, kept = np.full(80, -1), np.sort(rng.permutation(80)[:40])
            number[kept] = np.arange(40)
            images = images.moved(number)
            table = np.concatenate([table[kept], drawn(rng, 40, 3)])
        places = rng.permutation(80)[: rng.integers(1, 7)]
        assert of(images, table, places) == wanted(images, table, places)


@pytest.mark.parametrize("forked", [1, 40], ids=["in spare room", "in more room"])
def test_what_is_added_to_a_fork_the_original_does_not_see(forked):
    images, table = images_of_rows()
    images.of(table, np.array([7, 8]))
    fork, late = images.fork(), range(9, 9 + forked)
    assert of(fork, table, late) == wanted(images, table, late)
    assert images.count == 2
    others = table.copy()
    others[9:50] *= -1.0  # other rows in the same places, since the fork was given up
    for each in (images, images.fork(), images.apart()):
        assert of(each, others, [20, 9, 7, 8]) == wanted(images, others, [20, 9, 7, 8])
    assert of(fork, table, [8, *late, 60]) == wanted(images, table, [8, *late, 60])
