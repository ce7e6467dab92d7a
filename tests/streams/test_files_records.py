"""Rows as records: columns of any kind by name, nested ones too; rows that are skipped; peeking."""

import json
from datetime import date

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from minout.errors import InvalidInputError
from minout.streams.files import BadRowError, read
from minout.streams.files.decimal_comma import comma_columns, with_point
from minout.streams.files.flattening import flattened


def examples(path, **asked):
    with read(path, rows="records", **asked) as reader:
        return list(reader)


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_a_csv_gives_the_text_of_each_column(written):
    path = written("t.csv", ",age,note,kind\n0, 31,,a\n1,NA,'x',b\n")
    found = examples(path, label="kind")
    assert [each.row for each in found] == [
        {"age": " 31", "note": ""},
        {"age": "NA", "note": "'x'"},
    ]
    assert [each.label for each in found] == ["a", "b"]
    with read(path, rows="records", label="kind") as reader:
        assert (reader.kind, reader.columns, reader.unused) == ("records", ("age", "note"), ("",))


def test_a_file_must_have_the_columns_that_are_named_and_may_have_more(written):
    path = written("t.csv", "a,b\n1,2\n")
    assert examples(path, columns=["b"])[0].row == {"a": "1", "b": "2"}
    with pytest.raises(InvalidInputError, match="has no column 'c'"):
        examples(path, columns=["c"])


def test_objects_may_be_nested_and_need_not_have_the_same_fields(written):
    lines = [{"a": {"b": [1, {"c": "x"}], "d": None}, "y": "l"}, {"e": True, "y": "m"}]
    path = written("t.jsonl", "\n".join(map(json.dumps, lines)))
    assert [each.row for each in examples(path, label="y")] == [
        {"a.b[0]": 1, "a.b[1].c": "x", "a.d": None},
        {"e": True},
    ]


def test_an_array_of_objects_is_read_as_json_lines_are(written):
    lines = [{"a": 1, "y": "l"}, {"a": {"b": 2}, "y": ""}, 7, {"a": 3, "y": "m"}]
    said = []
    found = examples(written("t.json", json.dumps(lines)), label="y", on_bad_line=said.append)
    assert [(each.row, each.where) for each in found] == [
        ({"a": 1}, "object 1"),
        ({"a": 3}, "object 4"),
    ]
    assert [each.where for each in said] == ["object 2", "object 3"]
    assert examples(written("u.json", '{"a": 1}\n{"a": 2}\n'))[1].row == {"a": 2}
    with pytest.raises(InvalidInputError, match="is not JSON"):
        examples(written("v.json", "[1, 2"))
    with pytest.raises(InvalidInputError, match="is empty"):
        examples(written("w.json", "[]"))


def test_a_label_may_be_nested(written):
    path = written("t.jsonl", '{"x": 1, "meta": {"kind": "a", "id": 7}}\n')
    (only,) = examples(path, label="meta.kind", id="meta.id")
    assert (only.row, only.label, only.id) == ({"x": 1}, "a", "7")


def test_parquet_gives_the_same_records_as_json(tmp_path, written):
    rows = [
        {"n": 1.5, "word": "red", "in": {"x": 1, "y": [1.0, 2.0]}, "v": [3.0, 4.0], "kind": "a"},
        {"n": None, "word": None, "in": {"x": 2, "y": [5.0, 6.0]}, "v": [7.0, 8.0], "kind": "b"},
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "t.parquet")
    path = written("t.jsonl", "\n".join(map(json.dumps, rows)))
    left, right = (examples(each, label="kind") for each in (tmp_path / "t.parquet", path))
    assert [each.row for each in left] == [each.row for each in right]
    assert [each.label for each in left] == ["a", "b"]


def test_parquet_keeps_dates_and_truth_values(tmp_path):
    table = pyarrow.table({"d": [date(2024, 2, 29)], "t": [True], "y": [3]})
    parquet.write_table(table, tmp_path / "t.parquet")
    (only,) = examples(tmp_path / "t.parquet", label="y")
    assert (only.row, only.label) == ({"d": date(2024, 2, 29), "t": True}, 3)


def test_a_list_of_numbers_keeps_its_length_and_one_of_words_need_not(written):
    lines = [
        {"v": [1, 2], "tags": ["x"]},
        {"v": [1, 2], "tags": ["x", "y"]},
        {"v": [], "tags": [], "n": 1},
        {"v": [1]},
    ]
    path = written("t.jsonl", "\n".join(map(json.dumps, lines)))
    with read(path, rows="records") as reader:
        rows = iter(reader)
        assert [next(rows).row for _ in range(2)][1] == {
            "v[0]": 1,
            "v[1]": 2,
            "tags[0]": "x",
            "tags[1]": "y",
        }
        assert next(rows).row == {"n": 1}
        with pytest.raises(BadRowError, match="'v' has 1 numbers, but 2 are expected"):
            next(rows)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_every_value_of_an_object_is_in_one_column(value):
    def leaves(each):
        if isinstance(each, dict):
            return [leaf for inner in each.values() for leaf in leaves(inner)]
        if isinstance(each, list):
            return [leaf for inner in each for leaf in leaves(inner)]
        return [each]

    flat = flattened({"x": value})
    assert list(flat.values()) == leaves(value)
    assert all(not isinstance(each, dict | list) for each in flat.values())


def test_objects_that_are_nested_too_deeply_are_refused():
    value = 1
    for _ in range(5_000):
        value = {"a": value}
    with pytest.raises(InvalidInputError, match="nested too deeply"):
        flattened({"x": value})


BAD = 'a,kind\n1,x\n2\n3,"y"z\n4,\na,kind\n5,y\n"\x00",x\n6,x\n'


def test_bad_rows_are_skipped_if_the_caller_says_so(written):
    said = []
    found = examples(written("t.csv", BAD), label="kind", on_bad_line=said.append)
    assert [each.row["a"] for each in found] == ["1", "5", "6"]
    assert [(each.where, each.row) for each in said] == [
        ("line 3", "2"),
        ("line 4", ""),
        ("line 5", "4,"),
        ("line 6", "a,kind"),
        ("line 8", "\x00,x"),
    ]


def test_a_quote_that_is_never_closed_ends_the_rows(written):
    path = written("t.csv", 'a,kind\n1,x\n"2,y\n3,z\n')
    with read(path, rows="records", label="kind", on_bad_line=list) as reader:
        rows = iter(reader)
        assert next(rows).row == {"a": "1"}
        with pytest.raises(
            BadRowError, match="line 3: a quote is opened and never closed"
        ) as caught:
            next(rows)
    assert caught.value.following is None


def test_text_that_is_not_utf8_is_named_with_its_column(written):
    path = written("t.csv", b"a,b,kind\n1,caf\xe9,x\n")
    with pytest.raises(BadRowError, match=r"line 2: column 'b' is not UTF-8; it may be cp1252"):
        examples(path, label="kind")
    assert examples(path, label="kind", encoding="cp1252")[0].row["b"] == "café"


def test_peeking_changes_nothing(written):
    path = written("t.csv", "a,kind\n" + "".join(f"{n},x\n" for n in range(9)) + "bad\n")
    with read(path, rows="records", label="kind") as reader:
        assert [each.row["a"] for each in reader.peek(3)] == ["0", "1", "2"]
        assert [each.row["a"] for each in reader.peek(2)] == ["0", "1", "2"]
        assert reader.failure is None
        rows = iter(reader)
        assert next(rows).row["a"] == "0"
        assert len(reader.peek(100)) == 8
        assert "there is 1 field" in str(reader.failure)
        assert [next(rows).row["a"] for _ in range(8)] == [str(n) for n in range(1, 9)]
        with pytest.raises(BadRowError, match="line 11"):
            next(rows)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_numbers_with_a_decimal_comma_are_read_back(values):
    texts = [f"{value:.3f}".replace(".", ",") for value in values]
    assert comma_columns([[text] for text in texts], ";") == {0}
    assert [float(with_point(text)) for text in texts] == [round(value, 3) for value in values]


@pytest.mark.parametrize(
    ("values", "delimiter", "has_commas"),
    [
        (["1,5", "2"], ";", True),
        (["1,5", "NA", ""], "\t", True),
        (["1,5", "red"], ";", False),
        (["1.5", "2.5"], ";", False),
        (["1,234", "5,678"], ",", False),
        (["1,234", "5,67"], ",", True),
        (["1.234,5", "12.345.678,9"], ";", True),
        (["1,2,3"], ";", False),
    ],
    ids=["plain", "missing", "words", "points", "thousands", "mixed", "both", "lists"],
)
def test_a_decimal_comma_is_recognised(values, delimiter, has_commas):
    assert comma_columns([[value] for value in values], delimiter) == ({0} if has_commas else set())
