"""Images in folders by class."""

import sys

import numpy as np
import pytest
from PIL import Image

from minout.errors import InvalidInputError, MissingExtraError
from minout.streams.files import BadRowError, read


def save(path, pixels, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(pixels)).save(path, **options)


def grey(value=0, shape=(2, 3)):
    return np.full(shape, value, dtype=np.uint8)


def everything(source, **asked):
    with read(source, **asked) as reader:
        return list(reader)


def test_labels_are_folders_and_ids_paths(tmp_path):
    save(tmp_path / "photos/dog/b.png", grey(51))
    save(tmp_path / "photos/cat, big/c.PNG", grey(255))
    save(tmp_path / "photos/dog/a.bmp", grey(102))
    (tmp_path / "photos/notes.txt").write_text("no image")
    (tmp_path / "photos/dog/.hidden.png").write_text("no image")
    with read(tmp_path / "photos") as reader:
        came = list(reader)
    assert [(each.label, each.id) for each in came] == [
        ("cat, big", "photos/cat, big/c.PNG"),
        ("dog", "photos/dog/a.bmp"),
        ("dog", "photos/dog/b.png"),
    ]
    assert [each.row.tolist() for each in came] == [[1.0] * 6, [0.4] * 6, [0.2] * 6]
    assert reader.image_shape == (2, 3)
    assert came[1].where == "image 2 (photos/dog/a.bmp)"


def test_colours_stand_side_by_side_and_grey_among_them_is_taken_as_colour(tmp_path):
    red = np.zeros((1, 2, 3), dtype=np.uint8)
    red[0, 0] = [255, 0, 51]
    save(tmp_path / "a/1.png", red)
    save(tmp_path / "a/2.png", grey(51, (1, 2)))
    save(tmp_path / "a/3.png", np.full((1, 2), 13107, dtype=np.uint16))
    Image.fromarray(red).convert("RGBA").save(tmp_path / "a/4.png")
    with read(tmp_path) as reader:
        first, second, third, fourth = (each.row.tolist() for each in reader)
    assert reader.image_shape == (1, 2, 3)
    assert first == fourth == [1.0, 0.0, 0.2, 0.0, 0.0, 0.0]
    assert second == third == [0.2] * 6


def test_sixteen_bits_and_one_bit_are_scaled_too(tmp_path):
    save(tmp_path / "a/1.png", np.array([[0, 13107, 65535]], dtype=np.uint16))
    Image.fromarray(np.array([[0, 255, 0]], dtype=np.uint8)).convert("1").save(tmp_path / "a/2.png")
    assert [each.row.tolist() for each in everything(tmp_path)] == [
        [0.0, 0.2, 1.0],
        [0.0, 1.0, 0.0],
    ]


def test_images_without_a_folder_have_no_label(tmp_path):
    save(tmp_path / "photos/1.png", grey())
    assert [(each.label, each.id) for each in everything(tmp_path / "photos")] == [
        (None, "photos/1.png")
    ]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda path: save(path, grey(shape=(3, 2))), "it has 3 × 2 pixels, but those before"),
        (lambda path: save(path, np.zeros((2, 3, 3), dtype=np.uint8)), "it has colours, but"),
        (lambda path: path.write_bytes(b"no image"), "it is not an image"),
        (lambda path: path.write_bytes(path.read_bytes()[:44]), "it is not an image"),
        (lambda path: path.unlink(), "it is not an image"),
    ],
)
def test_a_bad_image_is_named_and_can_be_passed_over(tmp_path, spoil, sentence):
    for name in ("1", "2", "3"):
        save(tmp_path / f"a/{name}.png", grey())
    with read(tmp_path) as reader:
        next(iter(reader))
        spoil(tmp_path / "a/2.png")
        with pytest.raises(BadRowError) as caught:
            next(iter(reader))
    assert f"image 2 ({tmp_path.name}/a/2.png): {sentence}" in str(caught.value)
    assert caught.value.following == 3
    later = everything(tmp_path, from_line=len(list((tmp_path / "a").iterdir())))
    assert [each.id for each in later] == [f"{tmp_path.name}/a/3.png"]


def test_a_float_image_is_refused(tmp_path):
    save(tmp_path / "a/1.tif", np.ones((2, 2), dtype=np.float32))
    with pytest.raises(BadRowError, match="more than 16 bits per pixel"):
        read(tmp_path)


def test_a_models_shape_decides(tmp_path):
    save(tmp_path / "a/1.png", grey(51, (1, 2)))
    with read(tmp_path, image_shape=[1, 2, 3]) as reader:
        assert [each.row.tolist() for each in reader] == [[0.2] * 6]
    with pytest.raises(BadRowError, match="1 × 2 pixels"):
        everything(tmp_path, image_shape=(2, 2))
    with pytest.raises(InvalidInputError, match="has 2 numbers per example"):
        read(tmp_path, columns=["a"])


def test_a_folder_without_images_and_a_label_column_are_refused(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(InvalidInputError, match="holds no images"):
        read(tmp_path)
    save(tmp_path / "a/1.png", grey())
    with pytest.raises(InvalidInputError, match="leave out --label"):
        read(tmp_path, label="kind")
    assert len(everything(tmp_path, label="kind", optional=["kind"])) == 1


def test_without_pillow_one_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(MissingExtraError, match=r'pip install "minout\[images\]"'):
        read(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="names there are always Unicode")
def test_a_name_that_is_not_utf8_is_refused_before_anything_is_read(tmp_path):
    save(tmp_path / "photos/cat/a.png", grey())
    (tmp_path / "photos/cat/a.png").rename(tmp_path / "photos/cat/b\udce9.png")
    with pytest.raises(InvalidInputError, match=r"b\\udce9.png' in .* is not UTF-8; rename it"):
        read(tmp_path / "photos")
