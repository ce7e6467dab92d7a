"""Read images: one file, or one folder per class (folder/cat/7.png)."""

import os
import warnings
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.streams.files.columns import ReadOptions, check_nameless
from minout.streams.files.example import BadRowError, Example, Reader
from minout.streams.files.opening import import_optional, unreadable
from minout.streams.files.values import is_utf8

SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp"}
)
GREY = frozenset({"1", "L", "LA", "La"})
"""Pillow's names for images of 8 bits or fewer that have no colour."""
LARGE = 256
"""The largest height or width that a message suggests for --resize."""


ALPHA = frozenset({"LA", "La", "PA", "RGBA", "RGBa"})
"""Pillow's names for images that may be transparent."""


class _Image(NamedTuple):
    path: Path
    name: str
    label: str | None


def open_images(folder: Path, source: str, options: ReadOptions) -> Reader:
    """List the images of a folder, class by class, sorted by name; each is opened lazily.

    Images directly in the folder have no label. Pixels are grey values, or red, green and blue,
    from 0 to 1. The first image sets the size, and whether images have colour; a grey image among
    coloured ones is converted to colour. With `options.resize` all images are resized, and coloured
    images among grey ones are converted to grey.
    """
    _check_use(source, "a folder of images, labelled by the names of their folders", options)
    images = _list_images(folder, source)
    if not images:
        raise InvalidInputError(
            f"{source} holds no images; put them in a folder per class, such as "
            f"{folder.name}/cat/1.png."
        )
    return _reader(images, source, options)


def open_image(path: Path, source: str, options: ReadOptions) -> Reader:
    """Open one image, as in a folder; it has no label, and its id is its file name."""
    _check_use(source, "an image, which has no columns", options)
    return _reader([_Image(path, path.name, None)], source, options)


def _check_use(source: str, what: str, options: ReadOptions) -> None:
    import_optional("PIL.Image", "images", "Images need Pillow")
    if options.label is not None and options.label not in options.optional:
        raise InvalidInputError(f"{source} is {what}; leave out --label.")


def _reader(images: list[_Image], source: str, options: ReadOptions) -> Reader:
    for image in images:
        if not is_utf8(image.name):
            raise InvalidInputError(
                f"The name of the image {image.name!r} in {source} is not UTF-8; rename it."
            )
    start, shape = options.from_line, options.image_shape
    if shape is None:
        first, shape = _first_shape(images, source, options)
        start = max(start, first)
    elif options.resize is not None and options.resize != shape[:2]:
        raise InvalidInputError(
            f"--resize is {_by(options.resize)}, but the images of this model have {_by(shape)} "
            "pixels; leave it out."
        )
    check_nameless(source, prod(shape), options)
    done = [0]
    return Reader(
        source,
        _examples(images, source, start, shape, options, done),
        lambda: None,
        lambda: done[0] / len(images),
        image_shape=shape,
    )


def _list_images(folder: Path, source: str) -> list[_Image]:
    root = folder.resolve().name
    images = []
    try:
        for entry in _sorted(folder):
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                images += [
                    _Image(Path(inner.path), f"{root}/{entry.name}/{inner.name}", entry.name)
                    for inner in _sorted(entry.path)
                    if _is_image(inner)
                ]
            elif _is_image(entry):
                images.append(_Image(Path(entry.path), f"{root}/{entry.name}", None))
    except OSError as error:
        raise unreadable(source, error) from None
    return images


def _sorted(folder: str | Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _is_image(entry: os.DirEntry[str]) -> bool:
    suffix = Path(entry.name).suffix.lower()
    return suffix in SUFFIXES and not entry.name.startswith(".") and not entry.is_dir()


def _first_shape(
    images: list[_Image], source: str, options: ReadOptions
) -> tuple[int, tuple[int, ...]]:
    """Return the position and the shape of the first image that can be read."""
    start = min(options.from_line, len(images))
    for number, image in enumerate(images[start - 1 :], start):
        try:
            return number, _pixels(image, source, number, None, options).shape
        except BadRowError as error:
            options.refuse(error)
    raise InvalidInputError(
        f"None of the images in {source} can be read; save them again, for example as PNG."
    )


def _examples(
    images: list[_Image],
    source: str,
    start: int,
    shape: tuple[int, ...],
    options: ReadOptions,
    done: list[int],
) -> Iterator[Example]:
    for number, image in enumerate(images[start - 1 :], start):
        done[0] = number
        try:
            pixels = _pixels(image, source, number, shape, options)
        except BadRowError as error:
            options.refuse(error)
            continue
        yield Example(pixels.ravel(), image.label, image.name, number, _where(image, number))


def _where(image: _Image, number: int) -> str:
    return f"image {number} ({image.name})"


def _pixels(
    image: _Image,
    source: str,
    number: int,
    shape: tuple[int, ...] | None,
    options: ReadOptions,
) -> Floats:
    try:
        pixels = _scaled(image.path, shape, options.resize)
        if shape is not None and pixels.shape != shape:
            others = "before it" if options.image_shape is None else "of this model"
            raise InvalidInputError(_another(pixels.shape, shape, others))
    except InvalidInputError as error:
        raise BadRowError(source, _where(image, number), str(error), number + 1) from None
    return pixels


def _scaled(path: Path, shape: tuple[int, ...] | None, resize: tuple[int, int] | None) -> Floats:
    pixels = _values(_loaded(path), resize is not None and len(shape or ()) == 2, resize)
    is_lacking = len(shape or ()) == 3 and pixels.ndim == 2
    return np.repeat(pixels[:, :, None], 3, axis=2) if is_lacking else pixels


def _loaded(path: Path) -> Any:
    """Return an image, rotated by its EXIF orientation."""
    from PIL import Image, ImageOps

    if path.exists() and not path.is_file():
        raise InvalidInputError("it is a device, a pipe or a socket, not an image; remove it.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # an error from 2 × on
            with Image.open(path) as image:
                return ImageOps.exif_transpose(image)
    except TimeoutError:  # raised by a signal handler
        raise
    except Exception:  # Pillow raises many types on damaged files
        raise InvalidInputError(
            "it is not an image, or it is damaged; save it again, or remove it."
        ) from None


def _values(image: Any, to_grey: bool, resize: tuple[int, int] | None) -> Floats:
    if image.mode.startswith(("I", "F")):
        values = _deep(np.asarray(image))
        if resize is None:
            return values
        from PIL.Image import fromarray

        small = _resized(fromarray(values.astype(np.float32)), resize)
        return np.asarray(small, dtype=np.float64).clip(0.0, 1.0)
    try:
        image = _opaque(image).convert("L" if to_grey or image.mode in GREY else "RGB")
    except ValueError:
        raise InvalidInputError(
            f"its colours ({image.mode}) cannot be converted; save it as RGB."
        ) from None
    if resize is not None:
        image = _resized(image, resize)
    return np.asarray(image) / 255.0


def _resized(image: Any, resize: tuple[int, int]) -> Any:
    # Of Pillow's filters this one keeps the most detail. Each new pixel is an average of all old
    # ones around it, so that thin lines do not vanish when an image shrinks.
    from PIL.Image import Resampling

    return image.resize(resize[::-1], Resampling.LANCZOS)


def _opaque(image: Any) -> Any:
    """Return an image on white, where it is transparent."""
    if image.mode not in ALPHA and "transparency" not in image.info:
        return image
    from PIL import Image

    with_alpha = image.convert("RGBA")
    white = Image.new("RGBA", with_alpha.size, "white")
    return Image.alpha_composite(white, with_alpha)


def _deep(values: NDArray[Any]) -> Floats:
    if values.dtype.kind == "f" or values.min() < 0 or values.max() > 65535:
        raise InvalidInputError("it has more than 16 bits per pixel; save it with 8 or 16.")
    return values / 65535.0


def _another(came: tuple[int, ...], shape: tuple[int, ...], others: str) -> str:
    size = "x".join(map(str, shape[:2])) if max(shape[:2]) <= LARGE else "32x32"
    remedy = f"teach a new model with --resize {size} to resize all images"
    if came[:2] == shape[:2]:
        return (
            f"it has colours, but the images {others} are grey; save all of them alike, or "
            f"{remedy} and to convert them to grey."
        )
    return f"it has {_by(came)} pixels, but the images {others} have {_by(shape)}; {remedy}."


def _by(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} × {shape[1]}"
