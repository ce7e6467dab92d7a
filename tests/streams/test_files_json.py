"""JSON lines: objects, lists that stand for columns, and standard input."""

import io
import json
import os
import sys

import pytest

from minout.errors import InvalidInputError, MissingDataError
from minout.streams.files import BadRowError, read


@pytest.fixture
def written(tmp_path):
    def write(*lines: object):
        path = tmp_path / "data.jsonl"
        text = (each if isinstance(each, str) else json.dumps(each) for each in lines)
        path.write_text("\n".join(text))
        return path

    return write


def everything(source, **asked):
    with read(source, **asked) as reader:
        return list(reader)


def refusal(source, **asked) -> str:
    with pytest.raises(InvalidInputError) as caught:
        everything(source, **asked)
    return str(caught.value)


def test_the_first_object_names_the_columns_and_others_may_order_them_otherwise(written):
    path = written({"a": 1, "kind": 3, "b": 2}, "", {"b": 5, "a": 4.5, "kind": 4, "more": "x"})
    with read(path, label="kind") as reader:
        first, second = reader
    assert reader.columns == ("a", "b")
    assert (first.row.tolist(), first.label, first.where) == ([1.0, 2.0], 3, "line 1")
    assert (second.row.tolist(), second.label, second.where) == ([4.5, 5.0], 4, "line 3")


@pytest.mark.parametrize(
    ("written_as", "label"),
    [
        (7, 7),
        (7.0, 7),
        ("7", "7"),
        (" 7 ", "7"),
        (True, "true"),
        (False, "false"),
        ("é, b", "é, b"),
    ],
)
def test_labels_stay_numbers_or_strings_and_ids_are_strings(written, written_as, label):
    (only,) = everything(written({"a": 1, "y": written_as, "i": written_as}), label="y", id="i")
    assert (only.label, only.id) == (label, str(label))
    assert type(only.label) is type(label)


def test_standard_input_is_json_lines(monkeypatch):
    given = io.TextIOWrapper(io.BytesIO(b'{"a": 1, "y": "cat"}\n{"a": 2, "y": "dog"}\n'))
    monkeypatch.setattr(sys, "stdin", given)
    assert [(each.row.item(), each.label) for each in everything("-", label="y")] == [
        (1.0, "cat"),
        (2.0, "dog"),
    ]
    assert not given.closed


def test_standard_input_is_read_as_it_comes(monkeypatch):
    outlet, inlet = os.pipe()
    with open(outlet) as given, open(inlet, "wb", buffering=0) as giving:
        monkeypatch.setattr(sys, "stdin", given)
        giving.write(b'{"a": 1}\n{"a"')
        rows = iter(read("-"))
        assert next(rows).row.item() == 1.0
        giving.write(b": 2}\n")
        assert next(rows).row.item() == 2.0


def test_a_list_stands_for_as_many_columns(written):
    path = written({"x": [1, 2], "y": "a", "z": 3}, {"z": 6, "x": [4, 5], "y": "b"})
    with read(path, label="y") as reader:
        assert reader.columns == ("x[0]", "x[1]", "z")
        assert [each.row.tolist() for each in reader] == [[1, 2, 3], [4, 5, 6]]
    (only,) = everything(written({"z": 3, "x": [1, 2]}), columns=["x[0]", "x[1]", "z"])
    assert only.row.tolist() == [1, 2, 3]
    longer = written({"z": 3, "x": [1, 2, 9]})
    assert "line 1: the list 'x' has 3 numbers, but 2" in refusal(longer, columns=["x[0]", "x[1]"])
    changing = written({"x": [1, 2]}, {"x": [1, 2, 3]})
    assert "line 2: the list 'x' has 3 numbers, but 2 are expected" in refusal(changing)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"a": 1, "y": ', "this is not JSON"),
        ("\xff\xfe", "this is not JSON"),
        ("[" * 100_000, "this is not JSON"),
        ("[1, 2]", "this is not an object"),
        ({"y": 1}, "it has no column 'a'"),
        ({"a": "1.5", "y": 1}, "column 'a' holds '1.5', which is not a number"),
        ({"a": None, "y": 1}, "column 'a' is empty"),
        ({"a": {"b": 1}, "y": 1}, "it has no column 'a'"),
        ({"a": 1, "b": {"c": 1}, "b.c": 2, "y": 1}, "two fields are named 'b.c'"),
        ('{"a": NaN, "y": 1}', "nan, which is not a finite number"),
        ('{"a": 1' + "0" * 400 + ', "y": 1}', "not a finite number"),
        ({"a": 1}, "the label is empty"),
        ({"a": 1, "y": None}, "the label is empty"),
        ({"a": 1, "y": " "}, "the label is empty"),
        ({"a": 1, "y": 1.5}, "the label is 1.5; it must be a whole number or a string"),
        ({"a": 1, "y": ["b"]}, "the label is ['b']"),
    ],
)
def test_a_bad_line_is_named_and_can_be_passed_over(written, line, sentence):
    path = written({"a": 1, "y": 2}, line, {"a": 3, "y": 4})
    if line == "\xff\xfe":
        path.write_bytes(path.read_bytes().replace("\xff\xfe".encode(), b"\xff\xfe"))
    with read(path, label="y") as reader:
        assert next(iter(reader)).label == 2
        with pytest.raises(BadRowError) as caught:
            next(iter(reader))
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert sentence in str(caught.value)
    assert len(str(caught.value)) < 400
    assert caught.value.following == 3
    assert [each.label for each in everything(path, label="y", from_line=3)] == [4]
    assert everything(path, label="y", from_line=4) == []


def test_an_empty_file_and_a_missing_column_are_refused(written):
    assert "is empty" in refusal(written(""))
    assert "has no column 'kind'; its columns are: a." in refusal(written({"a": 1}), label="kind")


def test_names_and_words_that_are_no_unicode_are_refused(written):
    assert "'\\ud800' of" in refusal(written('{"\\ud800": 1, "kind": "cat"}'), label="kind")
    assert "the label is not UTF-8" in refusal(written('{"a": 1, "y": "\\ud800"}'), label="y")
    assert "the id is not UTF-8" in refusal(written('{"a": 1, "n": "\\ud800"}'), id="n")


def test_standard_input_that_is_closed_says_so(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(MissingDataError, match="Standard input is closed"):
        read("-")
