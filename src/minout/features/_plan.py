"""What a scattering prepares for planes of one size: once, and then it is kept."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.features._wavelets import morlet, windows

Singles = NDArray[np.float32]
Size = tuple[int, int]

NEGLIGIBLE = 1e-9
"""Responses below this are set to 0: products so small that they underflow are slow."""


class Window(NamedTuple):
    """Pools maps on one grid: down (4, h), across (4, w)."""

    down: Singles
    across: Singles


class Stage(NamedTuple):
    """Filters maps on one grid: filters (orientations, h, 2w), every number twice.

    Of the answer it keeps a coarser grid of the size `kept`, which `window` pools.
    """

    filters: Singles
    kept: Size
    window: Window


class Plan(NamedTuple):
    """Is all that is prepared for planes of one size.

    `rows` and `columns` say which pixel each point of the canvas shows. `first` has a stage for
    each scale; `second[j]` has those that follow scale j of the first layer, all of them coarser.
    """

    rows: Ints
    columns: Ints
    window: Window
    first: tuple[Stage, ...]
    second: tuple[tuple[Stage, ...], ...]


@lru_cache(maxsize=16)
def plan(height: int, width: int, scales: int, orientations: int) -> Plan:
    """Prepares wavelets and windows for planes of height × width pixels.

    A map at scale j changes slowly, so every 2^j-th point of it is enough; but the windows need
    some seven points along the shorter side.
    """
    coarsest = 2 ** ((min(height, width) // 7).bit_length() - 1)
    steps = [min(2**j, coarsest) for j in range(scales)]
    margin = 2 ** (scales - 1)
    canvas = _canvas(height + margin, steps[-1]), _canvas(width + margin, steps[-1])

    def window(step: int) -> Window:
        down = windows(height, _positions(height, canvas[0])[::step])
        across = windows(width, _positions(width, canvas[1])[::step])
        return Window(_singles(down), _singles(across))

    def stage(j: int, step: int) -> Stage:
        before = canvas[0] // step, canvas[1] // step
        after = canvas[0] // steps[j], canvas[1] // steps[j]
        # Folding sums where it should take the mean; the filters make up for it.
        filters = _filters(before, 2**j / step, orientations) * (step / steps[j]) ** 2
        return Stage(_singles(filters), after, window(steps[j]))

    return Plan(
        rows=_mirrored(height, canvas[0]),
        columns=_mirrored(width, canvas[1]),
        window=window(1),
        first=tuple(stage(j, 1) for j in range(scales)),
        second=tuple(
            tuple(stage(k, steps[j]) for k in range(j + 1, scales)) for j in range(scales)
        ),
    )


def _canvas(least: int, step: int) -> int:
    """Finds a size from `least` on that `step` divides and that is quickly transformed."""
    return step * int(scipy.fft.next_fast_len(-(-least // step)))


def _positions(size: int, canvas: int) -> Floats:
    return np.arange(canvas, dtype=np.float64) - (canvas - size) // 2


def _mirrored(size: int, canvas: int) -> Ints:
    before = (canvas - size) // 2
    return np.pad(np.arange(size), (before, canvas - size - before), mode="reflect")


def _filters(grid: Size, scale: float, orientations: int) -> Floats:
    slant = min(1.0, 4 / orientations)  # the more directions, the narrower each
    angles = np.pi * np.arange(orientations) / orientations
    responses = np.array([morlet(grid, scale, angle, slant) for angle in angles])
    responses[np.abs(responses) < NEGLIGIBLE] = 0.0
    return np.repeat(responses, 2, axis=2)


def _singles(array: Floats) -> Singles:
    return np.ascontiguousarray(array, dtype=np.float32)
