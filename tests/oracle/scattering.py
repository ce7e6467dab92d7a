"""Scattering from its definition: wavelets drawn in space, full resolution, one loop per sum."""

import numpy as np


def scattering(image, scales, orientations):
    """Computes the row of one image (height, width, channels) in double precision."""
    image = np.asarray(image, dtype=float)
    if not image.any():
        return np.zeros(image.shape[2] * 16 * len(paths_of(scales, orientations)))
    channels = [cells(image[:, :, c], scales, orientations) for c in range(image.shape[2])]
    every = [cell for channel in channels for path in channel.values() for cell in path]
    average = sum(cell**2 for cell in every) / len(every)
    row = []
    for channel in channels:
        scaled = {path: list(values) for path, values in channel.items()}
        for block in blocks_of(scales, orientations):
            square = sum(channel[path][place] ** 2 for path, place in block)
            length = np.sqrt(square + 1e-4 * average * len(block))
            for path, place in block:
                scaled[path][place] = channel[path][place] / length
        for path in paths_of(scales, orientations):
            row.extend(scaled[path])
    return np.array(row) / np.sqrt(sum(number**2 for number in row))


def paths_of(scales, orientations):
    """Lists the paths in their order: (), (j, t), (j, t, k, u)."""
    angles, sizes = range(orientations), range(scales)
    pairs = [(j, k) for j in sizes for k in sizes if k > j]
    first = [(j, t) for j in sizes for t in angles]
    return [(), *first, *((j, t, k, u) for j, k in pairs for t in angles for u in angles)]


def blocks_of(scales, orientations):
    """Lists the blocks: what shares its scales at one place; but a lone path over all places."""
    groups = {}
    for path in paths_of(scales, orientations):
        groups.setdefault((path[0::2]), []).append(path)
    blocks = []
    for paths in groups.values():
        if len(paths) == 1:
            blocks.append([(paths[0], place) for place in range(16)])
        else:
            blocks.extend([(path, place) for path in paths] for place in range(16))
    return blocks


def cells(plane, scales, orientations):
    """Pools every path of one plane at 4 × 4 places."""
    height, width = plane.shape
    steps = [min(2**j, coarsest(min(height, width))) for j in range(scales)]
    canvas, top, left = mirrored(plane, scales, steps[-1])
    pooled = {(): pool(canvas, 1, top, left, height, width)}
    for j in range(scales):
        for t in range(orientations):
            angle = np.pi * t / orientations
            found = np.abs(convolved(canvas, wavelet(canvas.shape, 2**j, angle, orientations)))
            found = found[:: steps[j], :: steps[j]]
            pooled[j, t] = pool(found, steps[j], top, left, height, width)
            for k in range(j + 1, scales):
                for u in range(orientations):
                    angle = np.pi * u / orientations
                    filter_ = wavelet(found.shape, 2**k / steps[j], angle, orientations)
                    further = np.abs(convolved(found, filter_))
                    stride = steps[k] // steps[j]
                    further = further[::stride, ::stride]
                    pooled[j, t, k, u] = pool(further, steps[k], top, left, height, width)
    return pooled


def coarsest(side):
    """Finds the largest power of two that is at most a seventh of the side."""
    step = 1
    while 2 * step <= side / 7:
        step *= 2
    return step


def mirrored(plane, scales, step):
    """Puts the plane in the middle of its canvas; the margin mirrors it at its outermost pixels."""
    height, width = (canvas_size(size, scales, step) for size in plane.shape)
    top, left = (height - plane.shape[0]) // 2, (width - plane.shape[1]) // 2
    canvas = np.empty((height, width))
    for y in range(height):
        for x in range(width):
            canvas[y, x] = plane[
                bounced(y - top, plane.shape[0]), bounced(x - left, plane.shape[1])
            ]
    return canvas, top, left


def canvas_size(size, scales, step):
    """Finds the first size with margin 2^(scales-1), divided by step, with no prime above 11."""
    canvas = size + 2 ** (scales - 1)
    while canvas % step or largest_prime(canvas // step) > 11:
        canvas += 1
    return canvas


def largest_prime(number):
    for prime in range(2, number):
        if number % prime == 0:
            return (
                largest_prime(number // prime) if largest_prime(number // prime) > prime else prime
            )
    return number


def bounced(position, size):
    while not 0 <= position < size:
        position = -position if position < 0 else 2 * (size - 1) - position
    return position


def wavelet(shape, scale, angle, orientations):
    """Draws a Morlet wavelet on a torus of this shape, point by point, around the origin."""
    spread, frequency = 0.8 * scale, 0.75 * np.pi / scale
    slant = min(1.0, 4 / orientations)
    wave, still = np.zeros(shape, dtype=complex), np.zeros(shape)
    laps = [int(np.ceil(8 * spread / slant / size)) + 1 for size in shape]
    for lap_down in range(-laps[0], laps[0] + 1):
        for lap_across in range(-laps[1], laps[1] + 1):
            y = np.arange(shape[0])[:, None] + lap_down * shape[0]
            x = np.arange(shape[1])[None, :] + lap_across * shape[1]
            along = y * np.cos(angle) + x * np.sin(angle)
            aside = x * np.cos(angle) - y * np.sin(angle)
            bump = np.exp(-(along**2 + (slant * aside) ** 2) / (2 * spread**2))
            bump *= slant / (2 * np.pi * spread**2)
            wave += bump * np.exp(1j * frequency * along)
            still += bump
    return wave - still * (wave.sum() / still.sum())


def convolved(plane, wavelet_):
    """Convolves on the torus, by way of the full spectra."""
    return np.fft.ifft2(np.fft.fft2(plane) * np.fft.fft2(wavelet_))


def pool(map_, step, top, left, height, width):
    """Averages a map with a Gaussian in the middle of each of 4 × 4 equal parts of the image."""
    pooled = []
    for g in range(4):
        down = bell(map_.shape[0], step, top, height, g)
        for k in range(4):
            across = bell(map_.shape[1], step, left, width, k)
            pooled.append(sum(d * sum(row * across) for d, row in zip(down, map_, strict=True)))
    return pooled


def bell(points, step, margin, size, part):
    middle, spread = (part + 0.5) * size / 4 - 0.5, size / 8
    weights = [
        np.exp(-((p * step - margin - middle) ** 2) / (2 * spread**2)) for p in range(points)
    ]
    return np.array(weights) / sum(weights)
