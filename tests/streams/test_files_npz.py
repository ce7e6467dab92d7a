"""NPZ: the arrays X, y and ids."""

import zipfile

import numpy as np
import pytest

from minout.errors import InvalidInputError, MinoutError, MissingDataError
from minout.streams.files import BadRowError, read


@pytest.fixture
def written(tmp_path):
    def write(**arrays):
        path = tmp_path / "data.npz"
        np.savez_compressed(path, **arrays)
        return path

    return write


def everything(source, **asked):
    with read(source, **asked) as reader:
        return list(reader)


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        (np.array([3, 4], dtype=np.uint8), [3, 4]),
        (np.array([3.0, 4.0]), [3, 4]),
        (np.array(["cat", "dog"]), ["cat", "dog"]),
        (np.array([b"cat", b"dog"]), ["cat", "dog"]),
        (np.array([True, False]), ["true", "false"]),
    ],
)
def test_labels_keep_their_type_and_ids_are_strings(written, y, labels):
    came = everything(written(X=np.eye(2, dtype=np.float32), y=y, ids=y))
    assert [each.label for each in came] == labels
    assert [each.id for each in came] == [str(label) for label in labels]
    assert [type(each.label) for each in came] == [type(label) for label in labels]
    assert [each.row.tolist() for each in came] == [[1.0, 0.0], [0.0, 1.0]]
    assert came[0].row.dtype == np.float64


def test_labels_and_ids_may_be_missing_or_have_other_names(written):
    path = written(X=np.eye(2), names=np.array(["a", "b"]))
    assert [(each.label, each.id) for each in everything(path)] == [(None, None)] * 2
    assert [each.label for each in everything(path, label="names")] == ["a", "b"]
    with pytest.raises(InvalidInputError, match="no array 'kind'; its arrays are: X, names"):
        read(path, label="kind")
    assert everything(path, label="kind", optional=["kind"])[0].label is None


def test_images_are_laid_out_and_their_shape_is_kept(written):
    X = np.arange(24.0).reshape(2, 3, 4)
    with read(written(X=X)) as reader:
        assert [each.row.tolist() for each in reader] == [list(range(12)), list(range(12, 24))]
    assert reader.image_shape == (3, 4)
    assert reader.columns is None


def test_a_bad_row_is_named_and_can_be_passed_over(written):
    path = written(X=np.array([[0.0, 1.0], [2.0, np.nan], [3.0, 4.0]]), y=np.arange(3))
    with read(path) as reader:
        assert next(iter(reader)).label == 0
        with pytest.raises(BadRowError, match="row 2: column 1 holds nan") as caught:
            next(iter(reader))
    assert caught.value.following == 3
    assert [each.label for each in everything(path, from_line=3)] == [2]


def test_bad_rows_are_skipped_if_asked(written):
    X = np.array([[np.nan, 1.0], [2.0, 3.0], [4.0, np.inf], [5.0, 6.0]])
    said = []
    came = everything(written(X=X, y=np.arange(4)), on_bad_line=said.append)
    assert [each.label for each in came] == [1, 3]
    assert [each.following for each in said] == [2, 4]


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"data": np.eye(2)}, "has no array X; its arrays are: data"),
        ({"X": np.array(["a"])}, "it must be numbers"),
        ({"X": np.arange(3.0)}, "of shape (3,)"),
        ({"X": np.empty((0, 3))}, "is empty"),
        ({"X": np.eye(3), "y": np.arange(2)}, "y in "),
        ({"X": np.eye(3), "y": np.eye(3)}, "but X has 3 rows"),
        ({"X": np.eye(2), "y": np.array([1, None], dtype=object)}, "no objects"),
        ({"X": np.eye(2), "y": np.array([1.5, 2.5])}, "row 1: the label is 1.5"),
        ({"X": np.eye(2), "y": np.array([np.nan, 2])}, "row 1: the label is empty"),
    ],
)
def test_what_is_wrong_is_said(written, arrays, sentence):
    path = written(**arrays)
    with pytest.raises(MinoutError) as caught:
        everything(path)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_model_with_columns_needs_as_many(written):
    path = written(X=np.eye(2))
    assert len(everything(path, columns=["a", "b"])) == 2
    with pytest.raises(InvalidInputError, match="has 2 numbers per example, but this model"):
        read(path, columns=["a", "b", "c"])
    with pytest.raises(InvalidInputError, match="--ignore cannot find 'a'"):
        read(path, ignore=["a"])


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 no zip", b"plain text"], ids=["empty", "zip", "text"]
)
def test_what_is_no_npz_is_refused(tmp_path, content):
    (tmp_path / "data.npz").write_bytes(content)
    with pytest.raises(MissingDataError, match="is not an NPZ file"):
        read(tmp_path / "data.npz")


def test_a_truncated_or_altered_file_is_refused(written):
    path = written(X=np.random.default_rng(0).normal(size=(50, 4)), y=np.arange(50))
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:300] + b"\0" * 50 + whole[350:]):
        path.write_bytes(content)
        with pytest.raises(MissingDataError, match=r"damaged|no objects"):
            everything(path)


def test_one_array_alone_is_refused(tmp_path):
    with (tmp_path / "data.npz").open("wb") as file:
        np.save(file, np.eye(2))
    with pytest.raises(InvalidInputError, match=r"one array; save X and y with np\.savez"):
        read(tmp_path / "data.npz")


def with_header(shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}"
    header = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("X", b"no array"),
        ("X.npy", with_header("(1 << 2, }")),
        ("X.npy", with_header("(((((")),
        ("X.npy", with_header(f"({1 << 50},)}}")),
    ],
    ids=["no npy", "bad header", "open header", "huge"],
)
def test_members_that_are_no_arrays_are_refused(tmp_path, name, content):
    with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
        archive.writestr(name, content)
    with pytest.raises(MissingDataError, match=r"data\.npz is "):
        read(tmp_path / "data.npz")


def test_an_unknown_compression_is_refused(written):
    path = written(X=np.eye(2))
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"PK\x01\x02") + 10] = 99
    path.write_bytes(whole)
    with pytest.raises(MissingDataError, match=r"data\.npz is not an NPZ file"):
        read(path)


def test_labels_of_bytes_that_are_not_utf8_are_refused(written):
    path = written(X=np.eye(2), y=np.array([b"caf\xe9", b"tea"]))
    with pytest.raises(InvalidInputError, match=r"y in .*data\.npz holds bytes that are not UTF-8"):
        read(path)
