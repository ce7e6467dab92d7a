"""The demo's digits, some of them with a wrong label, and the two files that hold them."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from minout import streams
from minout._typing import Floats, Ints
from minout.demo.settings import Settings
from minout.store import atomic_write
from minout.streams.data import DIGITS_LEVELS

ID, LABEL = "scan", "digit"
"""The columns of the ids and of the labels."""


class Material(NamedTuple):
    """Is what the demo teaches, in the order of the labels as they are told, and tests on.

    `pixels` is (n, 64), whole numbers from 0 to 16. `told` is what the file says, `true` what it
    ought to say.
    """

    ids: list[str]
    pixels: Ints
    told: list[str]
    true: list[str]
    test_pixels: Ints
    test_labels: list[str]

    @property
    def planted(self) -> dict[str, str]:
        """Gives the examples that were given a wrong label on purpose, with the right one."""
        each = zip(self.ids, self.told, self.true, strict=True)
        return {id: true for id, told, true in each if told != true}


class Files(NamedTuple):
    """Is where the rows to learn from are, and the rows to test on."""

    learn: Path
    test: Path


def material(settings: Settings) -> Material:
    """Takes scikit-learn's digits, gives some a wrong label, and sorts them by label."""
    rng = np.random.default_rng(settings.seed)
    data = streams.digits()
    if settings.per_class is not None:
        data = streams.pick_per_class(data, settings.per_class, rng)
    told = data.labels.copy()
    wrong = rng.choice(len(told), settings.wrong, replace=False)
    told[wrong] = (told[wrong] + rng.integers(1, 10, settings.wrong)) % 10
    order = np.argsort(told, kind="stable")
    return Material(
        [f"scan-{number:04}" for number in order],
        _pixels(data.rows[order]),
        list(map(str, told[order].tolist())),
        list(map(str, data.labels[order].tolist())),
        _pixels(data.test_rows),
        list(map(str, data.test_labels.tolist())),
    )


def write_files(made: Material, folder: Path) -> Files:
    """Writes digits.csv and test.csv into `folder`: an id, a label and 64 pixels in each line."""
    files = Files(folder / "digits.csv", folder / "test.csv")
    tests = [f"test-{number:04}" for number in range(len(made.test_labels))]
    _write(files.learn, made.ids, made.told, made.pixels)
    _write(files.test, tests, made.test_labels, made.test_pixels)
    return files


def _pixels(rows: Floats) -> Ints:
    return np.asarray(rows * DIGITS_LEVELS, dtype=np.int64)


def _write(file: Path, ids: Sequence[str], labels: Iterable[str], pixels: Ints) -> None:
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([ID, LABEL, *(f"p{number:02}" for number in range(pixels.shape[1]))])
    for id, label, row in zip(ids, labels, pixels.tolist(), strict=True):
        lines.writerow([id, label, *row])
    atomic_write(file, text.getvalue().encode(), "The digits")
