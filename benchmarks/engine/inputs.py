"""The inputs that all parts of one run share: the data and its features, computed once."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Array, Ints
from benchmarks.engine.settings import Settings
from benchmarks.learners import compile_kernels
from benchmarks.parts import Progress
from minout.errors import InvalidInputError
from minout.features import FeatureMap, Identity, Scattering
from minout.streams import Data

BLOCK = 2_048


class FeatureSet(NamedTuple):
    """A data set after a feature map: rows float32 (n, d), and the seconds that it took."""

    rows: NDArray[np.float32]
    labels: Ints
    test_rows: NDArray[np.float32]
    test_labels: Ints
    seconds: float


class Inputs:
    """A data set, the settings, and a cache of the features that were needed so far."""

    def __init__(self, data: Data, settings: Settings) -> None:
        self.data = data
        self.settings = settings
        self._features: dict[str, FeatureSet] = {}
        self._compiled = False

    def features(self, name: str, progress: Progress) -> FeatureSet:
        """Return the data as "scattering" features or as "raw" pixels."""
        if name not in self._features:
            self._features[name] = _transform_data(self.data, name, progress)
        return self._features[name]

    def compile(self, progress: Progress) -> None:
        """Compile what will be timed, once."""
        if self.settings.compile_first and not self._compiled:
            progress("compiling", 0, 1)
            compile_kernels()
            self._compiled = True


def draw_per_class(labels: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Draw the numbers of `count` rows of each class; the classes ascend.

    Raises
    ------
    InvalidInputError
        If a class has fewer rows.
    """
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    rarest = min(len(each) for each in members)
    if count > rarest:
        raise InvalidInputError(
            f"{count} rows per class were asked for, but the rarest class has {rarest}."
        )
    return np.concatenate([rng.permutation(each)[:count] for each in members])


def _transform_data(data: Data, name: str, progress: Progress) -> FeatureSet:
    maps: dict[str, FeatureMap] = {
        "scattering": Scattering(image_shape=data.image_shape),
        "raw": Identity("float32"),
    }
    maps[name].transform(data.rows[:1])  # compiles, which is not timed
    start = time.perf_counter()
    total = len(data.rows) + len(data.test_rows)
    rows = _transform(maps[name], data.rows, lambda done: progress(name, done, total))
    test_rows = _transform(
        maps[name], data.test_rows, lambda done: progress(name, len(data.rows) + done, total)
    )
    seconds = time.perf_counter() - start
    return FeatureSet(rows, data.labels, test_rows, data.test_labels, seconds)


def _transform(
    features: FeatureMap, rows: Array, tick: Callable[[int], None]
) -> NDArray[np.float32]:
    blocks = []
    for start in range(0, len(rows), BLOCK):
        blocks.append(features.transform(rows[start : start + BLOCK]))
        tick(min(start + BLOCK, len(rows)))
    return np.concatenate(blocks)
