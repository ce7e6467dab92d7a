"""Tables: CSV, JSON and Parquet become records, each with label, id and line."""

import csv
import datetime
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import InvalidInputError, MissingExtraError
from minout.files import read
from minout.files.reader import FIRST, MOST
from minout.files.tables import with_point
from minout.files.values import flattened

ROWS = [({"a": "1"}, "cat", "x", 2), ({"a": "2"}, "dog", "y", 3)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_byte_order_marks_line_ends_and_delimiters_do_not_matter(
    written, rows, end, mark, delimiter
):
    lines = [" scan ,a,kind", "x,1, cat ", "y,2,dog", ""]
    content = mark + end.join(lines).replace(",", delimiter)
    assert rows(written("data.csv", content), label="kind", id="scan") == ROWS


def test_a_column_without_a_name_is_left_out(written, rows):
    assert rows(written("a.csv", ",a\n7,1\n"))[0][0] == {"a": "1"}


def test_the_most_frequent_delimiter_outside_of_quotes_counts(written, rows):
    content = '"a,b,c";d;kind\n1,5;2;cat\n'
    assert rows(written("a.csv", content), label="kind") == [
        ({"a,b,c": "1,5", "d": "2"}, "cat", None, 2)
    ]


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"))])
        .map(lambda each: (each[0], "end"))
        .filter(lambda each: each != ("a", "b")),
        min_size=1,
        max_size=5,
    )
)
def test_what_python_writes_as_csv_is_read_back(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("a", "b"), *values])
    with read(path) as reader:
        found = [tuple(row.values()) for batch in reader for row in batch.X]
    assert found == values


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_with_a_decimal_comma_are_read_back(number):
    assert float(with_point(repr(number).replace(".", ","))) == number


def test_a_decimal_comma_is_read_where_it_is_asked_for(written, rows):
    path = written("data.csv", "a;b;kind\n3,5;1.234,5;cat, grey\n")
    assert rows(path, label="kind", decimal=",") == [
        ({"a": "3.5", "b": "1234.5"}, "cat, grey", None, 2)
    ]
    assert rows(path, label="kind")[0][0] == {"a": "3,5", "b": "1.234,5"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,kind\n1,cat\n2,dog,3\n", "line 3: there are 3 fields, but the header has 2; put quote"),
        ("a,kind\n1,cat\n2\n", "line 3: there is 1 field, but the header has 2; add the missing"),
        ('a,kind\n1,cat\n"2,dog\n3,cat\n', "line 3: a quote is opened and never closed"),
        ('a,kind\n1,cat\n"2"3,dog\n', "line 3: the quotes are wrong"),
        ("a,kind\n1,cat\na,kind\n", "line 3: this is the header again"),
        ("a,kind\n1,cat\n2,d\0g\n", "line 3: column 'kind': the text is not UTF-8"),
        ("a,kind\n\n", "has no rows"),
        ("\n\n", "is empty; it needs rows"),
        ("a,kind,a\n1,2,3\n", "has two columns 'a'"),
        ('"a,kind\n1,2\n', "line 1: the quotes are wrong"),
    ],
)
def test_what_is_wrong_in_a_csv_is_said_with_its_line(written, refusal, content, sentence):
    path = written("data.csv", content)
    assert f"{path}" in refusal(path, label="kind")
    assert sentence in refusal(path, label="kind")


def test_a_row_over_several_lines_is_named_by_its_first(written, rows):
    path = written("data.csv", 'a,kind\n"1\n2",cat\n\n3,dog\n')
    assert [each[3] for each in rows(path, label="kind")] == [2, 5]


def test_the_rows_before_a_bad_one_come_first_and_bad_rows_can_be_skipped(written):
    path = written("data.csv", "a,kind\n1,cat\n2,dog,3\n4,dog\n")
    with read(path, label="kind") as reader:
        (batch,) = reader
    assert batch.lines == [2]
    assert "line 3" in str(batch.error)
    said = []
    with read(path, label="kind", skip=said.append) as reader:
        (batch,) = reader
    assert (batch.lines, batch.error) == ([2, 4], None)
    assert [(each.where, each.text) for each in said] == [("line 3", "2,dog,3")]


def test_a_quote_that_swallows_many_rows_ends_the_file_even_if_bad_rows_are_skipped(written):
    rows = "".join(f"{each},cat\n" for each in range(30))
    for end, sentence in (("", "never closed"), ('5",6,7\n', "ends only in line 33; close")):
        path = written("data.csv", f'a,kind\n1,cat\n"{rows}{end}')
        with read(path, skip=lambda _: None) as reader:
            (batch,) = reader
        assert sentence in str(batch.error)
        assert "line 3:" in str(batch.error)


def test_columns_that_are_required_are_named_with_what_there_is(written):
    with (
        read(written("data.csv", "a,kind\n1,cat\n")) as reader,
        pytest.raises(InvalidInputError, match=r"no column 'knd' \(did you mean 'kind'\?\); its"),
    ):
        reader.require("knd")
    with pytest.raises(InvalidInputError, match="cannot be both label and id"):
        read("-", label="a", id="a")


def test_the_first_batch_is_large_and_the_others_are_small(written):
    content = "a\n" + "1\n" * (FIRST + MOST + 1)
    with read(written("data.csv", content)) as reader:
        assert [len(batch.lines) for batch in reader] == [FIRST, MOST, 1]
        assert reader.fraction_read == 1.0


OBJECTS = [
    {"scan": 7, "kind": "cat", "x": [1, 2], "car": {"age": 3, "parts": ["a"]}, "big": None},
    {"kind": "dog", "new": True, "x": [1.5, 2]},
]
FLAT = [
    ({"x[0]": 1, "x[1]": 2, "car.age": 3, "car.parts[0]": "a", "big": None}, "cat", "7", 1),
    ({"new": True, "x[0]": 1.5, "x[1]": 2}, "dog", None, 2),
]


def test_nested_objects_become_columns_in_lines_and_arrays(written, rows):
    lines = "\n".join(map(json.dumps, OBJECTS))
    for name, content in {"a.jsonl": lines, "b.json": lines, "c.json": json.dumps(OBJECTS)}.items():
        assert rows(written(name, content), label="kind", id="scan") == FLAT


def test_a_label_may_be_nested(written, rows):
    path = written("a.jsonl", '{"car": {"age": 3, "kind": "new"}}')
    assert rows(path, label="car.kind") == [({"car.age": 3}, "new", None, 1)]


@pytest.mark.parametrize(
    ("value", "label"),
    [(3, 3), (3.0, 3), ("3", "3"), (True, "true"), (" a ", "a"), (None, None), ("", None)],
)
def test_labels_stay_numbers_or_strings_and_ids_are_strings(written, rows, value, label):
    path = written("a.jsonl", json.dumps({"a": 1, "y": value, "i": value}))
    ((_, found, id, _),) = rows(path, label="y", id="i")
    assert (found, type(found)) == (label, type(label))
    assert id == (None if label is None else str(label))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 2: this is not JSON"),
        ("[1]", "line 2: this is not an object"),
        ('{"x": [1, 2, 3]}', "line 2: the list 'x' has 3 numbers, but 2 in earlier rows"),
        ('{"a.b": 1, "a": {"b": 2}}', "line 2: two fields are named 'a.b'"),
        ('{"kind": [1]}', "line 2: the label is [1]; it must be"),
        ('{"kind": 1.5}', "line 2: the label is 1.5; it must be"),
        (r'{"a": "\ud800"}', "line 2: the text is not UTF-8"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "line 2: "),
    ],
)
def test_what_is_wrong_in_json_is_said_with_its_line(written, rows, refusal, line, sentence):
    path = written("a.jsonl", f'{{"x": [1, 2]}}\n{line}\n{{"x": [3, 4]}}')
    assert sentence in refusal(path, label="kind")
    said = []
    assert [each[3] for each in rows(path, label="kind", skip=said.append)] == [1, 3]
    assert len(said) == 1


def test_json_that_is_empty_or_no_array_is_refused(written, refusal):
    assert "is empty" in refusal(written("a.jsonl", "\n"))
    assert "is not JSON (" in refusal(written("a.json", '[{"a": 1}'))
    assert "object 2: this is not an object" in refusal(written("a.json", '[{"a": 1}, 2]'))


@given(
    st.recursive(
        st.integers(),
        lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=8,
    )
)
def test_every_value_of_an_object_is_in_one_column(value):
    flat = flattened({"top": value}, {})
    assert sorted(flat.values()) == sorted(leaves(value))


def leaves(value):
    return (
        [each for one in value.values() for each in leaves(one)]
        if isinstance(value, dict)
        else [value]
    )


def test_parquet_gives_the_same_records_as_json(tmp_path, rows):
    whole = [{**OBJECTS[0], "new": None}, {**OBJECTS[1], "car": None, "scan": None, "big": None}]
    pq.write_table(pa.Table.from_pylist(whole), tmp_path / "a.parquet")
    found = rows(tmp_path / "a.parquet", label="kind", id="scan")
    assert found[0] == (FLAT[0][0] | {"new": None}, "cat", "7", 1)
    assert found[1][0]["x[0]"] == 1.5


def test_parquet_keeps_dates_and_drops_the_index_of_pandas(tmp_path, rows):
    day = datetime.date(2026, 1, 1)
    pq.write_table(pa.table({"day": [day], "__index_level_0__": [5]}), tmp_path / "a.parquet")
    assert rows(tmp_path / "a.parquet") == [({"day": day}, None, None, 1)]
    with read(tmp_path / "a.parquet") as reader:
        assert reader.columns == ["day"]


def test_parquet_that_is_empty_or_has_a_bad_row_is_refused(tmp_path, refusal):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), path)
    assert "is empty; it needs rows" in refusal(path)
    pq.write_table(pa.table({"x": [[1, 2], [3]]}), path)
    assert "row 2: the list 'x' has 1 numbers, but 2 in" in refusal(path)


def test_what_is_missing_is_named_with_a_command_that_installs_it(written, monkeypatch):
    for module, name in {"pyarrow.parquet": "a.parquet", "pyarrow": "a.csv.zst"}.items():
        monkeypatch.setitem(__import__("sys").modules, module, None)
        with pytest.raises(MissingExtraError, match=r'pip install "\.\[parquet\]"'):
            read(written(name, "a"))
