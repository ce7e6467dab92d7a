"""Run the demo: teach, compare with SGD, find wrong labels, correct, forget, audit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from minout import kernels, results
from minout.demo import edits
from minout.demo.accuracy import Accuracies, accuracy_curve, as_arrays, measure, row
from minout.demo.settings import Settings
from minout.demo.sgd import Sgd, standardised
from minout.engine import Audit
from minout.learner import Learner
from minout.streams.files import Example

Report = Callable[[str, int, int, Mapping[str, Accuracies]], None]
"""Called with the current step, its progress (done, total) and the accuracies so far."""


class Examples(NamedTuple):
    """The examples to teach, in their order, and the test examples."""

    examples: Sequence[Example]
    tests: Sequence[Example]


class DemoResults(NamedTuple):
    """The results of the demo; `rows` are for the picture, `ends` for the table.

    `examined` is the number of the first test row that the final model gets wrong, or else 1.
    """

    rows: list[results.Row]
    ends: dict[str, Accuracies]
    found: edits.FoundSuspects
    corrected: Accuracies
    forgotten: edits.Forgotten
    audit: Audit
    examined: int


@kernels.one_blas_thread()  # small products: more threads only wait for each other
def run_demo(
    learner: Learner,
    given: Examples,
    wrong_labels: Mapping[str, str],
    settings: Settings,
    report: Report = lambda *_: None,
) -> DemoResults:
    """Teach the learner and two SGD classifiers; then find, correct, forget and audit.

    `wrong_labels` holds the ids whose labels are wrong, with the right ones.
    """
    examples, tests = given
    standard = _standard(given)
    curves = _in_label_order(learner, given, standard, settings, report)
    curves["sgd-shuffled"] = _shuffled(standard, settings, report)
    ends = {name: curve[-1] for name, curve in curves.items()}
    report("looking for wrong labels", 1, 1, {})
    learner.consolidate()
    ends["consolidated"] = measure(learner.predict, examples, tests)
    found = edits.find(learner, wrong_labels)
    edits.correct(learner, found.wrong, wrong_labels)
    right = [_as_stored(learner, example) for example in examples]
    corrected = measure(learner.predict, right, tests)
    report("forgetting one", 1, 1, {})
    rows, labels = as_arrays(tests)
    forgotten = edits.forget(learner, right, rows)
    missed = np.flatnonzero(learner.predict(rows) != labels).tolist()
    return DemoResults(
        [row(settings, name, examples, tests, curve) for name, curve in curves.items()],
        ends,
        found,
        corrected,
        forgotten,
        learner.audit(),
        missed[0] + 1 if missed else 1,
    )


def _in_label_order(
    learner: Learner, given: Examples, standard: Examples, settings: Settings, report: Report
) -> dict[str, list[Accuracies]]:
    examples, tests = given
    ours = accuracy_curve(lambda each: _teach(learner, each), learner.predict, examples, tests)
    curves: dict[str, list[Accuracies]] = {"minout": [], "sgd": []}
    for each in zip(examples, ours, _by_sgd(standard, settings), strict=True):
        now = dict(zip(curves, each[1:], strict=True))
        for name, shares in now.items():
            curves[name].append(shares)
        report(f"digit {each[0].label}", len(curves["sgd"]), len(examples), now)
    return curves


def _shuffled(standard: Examples, settings: Settings, report: Report) -> list[Accuracies]:
    order = np.random.default_rng(settings.seed).permutation(len(standard.examples)).tolist()
    mixed = standard._replace(examples=[standard.examples[place] for place in order])
    curve: list[Accuracies] = []
    for now in _by_sgd(mixed, settings):
        curve.append(now)
        report("shuffled", len(curve), len(order), {"sgd-shuffled": now})
    return curve


def _by_sgd(standard: Examples, settings: Settings) -> Iterator[Accuracies]:
    examples, tests = standard
    sgd = Sgd((str(each.label) for each in examples), settings.alpha, settings.seed)
    return accuracy_curve(
        lambda each: sgd.teach(each.row, str(each.label)), sgd.predict, examples, tests
    )


def _standard(given: Examples) -> Examples:
    rows = standardised(*(as_arrays(each)[0] for each in given))
    return Examples(
        *(
            [each._replace(row=x) for each, x in zip(part, new, strict=True)]
            for part, new in zip(given, rows, strict=True)
        )
    )


def _teach(learner: Learner, example: Example) -> None:
    assert example.label is not None
    learner.teach(example.row, example.label, id=example.id)


def _as_stored(learner: Learner, example: Example) -> Example:
    assert example.id is not None
    return example._replace(label=learner.example(example.id)[1])
