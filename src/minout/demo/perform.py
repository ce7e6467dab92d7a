"""The whole demo, from the examples of two files to everything that there is to tell."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from minout import kernels, results
from minout.demo import story
from minout.demo.run import Known, known, row, together, watched
from minout.demo.settings import Settings
from minout.demo.sgd import Sgd, standardised
from minout.engine import Audit
from minout.learner import Learner
from minout.streams.files import Example

Tell = Callable[[str, int, int, Mapping[str, Known]], None]
"""Is told what is being done, how much of how much, and who knows how much by now."""


class Lesson(NamedTuple):
    """Is the examples to teach, in their order, and those to test on."""

    examples: Sequence[Example]
    tests: Sequence[Example]


class Done(NamedTuple):
    """Is what the demo found; `rows` are for the picture, `ends` for the table.

    `examined` is the first row of the tests, from 1 on, that the final model gets wrong, or else 1.
    """

    rows: list[results.Row]
    ends: dict[str, Known]
    found: story.Found
    corrected: Known
    forgotten: story.Forgotten
    audit: Audit
    examined: int


@kernels.one_blas_thread()  # small products: more threads only wait for each other
def perform(
    learner: Learner,
    lesson: Lesson,
    planted: Mapping[str, str],
    settings: Settings,
    tell: Tell = lambda *_: None,
) -> Done:
    """Teaches the learner and two SGDs, and goes on with the learner: find, correct, forget, audit.

    `planted` holds the ids whose labels are wrong, with the right ones.
    """
    examples, tests = lesson
    standard = _standard(lesson)
    curves = _in_label_order(learner, lesson, standard, settings, tell)
    curves["sgd-shuffled"] = _shuffled(standard, settings, tell)
    ends = {name: curve[-1] for name, curve in curves.items()}
    tell("looking for wrong labels", 1, 1, {})
    learner.consolidate()
    ends["consolidated"] = known(learner.predict, examples, tests)
    found = story.find(learner, planted)
    story.correct(learner, found.wrong, planted)
    right = [_as_stored(learner, example) for example in examples]
    corrected = known(learner.predict, right, tests)
    tell("forgetting one", 1, 1, {})
    rows, labels = together(tests)
    forgotten = story.forget(learner, right, rows)
    missed = np.flatnonzero(learner.predict(rows) != labels).tolist()
    return Done(
        [row(settings, name, examples, tests, curve) for name, curve in curves.items()],
        ends,
        found,
        corrected,
        forgotten,
        learner.audit(),
        missed[0] + 1 if missed else 1,
    )


def _in_label_order(
    learner: Learner, lesson: Lesson, standard: Lesson, settings: Settings, tell: Tell
) -> dict[str, list[Known]]:
    examples, tests = lesson
    ours = watched(lambda each: _teach(learner, each), learner.predict, examples, tests)
    curves: dict[str, list[Known]] = {"minout": [], "sgd": []}
    for each in zip(examples, ours, _by_sgd(standard, settings), strict=True):
        now = dict(zip(curves, each[1:], strict=True))
        for name, shares in now.items():
            curves[name].append(shares)
        tell(f"digit {each[0].label}", len(curves["sgd"]), len(examples), now)
    return curves


def _shuffled(standard: Lesson, settings: Settings, tell: Tell) -> list[Known]:
    order = np.random.default_rng(settings.seed).permutation(len(standard.examples)).tolist()
    mixed = standard._replace(examples=[standard.examples[place] for place in order])
    curve: list[Known] = []
    for now in _by_sgd(mixed, settings):
        curve.append(now)
        tell("shuffled", len(curve), len(order), {"sgd-shuffled": now})
    return curve


def _by_sgd(standard: Lesson, settings: Settings) -> Iterator[Known]:
    examples, tests = standard
    sgd = Sgd((str(each.label) for each in examples), settings.alpha, settings.seed)
    return watched(lambda each: sgd.teach(each.row, str(each.label)), sgd.predict, examples, tests)


def _standard(lesson: Lesson) -> Lesson:
    rows = standardised(*(together(each)[0] for each in lesson))
    return Lesson(
        *(
            [each._replace(row=x) for each, x in zip(part, new, strict=True)]
            for part, new in zip(lesson, rows, strict=True)
        )
    )


def _teach(learner: Learner, example: Example) -> None:
    assert example.label is not None
    learner.teach(example.row, example.label, id=example.id)


def _as_stored(learner: Learner, example: Example) -> Example:
    assert example.id is not None
    return example._replace(label=learner.example(example.id)[1])
