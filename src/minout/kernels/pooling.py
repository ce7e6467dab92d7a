"""What a scattering does between its Fourier transforms, every sum in one fixed order.

Complex maps come as pairs of numbers: (…, w) complex64 seen as (…, 2w) float32.
"""

import numpy as np
from numpy.typing import NDArray

from minout._typing import Ints
from minout.kernels._compiled import compiled

Singles = NDArray[np.float32]


@compiled
def filtered(spectra: Singles, filters: Singles, out: Singles) -> None:
    """Multiply every spectrum by every filter and fold the products onto a coarser grid.

    spectra (m, H, 2W), filters (f, H, 2W) with each number twice, out (m, f, h, 2w); h divides H
    and w divides W. What falls on one place is summed, rows first: this is the spectrum of every
    (H/h)-th point times (H/h)·(W/w).
    """
    height = out.shape[2]
    sums = np.empty(spectra.shape[2], dtype=np.float32)
    for m in range(spectra.shape[0]):
        for f in range(filters.shape[0]):
            for r in range(height):
                # Loops, not slices: numba fills and copies slices at half the speed.
                spectrum, response = spectra[m, r], filters[f, r]
                for c in range(sums.shape[0]):
                    sums[c] = spectrum[c] * response[c]
                for row in range(r + height, spectra.shape[1], height):
                    spectrum, response = spectra[m, row], filters[f, row]
                    for c in range(sums.shape[0]):
                        sums[c] += spectrum[c] * response[c]
                _fold(sums, out[m, f, r])


@compiled
def _fold(row: Singles, out: Singles) -> None:
    for c in range(out.shape[0]):
        out[c] = row[c]
    for start in range(out.shape[0], row.shape[0], out.shape[0]):
        part = row[start : start + out.shape[0]]
        for c in range(out.shape[0]):
            out[c] += part[c]


@compiled
def moduli(maps: Singles, out: Singles) -> None:
    """Set out (m, h, w) to the absolute values of the complex maps (m, h, 2w)."""
    absolute, pairs = out.reshape(-1), maps.reshape(-1)
    real, imaginary = pairs[0::2], pairs[1::2]
    for i in range(absolute.shape[0]):
        absolute[i] = np.sqrt(real[i] * real[i] + imaginary[i] * imaginary[i])


@compiled
def pooled(maps: Singles, down: Singles, across: Singles, out: Singles) -> None:
    """Set out[m] = down · maps[m] · across', for maps (m, h, w), down (4, h) and across (4, w).

    out is (m, 16), row by row. Four sums run side by side: one alone waits for its own addition.
    """
    half = np.empty((4, maps.shape[2]), dtype=np.float32)
    h0, h1, h2, h3 = half[0], half[1], half[2], half[3]
    for m in range(maps.shape[0]):
        half[:] = 0.0
        for r in range(maps.shape[1]):
            row, d0, d1, d2, d3 = maps[m, r], down[0, r], down[1, r], down[2, r], down[3, r]
            for c in range(row.shape[0]):
                h0[c] += d0 * row[c]
                h1[c] += d1 * row[c]
                h2[c] += d2 * row[c]
                h3[c] += d3 * row[c]
        cells = out[m]
        for k in range(4):
            weights = across[k]
            s0 = s1 = s2 = s3 = np.float32(0.0)
            for c in range(weights.shape[0]):
                s0 += h0[c] * weights[c]
                s1 += h1[c] * weights[c]
                s2 += h2[c] * weights[c]
                s3 += h3[c] * weights[c]
            cells[k], cells[4 + k], cells[8 + k], cells[12 + k] = s0, s1, s2, s3


@compiled
def even_out(rows: Singles, borders: Ints, floor: float) -> None:
    """Scale every block of every row (n, paths, places) to unit length, then the whole row.

    borders (groups + 1,) cut the paths into groups. A group of several paths is one block at
    each place; a path that is alone is one block over all places. A block's square length is
    raised by `floor` times what a block of its size has on average in this row, so that next to
    nothing stays next to nothing. A row of zeros stays as it is.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        least = floor * _energy(row) / row.size
        for b in range(borders.shape[0] - 1):
            group = row[borders[b] : borders[b + 1]]
            if group.shape[0] == 1:
                _scale(group, least)
            else:
                for place in range(row.shape[1]):
                    _scale(group[:, place : place + 1], least)
        _scale(row, 0.0)


@compiled
def _scale(block: Singles, least: float) -> None:
    squared = _energy(block) + least * block.size
    if squared > 0.0:
        factor = 1.0 / np.sqrt(squared)
        for p in range(block.shape[0]):
            for place in range(block.shape[1]):
                block[p, place] = np.float32(block[p, place] * factor)


@compiled
def _energy(block: Singles) -> float:
    total = 0.0
    for p in range(block.shape[0]):
        for place in range(block.shape[1]):
            value = np.float64(block[p, place])
            total += value * value
    return total
