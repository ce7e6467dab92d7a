"""CSV: what is read, what a label is, and how bad lines are named."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import InvalidInputError, MissingDataError
from minout.streams.files import BadRowError, read


@pytest.fixture
def written(tmp_path):
    def write(content: str | bytes, name: str = "data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def everything(source, **asked):
    with read(source, **asked) as reader:
        return list(reader)


def refusal(source, **asked) -> str:
    with pytest.raises(InvalidInputError) as caught:
        everything(source, **asked)
    return str(caught.value)


def test_rows_labels_and_ids_come_from_their_columns(written):
    path = written("a,kind,b,scan\n1,cat,2.5,s1\n-3e2,7,0,s2\n")
    with read(path, label="kind", id="scan") as reader:
        first, second = reader
        assert reader.columns == ("a", "b")
        assert reader.unused == ()
    assert first.row.tolist() == [1.0, 2.5]
    assert first.row.dtype == np.float64
    assert (first.label, first.id, first.number, first.where) == ("cat", "s1", 2, "line 2")
    assert (second.row.tolist(), second.label, second.id) == ([-300.0, 0.0], "7", "s2")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
@pytest.mark.parametrize("separator", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
def test_byte_order_marks_line_ends_and_separators_do_not_matter(written, end, mark, separator):
    lines = ["a", "kind"], ["1", "cat"], ["", ""], ["2", '"dog, big; or\tsmall"']
    text = end.join(separator.join(each) if any(each) else "" for each in lines)
    rows = everything(written(mark + text.encode()), label="kind")
    assert [(each.row.tolist(), each.label) for each in rows] == [
        ([1.0], "cat"),
        ([2.0], "dog, big; or\tsmall"),
    ]
    assert [each.number for each in rows] == [2, 4]


@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.text(
                st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
            ).filter(lambda text: text.strip() == text),
            st.booleans(),
        ),
        min_size=1,
    )
)
def test_what_python_writes_is_read_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "kind", "a name, with a comma"])
        for x, label, blank in rows:
            writer.writerow([repr(x), label, 1])
            if blank:
                file.write("\r\n")
    came = everything(path, label="kind")
    assert [each.label for each in came] == [label for _, label, _ in rows]
    assert [each.row.tolist() for each in came] == [[x, 1.0] for x, _, _ in rows]


def test_a_row_that_goes_over_lines_is_named_by_its_first(written):
    path = written('a,note\n1,"two\nlines"\nx,y\n')
    assert refusal(path, ignore=["note"]).startswith(f"{path}, line 4: column 'a' holds 'x'")


def test_features_of_a_model_are_found_by_name_and_the_rest_is_left_out(written):
    path = written("b,kind,c,a,text\n2,cat,3,1,hello\n")
    with read(path, label="kind", columns=["a", "b", "c"]) as reader:
        (only,) = reader
    assert only.row.tolist() == [1.0, 2.0, 3.0]
    assert reader.unused == ("text",)
    (alone,) = everything(path, columns=["c"])
    assert (alone.row.tolist(), alone.label) == ([3.0], None)


def test_spaces_around_names_labels_and_numbers_are_dropped(written):
    (only,) = everything(written("a , kind\n 1 , cat \n"), label="kind")
    assert (only.row.tolist(), only.label) == ([1.0], "cat")


def test_missing_columns_are_named_with_what_there_is(written):
    path = written("a,kind\n1,cat\n")
    assert refusal(path, label="Kind") == (
        f"{path} has no column 'Kind' (did you mean 'kind'?); its columns are: a, kind."
    )
    assert refusal(path, id="scan") == f"{path} has no column 'scan'; its columns are: a, kind."
    assert "has no column 'z'" in refusal(path, ignore=["z"])
    assert "no column 'age', which this model was taught with" in refusal(
        path, columns=["a", "age"]
    )
    assert "lacks 2 columns that this model was taught with: age, size;" in refusal(
        path, columns=["a", "age", "size"]
    )
    (only,) = everything(path, label="Kind", id="scan", columns=["a"], optional=["Kind", "scan"])
    assert (only.label, only.id) == (None, None)


def test_many_columns_are_not_all_listed(written):
    path = written(",".join(f"c{i}" for i in range(200)) + "\n")
    assert "c19 and 180 more." in refusal(path, label="kind")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty"),
        ("\n \r\n\n", "is empty"),
        ("a,kind\n", "has a header, but no rows"),
        ("a,kind\n\n\n", "has a header, but no rows"),
        (
            "a,kind\n1,cat\n2\n",
            "line 3: there is 1 field, but the header has 2; add the missing ones",
        ),
        ("a,kind\n1,cat\n2,dog,big\n", "line 3: there are 3 fields, but the header has 2; put"),
        ("a,kind\nred,cat\n", "line 2: column 'a' holds 'red', which is not a number; encode"),
        ("a,kind\nred,cat\n", "start a model without the column (--ignore a)."),
        ("a b,kind\nred,cat\n", "(--ignore 'a b')"),
        ("a,kind\n1_000,cat\n", "'1_000', which is not a number"),
        ('a,kind\n"1,234",cat\n', "'1,234', which is not a number"),
        ("a,kind\n1,cat\n\n,dog\n", "line 4: column 'a' is empty"),
        ("a,kind\n1,cat\nnan,dog\n", "line 3: column 'a' holds 'nan', which is not a finite"),
        ("a,kind\n1e999,cat\n", "'1e999', which is not a finite number"),
        ("a,kind\n1, \n", "line 2: the label is empty"),
        ("a,a,kind\n1,2,cat\n", "has two columns 'a'"),
        (",,kind\n1,2,cat\n", "has two columns without a name"),
        (",a,kind\n1,2,cat\n", "Column 1 of"),
        ("kind\ncat\n", "has no columns to learn from"),
        ('a,kind\n1,"cat\n2,dog\n', "line 2: a quote is opened and never closed"),
        ('a,kind\n1,"cat"s\n', "line 2: the quotes are wrong"),
        (b"a,kind\n1,caf\xe9\n", "line 2: the label is not UTF-8"),
        (b"a,kind\n\xe9,cat\n", "line 2: column 'a' holds"),
        (b"caf\xe9,kind\n1,cat\n", "line 1: the text is not UTF-8; it may be cp1252 (add --enc"),
        ("a,kind\n1,cat\n".encode("utf-16"), "line 1: the text is not UTF-8; it may be utf-16 ("),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(written, content, sentence):
    path = written(content)
    said = refusal(path, label="kind")
    assert sentence in said
    assert str(path) in said
    assert "\n" not in said


def test_an_id_that_is_empty_is_named(written):
    assert "line 2: the id is empty" in refusal(written("a,scan\n1,\n"), id="scan")


def test_a_column_has_one_role(written):
    path = written("a,kind\n1,cat\n")
    assert "both label and id" in refusal(path, label="kind", id="kind")
    assert "is the label; it cannot be ignored" in refusal(path, label="kind", ignore=["kind"])
    assert "it cannot be the label" in refusal(path, label="a", columns=["a"])


def test_a_bad_line_comes_after_the_good_ones_and_says_where_to_go_on(written):
    path = written('a,kind\n1,cat\n2,"a\nb"\nred,"c\nd"\n3,"x"y\n4,dog\n')
    with read(path, label="kind") as reader:
        rows = iter(reader)
        assert [next(rows).row.item(), next(rows).row.item()] == [1.0, 2.0]
        with pytest.raises(BadRowError) as caught:
            next(rows)
    assert caught.value.following == 7
    with pytest.raises(BadRowError, match="line 7: the quotes are wrong") as caught:
        everything(path, label="kind", from_line=7)
    assert caught.value.following == 8
    assert [each.row.item() for each in everything(path, label="kind", from_line=8)] == [4.0]
    assert everything(path, label="kind", from_line=9) == []


def test_nothing_can_be_read_after_an_open_quote(written):
    with pytest.raises(BadRowError) as caught:
        everything(written('a,kind\n1,"cat\n2,dog\n'), label="kind")
    assert caught.value.following is None


def test_a_quote_that_is_left_open_in_a_long_file_is_not_read_to_its_end(written):
    path = written('a,kind\n1,"cat\n' + "2,dog\n" * 100_000)
    with read(path, label="kind") as reader:
        with pytest.raises(BadRowError, match="line 2: a quote is opened"):
            next(iter(reader))
        assert reader.fraction_read() < 0.5


def test_a_file_is_read_as_far_as_asked(written):
    path = written("a,kind\n" + "1,cat\n" * 200_000 + "red,cat\n")
    with read(path, label="kind") as reader:
        assert next(iter(reader)).label == "cat"
        assert 0.0 < reader.fraction_read() < 0.1


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("nowhere.csv", "There is no file"), ("data.xlsx", "does not read; pass .csv")],
)
def test_a_file_that_is_not_there_or_of_another_kind_is_refused(tmp_path, name, sentence):
    (tmp_path / "data.xlsx").touch()
    with pytest.raises((MissingDataError, InvalidInputError), match=sentence):
        read(tmp_path / name)


def test_lines_are_counted_from_1(written):
    assert "lines are counted from 1" in refusal(written("a\n1\n"), from_line=0)


def test_a_field_that_is_too_long_is_called_so_and_the_next_line_can_be_read(written):
    path = written(f"a,kind\n1,cat\n2,{'x' * 131_073}\n3,dog\n")
    with (
        read(path, label="kind") as reader,
        pytest.raises(BadRowError, match="line 3: a field has more than 131,072") as caught,
    ):
        list(reader)
    assert caught.value.following == 4
    assert [each.label for each in everything(path, label="kind", from_line=4)] == ["dog"]
    long_header = written(f"a,{'x' * 131_073}\n1,2\n")
    assert "line 1: a field has more than 131,072" in refusal(long_header)
