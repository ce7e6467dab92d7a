"""Parquet: types, batches, lists, and how bad rows are named."""

import builtins
import datetime
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from minout.errors import InvalidInputError, MinoutError, MissingDataError, MissingExtraError
from minout.streams.files import BadRowError, parquet, read


@pytest.fixture
def written(tmp_path):
    def write(columns: dict[str, object]):
        path = tmp_path / "data.parquet"
        pq.write_table(pa.table(columns), path)
        return path

    return write


def everything(source, **asked):
    with read(source, **asked) as reader:
        return list(reader)


def test_every_kind_of_number_is_read(written):
    path = written(
        {
            "whole": pa.array([1, 2], pa.int8()),
            "half": pa.array(np.array([0.5, 1.5], dtype=np.float16)),
            "truth": [True, False],
            "money": [Decimal("1.25"), Decimal("2.50")],
            "coded": pa.array([3, 4]).dictionary_encode(),
            "kind": pa.array(["cat", "dog"]).dictionary_encode(),
            "scan": [7, 8],
        }
    )
    with read(path, label="kind", id="scan") as reader:
        first, second = reader
    assert reader.columns == ("whole", "half", "truth", "money", "coded")
    assert first.row.tolist() == [1.0, 0.5, 1.0, 1.25, 3.0]
    assert second.row.tolist() == [2.0, 1.5, 0.0, 2.5, 4.0]
    assert (second.label, second.id, second.where) == ("dog", "8", "row 2")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([1, 2], [1, 2]), ([1.0, 2.0], [1, 2]), ([True, False], ["true", "false"])],
)
def test_labels_keep_their_type(written, labels, expected):
    came = everything(written({"a": [1, 2], "y": labels}), label="y")
    assert [each.label for each in came] == expected


def test_batches_are_joined_in_order(written, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH", 3)
    path = written({"b": np.arange(10.0), "y": np.arange(10), "a": -np.arange(10.0)})
    with read(path, label="y", columns=["a", "b"]) as reader:
        assert reader.fraction_read() == 0.0
        came = list(reader)
        assert reader.fraction_read() == 1.0
    assert [each.row.tolist() for each in came] == [[-i, i] for i in range(10)]
    assert [each.label for each in came] == list(range(10))
    later = everything(path, label="y", columns=["a", "b"], from_line=8)
    assert [each.number for each in later] == [8, 9, 10]


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 2)])
def test_a_list_stands_for_as_many_columns(written, kind):
    path = written({"x": pa.array([[1, 2], [3, 4]], kind), "z": [5, 6]})
    with read(path) as reader:
        assert reader.columns == ("x[0]", "x[1]", "z")
        assert [each.row.tolist() for each in reader] == [[1, 2, 5], [3, 4, 6]]
    with pytest.raises(InvalidInputError, match="'x' has 2 numbers, but 1 are"):
        read(path, columns=["x[0]"])


def test_a_list_of_another_length_is_a_bad_row(written):
    path = written({"x": pa.array([[1, 2], [3], None, [4, None]], pa.list_(pa.float64()))})
    for row in (2, 3):
        with pytest.raises(BadRowError, match=rf"row {row}: column 'x\[0\]' is empty"):
            everything(path, from_line=row)
    with pytest.raises(BadRowError, match=r"row 4: column 'x\[1\]' is empty"):
        everything(path, from_line=4)


def test_the_index_that_pandas_writes_is_no_feature(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0]}, index=[5, 9])
    frame.to_parquet(tmp_path / "data.parquet")
    with read(tmp_path / "data.parquet") as reader:
        assert reader.columns == ("a",)


@pytest.mark.parametrize("values", [["red", "blue"], [datetime.date(2026, 1, 1)] * 2, [b"1", b"2"]])
def test_a_column_that_is_not_numbers_is_refused_by_name(written, values):
    path = written({"a": [1, 2], "colour": values})
    with pytest.raises(InvalidInputError, match=r"Column 'colour' of .* \(--ignore colour\)"):
        read(path)
    assert len(everything(path, ignore=["colour"])) == 2
    assert len(everything(path, columns=["a"])) == 2


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        ({"a": None, "y": "b"}, "column 'a' is empty"),
        ({"a": float("nan"), "y": "b"}, "column 'a' is empty"),
        ({"a": float("inf"), "y": "b"}, "holds inf, which is not a finite number"),
        ({"a": 1.0, "y": None}, "the label is empty"),
        ({"a": 1.0, "y": "  "}, "the label is empty"),
    ],
)
def test_a_bad_row_is_named_and_can_be_passed_over(written, second, sentence):
    path = written({"a": [0.0, second["a"], 2.0], "y": ["a", second["y"], "c"]})
    with read(path, label="y") as reader:
        assert next(iter(reader)).label == "a"
        with pytest.raises(BadRowError) as caught:
            next(iter(reader))
    assert str(caught.value).startswith(f"{path}, row 2: ")
    assert sentence in str(caught.value)
    assert [each.label for each in everything(path, label="y", from_line=3)] == ["c"]
    assert caught.value.following == 3


def test_what_is_no_parquet_or_has_no_rows_is_refused(tmp_path, written):
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(MissingDataError, match="is not a Parquet file"):
        read(tmp_path / "text.parquet")
    with pytest.raises(InvalidInputError, match="is empty"):
        read(written({"a": pa.array([], pa.float64())}))
    with pytest.raises(InvalidInputError, match="has no column 'kind'; its columns are: a"):
        read(written({"a": [1]}), label="kind")


def test_a_file_that_is_damaged_further_on_is_read_so_far(tmp_path):
    path = tmp_path / "data.parquet"
    numbers = pa.table({"a": np.random.default_rng(0).normal(size=4_000)})
    pq.write_table(numbers, path, row_group_size=1_000, compression="gzip")
    content = path.read_bytes()
    where = len(content) * 3 // 4
    path.write_bytes(content[:where] + b"\xff" * 2_000 + content[where + 2_000 :])
    with read(path) as reader:
        assert next(iter(reader)).number == 1
        with pytest.raises(MissingDataError, match="is damaged"):
            list(reader)
        assert 0.25 <= reader.fraction_read() < 1.0


def test_without_pyarrow_one_sentence_says_how_to_get_it(written, monkeypatch):
    path = written({"a": [1]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r'pip install "minout\[parquet\]"'):
        read(path)


def test_csv_needs_no_pyarrow(tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        assert not name.startswith(("pyarrow", "PIL", "pandas")), name
        return real(name, *rest, **more)

    (tmp_path / "data.csv").write_text("a\n1\n")
    monkeypatch.setattr(builtins, "__import__", refuse)
    assert len(everything(tmp_path / "data.csv")) == 1


def test_lists_of_lists_and_two_lists_of_one_name_are_refused(written, tmp_path):
    with pytest.raises(InvalidInputError, match=r"Column 'x' of .*data\.parquet holds list"):
        read(written({"x": [[[1.0], [2.0]]], "y": [1]}), label="y")
    lists = pa.array([[1.0, 2.0]])
    pq.write_table(pa.table([lists, lists], names=["x", "x"]), tmp_path / "two.parquet")
    with pytest.raises(InvalidInputError, match=r"two\.parquet has two columns 'x'"):
        read(tmp_path / "two.parquet")


def test_an_altered_byte_is_one_sentence_or_nothing(written):
    path = written({"säule": [1.0, 2.0], "x": [[1.0], [2.0]], "y": ["kä", "hü"]})
    whole = path.read_bytes()
    for word in ("kä", "hü", "säule"):
        assert word.encode() in whole
        path.write_bytes(whole.replace(word.encode(), word.encode().replace(b"\xc3", b"\xff")))
        with pytest.raises(MinoutError, match=r"data\.parquet"):
            everything(path, label="y")


def test_an_altered_footer_is_one_sentence(written):
    path = written({"a": [1.0, 2.0]})
    whole = path.read_bytes()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    path.write_bytes(whole[:start] + b"\xff" + whole[start + 1 :])
    with pytest.raises(
        MissingDataError, match=r"data\.parquet is not a Parquet file, or it is damaged"
    ):
        read(path)
