"""IDX files are read exactly, and a damaged one is refused in a sentence that names it."""

import gzip
import struct
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import MissingDataError
from minout.streams import mnist_folder

IMAGES = np.arange(24, dtype=np.uint8).reshape(4, 2, 3) * 11
LABELS = np.array([3, 0, 9, 1], dtype=np.uint8)
FILES = {
    "train-images-idx3-ubyte": IMAGES,
    "train-labels-idx1-ubyte": LABELS,
    "t10k-images-idx3-ubyte": IMAGES[:2] + 1,
    "t10k-labels-idx1-ubyte": LABELS[:2] + 1,
}
NAMES = st.sampled_from(sorted(FILES))


def idx(array):
    return struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write(folder, *, packed=False, joint="-"):
    for name, array in FILES.items():
        path = folder / (name.replace("-idx", f"{joint}idx") + (".gz" if packed else ""))
        path.write_bytes(gzip.compress(idx(array), mtime=0) if packed else idx(array))


@pytest.fixture
def folder(tmp_path):
    write(tmp_path)
    return tmp_path


def equal(data, other):
    return all(np.array_equal(a, b) for a, b in zip(data[1:], other[1:], strict=True))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("joint", ["-", "."])
def test_what_was_written_is_read(tmp_path, packed, joint):
    write(tmp_path, packed=packed, joint=joint)
    data = mnist_folder(tmp_path)
    assert np.array_equal(data.rows, IMAGES.reshape(4, 6) / 256.0)
    assert np.array_equal(data.test_rows, (IMAGES[:2] + 1).reshape(2, 6) / 256.0)
    assert data.labels.tolist() == [3, 0, 9, 1]
    assert data.test_labels.tolist() == [4, 1]
    assert data.image_shape == (2, 3)
    assert data.name == tmp_path.name
    assert data.rows.dtype == np.float64
    assert data.labels.dtype == np.int64
    assert data.rows.flags.c_contiguous


def test_a_file_that_a_browser_unpacked_is_read_under_its_gz_name(folder):
    expected = mnist_folder(folder)
    plain = folder / "train-images-idx3-ubyte"
    plain.rename(folder / "train-images-idx3-ubyte.gz")
    assert equal(mnist_folder(folder), expected)


@given(NAMES, st.booleans(), st.data())
def test_a_file_cut_at_any_byte_is_refused_by_name(name, packed, drawn):
    with tempfile.TemporaryDirectory() as place:
        write(Path(place), packed=packed)
        path = Path(place, name + (".gz" if packed else ""))
        content = path.read_bytes()
        path.write_bytes(content[: drawn.draw(st.integers(0, len(content) - 1))])
        with pytest.raises(MissingDataError, match=path.name):
            mnist_folder(Path(place))


@given(NAMES, st.integers(0, 15), st.integers(1, 255))
def test_a_header_with_one_byte_changed_is_refused_by_name(name, at, change):
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        path = Path(place, name)
        content = bytearray(path.read_bytes())
        content[at % (16 if "images" in name else 8)] ^= change
        path.write_bytes(content)
        with pytest.raises(MissingDataError, match=name):
            mnist_folder(Path(place))


@given(NAMES, st.integers(0, 10**6), st.integers(1, 255))
def test_a_gzip_file_with_one_byte_changed_is_refused_or_still_the_same(name, at, change):
    with tempfile.TemporaryDirectory() as place:
        write(Path(place), packed=True)
        expected = mnist_folder(Path(place))
        path = Path(place, name + ".gz")
        content = bytearray(path.read_bytes())
        content[at % len(content)] ^= change
        path.write_bytes(content)
        # Not everything in a gzip header matters (the time, the system): the rest has a checksum.
        with suppress(MissingDataError):
            assert equal(mnist_folder(Path(place)), expected)


@given(NAMES, st.binary(max_size=40))
def test_a_foreign_file_is_refused_by_name(name, content):
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        Path(place, name).write_bytes(content)
        with pytest.raises(MissingDataError, match=name):
            mnist_folder(Path(place))


@pytest.mark.parametrize("name", sorted(FILES))
def test_each_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(MissingDataError, match=f"has no file {name} or {name}.gz; put"):
        mnist_folder(folder)


def test_bytes_after_the_end_are_refused(folder):
    with (folder / "train-labels-idx1-ubyte").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(MissingDataError, match="announces 12 bytes, but holds 13"):
        mnist_folder(folder)


def test_labels_that_are_not_as_many_as_images_are_refused(folder):
    (folder / "t10k-labels-idx1-ubyte").write_bytes(idx(LABELS))
    with pytest.raises(MissingDataError, match="4 labels for the 2 images of t10k-images"):
        mnist_folder(folder)


def test_images_of_two_sizes_are_refused(folder):
    (folder / "t10k-images-idx3-ubyte").write_bytes(idx(IMAGES[:2].reshape(2, 3, 2)))
    with pytest.raises(MissingDataError, match="2 × 3 pixels, but the t10k images 3 × 2"):
        mnist_folder(folder)


@pytest.mark.parametrize("shape", [(0, 28, 28), (4, 0, 3)])
def test_empty_files_are_refused(folder, shape):
    (folder / "train-images-idx3-ubyte").write_bytes(idx(np.zeros(shape, dtype=np.uint8)))
    with pytest.raises(MissingDataError, match="but empty"):
        mnist_folder(folder)


def test_a_file_in_place_of_the_folder_is_refused(folder):
    with pytest.raises(MissingDataError, match="There is no folder"):
        mnist_folder(folder / "train-images-idx3-ubyte")


def test_a_folder_name_too_long_for_the_disk_is_refused():
    with pytest.raises(MissingDataError, match="could not be opened"):
        mnist_folder(Path("x" * 5000))


def test_a_file_that_may_not_be_read_is_refused(folder, monkeypatch):
    def forbidden(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", forbidden)  # file modes do not stop root
    with pytest.raises(MissingDataError, match=r"could not be read \(Permission denied\)"):
        mnist_folder(folder)
