"""The wavelets and windows of a scattering, written down from their formulas."""

import numpy as np

from minout._typing import Floats

FREQUENCY = 0.75 * np.pi
"""Where the finest wavelet listens, in radians per point."""
SPREAD = 0.8
"""The standard deviation of the finest wavelet along its wave, in points."""
GRID = 4
"""How many windows stand side by side, down and across."""
SOFTNESS = 0.5
"""The standard deviation of a window, in distances from one to the next."""
TURNS = range(-2, 3)
"""The turns of the circle of frequencies that are summed; all others stay below 1e-12."""


def morlet(shape: tuple[int, int], scale: float, angle: float, slant: float) -> Floats:
    """Is the response (h, w) of a Morlet wavelet to the frequencies 2π·k/h down, 2π·l/w across.

    A Gaussian around the frequency FREQUENCY / scale in the direction `angle` (0 points down),
    less as much of a Gaussian around 0 as makes it blind to a constant. Across its wave the
    wavelet is 1/slant times as long as along it. The response is real.
    """
    wave, still = np.zeros(shape), np.zeros(shape)
    for down in TURNS:
        for across in TURNS:
            y = 2 * np.pi * (np.arange(shape[0])[:, None] / shape[0] + down)
            x = 2 * np.pi * (np.arange(shape[1])[None, :] / shape[1] + across)
            along = scale * (y * np.cos(angle) + x * np.sin(angle))
            aside = scale * (x * np.cos(angle) - y * np.sin(angle)) / slant
            wave += np.exp(-(SPREAD**2) / 2 * ((along - FREQUENCY) ** 2 + aside**2))
            still += np.exp(-(SPREAD**2) / 2 * (along**2 + aside**2))
    response: Floats = wave - still * (wave[0, 0] / still[0, 0])
    return response


def windows(size: int, positions: Floats) -> Floats:
    """Weighs points at `positions` (p,) for the windows along a side of `size` pixels: (4, p).

    The side is cut into four equal parts, and in the middle of each stands a Gaussian. The
    weights of each sum to 1.
    """
    apart = size / GRID
    centres = apart * (np.arange(GRID) + 0.5) - 0.5  # pixel 0 reaches from -0.5 to 0.5
    weights = np.exp(-(((positions - centres[:, None]) / (SOFTNESS * apart)) ** 2) / 2)
    normalised: Floats = weights / weights.sum(axis=1, keepdims=True)
    return normalised
