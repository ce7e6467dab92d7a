"""Read images from one folder per class: folder/cat/7.png."""

import os
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


class _Image(NamedTuple):
    path: Path
    name: str
    label: str | None


def open_images(folder: Path, source: str, options: ReadOptions) -> Reader:
    """List the images of a folder, class by class, sorted by name; each is opened lazily.

    Images directly in the folder have no label. Grey values, or red, green and blue side by side,
    are scaled to 0..1. The first image sets the size and whether there is colour; a grey image
    among coloured ones is converted to colour.
    """
    pillow = import_optional("PIL.Image", "images", "Images need Pillow")
    if options.label is not None and options.label not in options.optional:
        raise InvalidInputError(
            f"{source} is a folder of images, labelled by the names of their "
            "folders; leave out --label."
        )
    images = _list_images(folder, source)
    if not images:
        raise InvalidInputError(
            f"{source} holds no images; put them in a folder per class, such as "
            f"{folder.name}/cat/1.png."
        )
    start = min(options.from_line, len(images)) - 1
    shape = options.image_shape
    if shape is None:
        shape = _pixels(images[start], source, start + 1, None, pillow).shape
    check_nameless(source, prod(shape), options)
    done = [0]
    return Reader(
        source,
        _examples(images, source, options.from_line, shape, pillow, done),
        lambda: None,
        lambda: done[0] / len(images),
        image_shape=shape,
    )


def _list_images(folder: Path, source: str) -> list[_Image]:
    root = folder.resolve().name
    images = []
    try:
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                images += [
                    _Image(inner, f"{root}/{entry.name}/{inner.name}", entry.name)
                    for inner in sorted(Path(entry.path).iterdir())
                    if _is_image(inner)
                ]
            elif _is_image(Path(entry.path)):
                images.append(_Image(Path(entry.path), f"{root}/{entry.name}", None))
    except OSError as error:
        raise unreadable(source, error) from None
    for image in images:
        if not is_utf8(image.name):
            raise InvalidInputError(
                f"The name of the image {image.name!r} in {source} is not UTF-8; rename it."
            )
    return images


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def _examples(
    images: list[_Image],
    source: str,
    from_image: int,
    shape: tuple[int, ...],
    pillow: Any,
    done: list[int],
) -> Iterator[Example]:
    for number, image in enumerate(images, start=1):
        done[0] = number
        if number < from_image:
            continue
        pixels = _pixels(image, source, number, shape, pillow)
        yield Example(pixels.ravel(), image.label, image.name, number, _where(image, number))


def _where(image: _Image, number: int) -> str:
    return f"image {number} ({image.name})"


def _pixels(
    image: _Image, source: str, number: int, shape: tuple[int, ...] | None, pillow: Any
) -> Floats:
    try:
        pixels = _scaled(image.path, shape is not None and len(shape) == 3, pillow)
        if shape is not None and pixels.shape != shape:
            raise InvalidInputError(_another(pixels.shape, shape))
    except InvalidInputError as error:
        raise BadRowError(source, _where(image, number), str(error), number + 1) from None
    return pixels


def _scaled(path: Path, wants_colour: bool, pillow: Any) -> Floats:
    try:
        with pillow.open(path) as image:
            if image.mode.startswith(("I", "F")):
                grey = _deep(np.asarray(image))
            elif image.mode in GREY:
                grey = np.asarray(image.convert("L")) / 255.0
            else:
                return np.asarray(image.convert("RGB")) / 255.0
            return np.repeat(grey[:, :, None], 3, axis=2) if wants_colour else grey
    except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError("it is not an image, or a damaged one.") from None


def _deep(values: NDArray[Any]) -> Floats:
    if values.dtype.kind == "f" or values.min() < 0 or values.max() > 65535:
        raise InvalidInputError("it has more than 16 bits per pixel; save it with 8 or 16.")
    return values / 65535.0


def _another(came: tuple[int, ...], shape: tuple[int, ...]) -> str:
    if came[:2] == shape[:2]:
        return "it has colours, but the images before it have none; save all of them alike."
    return (
        f"it has {came[0]} × {came[1]} pixels, but those before it {shape[0]} × {shape[1]}; "
        "bring all of them to one size."
    )
