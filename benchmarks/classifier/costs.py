"""What the estimator costs: time of one row beside the learner's call, import, installed size."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from benchmarks.learners import MANUAL_REFRESH, new_learner
from benchmarks.measuring import seconds_of
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table
from minout.classifier import MinoutClassifier

COLUMNS = (20, 200, 2_000)
CLASSES = 3
STORED = 60
FIRST_FITS = 3
"""Times that the first fit with an empty cache is measured."""
OURS = "from minout import MinoutClassifier"
THEIRS = "import sklearn, numba"
SVM = "import sklearn.svm, numba"
FIT = (
    "from sklearn.datasets import load_iris; from minout import MinoutClassifier; "
    "iris = load_iris(return_X_y=True); t = time.perf_counter(); MinoutClassifier().fit(*iris)"
)
UNWANTED = ("torch", "matplotlib", "pandas", "polars", "pyarrow", "PIL")


class OverheadRow(NamedTuple):
    """Median time of one row that is fitted already, in microseconds, for both interfaces."""

    columns: int
    calls: int
    teach: float
    partial_fit: float
    learner_predict: float
    predict: float

    @property
    def teaching(self) -> float:
        """The cost of `partial_fit` above that of the learner's own call."""
        return self.partial_fit - self.teach

    @property
    def predicting(self) -> float:
        """The cost of `predict` above that of the learner's own call."""
        return self.predict - self.learner_predict


def measure_overhead(calls: int, progress: Progress) -> list[OverheadRow]:
    """Measure rows with several numbers of columns."""
    found = []
    for done, columns in enumerate(COLUMNS):
        progress("one row", done, len(COLUMNS))
        found.append(overhead(columns, calls))
    return found


def overhead(columns: int, calls: int = 2_000, seed: int = 0) -> OverheadRow:
    """Teach and predict the same rows through both interfaces, one by one and in turns.

    There are no refreshes, and every row is well inside its class, so that a step is one forward
    pass and the storing of a row.
    """
    rng = np.random.default_rng(seed)
    centres = 10.0 * rng.normal(size=(CLASSES, columns))
    labels = np.arange(STORED + calls) % CLASSES
    rows = centres[labels] + 0.1 * rng.normal(size=(len(labels), columns))
    learner = new_learner(MANUAL_REFRESH, dtype="float64")
    for x, y in zip(rows[:STORED], labels[:STORED].tolist(), strict=True):
        learner.teach(x, y)
    learner.consolidate()
    classifier = MinoutClassifier(refresh="manual").fit(rows[:STORED], labels[:STORED])
    times: list[tuple[float, float, float, float]] = []
    for i in range(STORED, len(rows)):
        x, y, X = rows[i], int(labels[i]), rows[i : i + 1]
        times.append(
            (
                seconds_of(learner.teach, x, y),
                seconds_of(classifier.partial_fit, X, [y]),
                seconds_of(learner.predict, X),
                seconds_of(classifier.predict, X),
            )
        )
    return OverheadRow(columns, calls, *(1e6 * np.median(times, axis=0)).tolist())


def overhead_tables(rows: Sequence[OverheadRow]) -> list[Table]:
    """Return a line for each number of columns."""
    lines = [
        (
            f"{row.columns:,}",
            f"{row.teach:.0f}",
            f"{row.partial_fit:.0f}",
            f"{row.teaching:+.0f}",
            f"{row.learner_predict:.0f}",
            f"{row.predict:.0f}",
            f"{row.predicting:+.0f}",
        )
        for row in rows
    ]
    head = ("columns", "teach", "partial_fit", "more", "learner's predict", "predict", "more")
    note = "Microseconds for one row that is fitted already: medians, both sides by turns."
    return [Table("One row through the classifier", head, lines, note)]


def overhead_goals(rows: Sequence[OverheadRow]) -> list[Goal]:
    """Return the goal of one row."""
    most = max(row.teaching for row in rows)
    what = "one-row partial_fit: less than 100 µs more"
    return [Goal("overhead", what, f"{most:.0f} µs", most < 100.0)]


class StartRow(NamedTuple):
    """Median seconds of two imports, unwanted modules of ours, and installed sizes in bytes.

    `first_fit` and `warm_fit` are the seconds of the first `fit` on iris in a new process, without
    and with compiled kernels on disk; `svm` those of `import sklearn.svm, numba` in one.
    """

    seconds: float
    theirs: float
    first_fit: float
    warm_fit: float
    svm: float
    unwanted: tuple[str, ...]
    sizes: dict[str, int]


def measure_start(times: int, progress: Progress) -> list[StartRow]:
    """Time imports and first fits in new processes, in turns."""
    ours, theirs = [], []
    fits = [_first_fits(progress, i) for i in range(FIRST_FITS)]
    for i in range(times + 1):
        progress("importing", i, times + 1)
        ours.append(_import_seconds(OURS))
        theirs.append(_import_seconds(THEIRS))
    loaded = _output_of("from minout import Learner; import sys; print(*sys.modules)").split()
    unwanted = tuple(name for name in UNWANTED if name in loaded)
    sizes = {name: _installed_bytes(name) for name in sorted(_required_by("minout"))}
    first, warm, svm = (median(each) for each in zip(*fits, strict=True))
    seconds = (median(ours[1:]), median(theirs[1:]), first, warm, svm)
    return [StartRow(*seconds, unwanted, sizes)]


def _first_fits(progress: Progress, done: int) -> tuple[float, float, float]:
    # With an empty cache, then with that cache; and the import beside them.
    progress("first fits", done, FIRST_FITS)
    with TemporaryDirectory() as cache:
        first, warm = _import_seconds(FIT, cache), _import_seconds(FIT, cache)
    return first, warm, _import_seconds(SVM)


def _import_seconds(statement: str, cache: str | None = None) -> float:
    script = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    return float(_output_of(script, cache))


def _output_of(script: str, cache: str | None = None) -> str:
    command = [sys.executable, "-c", script]
    env = os.environ if cache is None else os.environ | {"NUMBA_CACHE_DIR": cache}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout


def _required_by(name: str) -> set[str]:
    # All packages of a default install: no extras, none for other systems.
    found: set[str] = set()
    waiting = [name]
    while waiting:
        each = waiting.pop().lower().replace("_", "-")
        if each in found:
            continue
        try:
            requires = distribution(each).requires or []
        except PackageNotFoundError:
            continue
        found.add(each)
        wanted = (line for line in requires if "extra ==" not in line)
        waiting += [re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in wanted]
    return found


def _installed_bytes(name: str) -> int:
    files = distribution(name).files or []
    places = (Path(str(each.locate())) for each in files if "__pycache__" not in each.parts)
    return sum(place.stat().st_size for place in places if place.is_file())


def start_tables(rows: Sequence[StartRow]) -> list[Table]:
    """Return times and sizes."""
    (row,) = rows
    total = sum(row.sizes.values())
    largest = sorted(row.sizes.items(), key=lambda item: -item[1])[:6]
    lines = [
        (OURS, f"{row.seconds:.2f} s"),
        (THEIRS, f"{row.theirs:.2f} s"),
        ("ratio", f"{row.seconds / row.theirs:.2f}"),
        ("first fit on iris, nothing compiled", f"{row.first_fit:.1f} s"),
        ("first fit on iris, compiled before", f"{row.warm_fit:.2f} s"),
        (SVM, f"{row.svm:.2f} s"),
        ("ratio, nothing compiled", f"{row.first_fit / row.svm:.1f}"),
        ("ratio, compiled before", f"{row.warm_fit / row.svm:.2f}"),
        ("imported with the learner, though not needed", ", ".join(row.unwanted) or "nothing"),
        ("default install", f"{total / 1e6:,.0f} MB in {len(row.sizes)} packages"),
        *((f"of which {name}", f"{size / 1e6:,.0f} MB") for name, size in largest),
    ]
    note = (
        "Median of new processes, by turns. Sizes are those of the installed files. The classifier "
        "imports scikit-learn, which imports pandas where that is installed."
    )
    return [Table("Import and install", ("", ""), lines, note)]


def start_goals(rows: Sequence[StartRow]) -> list[Goal]:
    """Return the goals of the import."""
    (row,) = rows
    ratio, compiling = row.seconds / row.theirs, row.first_fit / row.svm
    unwanted = ", ".join(row.unwanted) or "none"
    compiled = "first fit at most 6 times the import of sklearn.svm and numba"
    return [
        Goal("start", compiled, f"{compiling:.1f}", compiling <= 6.0),
        Goal("start", "import under 1.5 times sklearn and numba", f"{ratio:.2f}", ratio < 1.5),
        Goal("start", "no torch, matplotlib or pandas", unwanted, not row.unwanted),
    ]
