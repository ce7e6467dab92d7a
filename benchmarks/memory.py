"""Rows stored as codes (`memory=`): bytes, accuracy, guarantees and time."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import Split, images, scattering, split_table
from benchmarks.measuring import Options, Table, accuracy, bytes_of, ms, spread, track, yes
from minout import Identity, Learner, ScalarCodec

SAMPLE = 1_000
"""Rows that a codec is fitted on, at most."""
WAYS = {"auto": None, "uint8": None, "8 bits": 8, "4 bits": 4, "2 bits": 2}
"""The values of `memory`, and the bits of codecs that are fitted."""
SETS = ("breast cancer", "wine", "digits")


class Run(NamedTuple):
    """A stream with rows stored in one way; `listed`: every row as given is right or a misfit."""

    file_bytes: float
    streamed: float
    consolidated: float
    listed: bool
    seconds: float


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each data set and each way to store its rows."""
    rows = []
    for name, splits in _sets(options).items():
        shape = f"{len(splits[0].rows):,} × {splits[0].rows.shape[1]:,}"
        for memory in track(WAYS, name):
            runs = [_measure(memory, data) for data in splits]
            rows.append((f"{name}, {shape}", memory, *_cells(runs)))
    yield Table(
        "Rows stored as codes",
        (
            *("data", "`memory`", "saved model, bytes a row", "accuracy in %, stream"),
            *("consolidated", "originals right or listed", "ms per row"),
        ),
        rows,
        'Random order, default settings. "auto" stores numbers as they are, "uint8" a byte each; '
        f"8, 4 and 2 bits are `ScalarCodec.fit` of the first {SAMPLE:,} rows. The saved model also "
        "holds separators and images.",
    )


def _sets(options: Options) -> dict[str, list[Split]]:
    each = 5 if options.small else 600 if options.data else 200
    pixels = images(options, each)
    found = {"pixels": [pixels]}
    if not options.small:
        found["scattering"] = [scattering(pixels)]
        for name in SETS:
            found[name] = [split_table(name, options.seed + n, 1_500) for n in range(5)]
    rng = np.random.default_rng(options.seed)
    return {
        name: [data.reordered(rng.permutation(len(data.labels))) for data in splits]
        for name, splits in found.items()
    }


def _measure(memory: str, data: Split) -> Run:
    bits = WAYS[memory]
    codec: Any = ScalarCodec.fit(data.rows[:SAMPLE], bits=bits) if bits else memory
    learner = Learner(memory=codec, features=Identity(data.rows.dtype.name))
    start = time.perf_counter()
    learner.teach_many(data.rows, data.labels.tolist())
    seconds = time.perf_counter() - start
    streamed = accuracy(learner, data.test_rows, data.test_labels)
    listed = _is_listed(learner, data)
    learner.consolidate()
    with tempfile.TemporaryDirectory() as folder:
        learner.save(Path(folder) / "model")
        size = bytes_of(Path(folder))
    return Run(
        size / len(data.labels),
        streamed,
        accuracy(learner, data.test_rows, data.test_labels),
        listed and _is_listed(learner, data),
        seconds / len(data.labels),
    )


def _is_listed(learner: Learner, data: Split) -> bool:
    wrong = np.flatnonzero(learner.predict(data.rows) != data.labels)
    return set(wrong.tolist()) <= set(learner.misfits)


def _cells(runs: list[Run]) -> tuple[str, ...]:
    return (
        f"{fmean(each.file_bytes for each in runs):,.0f}",
        spread([each.streamed for each in runs], 2),
        spread([each.consolidated for each in runs], 2),
        yes(all(each.listed for each in runs)),
        ms(fmean(each.seconds for each in runs)),
    )
