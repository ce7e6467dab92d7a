"""Two layers of wavelets, run on planes that share a plan."""

from collections.abc import Iterator

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from minout.features._plan import Plan, Singles, Stage, Window
from minout.features._wavelets import GRID
from minout.kernels.pooling import filtered, moduli, pooled

PLACES = GRID * GRID
TOGETHER = 128 * 1024
"""How many points of the finest maps are worked on at a time, so that they stay in the cache."""


def scatter(planes: Singles, plan: Plan, out: Singles) -> None:
    """Writes what is pooled of planes (n, height, width) to out (n, paths, 16).

    Order of the paths: the plane; the first layer by scale and orientation; the second layer by
    first scale, second scale, first orientation and second orientation.
    """
    points = plan.first[0].filters.size // 2
    at_a_time = max(1, TOGETHER // points)
    for start in range(0, len(planes), at_a_time):
        block, into = planes[start : start + at_a_time], out[start : start + at_a_time]
        path = 0
        for cells in _cells_by_scales(block, plan):
            group = cells.reshape(len(block), -1, PLACES)
            into[:, path : path + group.shape[1]] = group
            path += group.shape[1]


def _cells_by_scales(planes: Singles, plan: Plan) -> Iterator[Singles]:
    """Yields the cells (n × paths, 16) of the planes, of each scale, of each pair of scales."""
    canvas = planes[:, plan.rows[:, None], plan.columns]
    yield _cells(canvas, plan.window)
    spectra = _spectra(canvas)
    layer = []
    for stage in plan.first:
        layer.append(_answers(spectra, stage))
        yield _cells(layer[-1], stage.window)
    for maps, stages in zip(layer[:-1], plan.second[:-1], strict=True):
        spectra = _spectra(maps)
        for stage in stages:
            yield _cells(_answers(spectra, stage), stage.window)


def _spectra(maps: Singles) -> Singles:
    # One worker: several would share out the rows of an image as the batch's size has it.
    spectra: NDArray[np.complex64] = scipy.fft.fft2(maps, workers=1)
    return spectra.view(np.float32)


def _answers(spectra: Singles, stage: Stage) -> Singles:
    """Gives the moduli (m × orientations, h, w) of what the filters answer to m maps."""
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
