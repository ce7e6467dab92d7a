"""Images K(x - origin) of the rows that separators rest on, each computed once."""

from typing import Any

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.maths import Geometry

FEW = 3
"""Up to so many at a time are made one by one, from K in the precision of the rows."""


class Pictures:
    """Keeps one image per row that was asked for, under the place of the row in its table."""

    def __init__(self, geometry: Geometry, dtype: np.dtype[Any]) -> None:
        self.geometry = geometry
        self._K = np.ascontiguousarray(geometry.K, dtype=dtype)
        self._images = np.zeros((16, len(geometry.origin)), dtype=dtype)
        self._which: dict[int, int] = {}

    def of(self, table: Floats, places: Ints) -> tuple[Floats, Ints]:
        """Gives an array that holds the images of some rows, and where in it each one is."""
        with kernels.one_worker_at_a_time():
            asked = places.tolist()
            missing = [place for place in asked if place not in self._which]
            if missing:
                self._add(table, missing)
            which = np.array([self._which[place] for place in asked], dtype=np.int64)
            return self._images, which

    def round_to(self, dtype: np.dtype[Any]) -> None:
        """Keeps images, and makes later ones, in another precision."""
        self._K = np.ascontiguousarray(self.geometry.K, dtype=dtype)
        self._images = self._images.astype(dtype, copy=False)

    def kept(self) -> tuple[Floats, Ints]:
        """Gives the images, and the place of the row that each belongs to (negative: wiped)."""
        of = np.empty(len(self._which), dtype=np.int64)
        of[list(self._which.values())] = list(self._which)
        return self._images[: len(of)], of

    def restore(self, images: Floats, of: Ints) -> None:
        """Takes images over that `kept` gave."""
        if len(of):
            self._images = images
        self._which = {place: which for which, place in enumerate(of.tolist())}

    def discard(self, place: int) -> None:
        """Wipes a row's image."""
        which = self._which.pop(place, None)
        if which is not None:
            self._images[which] = 0.0
            self._which[-1 - which] = which  # its room stays taken

    def __len__(self) -> int:
        """Counts the places for images that are taken up."""
        return len(self._which)

    def _add(self, table: Floats, places: list[int]) -> None:
        start = len(self._which)
        end = start + len(places)
        if end > len(self._images):
            size = (max(end, 2 * len(self._images)), self._images.shape[1])
            grown = np.zeros(size, dtype=self._images.dtype)
            grown[:start] = self._images[:start]
            self._images = grown
        if len(places) > FEW or self._K.ndim == 1:
            Z = (table[places] - self.geometry.origin).astype(self._K.dtype)
            self._images[start:end] = Z * self._K if self._K.ndim == 1 else self._product(Z)
        else:
            for i, place in enumerate(places):
                self._picture(table[place], self._images[start + i])
        self._which.update(zip(places, range(start, end), strict=True))

    def _picture(self, x: Floats, out: Floats) -> None:
        half = len(out) // 2
        parts = (slice(0, half), slice(half, None))
        kernels.in_threads(
            lambda part: kernels.images(self._K[part], x, self.geometry.origin, out[part]), parts
        )

    def _product(self, Z: Floats) -> Floats:
        half = len(Z) // 2
        parts = [Z] if len(Z) < 64 else [Z[:half], Z[half:]]
        return np.concatenate(kernels.in_threads(lambda part: part @ self._K, parts))
