"""Columns of text become hashed numbers, which are 0 where there is no text."""

import json

import numpy as np
import pytest

from minout import HashedText, InvalidInputError
from minout.tables import TableEncoder

TEXTS = ["the red one", "", "the blue one", None, "the red one", "NA"]
WIDTH = 512


def started(**kinds):
    encoder = TableEncoder({"comment": "text", **kinds})
    encoder.start({"x": [1.0, 2.0], "comment": ["the first", None]})
    return encoder


def test_text_is_hashed_and_missing_text_is_zeros():
    encoder = started()
    assert encoder.width == 1 + WIDTH
    rows = encoder.encode_many([{"x": 0, "comment": each} for each in TEXTS]).row
    expected = HashedText(WIDTH).transform(
        ["the red one", "", "the blue one", "", "the red one", ""]
    )
    assert (rows[:, 1:] == expected).all()
    assert rows[0].any()
    for text, row in zip(TEXTS, rows, strict=True):
        assert (encoder.encode({"x": 0, "comment": text}).row == row).all()
        assert (encoder.encode_known({"x": 0, "comment": text}) == row).all()
    assert not encoder.encode({"x": 0}).row.any()


def test_late_text_is_zeros_before_and_has_no_number_that_says_it_is_given():
    encoder = started(letter="text")
    assert encoder.encode({"x": 1, "letter": ""}).new == 0
    assert encoder.encode_known({"x": 1, "letter": "a word"}).shape == (1 + WIDTH,)
    assert encoder.encode({"x": 1, "letter": "a word"}).new == WIDTH
    assert encoder.encode({"x": 1, "letter": "another"}).new == 0
    assert not encoder.encode({"x": 1}).row[1:].any()
    assert encoder.names[-1] == "letter: text 511"


def test_the_numbers_of_each_text_are_a_block():
    encoder = TableEncoder({"first": "text", "late": "text"})
    assert encoder.blocks == []
    encoder.start({"x": [1.0, 2.0], "first": ["one", "two"], "y": ["red", "blue"]})
    first = (1, 1 + WIDTH)
    assert encoder.blocks == [first]
    encoder.encode({"x": 1, "y": "red", "late": ""})
    assert encoder.blocks == [first]
    encoder.encode({"x": 1, "y": "green", "late": "some words"})
    late = (4 + WIDTH, 4 + 2 * WIDTH)
    assert encoder.blocks == [first, late]
    for start, stop in encoder.blocks:
        assert len(set(encoder.sources[start:stop])) == 1
    assert encoder.copy().blocks == encoder.blocks
    assert TableEncoder.restored(encoder.described()).blocks == encoder.blocks
    numbers = TableEncoder()
    numbers.start({"x": [1.0, 2.0], "y": ["red", "blue"]})
    assert numbers.blocks == []


def test_text_in_full_is_hashed():
    encoder = started()
    words = "word " * 200
    rows = [encoder.encode({"comment": words + end}).row for end in ("this", "that")]
    assert (rows[0][1:] != rows[1][1:]).any()


def test_each_different_text_is_hashed_once(monkeypatch):
    hashed, transform = [], HashedText.transform

    def counting(self, texts):
        hashed.extend(texts)
        return transform(self, texts)

    monkeypatch.setattr(HashedText, "transform", counting)
    encoder = TableEncoder({"comment": "text"})
    records = [{"x": 0, "comment": each} for each in TEXTS]
    encoder.encode_many(records)
    assert hashed == ["the red one", "the blue one"]
    encoder.encode_known_many(records)
    assert hashed == ["the red one", "the blue one"] * 2
    hashed.clear()
    encoder.encode(records[2])
    encoder.encode(records[1])
    assert hashed == ["the blue one"]


def test_contributions_are_summed_by_column():
    encoder = started()
    encoder.encode({"x": 1, "colour": "red"})
    parts = np.arange(encoder.width) + 0.5
    sums = encoder.sum_by_column(parts)
    assert list(sums) == ["x", "comment", "colour"]
    assert sums["x"] == 0.5
    assert sums["comment"] == parts[1 : 1 + WIDTH].sum()
    assert sums["colour"] == parts[-1]
    with pytest.raises(
        InvalidInputError, match=r"shape \(3,\), but an encoded row has 514 features"
    ):
        encoder.sum_by_column([1, 2, 3])


@pytest.mark.parametrize("value", [["a"], b"a", {"a": 1}], ids=["list", "bytes", "dict"])
def test_what_is_no_text_is_refused_and_changes_nothing(value):
    encoder = started()
    about = encoder.described()
    with pytest.raises(InvalidInputError, match="'comment' holds a"):
        encoder.encode({"x": 1, "new": 3, "comment": value})
    with pytest.raises(InvalidInputError, match="'comment' holds a"):
        encoder.encode_many([{"x": 1, "new": 3, "comment": each} for each in ("a", value)])
    assert encoder.described() == about
    encoder = TableEncoder({"comment": "text"})
    with pytest.raises(InvalidInputError, match="'comment' holds a"):
        encoder.start({"comment": ["a", value]})
    assert not encoder.is_started


def test_the_description_of_text_is_short():
    about = json.dumps(started(letter="text").described())
    assert len(about) < 300


VERSION_1 = {
    "version": 1,
    "overrides": {"letter": "text"},
    "columns": [
        ["x", "number", "each of 60 values is a number", False],
        ["comment", "text", "nearly all values differ and have several words", False],
        ["letter", "text", "you said so", True],
        ["colour", "category", "its first values are words", False],
    ],
    "slots": [[0, "number"], [3, "=blue"], [3, "=red"]],
}


def test_text_that_an_older_model_left_out_stays_left_out():
    encoder = TableEncoder.restored(VERSION_1)
    record = {"x": 3, "comment": "it was the best of times", "letter": "dear sir", "colour": "red"}
    assert encoder.encode(record).row.tolist() == [3.0, 0.0, 1.0]
    assert encoder.encode_many([record]).row.tolist() == [[3.0, 0.0, 1.0]]
    assert encoder.describe_columns()[1:3] == [
        "comment: left out (text: nearly all values differ and have several words)",
        "letter: left out (text: you said so)",
    ]
    assert encoder.overrides == {"letter": "text"}
    twin = TableEncoder.restored(encoder.described())
    assert twin.described() == encoder.described()
    assert twin.width == 3
    twin.set_kind("comment", "text")
    assert twin.encode(record).new == WIDTH


def test_an_older_description_with_numbers_of_text_is_refused():
    for slot in ([1, "text", WIDTH], [1, "text 0"]):
        with pytest.raises(InvalidInputError, match="does not describe an encoder"):
            TableEncoder.restored({**VERSION_1, "slots": [*VERSION_1["slots"], slot]})
