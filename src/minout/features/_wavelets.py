"""The scattering transform of planes of one size: wavelets, windows, and two layers of both."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.kernels import filtered, moduli, pooled

Singles = NDArray[np.float32]
Size = tuple[int, int]

NEGLIGIBLE = 1e-9
"""Responses below this are set to 0: subnormal products are slow."""
FREQUENCY = 0.75 * np.pi
"""The centre frequency of the finest wavelet, in radians per point."""
SPREAD = 0.8
"""The standard deviation of the finest wavelet along its wave, in points."""
GRID = 4
"""The number of windows along each side."""
SOFTNESS = 0.5
"""The standard deviation of a window, as a fraction of the distance between two."""
PERIODS = range(-2, 3)
"""The periods of the frequency axis that are summed; all others stay below 1e-12."""
PLACES = GRID * GRID
POINTS_AT_A_TIME = 128 * 1024
"""Points of the finest maps that are processed at a time, so that they stay in the cache."""


class Window(NamedTuple):
    """The weights that pool maps on one grid: down (4, h), across (4, w)."""

    down: Singles
    across: Singles


class Stage(NamedTuple):
    """Filters (orientations, h, 2w), every number twice; responses are subsampled to `kept`."""

    filters: Singles
    kept: Size
    window: Window


class Plan(NamedTuple):
    """Everything that is precomputed for planes of one size.

    `rows` and `columns` are the pixel that each point of the padded canvas shows. `first` has a
    stage for each scale; `second[j]` has those that follow scale j of the first layer.
    """

    rows: Ints
    columns: Ints
    window: Window
    first: tuple[Stage, ...]
    second: tuple[tuple[Stage, ...], ...]


@lru_cache(maxsize=16)
def make_plan(height: int, width: int, scales: int, orientations: int) -> Plan:
    """Return wavelets and windows for planes of height × width pixels."""
    # Every 2^j-th point of a map at scale j is enough, but the windows need some seven.
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


def scatter(planes: Singles, plan: Plan, out: Singles) -> None:
    """Write the pooled coefficients of planes (n, height, width) to out (n, paths, 16).

    Order: the plane; the first layer by scale and orientation; the second by both scales and both.
    """
    points = plan.first[0].filters.size // 2
    at_a_time = max(1, POINTS_AT_A_TIME // points)
    for start in range(0, len(planes), at_a_time):
        block, into = planes[start : start + at_a_time], out[start : start + at_a_time]
        path = 0
        for cells in _cells_by_scales(block, plan):
            group = cells.reshape(len(block), -1, PLACES)
            into[:, path : path + group.shape[1]] = group
            path += group.shape[1]


def _canvas(least: int, step: int) -> int:
    """Return a size from `least` on that `step` divides and that the FFT is fast for."""
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


def _cells_by_scales(planes: Singles, plan: Plan) -> Iterator[Singles]:
    """Yield the cells (n × paths, 16) of the planes, of each scale, of each pair of scales."""
    canvas = planes.take(plan.rows, axis=1).take(plan.columns, axis=2)
    yield _cells(canvas, plan.window)
    spectra = _spectra(canvas)
    layer = []
    for stage in plan.first:
        layer.append(_responses(spectra, stage))
        yield _cells(layer[-1], stage.window)
    for maps, stages in zip(layer[:-1], plan.second[:-1], strict=True):
        spectra = _spectra(maps)
        for stage in stages:
            yield _cells(_responses(spectra, stage), stage.window)


def _spectra(maps: Singles) -> Singles:
    # One worker: several would split the rows of an image depending on the size of the batch.
    spectra: NDArray[np.complex64] = scipy.fft.fft2(maps, workers=1)
    return spectra.view(np.float32)


def _responses(spectra: Singles, stage: Stage) -> Singles:
    """Return the moduli (m × orientations, h, w) of the filtered maps (m)."""
    folded = np.empty((len(spectra), len(stage.filters), *stage.kept), dtype=np.complex64)
    filtered(spectra, stage.filters, folded.view(np.float32))
    maps = scipy.fft.ifft2(folded.reshape(-1, *stage.kept), overwrite_x=True, workers=1)
    out = np.empty(maps.shape, dtype=np.float32)
    moduli(maps.view(np.float32), out)
    return out


def _cells(maps: Singles, window: Window) -> Singles:
    out = np.empty((len(maps), PLACES), dtype=np.float32)
    pooled(maps, window.down, window.across, out)
    return out


def morlet(shape: tuple[int, int], scale: float, angle: float, slant: float) -> Floats:
    """Return the response (h, w) of a Morlet wavelet at frequencies 2π·k/h down, 2π·l/w across.

    A Gaussian around the frequency FREQUENCY / scale in the direction `angle` (0 points down),
    minus as much of a Gaussian around 0 as makes the response to a constant 0. Across its wave the
    wavelet is 1/slant times as long as along it. The response is real.
    """
    wave, still = np.zeros(shape), np.zeros(shape)
    for down in PERIODS:
        for across in PERIODS:
            y = 2 * np.pi * (np.arange(shape[0])[:, None] / shape[0] + down)
            x = 2 * np.pi * (np.arange(shape[1])[None, :] / shape[1] + across)
            along = scale * (y * np.cos(angle) + x * np.sin(angle))
            aside = scale * (x * np.cos(angle) - y * np.sin(angle)) / slant
            wave += np.exp(-(SPREAD**2) / 2 * ((along - FREQUENCY) ** 2 + aside**2))
            still += np.exp(-(SPREAD**2) / 2 * (along**2 + aside**2))
    response: Floats = wave - still * (wave[0, 0] / still[0, 0])
    return response


def windows(size: int, positions: Floats) -> Floats:
    """Return the weights (4, p) of points along a side: a Gaussian in each quarter."""
    apart = size / GRID
    centres = apart * (np.arange(GRID) + 0.5) - 0.5  # pixel 0 reaches from -0.5 to 0.5
    weights = np.exp(-(((positions - centres[:, None]) / (SOFTNESS * apart)) ** 2) / 2)
    normalised: Floats = weights / weights.sum(axis=1, keepdims=True)
    return normalised
