"""Wavelet scattering: fixed features of images that change little when the image is shifted."""

from dataclasses import dataclass
from math import isqrt, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout.errors import InvalidInputError
from minout.features._wavelets import PLACES, make_plan, scatter
from minout.features.checks import check_int, check_rows
from minout.features.feature_map import SettingsMap
from minout.kernels import even_out

Singles = NDArray[np.float32]

SMALLEST = 8
"""The least height and width of an image, in pixels."""
FLOOR = 1e-4
"""Added to the squared length of a block before scaling, as a fraction of the average."""
AT_A_TIME = 1_000_000
"""Pixels that are normalised at a time."""


@dataclass(frozen=True)
class Scattering(SettingsMap):
    """Wavelet scattering of images in two layers, pooled on a 4 × 4 grid.

    Parameters
    ----------
    image_shape : tuple of int, optional
        The shape of the image in a row: (height, width), or (height, width, channels) with the
        channels of a pixel side by side. By default a row whose length is a square is a grey
        image. Height and width are at least 8, and at least 2**scales.
    scales : int, default=3
        The number of wavelet sizes, each twice the one before.
    orientations : int, default=6
        The number of wavelet directions.

    Notes
    -----
    The first layer is the modulus of the response to Morlet wavelets; the second applies larger
    wavelets to the first layer in the same way. The coefficients of one pair of scales in one grid
    cell are a block: each block, then the whole row, is scaled to unit length, so that local
    contrast and the brightness of the image do not matter. A blank image gives zeros.

    28 × 28 pixels give 127 paths × 16 cells = 2,032 numbers, float32, in about 0.25 ms. Each
    channel adds as many.

    Examples
    --------
    >>> Scattering().transform(np.eye(28).reshape(1, 784)).shape
    (1, 2032)
    """

    image_shape: tuple[int, ...] | None = None
    scales: int = 3
    orientations: int = 6

    def __post_init__(self) -> None:
        object.__setattr__(self, "scales", check_int("scales", self.scales, 1, 10))
        object.__setattr__(
            self, "orientations", check_int("orientations", self.orientations, 1, 32)
        )
        if self.image_shape is not None:
            object.__setattr__(self, "image_shape", _checked(self.image_shape, self.scales))

    def transform(self, X: ArrayLike) -> Singles:
        """Return the scattering coefficients of images.

        Parameters
        ----------
        X : array-like of shape (n_images, n_pixels × n_channels)

        Returns
        -------
        ndarray of shape (n_images, n_coefficients), float32
        """
        images = check_rows(X)
        height, width, channels = self._dimensions(images.shape[1])
        plan = make_plan(height, width, self.scales, self.orientations)
        groups = channels * _groups(self.scales, self.orientations)
        out = np.empty((len(images), sum(groups), PLACES), dtype=np.float32)
        at_a_time = max(1, AT_A_TIME // images.shape[1])
        for start in range(0, len(images), at_a_time):
            block = _normalised(images[start : start + at_a_time])
            pixels = block.reshape(-1, height, width, channels)
            planes = np.moveaxis(pixels, 3, 1).reshape(-1, height, width)
            into = out[start : start + at_a_time]
            scatter(planes, plan, into.reshape(len(planes), -1, PLACES))
        even_out(out, np.cumsum([0, *groups]), FLOOR)
        return out.reshape(len(out), out.shape[1] * PLACES)

    def _dimensions(self, length: int) -> tuple[int, int, int]:
        if self.image_shape is None:
            side = isqrt(length)
            if side * side != length:
                raise InvalidInputError(
                    f"A row of {length} numbers is not a square grey image; pass "
                    "image_shape=(height, width) or image_shape=(height, width, channels)."
                )
            _checked((side, side), self.scales)
            return side, side, 1
        if prod(self.image_shape) != length:
            raise InvalidInputError(
                f"A row has {length} numbers, but image_shape={self.image_shape} has "
                f"{prod(self.image_shape)}; pass an image_shape that fits the rows."
            )
        height, width, *channels = self.image_shape
        return height, width, prod(channels)


def _checked(image_shape: object, scales: int) -> tuple[int, ...]:
    if not isinstance(image_shape, tuple | list) or len(image_shape) not in (2, 3):
        raise InvalidInputError(
            f"image_shape is {image_shape!r}; give (height, width) or (height, width, channels)."
        )
    shape = tuple(check_int("A part of image_shape", part, 1) for part in image_shape)
    least = max(SMALLEST, 2**scales)
    if min(shape[:2]) < least:
        raise InvalidInputError(
            f"An image of {shape[0]} × {shape[1]} pixels is too small; with scales={scales}, "
            f"image_shape needs at least {least} × {least}."
        )
    return shape


def _groups(scales: int, orientations: int) -> list[int]:
    """Return the number of paths of the image, of each scale and of each pair of scales."""
    pairs = scales * (scales - 1) // 2
    return [1] + scales * [orientations] + pairs * [orientations**2]


def _normalised(images: NDArray[Any]) -> Singles:
    """Scale each image by a power of two, to a largest pixel between 0.5 and 1: it fits float32."""
    doubles = images.astype(np.float64)
    _, exponents = np.frexp(np.abs(doubles).max(axis=1, keepdims=True))
    scaled: Singles = np.ldexp(doubles, -exponents).astype(np.float32)
    return scaled
