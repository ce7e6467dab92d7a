"""The quick ways to read values give what reading each value by itself gives; and `appear`."""

from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import InvalidInputError
from minout.tables import TableEncoder, batches
from minout.tables.columns import Column
from minout.tables.values import as_number, is_missing, plain_numbers

NUMBERS = ["0", "7", "255", "12.5", " 5 ", "+1.", "007", "-3e4", "1e100", 0.5, 3, True]
NUMBERS += [np.float32(0.1), np.int64(3), Decimal("2.50"), timedelta(hours=1), "\x1c7", -0.0]
EMPTY = ["", "NA", " NA ", "nan", "NaN", "-", "?", None, float("nan"), np.float64("nan")]
ODD = [
    "1_000",
    "١",
    "nAn",
    "+nan",
    "+NAN",
    "INF",
    "inf",
    "-Infinity",
    "1e400",
    "1e101",
    "1 2",
    "0x1",
    "word",
]
ODD += [float("inf"), 1e101, 10**400, b"3", [1], {}, 1j, np.float32("inf"), date(2020, 1, 1)]
WORDS = ["red", "blue", "green", "", "NA", None, "3", 3, 3.0, True, 1, "yes", "x" * 300]
TRUTHS = ["yes", "no", True, 0, 1, "", None, "unknown"]
DATES = ["2020-02-29", "1999-12-31T06:00", None, "", date(2020, 2, 29), datetime(2001, 5, 6, 7, 8)]
START = {
    "a": ["1", "2"],
    "colour": ["red", "blue"],
    "b": [1.0, None],
    "member": ["yes", "no"],
    "since": ["2020-01-01", None],
    "text": ["the first of all", None],
    "empty": [None, None],
}


@given(st.lists(st.sampled_from(NUMBERS + EMPTY), max_size=8))
def test_numbers_read_together_are_the_numbers_read_one_by_one(values):
    expected = [None if is_missing(each) else as_number(each) for each in values]
    together, others = batches.split_numbers(values)
    for n in others:
        together[n] = expected[n]
    assert np.array_equal(together, np.array(expected, dtype=float), equal_nan=True)


@pytest.mark.parametrize("n", range(len(ODD)))
def test_what_may_be_no_number_is_never_read_together(n):
    assert plain_numbers([ODD[n]]) is None
    assert plain_numbers(["1", ODD[n], "", 2.0]) is None


def test_numbers_and_missing_values_of_a_file_are_read_together():
    assert plain_numbers(["1", "2.5", "", "NA"]).tolist()[:2] == [1.0, 2.5]
    assert plain_numbers(["1", 2.5, None, 7]) is not None
    assert plain_numbers([]).shape == (0,)


@contextmanager
def one_by_one():
    """Read each value by itself, and keep nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Column, "takes_plain_numbers", False)
        patch.setattr(Column, "found", lambda *_: None)
        yield


def encoder_with_late_columns():
    encoder = TableEncoder({"text": "text", "letter": "text"})
    encoder.start(START)
    encoder.encode({"a": "1", "late": "3.5", "word": "x"})
    return encoder


VALUES = {
    "a": st.sampled_from(NUMBERS + EMPTY),
    "b": st.sampled_from(NUMBERS + EMPTY),
    "late": st.sampled_from(NUMBERS + EMPTY),
    "colour": st.sampled_from(WORDS),
    "word": st.sampled_from(WORDS),
    "member": st.sampled_from(TRUTHS),
    "since": st.sampled_from(DATES),
    "text": st.sampled_from(WORDS),
    "letter": st.sampled_from(WORDS),
}
RECORDS = st.lists(st.fixed_dictionaries({}, optional=VALUES), min_size=1, max_size=6)
ANY = st.sampled_from(NUMBERS + EMPTY + ODD + WORDS + DATES)
STRANGE = st.lists(
    st.fixed_dictionaries({}, optional={**dict.fromkeys(VALUES, ANY), "empty": ANY, "new": ANY}),
    min_size=1,
    max_size=4,
)


def outcome(encoder, records, *, known, many):
    """What encoding gives: rows as text, or the error."""
    one, all_at_once = encoder.encode, encoder.encode_many
    if known:
        one, all_at_once = encoder.encode_known, encoder.encode_known_many
    results = []
    for each in [records] if many else records:
        try:
            result = (all_at_once if many else one)(each)
            results.append(repr(result if known else result.row.tolist()))
        except InvalidInputError as error:
            results.append(str(error))
    return results, encoder.described()


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
@settings(max_examples=50)
@given(records=STRANGE | RECORDS)
def test_rows_and_errors_are_those_of_values_read_by_themselves(known, many, records):
    with one_by_one():
        expected = outcome(encoder_with_late_columns(), records, known=known, many=many)
    encoder = encoder_with_late_columns()
    assert outcome(encoder, records, known=known, many=many) == expected
    if known or not many:
        again = outcome(encoder, records, known=True, many=many)
        with one_by_one():
            assert outcome(encoder, records, known=True, many=many) == again


@given(RECORDS, st.randoms(use_true_random=False))
def test_the_order_of_the_columns_of_a_record_does_not_matter(records, random):
    encoder = encoder_with_late_columns()
    encoder.encode_many(records)
    for record in records:
        mixed = list(record.items())
        random.shuffle(mixed)
        rows = [encoder.encode_known(each) for each in (record, dict(mixed))]
        assert np.array_equal(*rows, equal_nan=True)


def test_a_word_that_was_unknown_is_found_once_it_is_registered():
    encoder = TableEncoder()
    encoder.start({"colour": ["red", "blue"]})
    assert encoder.encode_known({"colour": "green"}).tolist() == [0.0, 0.0]
    mark = encoder.mark()
    assert encoder.encode({"colour": "green"}).row.tolist() == [0.0, 0.0, 1.0]
    assert encoder.encode_known({"colour": "green"}).tolist() == [0.0, 0.0, 1.0]
    encoder.roll_back(mark)
    assert encoder.encode_known({"colour": "green"}).tolist() == [0.0, 0.0]


def test_values_that_are_kept_are_limited():
    column = Column("colour", "category", "why")
    words = [f"w{n}" for n in range(10)]
    for word in words:
        column.keep_found(word, [(0, 1.0)], most=4)
        assert column.found(word) == [(0, 1.0)]
    assert sum(column.found(word) is not None for word in words) <= 4
    column.keep_found("x" * 1000, [], most=4)
    assert column.found("x" * 1000) is None
    text = Column("comment", "text", "why")
    text.keep_found("short", [(slice(0, 512), np.ones(512))], most=4)
    assert text.found("short") is None


def test_what_new_columns_are_is_decided_by_all_values_of_a_sample():
    encoder = TableEncoder()
    encoder.start({"x": [1, 2], "empty": [None, None]})
    mark = encoder.mark()
    sample = [{"size": "3", "empty": "", "note": None}, {"size": "large", "empty": "2020-01-01"}]
    encoder.appear(sample)
    assert encoder.width == 1
    assert encoder.kinds == {
        "x": "number",
        "empty": "date",
        "size": "category",
        "note": "undecided",
    }
    assert encoder.encode({"x": 1, "size": "3"}).row.tolist() == [1.0, 1.0]
    encoder.appear([{"x": "word", "size": "1"}])
    assert encoder.kinds["x"] == "number"
    encoder.roll_back(mark)
    assert encoder.kinds == {"x": "number", "empty": "undecided"}
    with pytest.raises(InvalidInputError, match="call `start` first"):
        TableEncoder().appear(sample)


def test_a_sample_that_appeared_gives_the_rows_of_late_columns():
    sample = [{"x": 1}, {"x": 2, "size": "3"}, {"x": 3, "size": "4.5"}]
    one, other = TableEncoder(), TableEncoder()
    for encoder in (one, other):
        encoder.start({"x": [1, 2]})
    one.appear(sample)
    rows = [one.encode_many(sample).row, other.encode_many(sample).row]
    assert np.array_equal(*rows)
    assert one.described() == other.described()


CHANGES = {
    "nothing": (lambda encoder: encoder.encode({"x": 3, "colour": "red"}), False),
    "prediction": (lambda encoder: encoder.encode_known({"x": 3, "colour": "new"}), False),
    "nothing_given": (lambda encoder: encoder.encode({"colour": "red", "empty": ""}), False),
    "same_kind": (lambda encoder: encoder.set_kind("x", "number"), False),
    "category": (lambda encoder: encoder.encode({"colour": "new"}), True),
    "column": (lambda encoder: encoder.encode({"new": None}), True),
    "kind": (lambda encoder: encoder.appear([{"empty": 3}]), True),
    "override": (lambda encoder: encoder.set_kind("later", "text"), True),
}


@pytest.mark.parametrize("case", CHANGES)
def test_the_encoder_says_whether_its_description_has_changed(case):
    encoder = TableEncoder()
    encoder.start({"x": [1, 2], "colour": ["red", "blue"], "empty": [None, None]})
    change, has_changed = CHANGES[case]
    mark, about = encoder.mark(), encoder.described()
    change(encoder)
    assert encoder.has_changed_since(mark) is has_changed
    assert (encoder.described() != about) is has_changed


def test_a_copy_is_the_same_and_changes_by_itself():
    encoder = encoder_with_late_columns()
    encoder.set_kind("later", "ignore")
    twin = encoder.copy()
    assert twin.described() == encoder.described()
    assert not twin.has_changed_since(encoder.mark())
    twin.encode({"colour": "new", "empty": 3})
    assert twin.width > encoder.width
    assert encoder.kinds["empty"] == "undecided"
    assert encoder.described() == encoder_with_override().described()


def encoder_with_override():
    encoder = encoder_with_late_columns()
    encoder.set_kind("later", "ignore")
    return encoder


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, True, 1.0, "1", "true"], ["1", "true"]),
        ([Decimal("1.0"), Decimal("1.00"), 1], ["1.0", "1.00", "1"]),
    ],
    ids=["truth", "decimals"],
)
def test_equal_values_that_are_different_words_stay_different(values, words):
    one, many = TableEncoder({"w": "category"}), TableEncoder({"w": "category"})
    for encoder in (one, many):
        encoder.start({"w": ["x"]})
    rows = [one.encode({"w": each}).row for each in values]
    wide = [np.pad(row, (0, one.width - len(row))).tolist() for row in rows]
    assert many.encode_many({"w": values}).row.tolist() == wide
    assert one.names == many.names == ["w=x", *(f"w={word}" for word in words)]
