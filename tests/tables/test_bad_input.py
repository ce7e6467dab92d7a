"""Bad input is one sentence with the column and the value, and changes nothing."""

import copy
from datetime import date

import numpy as np
import pandas as pd
import pytest

from minout import InvalidInputError
from minout.tables import TableEncoder

GOOD = {"age": 1.0, "since": "2020-01-01", "colour": "red"}


def started():
    encoder = TableEncoder()
    encoder.start([GOOD, {**GOOD, "colour": "blue"}])
    return encoder


BAD = {
    "beyond": ("age", "1e200", "'age' must be a number, but here it is '1e200'"),
    "date": ("age", date(2020, 1, 1), "'age' must be a number"),
    "infinity": ("age", float("inf"), "'age' must be a number, but here it is inf"),
    "huge": ("age", 10**400, "'age' must be a number"),
    "complex": ("age", np.complex128(1j), "'age' must be a number"),
    "no_date": (
        "since",
        "2020-02-30",
        "'since' must be a date .* but here it is '2020-02-30'",
    ),
    "number": ("since", 7, "'since' must be a date"),
    "list": ("colour", ["red"], "'colour' holds a list"),
    "bytes": ("colour", b"red", "'colour' holds a bytes"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_value_of_another_kind_is_refused_and_nothing_is_registered(case):
    name, value, words = BAD[case]
    encoder = started()
    about = encoder.described()
    record = {"colour": "new", "column": "new", **GOOD, name: value}
    for encode in (encoder.encode, encoder.encode_known):
        with pytest.raises(InvalidInputError, match=words):
            encode(record)
        assert encoder.described() == about
    for encode in (encoder.encode_many, encoder.encode_known_many):
        with pytest.raises(InvalidInputError, match=words):
            encode([{**GOOD, "colour": "newer"}, record])
        assert encoder.described() == about


def test_an_infinite_number_in_a_frame_is_refused():
    encoder = started()
    with pytest.raises(InvalidInputError, match="'age' must be a number, but here it is inf"):
        encoder.encode_many(pd.DataFrame({"age": [1.0, np.nan, np.inf]}))


@pytest.mark.parametrize("kind", ["Number", "int", None, 3])
def test_a_kind_that_there_is_not_is_refused(kind):
    words = "The kind of the column 'age' must be one of number, boolean, date"
    with pytest.raises(InvalidInputError, match=words):
        TableEncoder({"age": kind})
    with pytest.raises(InvalidInputError, match=words):
        started().set_kind("age", kind)


def test_rows_so_far_cannot_be_read_again():
    encoder = started()
    about = encoder.described()
    with pytest.raises(
        InvalidInputError, match=r"'age' was encoded as number in the rows so far.*age=category"
    ):
        encoder.set_kind("age", "category")
    encoder.set_kind("age", "number")
    assert encoder.described() == about


def test_an_override_that_the_first_rows_contradict_is_refused():
    encoder = TableEncoder({"colour": "date"})
    with pytest.raises(InvalidInputError, match=r"'colour' must be a date .* but here it is"):
        encoder.encode_many([GOOD])
    assert not encoder.is_started


def test_tables_that_are_none_are_refused():
    for table, words in (
        ({}, "no columns"),
        ({"a": [1], "b": [1, 2]}, "'a' has 1 rows, but 'b' has 2"),
        ("abc", "not a str"),
        ([3], "not a int"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Two columns are named 'a'"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            TableEncoder().start(table)
    with pytest.raises(InvalidInputError, match="call `start` first"):
        TableEncoder().encode_known(GOOD)
    with pytest.raises(InvalidInputError, match="has been started"):
        started().start([GOOD])


def changed(about, path, value):
    about = copy.deepcopy(about)
    *to, last = path
    part = about
    for each in to:
        part = part[each]
    part[last] = value
    return about


FORGED_TEXT = {
    "key": (["slots", 0], [0, "text 0"]),
    "no_width": (["slots", 0], [0, "text"]),
    "width": (["slots", 0, 2], 256),
    "float": (["slots", 0, 2], 512.0),
    "other": (["slots", 0, 1], "texts"),
    "none": (["slots"], []),
    "twice": (["slots"], [[0, "text", 512], [0, "text", 512]]),
    "not_text": (["columns", 0, 1], "category"),
    "version": (["version"], 1),
    "too_many": (["columns"], [[f"c{n}", "text", "why", True] for n in range(2001)]),
}


@pytest.mark.parametrize("case", FORGED_TEXT)
def test_text_that_no_encoder_wrote_is_refused(case):
    path, value = FORGED_TEXT[case]
    encoder = TableEncoder({"comment": "text"})
    encoder.start({"comment": ["a word"]})
    about = encoder.described()
    assert about["slots"] == [[0, "text", 512]]
    TableEncoder.restored(about)
    with pytest.raises(InvalidInputError, match="does not describe an encoder"):
        TableEncoder.restored(changed(about, path, value))


FORGED = {
    "version": (["version"], 3),
    "overrides": (["overrides"], {"age": "nothing"}),
    "override_list": (["overrides"], []),
    "columns": (["columns"], 3),
    "column": (["columns", 0], "age"),
    "kind": (["columns", 0, 1], "nothing"),
    "kind_list": (["columns", 0, 1], ["number"]),
    "name": (["columns", 0, 0], 3),
    "name_twice": (["columns", 0, 0], "colour"),
    "late": (["columns", 0, 3], 1),
    "slots": (["slots"], None),
    "slot": (["slots", 0], [0]),
    "slot_number": (["slots", 0, 0], 99),
    "slot_below": (["slots", 0, 0], -1),
    "slot_true": (["slots", 0, 0], False),
    "slot_key": (["slots", 0, 1], "days"),
    "slot_twice": (["slots", -1], [2, "=blue"]),
    "half_a_date": (["slots", 1], [1, "day sin"]),
    "a_hash": (["slots", -1], [2, "#3"]),
    "no_number": (["slots", 0], [2, "=green"]),
    "long": (["slots", -1, 1], "=" + "x" * 500),
}


@pytest.mark.parametrize("case", FORGED)
def test_what_no_encoder_wrote_is_refused(case):
    path, value = FORGED[case]
    about = started().described()
    TableEncoder.restored(about)
    with pytest.raises(InvalidInputError, match="does not describe an encoder"):
        TableEncoder.restored(changed(about, path, value))


@pytest.mark.parametrize(
    "about", [None, [], {}, {"version": 1}], ids=["none", "list", "empty", "part"]
)
def test_what_is_no_description_is_refused(about):
    with pytest.raises(InvalidInputError, match="does not describe an encoder"):
        TableEncoder.restored(about)


def test_very_long_words_and_half_characters_can_be_saved():
    encoder = started()
    encoder.encode({**GOOD, "colour": "x" * 10_000})
    encoder.encode({**GOOD, "colour": "x" * 10_001})
    encoder.encode({**GOOD, "colour": "\ud800"})
    assert encoder.width == started().width + 3
    assert TableEncoder.restored(encoder.described()).names == encoder.names
