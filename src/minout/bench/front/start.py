"""What it takes to begin: bytes installed, and the time of `import minout`."""

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from statistics import median
from typing import NamedTuple

from minout.bench.engine.table import Claim, Table
from minout.bench.engine.tell import Tell

OURS = "from minout import MinoutClassifier"
THEIRS = "import sklearn, numba"
UNWANTED = ("torch", "matplotlib", "pandas", "polars", "pyarrow", "PIL")


class Start(NamedTuple):
    """Is the median time of two imports, what the first brought along, and installed sizes."""

    seconds: float
    theirs: float
    unwanted: tuple[str, ...]
    sizes: dict[str, int]


def measure(times: int, tell: Tell) -> list[Start]:
    """Imports both in new processes, by turns."""
    ours, theirs = [], []
    for i in range(times + 1):
        tell("importing", i, times + 1)
        ours.append(_seconds(OURS))
        theirs.append(_seconds(THEIRS))
    loaded = subprocess.run(
        [sys.executable, "-c", "import minout, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    unwanted = tuple(name for name in UNWANTED if name in loaded)
    sizes = {name: _size(name) for name in sorted(_needed("minout"))}
    return [Start(median(ours[1:]), median(theirs[1:]), unwanted, sizes)]


def _seconds(statement: str) -> float:
    script = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def _needed(name: str) -> set[str]:
    # Everything that a default install brings: no extras, nothing for other systems.
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


def _size(name: str) -> int:
    files = distribution(name).files or []
    places = (Path(str(each.locate())) for each in files if "__pycache__" not in each.parts)
    return sum(place.stat().st_size for place in places if place.is_file())


def tables(rows: Sequence[Start]) -> list[Table]:
    """Writes times and sizes."""
    (row,) = rows
    total = sum(row.sizes.values())
    largest = sorted(row.sizes.items(), key=lambda item: -item[1])[:6]
    lines = [
        (OURS, f"{row.seconds:.2f} s"),
        (THEIRS, f"{row.theirs:.2f} s"),
        ("ratio", f"{row.seconds / row.theirs:.2f}"),
        ("imported by `import minout`, though not needed", ", ".join(row.unwanted) or "nothing"),
        ("default install", f"{total / 1e6:,.0f} MB in {len(row.sizes)} packages"),
        *((f"of which {name}", f"{size / 1e6:,.0f} MB") for name, size in largest),
    ]
    note = (
        "Median of new processes, by turns. Sizes are those of the installed files. The classifier "
        "imports scikit-learn, which imports pandas where that is installed."
    )
    return [Table("To begin", ("", ""), lines, note)]


def claims(rows: Sequence[Start]) -> list[Claim]:
    """Says what was asked for."""
    (row,) = rows
    ratio = row.seconds / row.theirs
    return [
        Claim(2, "import under 1.5 times sklearn and numba", f"{ratio:.2f}", ratio < 1.5),
        Claim(
            2, "no torch, matplotlib or pandas", ", ".join(row.unwanted) or "none", not row.unwanted
        ),
    ]
