"""The digits of the demo, some with a wrong label, and the two files with them."""

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


class DemoData(NamedTuple):
    """The digits of the demo, sorted by the labels in the file, and the test digits.

    `pixels` is (n, 64), whole numbers from 0 to 16. `labels` are those in the file, `true_labels`
    the right ones.
    """

    ids: list[str]
    pixels: Ints
    labels: list[str]
    true_labels: list[str]
    test_pixels: Ints
    test_labels: list[str]

    @property
    def wrong_labels(self) -> dict[str, str]:
        """The ids of the examples with a wrong label, and their right labels."""
        each = zip(self.ids, self.labels, self.true_labels, strict=True)
        return {id: right for id, label, right in each if label != right}


class Files(NamedTuple):
    """The files of training and test rows."""

    learn: Path
    test: Path


def make_data(settings: Settings) -> DemoData:
    """Return scikit-learn's digits, some with wrong labels, sorted by label."""
    rng = np.random.default_rng(settings.seed)
    data = streams.digits()
    if settings.per_class is not None:
        data = streams.pick_per_class(data, settings.per_class, rng)
    labels = data.labels.copy()
    wrong = rng.choice(len(labels), settings.wrong, replace=False)
    labels[wrong] = (labels[wrong] + rng.integers(1, 10, settings.wrong)) % 10
    order = np.argsort(labels, kind="stable")
    return DemoData(
        [f"scan-{number:04}" for number in order],
        _pixels(data.rows[order]),
        list(map(str, labels[order].tolist())),
        list(map(str, data.labels[order].tolist())),
        _pixels(data.test_rows),
        list(map(str, data.test_labels.tolist())),
    )


def write_files(made: DemoData, folder: Path) -> Files:
    """Write digits.csv and test.csv into `folder`: an id, a label and 64 pixels per line."""
    files = Files(folder / "digits.csv", folder / "test.csv")
    tests = [f"test-{number:04}" for number in range(len(made.test_labels))]
    _write(files.learn, made.ids, made.labels, made.pixels)
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
