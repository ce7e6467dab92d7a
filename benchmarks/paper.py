"""The paper's learner: time of an example, beside minout's learner and SGD on the same stream."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.data import Split, images
from benchmarks.measuring import Options, Table, accuracy, ms, percent, track
from benchmarks.rivals import OnlineSgd
from minout import Learner
from minout.paper import PaperLearner


class _Sgd(OnlineSgd):
    """SGD with the methods of a learner."""

    def teach(self, x: Any, y: int) -> None:
        self.learn_one(x[None], y)

    def predict(self, X: Any) -> Any:
        return np.concatenate([np.atleast_1d(self.predict_one(x[None])) for x in X])


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each learner and number of images per class."""
    sizes = (1,) if options.small else (10, 100)
    models: dict[str, Callable[[Any], Any]] = {
        "paper.PaperLearner": lambda names: PaperLearner(names, seed=options.seed),
        "minout.Learner": lambda _: Learner(),
        "SGDClassifier": _Sgd,
    }
    jobs = [(each, name) for each in sizes for name in models]
    rows = [
        (str(each), name, *_measure(models[name], images(options, each), f"{name}, {each} each"))
        for each, name in jobs
    ]
    yield Table(
        "MNIST-ol: images in label order, pixels, one example per step",
        (
            *("per class", "learner", "seconds", "ms per example", "ms of the last tenth"),
            *("train accuracy", "test accuracy"),
        ),
        rows,
        "PaperLearner: 50 neurons per class, conditional rehearsal. Default settings.",
    )


def _measure(make: Callable[[Any], Any], data: Split, what: str) -> tuple[str, ...]:
    names = np.unique(data.labels)
    first = make(names)
    for i in (0, -1):
        first.teach(data.rows[i], int(data.labels[i]))  # loads modules
    learner, seconds = make(names), np.empty(len(data.labels))
    for i, y in track(enumerate(data.labels.tolist()), what, total=len(seconds)):
        start = time.perf_counter()
        learner.teach(data.rows[i], y)
        seconds[i] = time.perf_counter() - start
    return (
        f"{seconds.sum():.1f}",
        ms(seconds.mean()),
        ms(seconds[-max(len(seconds) // 10, 1) :].mean()),
        percent(accuracy(learner, data.rows, data.labels)),
        percent(accuracy(learner, data.test_rows, data.test_labels)),
    )
