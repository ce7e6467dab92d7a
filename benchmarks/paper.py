"""The paper's learner: time of an example, beside minout's learner and SGD on the same stream.

With --data its policies also learn more images than the paper's authors could.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Split, images
from benchmarks.measuring import Options, Table, accuracy, ms, percent, track
from benchmarks.rivals import OnlineSgd
from minout import Learner
from minout.paper import PaperLearner
from minout.paper.data import Data
from minout.paper.figures import drawing, mnist
from minout.paper.figures.rows import Row

MANY = 200
"""Images of each digit; the paper has 100."""


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
    if options.data is not None:
        yield _many(options)


def _many(options: Options) -> Table:
    """Teach many images of each digit; settings, curves and pictures are those of fig3 and fig4."""
    found = images(options, MANY)
    rows, test_rows = (np.rint(np.float64(255) * each) / 256 for each in (found[0], found[2]))
    data = Data(rows, found.labels, test_rows, found.test_labels)
    runs = []
    for policy in ("conditional", "random", "none"):
        settings = {**mnist.PAPER, "per_class": MANY, "budget": MANY, "policy": policy}
        learner = mnist.learner_for(settings, options.seed)
        runs.append(Row(settings, options.seed, mnist.measured(learner, data)))
    drawing.save(mnist.draw3(runs[:1]), Path(), "paper-rehearsed")
    drawing.save(mnist.draw_policies(runs), Path(), "paper-accuracy")
    return Table(
        f"MNIST-ol, {MANY} of each digit",
        ("rehearsal", "digits taught", *mnist.CURVES.values(), "rehearsed per unit", "steps"),
        [_stage(run, digits) for run in runs for digits in range(2, 11, 2)],
        "Settings of fig4. The last two are the mean and the sum over the last digit taught. "
        "Pictures, in this folder: paper-accuracy.png, paper-rehearsed.png.",
    )


def _stage(run: Row, digits: int) -> tuple[str, ...]:
    end = digits * MANY
    curves = {name: np.array(each, float) for name, each in run.values.items()}
    return (
        run.settings["policy"],
        str(digits),
        *(percent(curves[name][end - 1]) for name in mnist.CURVES),
        f"{np.nanmean(curves['rehearsed'][end - MANY : end]):.0f}",
        f"{curves['steps'][end - MANY : end].sum():.0f}",
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
