"""NPZ files and images: rows of numbers."""

import errno
import io
import os
import sys

import numpy as np
import pytest
from PIL import Image

from minout.errors import MinoutError, MissingExtraError
from minout.files import read


@pytest.fixture
def npz(tmp_path):
    def write(**arrays):
        np.savez(tmp_path / "data.npz", **arrays)
        return tmp_path / "data.npz"

    return write


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        ([3, 7], [3, 7]),
        ([3.0, 7.0], [3, 7]),
        (["a", "b"], ["a", "b"]),
        ([b"a", b"b"], ["a", "b"]),
        ([True, False], ["true", "false"]),
    ],
    ids=["int", "float", "str", "bytes", "bool"],
)
def test_labels_of_npz_keep_their_type_and_ids_are_strings(npz, rows, y, labels):
    found = rows(npz(X=np.eye(2), y=np.array(y), ids=np.array([5, 6])))
    assert [each[1:] for each in found] == [(labels[0], "5", 1), (labels[1], "6", 2)]
    assert found[0][0].tolist() == [1.0, 0.0]


def test_labels_and_ids_of_npz_may_be_missing_or_have_other_names(npz, rows):
    assert rows(npz(X=np.eye(2)))[1][1:] == (None, None, 2)
    path = npz(X=np.eye(2), kind=np.array([1, 2]), name=np.array(["a", "b"]))
    assert rows(path, label="kind", id="name")[1][1:] == (2, "b", 2)


def test_images_in_npz_are_flattened_and_their_shape_is_known(npz):
    X = np.arange(24).reshape(2, 3, 4)
    with read(npz(X=X)) as reader:
        (batch,) = reader
    assert reader.image_shape == (3, 4)
    assert np.array_equal(batch.X, X.reshape(2, 12))


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"a": np.eye(2)}, "has no array X; its arrays are: a"),
        ({"X": np.array(["a"])}, "it must be numbers, (rows, columns)"),
        ({"X": np.zeros(3)}, "it must be numbers, (rows, columns)"),
        ({"X": np.zeros((0, 3))}, "it must be numbers, (rows, columns)"),
        ({"X": np.eye(2), "y": np.arange(3)}, "y in "),
        ({"X": np.array([[{}]])}, "no objects"),
    ],
)
def test_what_is_wrong_with_an_npz_is_said(npz, refusal, arrays, sentence):
    assert sentence in refusal(npz(**arrays))


def test_damaged_npz_raise_nothing_but_one_sentence(npz, tmp_path, refusal):
    whole = npz(X=np.random.default_rng(0).normal(size=(50, 4)), y=np.arange(50)).read_bytes()
    one = io.BytesIO()
    np.save(one, np.eye(2))
    for bad in (b"", b"PK\x03\x04no", whole[:-100], whole[:300] + b"\0" * 50 + whole[350:]):
        (tmp_path / "data.npz").write_bytes(bad)
        assert "is damaged, or not an NPZ file" in refusal(tmp_path / "data.npz")
    (tmp_path / "data.npz").write_bytes(one.getvalue())
    assert "save X and y with np.savez" in refusal(tmp_path / "data.npz")


def save(path, pixels, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(pixels)).save(path, **options)


def grey(value=0, shape=(2, 3)):
    return np.full(shape, value, dtype=np.uint8)


def test_labels_of_images_are_folders_and_ids_are_paths(tmp_path, rows):
    save(tmp_path / "pets/dog/1.png", grey(51))
    save(tmp_path / "pets/cat/2.PNG", grey(0))
    save(tmp_path / "pets/cat/1.png", grey(255))
    save(tmp_path / "pets/alone.png", grey(255))
    (tmp_path / "pets/cat/notes.txt").touch()
    save(tmp_path / "pets/.hidden/1.png", grey(51))
    save(tmp_path / "pets/cat/.1.png", grey(51))
    found = rows(tmp_path / "pets")
    assert [each[1:] for each in found] == [
        (None, "pets/alone.png", 1),
        ("cat", "pets/cat/1.png", 2),
        ("cat", "pets/cat/2.PNG", 3),
        ("dog", "pets/dog/1.png", 4),
    ]
    assert found[3][0].tolist() == [0.2] * 6
    assert rows(tmp_path / "pets/dog/1.png")[0][1:] == (None, "1.png", 1)


def test_grey_among_colours_becomes_colour_and_colours_among_grey_are_refused(tmp_path, rows):
    colours = np.zeros((2, 3, 3), dtype=np.uint8)
    save(tmp_path / "a/1.png", colours)
    save(tmp_path / "a/2.png", grey(255))
    assert [each[0].tolist() for each in rows(tmp_path)] == [[0.0] * 18, [1.0] * 18]
    save(tmp_path / "a/0.png", grey())
    with read(tmp_path) as reader:
        (batch,) = reader
    assert "image 2 (" in str(batch.error)
    assert "it has colours, but the others are grey" in str(batch.error)
    assert [each[0].shape for each in rows(tmp_path, size=(4, 4))] == [(16,)] * 3


def test_images_of_another_size_are_refused_with_the_remedy_that_resizes_them(tmp_path, refusal):
    save(tmp_path / "a/1.png", grey())
    save(tmp_path / "a/2.png", grey(shape=(5, 5)))
    assert refusal(tmp_path).endswith(
        "it has 5 × 5 pixels, but the others 2 × 3; to resize all images, teach a new model with a "
        "size, such as --features scattering:2x3."
    )
    assert "pixels, but the others 9 × 9" in refusal(tmp_path, image_shape=(9, 9))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_height_comes_before_width_and_each_pixel_is_an_average(tmp_path, rows, dtype):
    highest = np.iinfo(dtype).max
    pixels = np.zeros((40, 60), dtype=dtype)
    pixels[:, 30:] = highest
    save(tmp_path / "1.png", pixels)
    ((row, *_),) = rows(tmp_path / "1.png", size=(2, 3))
    left, middle, right = row.reshape(2, 3)[0]
    assert [left, middle, right] == pytest.approx([0.0, 0.5, 1.0], abs=0.1)
    assert rows(tmp_path / "1.png")[0][0].max() == 1.0


def test_an_image_is_turned_as_the_camera_was_held_and_laid_on_white(tmp_path, rows):
    exif = Image.Exif()
    exif[0x0112] = 6
    save(tmp_path / "1.png", grey(shape=(2, 5)), exif=exif)
    with read(tmp_path / "1.png") as reader:
        assert reader.image_shape == (5, 2)
    save(tmp_path / "2.png", np.zeros((2, 2, 4), dtype=np.uint8))
    assert rows(tmp_path / "2.png")[0][0].tolist() == [1.0] * 12


def test_bad_images_are_named_and_can_be_skipped(tmp_path, rows, refusal):
    for name in "1234":
        save(tmp_path / f"a/{name}.png", grey())
    (tmp_path / "a/1.png").write_bytes(b"no image")
    (tmp_path / "a/3.png").write_bytes((tmp_path / "a/2.png").read_bytes()[:45])
    assert "image 1 (" in refusal(tmp_path)
    assert "a/1.png): it is not an image, or it is damaged" in refusal(tmp_path)
    said = []
    assert [each[3] for each in rows(tmp_path, skip=said.append)] == [2, 4]
    assert [each.where.split()[1] for each in said] == ["1", "3"]
    for name in "234":
        (tmp_path / f"a/{name}.png").write_bytes(b"")
    assert "None of the images in" in refusal(tmp_path)
    save(tmp_path / "float.tiff", np.zeros((2, 2), dtype=np.float32))
    assert "None of the images" in refusal(tmp_path / "float.tiff")


def test_links_to_images_and_folders_are_followed_and_it_is_said(tmp_path, rows):
    save(tmp_path / "else/1.png", grey())
    (tmp_path / "pets/dog").mkdir(parents=True)
    (tmp_path / "pets/cat").symlink_to(tmp_path / "else")
    (tmp_path / "pets/dog/2.png").symlink_to(tmp_path / "else/1.png")
    (tmp_path / "pets/dog/3.png").symlink_to("2.png")
    save(tmp_path / "pets/dog/4.png", grey())
    (tmp_path / "pets/dog/5.png").symlink_to("4.png")
    found = [(label, id) for _, label, id, _ in rows(tmp_path / "pets")]
    assert found[:2] == [("cat", "pets/cat/1.png"), ("dog", "pets/dog/2.png")]
    assert len(found) == 5
    with read(tmp_path / "pets") as reader:
        assert (
            reader.note
            == f"3 images of {tmp_path}/pets lie elsewhere: symbolic links are followed."
        )
    with read(tmp_path / "else") as reader:
        assert reader.note == ""


@pytest.mark.parametrize("name", ["minout.files.arrays.import_extra", "PIL.Image.open"])
def test_too_many_open_files_are_one_sentence(tmp_path, refusal, monkeypatch, name):
    def fail(*_):
        raise OSError(errno.EMFILE, "Too many open files", "a library")

    save(tmp_path / "a/1.png", grey())
    monkeypatch.setattr(name, fail)
    assert refusal(tmp_path).endswith("could not be read: Too many open files.")


def test_a_folder_without_images_and_names_that_are_not_utf8_are_refused(tmp_path, refusal):
    (tmp_path / "empty").mkdir()
    assert "holds no images; put them in a folder per class" in refusal(tmp_path / "empty")
    save(tmp_path / "a/1.png", grey())
    os.rename(tmp_path / "a/1.png", os.path.join(os.fsencode(tmp_path), b"a/\xff.png"))
    assert "None of the images" in refusal(tmp_path / "a")


def test_damaged_images_raise_nothing_but_one_sentence(tmp_path, rows):
    rng = np.random.default_rng(0)
    pixels = Image.fromarray(rng.integers(256, size=(8, 8, 3), dtype=np.uint8))
    read_well, refused = 0, []
    for kind in ("PNG", "JPEG", "GIF", "BMP", "PPM"):
        content = io.BytesIO()
        pixels.save(content, kind)
        for _ in range(40):
            bad = bytearray(content.getvalue())
            for place in rng.integers(len(bad), size=3):
                bad[place] = rng.integers(256)
            (tmp_path / "1.png").write_bytes(bad)
            try:
                rows(tmp_path / "1.png", size=(4, 4), image_shape=(4, 4, 3))
                read_well += 1
            except MinoutError as error:
                refused.append(str(error))
    assert read_well > 30
    assert len(refused) > 30
    assert "\n" not in "".join(refused)


def test_without_pillow_one_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    save(tmp_path / "a/1.png", grey())
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[images\]"'):
        read(tmp_path)
