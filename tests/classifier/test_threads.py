"""Threads that ask while another one teaches see whole states only."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from minout import MinoutClassifier

COLUMNS = 4


def examples(classes: int, each: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    centres = 8.0 * rng.normal(size=(classes, COLUMNS))
    labels = np.repeat(np.arange(classes), each)
    return centres[labels] + rng.normal(size=(len(labels), COLUMNS)), labels


def test_probabilities_and_classes_are_of_one_moment():
    # A class that comes and goes before two others moves their columns by one.
    rows = np.array([[0.0], [9.0], [-9.0]])
    classifier = MinoutClassifier().partial_fit(rows[:2], ["m", "z"])
    done = threading.Event()

    def come_and_go():
        try:
            for _ in range(150):
                classifier.partial_fit(rows[2:], ["a"])
                classifier.forget_class("a")
        finally:
            done.set()

    def ask():
        while not done.is_set():
            probabilities = classifier.predict_proba(rows)
            width = probabilities.shape[1]
            assert probabilities[0].argmax() == width - 2
            assert probabilities[1].argmax() == width - 1
            scores = classifier.decision_function(rows)
            assert scores.shape in ((3,), (3, 3))
            assert scores.ndim == 2 or scores[1] > 0.0 > scores[0]

    with ThreadPoolExecutor(3) as threads:
        for each in [threads.submit(ask), threads.submit(ask), threads.submit(come_and_go)]:
            each.result()


def test_threads_that_teach_take_turns_call_by_call():
    rows, labels = examples(6, 40)
    classifier = MinoutClassifier(regions=1, expand=None)
    order = np.random.default_rng(1).permutation(len(rows)).reshape(-1, 8)

    def teach(part):
        classifier.partial_fit(rows[part], labels[part], ids=part)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(teach, order))
    assert len(classifier.all_ids_) == len(rows)
    taught = np.array(classifier.all_ids_).reshape(-1, 8)
    assert {tuple(part) for part in taught.tolist()} == {tuple(part) for part in order.tolist()}
    classifier.consolidate()
    once = MinoutClassifier(regions=1, expand=None).fit(rows, labels)
    assert (classifier.decision_function(rows) == once.decision_function(rows)).all()


def test_a_fit_with_other_columns_is_seen_whole_or_not_at_all():
    rows, labels = examples(3, 20)
    narrow, wide = (rows[:, :2], labels), (rows, np.array(list("abc"))[labels])
    classifier = MinoutClassifier(regions=1, expand=None).fit(*narrow)
    done = threading.Event()

    def refit():
        try:
            for i in range(12):
                classifier.fit(*(wide if i % 2 == 0 else narrow))
        finally:
            done.set()

    def ask():
        answered = 0
        while not done.is_set():
            for table, kind in ((narrow[0], "i"), (wide[0], "U")):
                try:
                    predicted = classifier.predict(table)
                except ValueError as error:
                    assert "features" in str(error)  # noqa: PT017
                else:
                    assert predicted.dtype.kind == kind
                    answered += 1
        return answered

    with ThreadPoolExecutor(3) as threads:
        askers = [threads.submit(ask) for _ in range(2)]
        threads.submit(refit).result()
        assert min(each.result() for each in askers) > 0
