"""The stored examples against a dictionary, walked through growth and gaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import kernels
from minout.engine.examples import About, Examples
from minout.maths.expansion import filling
from oracle.eighths import arrays

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


def digest(row):
    row = np.array(row)
    return kernels.digest(row.view(f"u{row.dtype.itemsize}"))


def wipe(examples, place):
    examples.wipe(np.array([place]))


@settings(max_examples=50)
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


def test_a_place_that_is_free_can_be_used_again():
    examples = three()
    wipe(examples, 1)
    assert examples.free().tolist() == [1]
    before = examples.stored[:3].tolist(), examples.places().tolist()
    more = examples.staged(np.full(2, 7.0), 5, place=1)
    assert (more.end, more.added) == (3, 1)
    assert more.places().tolist() == [0, 1, 2]
    assert (examples.stored[:3].tolist(), examples.places().tolist()) == before
    more.keep_added()
    assert more.places().tolist() == [0, 1, 2]
    assert more.table[:3].tolist() == [[1.0, -1.0], [7.0, 7.0], [3.0, -3.0]]
    assert more.free().tolist() == []
    wipe(more, 1)
    assert more.places().tolist() == [0, 2]


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


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(arrays(2, lowest=-2, highest=2), st.integers(0, 2)) | st.integers(0, 20),
        max_size=20,
    ),
    st.sampled_from(["f4", "f8"]),
)
def test_examples_without_gaps_hold_the_same_rows_counted_from_0(steps, dtype):
    examples, known, end = Examples(2, dtype), {}, 0
    for step in steps:
        if isinstance(step, tuple):
            examples = added(examples, step[0].astype(dtype), step[1])
            known[end] = step[0].tolist(), step[1]
            end += 1
        elif known:
            place = sorted(known)[step % len(known)]
            wipe(examples, place)
            del known[place]
    before, number, places = contents(examples), np.array([7, 5, 6]), examples.places()
    twin = examples.only(places, number)
    assert contents(examples) == before
    assert twin.places().tolist() == list(range(len(known)))
    assert (twin.end, twin.dtype) == (len(known), np.dtype(dtype))
    assert twin.table[: twin.end].tolist() == [known[e][0] for e in sorted(known)]
    assert twin.regions[: twin.end].tolist() == [number[known[e][1]] for e in sorted(known)]
    assert twin.digests[: twin.end].tolist() == examples.digests[places].tolist()
    for _ in range(9):
        twin = added(twin, np.ones(2, dtype=dtype), 1)
    assert len(twin.places()) == len(known) + 9
    assert twin.damaged().tolist() == []
    assert contents(examples) == before


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_are_kept_in_the_precision_asked_for(dtype):
    examples = Examples(2, dtype).staged(np.array([0.1, 0.2]), 0)
    assert examples.table.dtype == np.dtype(dtype)
    assert examples.table[0].tolist() == np.array([0.1, 0.2]).astype(dtype).tolist()
    assert examples.digests[0] == digest(np.array([0.1, 0.2]).astype(dtype))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_any_bit_that_turns_in_a_row_is_noticed(dtype):
    examples = Examples(3, dtype)
    for number in range(5):
        examples = added(examples, np.full(3, 0.1 * number), 0)
    wipe(examples, 1)
    assert examples.damaged().tolist() == []
    for bit in range(3 * 8 * examples.dtype.itemsize):
        blob = examples.table[3].view(np.uint8)
        blob[bit // 8] ^= 1 << bit % 8
        assert examples.damaged().tolist() == [3]
        blob[bit // 8] ^= 1 << bit % 8
    assert examples.damaged().tolist() == []


def test_a_row_gets_another_class():
    examples = three()
    examples.relabel(1, 9)
    assert examples.regions[:3].tolist() == [1, 9, 3]


def test_classes_are_numbered_anew_in_a_copy():
    examples = three()
    twin = examples.renumbered(np.array([9, 4, 5, 6]))
    assert twin.regions[:3].tolist() == [4, 5, 6]
    assert examples.regions[:3].tolist() == [1, 2, 3]
    assert twin.table is examples.table


def test_a_wiped_row_leaves_zeros_behind():
    examples = three()
    wipe(examples, 1)
    assert not examples.table[1].any()
    assert examples.digests[1] == 0
    assert examples.regions[1] == 0
    assert examples.stored[:3].tolist() == [True, False, True]


@settings(max_examples=40)
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


def test_rows_without_missing_values_are_stored_once():
    examples = Examples(2).expanded_by(filling(2))
    for number in range(20):  # grows on the way
        examples = added(examples, np.array([number, 1.0]), 0)
    assert examples.table is examples.given
    gap = added(examples, np.array([np.nan, 3.0]), 0)
    assert gap.table is not gap.given
    assert gap.table[20].tolist() == [0.0, 3.0]
    assert np.array_equal(gap.table[:20], gap.given[:20])
    assert examples.table is examples.given
    removed = gap.at(20)
    gap.wipe(np.array([20]))
    again = gap.expanded_by(filling(2))
    assert again.table is again.given
    again.put(20, removed)
    assert again.table[20].tolist() == [0.0, 3.0]
    assert np.isnan(again.given[20, 0])


def test_examples_are_found_by_their_row():
    examples = added(three(), np.array([2.0, -2.0]), 5)
    assert examples.find(np.array([2.0, -2.0])).tolist() == [1, 3]
    examples.wipe(np.array([1]))
    assert examples.find(np.array([2.0, -2.0])).tolist() == [3]
    assert examples.find(np.array([2.0, 2.0])).tolist() == []
    assert examples.find(np.zeros(2)).tolist() == []  # the row of an empty place
