"""Margins in the kernels' fixed order, written out in plain NumPy: no code is shared."""

import numpy as np

LANES = 32


def activation(w, b, x, origin):
    """Return w·(x - origin) + b: 32 sums side by side, then first to last, then the rest."""
    terms = w * (x - origin)
    whole = len(w) - len(w) % LANES
    sums = np.zeros(LANES)
    for i in range(0, whole, LANES):
        sums = sums + terms[i : i + LANES]
    total = 0.0
    for each in [*sums.tolist(), *terms[whole:].tolist()]:
        total = total + each
    return total + b


def scores(W, b, X, origin, owner):
    """Return the least margin of each row in each region, from every separator between labels."""
    out = np.full((len(X), len(owner)), np.inf)
    for high in range(1, len(owner)):
        for low in range(high):
            if owner[low] == owner[high]:
                continue
            pair = high * (high - 1) // 2 + low
            for i, x in enumerate(X):
                a = activation(W[pair], b[pair], x, origin)
                out[i, low] = min(out[i, low], a)
                out[i, high] = min(out[i, high], -a)
    return out


def spread(rng, W, b):
    """Return W and b in any rows of larger arrays, and the row of each separator."""
    at = rng.permutation(len(b) + 3)[: len(b)].astype(np.int32)
    more, biases = np.full((len(b) + 3, W.shape[1]), np.nan), np.full(len(b) + 3, np.nan)
    more[at], biases[at] = W, b
    return more, biases, at
