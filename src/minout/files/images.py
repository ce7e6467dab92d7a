"""Read images: FOLDER/class/image.png, a folder of images without labels, or one image."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.files.reader import BadRowError, Options, Reader, Row
from minout.files.text import is_utf8, unreadable
from minout.files.values import import_extra

SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp"}
)
GREY = frozenset({"1", "L", "LA", "La"})
"""Pillow's names for images of 8 bits or fewer that have no colour."""
ALPHA = frozenset({"LA", "La", "PA", "RGBA", "RGBa"})
"""Pillow's names for images that may be transparent."""
Shape = tuple[int, ...]


class _Image(NamedTuple):
    path: Path
    name: str
    label: str | None


class ImageReader(Reader):
    """The pixels of images, class by class, sorted by name: grey values or RGB, from 0 to 1.

    All images have the shape of the model, or else of the first one; a grey image among coloured
    ones becomes coloured. With a size they are resized, and coloured ones among grey become grey.
    """

    unit = "image"

    def __init__(
        self, path: Path, options: Options, shape: Shape | None, size: tuple[int, int] | None
    ) -> None:
        super().__init__(str(path), options)
        import_extra("PIL.Image", "images", "Images need Pillow")
        self._size, self._done = size, 0
        self._images = [_Image(path, path.name, None)] if path.is_file() else _listed(path)
        if not self._images:
            raise InvalidInputError(
                f"{path} holds no images; put them in a folder per class, such as "
                f"{path.name}/cat/1.png."
            )
        self.image_shape = shape if shape is not None else self._first_shape()

    @property
    def fraction_read(self) -> float | None:
        """The fraction of the images that have been read."""
        return self._done / len(self._images)

    def rows(self) -> Iterator[Row | BadRowError]:
        """Yield each image as one row, or what is wrong with it."""
        for number, image in enumerate(self._images, start=1):
            self._done = number
            try:
                pixels = self._pixels(image, self.image_shape)
            except InvalidInputError as error:
                where = f"image {number} ({image.name})"
                yield BadRowError(self.source, where, str(error), image.name)
            else:
                yield Row(pixels.ravel(), number, image.label, image.name)

    def _first_shape(self) -> Shape:
        for image in self._images:
            try:
                return self._pixels(image, None).shape
            except InvalidInputError:
                continue  # it is reported when its turn comes
        raise InvalidInputError(
            f"None of the images in {self.source} can be read; save them again, such as PNG."
        )

    def _pixels(self, image: _Image, shape: Shape | None) -> Floats:
        if not is_utf8(image.name):
            raise InvalidInputError("its name is not UTF-8; rename it.")
        is_grey = self._size is not None and len(shape or ()) == 2
        pixels = _values(_loaded(image.path), is_grey, self._size)
        if len(shape or ()) == 3 and pixels.ndim == 2:
            pixels = np.repeat(pixels[:, :, None], 3, axis=2)
        if shape is not None and pixels.shape != shape:
            raise InvalidInputError(_another_shape(pixels.shape, shape))
        return pixels


def _listed(folder: Path) -> list[_Image]:
    root, images = folder.resolve().name, []
    try:
        for entry in _sorted(folder):
            if entry.is_dir():
                images += [
                    _Image(Path(inner.path), f"{root}/{entry.name}/{inner.name}", entry.name)
                    for inner in _sorted(entry.path)
                    if _is_image(inner)
                ]
            elif _is_image(entry):
                images.append(_Image(Path(entry.path), f"{root}/{entry.name}", None))
    except OSError as error:
        raise unreadable(folder, error) from None
    return images


def _sorted(folder: str | Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        visible = [entry for entry in entries if not entry.name.startswith(".")]
    return sorted(visible, key=lambda entry: entry.name)


def _is_image(entry: os.DirEntry[str]) -> bool:
    return Path(entry.name).suffix.lower() in SUFFIXES and entry.is_file()


def _loaded(path: Path) -> Any:
    """Return an image, rotated by its EXIF orientation."""
    from PIL import Image, ImageOps

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


def _values(image: Any, is_grey: bool, size: tuple[int, int] | None) -> Floats:
    from PIL.Image import Resampling, fromarray

    if image.mode.startswith(("I", "F")):
        values = np.asarray(image)
        if values.dtype.kind == "f" or values.min() < 0 or values.max() > 65535:
            raise InvalidInputError("it has more than 16 bits per pixel; save it with 8 or 16.")
        image, highest = fromarray(values.astype(np.float32)), 65535.0
    else:
        mode = "L" if is_grey or image.mode in GREY else "RGB"
        image, highest = _opaque(image).convert(mode), 255.0
    if size is not None:
        # Each new pixel is an average of all old ones around it, so that thin lines stay.
        image = image.resize(size[::-1], Resampling.LANCZOS)
    return np.clip(np.asarray(image, dtype=np.float64) / highest, 0.0, 1.0)


def _opaque(image: Any) -> Any:
    """Return an image on white, where it is transparent."""
    if image.mode not in ALPHA and "transparency" not in image.info:
        return image
    from PIL import Image

    with_alpha = image.convert("RGBA")
    white = Image.new("RGBA", with_alpha.size, "white")
    return Image.alpha_composite(white, with_alpha)


def _another_shape(came: Shape, shape: Shape) -> str:
    size = f"{shape[0]}x{shape[1]}" if max(shape[:2]) <= 256 else "32x32"
    remedy = f"teach a new model with a size, such as --features scattering:{size}"
    if came[:2] == shape[:2]:
        return f"it has colours, but the others are grey; save all alike, or {remedy}."
    return (
        f"it has {came[0]} × {came[1]} pixels, but the others {shape[0]} × {shape[1]}; to resize "
        f"all images, {remedy}."
    )
