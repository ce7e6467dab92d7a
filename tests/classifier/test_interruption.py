"""Interrupted at any line, a classifier is as it was before the call, or as it is after it."""

import copy
import pickle
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import minout
from minout import InvalidInputError, MinoutClassifier
from oracle.interruptions import interrupt_at_line
from oracle.margin import saved

HOME = Path(minout.__file__).parent
TRACED = (str(HOME / "estimator"), str(HOME / "learner.py"))
ROWS = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 4.0], [5.0, 4.0], [9.0, 0.0]])
LABELS = np.array([1, 1, 2, 2, 3], dtype=np.int8)
IDS = [f"identifier {i}" for i in range(5)]
CALLS = {
    "correct": lambda each: each.correct(IDS[0], 2),
    "correct to a wide label": lambda each: each.correct(IDS[0], 1000),
    "a new label": lambda each: each.partial_fit([[3.0, 3.0]], [1000]),
    "announce": lambda each: each.partial_fit([[3.0, 3.0]], [1], classes=[1, 2000]),
    "forget": lambda each: each.forget(IDS[1]),
    "forget_class": lambda each: each.forget_class(3),
    "forget a label": lambda each: each.forget([IDS[4]]),
    "fit": lambda each: each.fit(ROWS[1:], LABELS[1:]),
}


def fitted():
    return MinoutClassifier().partial_fit(ROWS, LABELS, classes=[1, 2, 3, 7], ids=IDS)


def state(classifier):
    return (
        saved(classifier.learner_),
        classifier.classes_.dtype,
        classifier.classes_.tolist(),
        classifier.predict(ROWS).tolist(),
    )


@pytest.mark.parametrize("call", CALLS)
def test_an_interruption_at_any_line_leaves_all_or_nothing(call):
    start, done = fitted(), fitted()
    CALLS[call](done)
    ends = state(start), state(done)
    number, torn, tracing = 0, [], sys.gettrace()
    while True:
        number += 1
        classifier = copy.deepcopy(start)
        sys.settrace(interrupt_at_line(number, TRACED))
        try:
            CALLS[call](classifier)
        except KeyboardInterrupt as error:
            sys.settrace(tracing)
            if state(classifier) not in ends:
                last = traceback.extract_tb(error.__traceback__)[-2]
                torn.append(f"{Path(last.filename).name}, {last.name}: {last.line}")
        else:
            break
        finally:
            sys.settrace(tracing)
    assert number > 10
    assert "\n".join(sorted(set(torn))) == ""


REFUSED = {
    "a label without examples": lambda each: each.forget_class(7),
    "an id given twice": lambda each: each.fit(ROWS[:2] * 0.0, [1, 1], ids=["twice", "twice"]),
}


@pytest.mark.parametrize("call", REFUSED)
def test_a_refused_call_keeps_what_was_announced(call):
    classifier = fitted()
    before = state(classifier)
    with pytest.raises(InvalidInputError):
        REFUSED[call](classifier)
    assert state(classifier) == before


@pytest.mark.parametrize("how", ["forget", "forget_class"])
def test_a_pickle_does_not_hold_an_id_that_was_forgotten(how):
    rows = np.vstack([ROWS, ROWS[0]])  # the same row with two labels: both are misfits
    classifier = MinoutClassifier().partial_fit(rows, [*LABELS, 9], ids=[*IDS, "the sixth"])
    assert "the sixth" in classifier.misfits_
    certificate = classifier.forget("the sixth") if how == "forget" else classifier.forget_class(9)
    assert "the sixth" in certificate.cleared
    assert classifier.ids_ == IDS
    assert b"the sixth" not in pickle.dumps(classifier)
    assert b"identifier 4" in pickle.dumps(classifier)


class InterruptedCodec:
    """A codec that is interrupted when it has decoded so many times."""

    width, bytes_per_row, fingerprint = 2, 2, "interrupted"
    left = None

    def encode(self, rows):
        return np.clip(np.rint(rows * 10 + 100), 0, 255).astype(np.uint8)

    def decode(self, codes):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise KeyboardInterrupt
        return (codes.astype(float) - 100) / 10


def test_an_interrupted_call_with_a_full_window_changes_nothing():
    rows = np.random.default_rng(0).normal(size=(20, 2))
    for left in range(5, 60, 10):
        codec = InterruptedCodec()
        classifier = MinoutClassifier(memory=codec, keep=6)
        classifier.partial_fit(rows[:6], np.array([1, 2] * 3, dtype=np.int8))
        before = state(classifier)
        codec.left = left
        with pytest.raises(KeyboardInterrupt):
            classifier.partial_fit(rows[6:] + 5, np.array([1000, 1001] * 7))
        codec.left = None
        assert state(classifier) == before
        assert classifier.ids_ == classifier.all_ids_ == [*range(6)]
