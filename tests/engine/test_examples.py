"""Stored rows and their images against dictionaries, walked through growth and gaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import maths
from minout.engine.examples import About, Examples
from minout.engine.images import Images
from minout.maths import Geometry
from oracle.eighths import arrays, drawn

STEPS = st.lists(
    st.tuples(arrays(2), st.integers(0, 9)) | st.integers(0, 20).map(lambda place: (place,)),
    max_size=40,
)


def three():
    examples = Examples(2)
    for number in (1.0, 2.0, 3.0):
        examples = added(examples, np.array([number, -number]), int(number))
    return examples


def added(examples, row, c, **more):
    """Return examples with one more row that is stored."""
    examples = examples.staged(row, c, **more)
    examples.keep_added()
    return examples


def contents(examples):
    end = examples.end
    arrays = examples.table, examples.regions, examples.digests, examples.stored
    return end, *(each[:end].tobytes() for each in arrays), examples.places().tolist()


def wipe(examples, place):
    examples.wipe(np.array([place]))


@given(STEPS)
def test_examples_hold_what_a_dictionary_would(steps):
    examples, known, end = Examples(2), {}, 0
    for step in steps:
        if len(step) == 2:
            row, label = step
            examples = added(examples, row, label)
            known[end] = row.tolist(), label
            row[:] = 99.0
            end += 1
        elif known:
            place = sorted(known)[step[0] % len(known)]
            wipe(examples, place)
            del known[place]
        assert examples.places().tolist() == sorted(known)
        assert examples.end == end
    gone = ([0.0, 0.0], 0)
    everything = [known.get(place, gone) for place in range(end)]
    assert examples.table[:end].tolist() == [row for row, _ in everything]
    assert examples.regions[:end].tolist() == [label for _, label in everything]
    assert examples.stored[:end].tolist() == [place in known for place in range(end)]


def test_a_row_can_be_put_back_after_its_place_was_used_again():
    examples = added(three(), np.full(2, 4.0), 4, about=About(2.5, 9.0, 8))
    before, row = contents(examples), examples.at(3)
    wipe(examples, 3)
    more = added(examples, np.full(2, 5.0), 1, place=3)
    assert contents(more) != before
    more.put(3, row)
    assert contents(more) == before
    assert more.about(3) == (2.5, 9.0, 8)


@pytest.mark.parametrize("count", [1, 5, 30], ids=["in spare room", "at the end", "in more room"])
def test_staged_rows_do_not_show_in_the_examples_that_they_were_added_to(count):
    examples = three()
    before, more = contents(examples), examples
    for _ in range(count):
        more = added(more, np.full(2, 5.0), 9)
    assert contents(examples) == before
    assert more.end == 3 + count
    other = examples.staged(np.zeros(2), 4)  # the others were given up
    assert contents(examples) == before
    assert other.table[3].tolist() == [0.0, 0.0]
    assert other.regions[3] == 4
    assert other.damaged().tolist() == []


@given(arrays(8, 1, lowest=-2, highest=2), st.sets(st.integers(0, 7), max_size=3))
def test_equal_rows_find_each_other(rows, gone):
    examples = Examples(1)
    for row in rows:
        examples = added(examples, row + 0.0, 0)
    for place in gone:
        wipe(examples, place)
    places = examples.places()
    for place in places.tolist():
        equal = [other for other in places.tolist() if rows[other] == rows[place]]
        assert examples.equal_to(np.array([place])).tolist() == equal
    assert examples.equal_to(places).tolist() == places.tolist()
    assert examples.equal_to(places[:0]).tolist() == []


# Images K(x - origin) of stored rows.


def images_of_rows(*, full=True, d=3):
    rng = np.random.default_rng(1)
    A = drawn(rng, d, d)
    K = A @ A.T + np.eye(d) if full else 0.5 + rng.integers(0, 9, d) / 8
    geometry = Geometry(drawn(rng, d), K, None)
    return Images(geometry, np.dtype("f8")), drawn(rng, 80, d)


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
        if rng.random() < 0.3:  # another row comes to a place
            gone = rng.integers(0, 80, 1)
            array, which = images.of(table, gone)
            images.wipe(gone)
            assert not array[which].any()
            table[gone] += 1.0
        places = rng.permutation(80)[: rng.integers(1, 7)]
        assert of(images, table, places) == wanted(images, table, places)


@pytest.mark.parametrize("forked", [1, 40], ids=["in spare room", "in more room"])
def test_what_is_added_to_a_fork_the_original_does_not_see(forked):
    images, table = images_of_rows()
    images.of(table, np.array([7, 8]))
    kept = [each.tolist() for each in images.kept()]
    fork = images.fork()
    assert of(fork, table, range(9, 9 + forked)) == wanted(images, table, range(9, 9 + forked))
    assert [each.tolist() for each in images.kept()] == kept
    table[9:50] *= -1.0  # other rows in the same places, since the fork was given up
    assert of(images, table, [20, 9, 7]) == wanted(images, table, [20, 9, 7])
    other = images.fork()
    assert of(other, table, [9, 10, 30, 8]) == wanted(images, table, [9, 10, 30, 8])
