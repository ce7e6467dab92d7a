"""The same examples in other orders, after forgetting, with other threads: the same bits?"""

import hashlib
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import Array, Ints, Rng, Split, images, label_order, scattering
from benchmarks.measuring import Options, Table, in_fresh_process, teach, track, yes
from minout import MinoutClassifier


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each pair of ways."""
    rng = np.random.default_rng(options.seed)
    data = images(options, 2 if options.small else 600 if options.data else 200)
    data = data._replace(test_rows=data.test_rows[:1_000])
    data = data if options.small else scattering(data)
    name = f"{len(data.labels):,} images"
    rows = [
        (what, name, _same(one, other, data.test_rows))
        for what, one, other in track(_image_ways(data, rng), "images", total=5)
    ]
    rows.append(_table_line(110 if options.small else 3_000, rng))
    rows.append(_threads_line(options.seed, 40 if options.small else 3_000))
    yield Table(
        "Two ways to the same examples, consolidated",
        ("ways", "examples", "same bits"),
        rows,
        "Compared are the bytes of scores and probabilities of rows to test on, and of the weights "
        "of all separators. Default settings.",
    )


def digest(model: Any, X: Any) -> str:
    """Return a hash of all bytes of scores, probabilities and separators."""
    found = hashlib.sha256()
    for values in (model.decision_function(X), model.predict_proba(X)):
        found.update(np.ascontiguousarray(values).tobytes())
    for a, b in combinations(model.classes_, 2):
        separator = model.separator(a, b)
        found.update(np.ascontiguousarray(separator.weights).tobytes())
        found.update(np.float64(separator.bias).tobytes())
    return found.hexdigest()


def _same(one: Any, other: Any, X: Any) -> str:
    return yes(digest(one, X) == digest(other, X))


def _image_ways(data: Split, rng: Rng) -> Iterator[tuple[str, Any, Any]]:
    count = len(data.labels)
    ids, labels = np.arange(count), data.labels
    base = _taught(data.rows, labels, ids)
    in_turn = np.argsort([np.count_nonzero(labels[:i] == labels[i]) for i in ids], kind="stable")
    for what, order in (
        ("label order, shuffled", rng.permutation(count)),
        ("label order, labels descending", label_order(-labels)),
        ("label order, one of each label in turn", in_turn),
    ):
        yield what, base, _taught(data.rows, labels, order)
    gone = rng.permutation(count)[: max(count // 100, 2)]
    model = _taught(data.rows, labels, ids)
    model.forget(gone.tolist())
    model.consolidate()
    without = _taught(data.rows, labels, np.setdiff1d(ids, gone))
    yield f"{len(gone)} forgotten, never taught", model, without
    model = _taught(data.rows, np.where(ids == gone[0], 9 - labels, labels), ids)
    model.correct(int(gone[0]), labels[gone[0]])
    model.consolidate()
    yield "a label corrected, right from the start", model, base


def _taught(rows: Array, labels: Ints, order: Ints) -> Any:
    model = MinoutClassifier().partial_fit(rows[order], labels[order], ids=order.tolist())
    model.consolidate()
    return model


def _table_line(count: int, rng: Rng) -> tuple[str, ...]:
    y = rng.integers(3, size=count)
    frame = pd.DataFrame({"number": y + rng.normal(size=count), "size": rng.normal(size=count)})
    frame["word"] = np.char.add("w", ((y + rng.integers(9, size=count)) % 12).astype(str))
    models = []
    for order in (label_order(y), label_order(-y)):
        model = MinoutClassifier()
        teach(model, frame.iloc[order], y[order])
        model.consolidate()
        models.append(model)
    what = "label order, labels descending; categories that come late"
    return what, f"a table of {count:,} rows", _same(*models, frame)


def _threads_line(seed: int, count: int) -> tuple[str, ...]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    single = in_fresh_process(_digest_of_drawn, seed, count, **dict.fromkeys(names, "1"))
    same = yes(single == _digest_of_drawn(seed, count))
    return "all threads, 1 thread", f"{count:,} drawn rows of 200 columns", same


def _digest_of_drawn(seed: int, count: int) -> str:
    rng = np.random.default_rng(seed)
    y = rng.integers(5, size=count)
    X = rng.normal(size=(count, 200)) + rng.normal(size=(5, 200))[y]
    return digest(MinoutClassifier().fit(X, y), X)
