"""What the parts of one run share: the data, and their features, which are made once."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Ints
from minout.bench.engine.settings import Settings
from minout.bench.engine.taught import warm_up
from minout.bench.engine.tell import Tell
from minout.errors import InvalidInputError
from minout.features import FeatureMap, Identity, Scattering
from minout.streams import Data

Singles = NDArray[np.float32]
BLOCK = 2_048


class Featured(NamedTuple):
    """Is a data set after a fixed map: rows float32 (n, d), and what making them took."""

    rows: Singles
    labels: Ints
    test_rows: Singles
    test_labels: Ints
    seconds: float


class Material:
    """Keeps a data set, and the features of it that somebody has asked for."""

    def __init__(self, data: Data, settings: Settings) -> None:
        self.data = data
        self.settings = settings
        self._made: dict[str, Featured] = {}
        self._warm = False

    def featured(self, name: str, tell: Tell) -> Featured:
        """Gives the rows as "scattering" or "raw" pixels."""
        if name not in self._made:
            self._made[name] = _featured(self.data, name, tell)
        return self._made[name]

    def warm_up(self, tell: Tell) -> None:
        """Compiles what will be timed, once."""
        if self.settings.warm and not self._warm:
            tell("compiling", 0, 1)
            warm_up()
            self._warm = True


def drawn_per_class(labels: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Draws the numbers of `count` rows of each class; classes ascend."""
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    if count > min(len(each) for each in members):
        raise InvalidInputError(
            f"{count} rows per class were asked for, but the rarest class has "
            f"{min(len(each) for each in members)}."
        )
    return np.concatenate([rng.permutation(each)[:count] for each in members])


def in_label_order(labels: Ints, *, descending: bool = False) -> Ints:
    """Lists the rows by label; within a label the order stays."""
    return np.argsort(-labels if descending else labels, kind="stable")


def _featured(data: Data, name: str, tell: Tell) -> Featured:
    maps: dict[str, FeatureMap] = {
        "scattering": Scattering(image_shape=data.image_shape),
        "raw": Identity("float32"),
    }
    maps[name].transform(data.rows[:1])  # compiled, or loaded: not part of what is timed
    start = time.perf_counter()
    total = len(data.rows) + len(data.test_rows)
    rows = _transformed(maps[name], data.rows, lambda done: tell(name, done, total))
    test_rows = _transformed(
        maps[name], data.test_rows, lambda done: tell(name, len(data.rows) + done, total)
    )
    seconds = time.perf_counter() - start
    return Featured(rows, data.labels, test_rows, data.test_labels, seconds)


def _transformed(features: FeatureMap, rows: NDArray[Any], tick: Callable[[int], None]) -> Singles:
    blocks = []
    for start in range(0, len(rows), BLOCK):
        blocks.append(features.transform(rows[start : start + BLOCK]))
        tick(min(start + BLOCK, len(rows)))
    return np.concatenate(blocks)
