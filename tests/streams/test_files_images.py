"""Images: in folders by class or alone, of one size or resized, and damaged ones."""

import io
import os
import sys

import numpy as np
import pytest
from PIL import Image

from minout.errors import InvalidInputError, MissingExtraError
from minout.streams.files import BadRowError, read
from minout.streams.files.images import SUFFIXES


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
        (
            lambda path: save(path, grey(shape=(3, 2))),
            "it has 3 × 2 pixels, but the images before it have 2 × 3; teach a new model with "
            "--resize 2x3 to resize all images.",
        ),
        (
            lambda path: save(path, np.zeros((2, 3, 3), dtype=np.uint8)),
            "it has colours, but the images before it are grey; save all of them alike, or teach a "
            "new model with --resize 2x3",
        ),
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


def coloured(colour, shape=(4, 4)):
    return np.full((*shape, 3), colour, dtype=np.uint8)


def test_images_are_brought_to_one_size_and_to_the_colours_of_the_first(tmp_path):
    save(tmp_path / "a/1.png", grey(102, (30, 20)))
    save(tmp_path / "a/2.png", coloured([255, 0, 0], (5, 7)))
    save(tmp_path / "a/3.png", np.full((9, 9), 13107, dtype=np.uint16))
    save(tmp_path / "a/4.png", grey(51, (2, 3)))
    with read(tmp_path, resize=(2, 3)) as reader:
        rows = [each.row for each in reader]
    assert reader.image_shape == (2, 3)
    np.testing.assert_allclose(rows, np.repeat([[0.4], [76 / 255], [0.2], [0.2]], 6, axis=1))
    (tmp_path / "a/1.png").unlink()
    with read(tmp_path, resize=(2, 3)) as reader:
        rows = [each.row.reshape(-1, 3) for each in reader]
    assert reader.image_shape == (2, 3, 3)
    np.testing.assert_allclose(rows[0], [[1.0, 0.0, 0.0]] * 6)
    np.testing.assert_allclose(rows[1:], 0.2)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16], ids=["8 bits", "16 bits"])
def test_height_comes_before_width_and_each_pixel_is_an_average(tmp_path, dtype):
    large = np.zeros((40, 80), dtype=dtype)
    large[:, 40:] = np.iinfo(dtype).max
    large[20:, :20] = np.iinfo(dtype).max
    save(tmp_path / "a/1.png", large)
    (only,) = everything(tmp_path, resize=(2, 4))
    expected = [[0, 0, 1, 1], [1, 0, 1, 1]]
    assert np.abs(only.row.reshape(2, 4) - expected).max() < 0.2
    assert 0.0 <= only.row.min() <= only.row.max() <= 1.0
    thin = np.zeros((64, 64), dtype=dtype)
    thin[:, 31] = np.iinfo(dtype).max
    save(tmp_path / "a/1.png", thin)
    (only,) = everything(tmp_path, resize=(8, 8))
    assert abs(only.row.mean() - 1 / 64) < 0.005  # a line of one pixel does not vanish


def test_resizing_follows_the_shape_of_a_model(tmp_path):
    save(tmp_path / "a/1.png", coloured([255, 255, 255]))
    (only,) = everything(tmp_path, image_shape=[2, 2], resize=(2, 2))
    assert only.row.tolist() == [1.0] * 4
    (only,) = everything(tmp_path, image_shape=[2, 2, 3], resize=(2, 2))
    assert only.row.tolist() == [1.0] * 12
    with pytest.raises(InvalidInputError, match="--resize is 3 × 3, but the images of this model"):
        read(tmp_path, image_shape=[2, 2], resize=(3, 3))


@pytest.mark.parametrize("resize", [(0, 4), (4,), (4, 4, 3), (2.0, 2), (10_001, 1)])
def test_a_size_that_is_none_is_refused(tmp_path, resize):
    with pytest.raises(
        InvalidInputError, match="it must be height and width, from 1 to 10,000 pixels"
    ):
        read(tmp_path, resize=resize)


def test_large_images_are_not_the_size_that_a_message_suggests(tmp_path):
    save(tmp_path / "a/1.png", grey(shape=(300, 300)))
    save(tmp_path / "a/2.png", grey(shape=(300, 301)))
    with pytest.raises(BadRowError, match="teach a new model with --resize 32x32"):
        everything(tmp_path)


def test_an_image_is_turned_as_the_camera_was_held(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turn it by 90 degrees, clockwise
    pixels = np.zeros((8, 16), dtype=np.uint8)
    pixels[:, 8:] = 255
    (tmp_path / "a").mkdir()
    Image.fromarray(pixels).save(tmp_path / "a/1.jpg", exif=exif, quality=100)
    with read(tmp_path) as reader:
        (only,) = reader
    assert reader.image_shape == (16, 8)
    turned = only.row.reshape(16, 8)
    assert turned[:8].max() < 0.1
    assert turned[8:].min() > 0.9


def test_the_first_frame_of_an_animation_is_read(tmp_path):
    frames = [Image.fromarray(grey(value, (4, 4))) for value in (255, 51, 0)]
    frames[0].save(tmp_path / "one.gif", save_all=True, append_images=frames[1:])
    (only,) = everything(tmp_path / "one.gif")
    assert only.row.tolist()[:16] == [1.0] * 16


def test_a_transparent_image_is_read_on_white(tmp_path):
    image = Image.fromarray(coloured([255, 0, 51]))
    image.putalpha(51)
    image.save(tmp_path / "one.png")
    (only,) = everything(tmp_path / "one.png")
    assert only.row[:3].tolist() == pytest.approx([1.0, 0.8, 0.84], abs=0.01)
    palette = Image.fromarray(coloured([255, 0, 51])).convert("P", palette=Image.Palette.ADAPTIVE)
    palette.save(tmp_path / "two.png", transparency=bytes([0, 0]))
    (only,) = everything(tmp_path / "two.png")
    assert only.row.tolist() == [1.0] * 48
    Image.fromarray(grey(0, (4, 4))).convert("LA").save(tmp_path / "three.png")
    (only,) = everything(tmp_path / "three.png")
    assert only.row.tolist() == [0.0] * 16


@pytest.mark.parametrize("suffix", sorted(SUFFIXES - {".jpg", ".jpeg", ".webp"}))
def test_one_image_is_an_example_without_a_label(tmp_path, suffix):
    values = coloured([255, 0, 51]) if suffix in (".gif", ".ppm") else grey(51, (4, 4))
    save(tmp_path / f"one{suffix}", values)
    with read(tmp_path / f"one{suffix}", label="kind", optional=["kind"]) as reader:
        (only,) = reader
    assert reader.columns is None
    assert reader.image_shape == values.shape
    assert (only.label, only.id, only.number) == (None, f"one{suffix}", 1)
    assert only.where == f"image 1 (one{suffix})"
    np.testing.assert_allclose(only.row, values.ravel() / 255.0)


def test_one_image_suits_a_model_or_is_refused(tmp_path):
    path = tmp_path / "ONE.PNG"
    save(path, coloured([255, 255, 255], (8, 6)))
    (only,) = everything(path, image_shape=[2, 2], resize=(2, 2))
    assert only.row.tolist() == [1.0] * 4
    with pytest.raises(
        BadRowError,
        match=r"ONE\.PNG, image 1 \(ONE\.PNG\): it has 8 × 6 pixels, but the images of this",
    ):
        everything(path, image_shape=[2, 2])
    with pytest.raises(InvalidInputError, match=r"ONE\.PNG is an image.*; leave out --label"):
        read(path, label="kind")
    with pytest.raises(InvalidInputError, match="has no text"):
        read(path, rows="text")
    assert everything(path, from_line=2) == []


def test_bad_images_are_skipped_if_asked(tmp_path):
    for name in "12345":
        save(tmp_path / f"a/{name}.png", grey())
    for name in "14":
        (tmp_path / f"a/{name}.png").write_bytes(b"no image")
    save(tmp_path / "a/3.png", grey(shape=(5, 5)))
    said = []
    with read(tmp_path, on_bad_line=said.append) as reader:
        assert [each.number for each in reader] == [2, 5]
    assert reader.fraction_read() == 1.0
    assert [each.following for each in said] == [2, 4, 5]
    assert [each.number for each in everything(tmp_path, on_bad_line=said.append, from_line=3)] == [
        3
    ]
    (tmp_path / "b").mkdir()
    for name in "12":
        (tmp_path / f"b/{name}.png").touch()
    with pytest.raises(InvalidInputError, match=r"None of the images in .*/b can be read"):
        read(tmp_path / "b", on_bad_line=said.append)


def jpeg(pixels) -> bytes:
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "JPEG")
    return content.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", jpeg(grey(shape=(64, 64)))[:-40], b"\x89PNG\r\n\x1a\n", b"P5 99999999 99999999 255\n"],
    ids=["empty", "truncated", "signature", "bomb"],
)
def test_what_is_no_whole_image_is_named(tmp_path, content):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/1.jpg").write_bytes(content)
    for source in (tmp_path, tmp_path / "a/1.jpg"):
        with pytest.raises(BadRowError, match=r"1\.jpg\): it is not an image, or it is damaged"):
            read(source)


def test_the_content_of_an_image_counts_not_its_suffix(tmp_path):
    save(tmp_path / "1.png", grey(51))
    (tmp_path / "1.png").rename(tmp_path / "1.jpg")
    (only,) = everything(tmp_path / "1.jpg")
    assert only.row.tolist() == [0.2] * 6


def test_a_folder_may_be_called_like_an_image(tmp_path):
    save(tmp_path / "photos.png/cat.png/1.png", grey())
    (tmp_path / "photos.png/cat.png/more.png").mkdir()
    (only,) = everything(tmp_path / "photos.png")
    assert (only.label, only.id) == ("cat.png", "photos.png/cat.png/1.png")


def test_a_pipe_among_images_is_refused_and_not_waited_for(tmp_path):
    save(tmp_path / "a/1.png", grey())
    os.mkfifo(tmp_path / "a/2.png")
    with pytest.raises(BadRowError, match=r"image 2 \(.*\): it is a device, a pipe or a socket"):
        everything(tmp_path)


def test_damaged_images_never_raise_anything_but_one_sentence(tmp_path):
    rng = np.random.default_rng(0)
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = Image.fromarray(rng.integers(256, size=(8, 8, 3), dtype=np.uint8))
    read_well, refused = 0, []
    for kind in ("PNG", "JPEG", "GIF", "BMP", "PPM"):
        content = io.BytesIO()
        pixels.save(content, kind, **({"exif": exif} if kind in ("PNG", "JPEG") else {}))
        for _ in range(60):
            bad = bytearray(content.getvalue())
            for place in rng.integers(len(bad), size=3):
                bad[place] = rng.integers(256)
            (tmp_path / "1.png").write_bytes(bad)
            try:
                everything(tmp_path / "1.png", resize=(4, 4))
                read_well += 1
            except BadRowError as error:
                refused.append(str(error))
    assert read_well > 50
    assert len(refused) > 50
    assert "\n" not in "".join(refused)
