"""Read rows of numbers: the arrays X, y and ids of an NPZ file, or the pixels of images."""

import errno
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats
from minout.errors import InvalidInputError, MissingDataError, import_extra, plural, some
from minout.files.reader import BadRowError, Content, Row
from minout.files.text import is_utf8, unreadable

SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp"}
)
GREY = frozenset({"1", "L", "LA", "La"})
"""Pillow's names for images of 8 bits or fewer that have no colour."""
ALPHA = frozenset({"LA", "La", "PA", "RGBA", "RGBa"})
"""Pillow's names for images that may be transparent."""
Arrays = dict[str, NDArray[Any]]
Shape = tuple[int, ...]
Size = tuple[int, int]


def npz_content(path: Path, label: str | None, id: str | None) -> Content:
    """Return the rows X with labels y and ids, or arrays of other names; images are flattened."""
    arrays = _arrays(path)
    if "X" not in arrays:
        raise InvalidInputError(
            f"{path} has no array X; its arrays are: {some([*arrays])}. Save the rows as X."
        )
    X = arrays["X"]
    if X.dtype.kind not in "fiub" or X.ndim not in (2, 3, 4) or not X.size:
        raise InvalidInputError(
            f"X in {path} is {X.dtype} of shape {X.shape}; it must be numbers, (rows, columns)."
        )
    labels = _column(arrays, path, label, "y", len(X))
    ids = _column(arrays, path, id, "ids", len(X))
    rows = (Row(x.ravel().astype(np.float64), n + 1, labels[n], ids[n]) for n, x in enumerate(X))
    return Content(rows, "row", image_shape=X.shape[1:] if X.ndim > 2 else None, total=len(X))


def _arrays(path: Path) -> Arrays:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as loaded:
            return {name: loaded[name] for name in loaded.files}
    except Exception as error:  # readers of zip and npy raise many types on damaged files
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(path, error) from None
        raise MissingDataError(
            f"{path} is damaged, or not an NPZ file of plain arrays; save X and y with np.savez, "
            "numbers and strings, no objects."
        ) from None


def _column(arrays: Arrays, path: Path, name: str | None, usual: str, rows: int) -> list[Any]:
    """Return the values of an array, or None for each row if the usual one does not exist."""
    name = name if name in arrays else usual
    if name not in arrays:
        return [None] * rows
    array = arrays[name]
    if array.shape != (rows,):
        raise InvalidInputError(f"{name} in {path} has shape {array.shape}, but X has {rows} rows.")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    values: list[Any] = array.tolist()
    return values


class _Image(NamedTuple):
    path: Path
    name: str
    label: str | None


def image_content(path: Path, shape: Shape | None, size: Size | None) -> Content:
    """Return the pixels of images, class by class, sorted by name: grey values or RGB, 0 to 1.

    All have the shape of the model, or else of the first one; a grey image among coloured ones
    becomes coloured. With a size they are resized, and coloured ones among grey become grey.
    """
    import_extra("PIL.Image", "images", "Images need Pillow")
    images = [_Image(path, path.name, None)] if path.is_file() else _listed(path)
    if not images:
        raise InvalidInputError(
            f"{path} holds no images; put them in a folder per class, such as "
            f"{path.name}/cat/1.png."
        )
    shape = _first_shape(path, images, size) if shape is None else shape
    rows = _image_rows(path, images, shape, size)
    note = _note_on_links(path, images)
    return Content(rows, "image", image_shape=shape, total=len(images), note=note)


def _note_on_links(folder: Path, images: list[_Image]) -> str:
    root = folder.resolve()
    links = [
        each.path for each in images if each.path.is_symlink() or each.path.parent.is_symlink()
    ]
    count = sum(not each.resolve().is_relative_to(root) for each in links)
    if not count:
        return ""
    return f"{plural(count, 'image')} of {folder} lie elsewhere: symbolic links are followed."


def _image_rows(
    path: Path, images: list[_Image], shape: Shape, size: Size | None
) -> Iterator[Row | BadRowError]:
    for number, image in enumerate(images, start=1):
        try:
            pixels = _pixels(image, shape, size)
        except InvalidInputError as error:
            where = f"image {number} ({image.name})"
            yield BadRowError(str(path), where, str(error), image.name)
        else:
            yield Row(pixels.ravel(), number, image.label, image.name)


def _first_shape(path: Path, images: list[_Image], size: Size | None) -> Shape:
    for image in images:
        try:
            return _pixels(image, None, size).shape
        except InvalidInputError:
            continue  # it is reported when its turn comes
    raise InvalidInputError(
        f"None of the images in {path} can be read; save them again, such as PNG."
    )


def _listed(folder: Path) -> list[_Image]:
    root, images = folder.resolve().name, []
    try:
        for entry in _sorted(folder):
            if entry.is_dir():
                images += [
                    _Image(inner, f"{root}/{entry.name}/{inner.name}", entry.name)
                    for inner in _sorted(entry)
                    if _is_image(inner)
                ]
            elif _is_image(entry):
                images.append(_Image(entry, f"{root}/{entry.name}", None))
    except OSError as error:
        raise unreadable(folder, error) from None
    return images


def _sorted(folder: Path) -> list[Path]:
    return sorted(folder / name for name in os.listdir(folder) if not name.startswith("."))


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and path.is_file()


def _pixels(image: _Image, shape: Shape | None, size: Size | None) -> Floats:
    if not is_utf8(image.name):
        raise InvalidInputError("its name is not UTF-8; rename it.")
    is_grey = size is not None and len(shape or ()) == 2
    pixels = _values(_loaded(image.path), is_grey, size)
    if len(shape or ()) == 3 and pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    if shape is not None and pixels.shape != shape:
        raise InvalidInputError(_another_shape(pixels.shape, shape))
    return pixels


def _loaded(path: Path) -> Any:
    """Return an image, rotated by its EXIF orientation."""
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # an error from 2 × on
            with Image.open(path) as image:
                return ImageOps.exif_transpose(image)
    except Exception as error:  # Pillow raises many types on damaged files
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            raise unreadable(path, error) from None  # and so would be the others
        raise InvalidInputError(
            "it is not an image, or it is damaged; save it again, or remove it."
        ) from None


def _values(image: Any, is_grey: bool, size: Size | None) -> Floats:
    from PIL import Image

    if image.mode.startswith(("I", "F")):
        values = np.asarray(image)
        if values.dtype.kind == "f" or values.min() < 0 or values.max() > 65535:
            raise InvalidInputError("it has more than 16 bits per pixel; save it with 8 or 16.")
        image, highest = Image.fromarray(values.astype(np.float32)), 65535.0
    else:
        if image.mode in ALPHA or "transparency" in image.info:
            above = image.convert("RGBA")
            image_on_white = Image.alpha_composite(Image.new("RGBA", above.size, "white"), above)
        else:
            image_on_white = image
        mode = "L" if is_grey or image.mode in GREY else "RGB"
        image, highest = image_on_white.convert(mode), 255.0
    if size is not None:
        # Each new pixel is an average of all old ones around it, so that thin lines stay.
        image = image.resize(size[::-1], Image.Resampling.LANCZOS)
    return np.clip(np.asarray(image, dtype=np.float64) / highest, 0.0, 1.0)


def _another_shape(came: Shape, shape: Shape) -> str:
    size = f"{shape[0]}x{shape[1]}" if max(shape[:2]) <= 256 else "32x32"
    remedy = f"teach a new model with a size, such as --features scattering:{size}"
    if came[:2] == shape[:2]:
        return f"it has colours, but the others are grey; save all alike, or {remedy}."
    return (
        f"it has {came[0]} × {came[1]} pixels, but the others {shape[0]} × {shape[1]}; to resize "
        f"all images, {remedy}."
    )
