"""Bad calls of every kind: each is refused in a sentence, and none changes a bit."""

import copy

import numpy as np
import pytest

from long import LONG
from minout import InvalidInputError, Learner
from oracle.margin import everything, stream

CALLS = 2_000 if LONG else 1_000
"""How many bad calls are made in all."""
WORKLOADS = 4
"""They are divided between so many learners."""
WIDTH = 3
BAD_NUMBERS = [np.nan, np.inf, -np.inf, 1e101, -1e300]
UNSTORABLE = [2**63, -(2**63), 10**5000, "half \ud800", "half \udc00"]
BAD_LABELS = [True, 1.5, None, b"a", [1], ("a",), {}, np.float64(2.0), np.bool_(True), *UNSTORABLE]
BAD_IDS = [True, 1.5, b"a", [1], ("a",), {}, np.float64(2.0), *UNSTORABLE]
BAD_ROWS = [
    None,
    "abc",
    3.0,
    [],
    [[1.0, 2.0, 3.0]] * 2,
    ["a", "b", "c"],
    [1.0, None, 2.0],
    [1j, 0, 0],
]


class Bad:
    """Draws bad calls for a learner whose labels are words or numbers."""

    def __init__(self, rng, learner, words):
        self.rng, self.learner, self.words = rng, learner, words

    def call(self, number):
        """Return a name, each in turn, and a function that makes a bad call."""
        kinds = [name for name in dir(self) if name.startswith("bad_")]
        name = kinds[number % len(kinds)]
        return name, getattr(self, name)()

    def one(self, values):
        return values[int(self.rng.integers(len(values)))]

    def row(self):
        return self.rng.normal(size=WIDTH).round(2)

    def rows(self, count):
        return self.rng.normal(size=(count, WIDTH)).round(2)

    def label(self):
        return self.one(["fig", "pear", "new"]) if self.words else int(self.rng.integers(4))

    def other_type(self):
        return 7 if self.words else "seven"

    def bad_number(self):
        row = self.row()
        row[self.rng.integers(WIDTH)] = self.one(BAD_NUMBERS)
        return lambda: self.learner.teach(row, self.label())

    def bad_width(self):
        row = self.rng.normal(size=self.one([1, 2, 4, 50]))
        return lambda: self.learner.teach(row, self.label())

    def bad_row(self):
        row = self.one(BAD_ROWS)
        return lambda: self.learner.teach(row, self.label())

    def bad_label(self):
        label = self.one(BAD_LABELS)
        return lambda: self.learner.teach(self.row(), label)

    def bad_type_of_label(self):
        return lambda: self.learner.teach(self.row(), self.other_type())

    def bad_id(self):
        example_id = self.one(BAD_IDS)
        return lambda: self.learner.teach(self.row(), self.label(), id=example_id)

    def bad_row_of_an_id(self):
        example_id = self.one(self.learner.ids)
        row, label = self.learner.example(example_id)
        return lambda: self.learner.teach(row + 1.0, label, id=example_id)

    def bad_label_of_an_id(self):
        example_id = self.one(self.learner.ids)
        row, _ = self.learner.example(example_id)
        label = "never taught" if self.words else 99
        return lambda: self.learner.teach(row, label, id=example_id)

    def bad_numbers_in_many(self):
        rows = self.rows(5)
        rows[-1, self.rng.integers(WIDTH)] = self.one(BAD_NUMBERS)
        return lambda: self.learner.teach_many(rows, [self.label() for _ in rows])

    def bad_widths_in_many(self):
        rows = [*self.rows(4).tolist(), [1.0]]
        return lambda: self.learner.teach_many(rows, [self.label() for _ in rows])

    def bad_label_in_many(self):
        labels = [*(self.label() for _ in range(4)), self.one([*BAD_LABELS, self.other_type()])]
        return lambda: self.learner.teach_many(self.rows(5), labels)

    def bad_count_of_labels(self):
        labels = [self.label() for _ in range(self.one([0, 1, 4, 6]))]
        return lambda: self.learner.teach_many(self.rows(5), labels)

    def bad_ids_in_many(self):
        first = [f"many {i}" for i in range(4)]
        last = self.one([*BAD_IDS, None, "many 0", self.one(self.learner.ids)])
        return lambda: self.learner.teach_many(
            self.rows(5), [self.label() for _ in range(5)], [*first, last]
        )

    def bad_list_of_many(self):
        values = self.one(["xy", b"xy", 7, None])
        given = {"y": [self.label()] * 2, "ids": ["x", "y"]}
        given[self.one(["y", "ids"] if values is not None else ["y"])] = values
        return lambda: self.learner.teach_many(self.rows(2), **given)

    def bad_size_in_many(self):
        rows = self.rows(8)
        rows[-4:] *= 1e100 / np.abs(rows).max() / 10.0 ** self.rng.integers(0, 3, (4, WIDTH))
        return lambda: self.learner.teach_many(rows, [self.label() for _ in rows])

    def bad_size(self):
        row = self.row() * 10.0 ** self.rng.integers(95, 99)
        return lambda: self.learner.teach(row, self.label())

    def bad_correction(self):
        label = self.one([*BAD_LABELS, self.other_type()])
        return lambda: self.learner.correct(self.one(self.learner.ids), label)

    def bad_id_to_correct(self):
        example_id = self.one([*BAD_IDS, None, "nobody", 10**30, -1])
        return lambda: self.learner.correct(example_id, self.label())

    def bad_ids_to_forget(self):
        known = self.one(self.learner.ids)
        ids = self.one(["nobody", -1, None, 1.5, b"a", [known, "nobody"], [known, known], [None]])
        return lambda: self.learner.forget(ids)

    def bad_class_to_forget(self):
        label = self.one([*BAD_LABELS, self.other_type(), "no such" if self.words else 77])
        return lambda: self.learner.forget_class(label)

    def bad_number_of_suspects(self):
        n = self.one([-1, 2.0, True, "3"])
        return lambda: self.learner.suspects(n)

    def bad_rows_to_predict(self):
        rows = self.one([[[1.0]], [[np.nan] * WIDTH], 3.0, None, "abc", self.row()])
        ask = self.one(["predict", "scores", "outputs", "probabilities"])
        return lambda: getattr(self.learner, ask)(rows)

    def bad_question(self):
        row, label = self.one([*BAD_ROWS, [1.0]]), self.label()
        return self.one(
            [lambda: self.learner.explain(row), lambda: self.learner.what_if(row, label)]
        )

    def bad_example(self):
        example_id = self.one([*BAD_IDS, None, "nobody"])
        return lambda: self.learner.example(example_id)


MAY_BE_TAKEN = {"bad_size", "bad_size_in_many"}
"""These may be taken, if numbers of such sizes can be separated after all."""


def taught(workload):
    rows, labels = stream(workload, examples=9, classes=3, features=WIDTH, apart=0.5)
    learner = Learner(refresh="manual" if workload % 2 else "auto")
    names = ["fig", "pear", "plum"] if workload > 1 else [0, 1, 2]
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        learner.teach(x, names[y], id=f"row {i}" if i % 2 else None)
    learner.correct(learner.ids[1], names[0])
    learner.forget(learner.ids[2])
    return learner


def refusal(call):
    """Return the sentence with which a call is refused, None if it is taken."""
    try:
        call()
    except InvalidInputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("workload", range(WORKLOADS))
def test_a_bad_call_changes_nothing(workload):
    learner = taught(workload)
    start, before = copy.deepcopy(learner), everything(learner)
    bad = Bad(np.random.default_rng(workload), learner, words=workload > 1)
    refused = {}
    for number in range(CALLS // WORKLOADS):
        name, call = bad.call(number)
        sentence = refusal(call)
        if sentence is None:
            assert name in MAY_BE_TAKEN
            learner = bad.learner = copy.deepcopy(start)
            continue
        assert sentence.endswith("."), name
        assert everything(learner) == before, name
        refused[name] = refused.get(name, 0) + 1
    kinds = {name for name in dir(bad) if name.startswith("bad_")}
    assert len(refused) >= len(kinds) - 1
    each = CALLS // WORKLOADS // len(kinds)
    assert all(refused[name] >= each for name in kinds - MAY_BE_TAKEN)
    for each in (learner, start):
        each.teach_many(np.eye(WIDTH), ["fig", "pear", "new"] if workload > 1 else [0, 1, 5])
    assert everything(learner) == everything(start)


@pytest.mark.parametrize(
    "unknown", [2**70, 1.5, True, [1], "a\0"], ids=["large", "float", "bool", "list", "null"]
)
def test_an_unknown_that_is_no_label_is_refused(unknown):
    learner = Learner()
    learner.teach_many([[0.0], [1.0]], [0, 1])
    with pytest.raises(InvalidInputError, match=r"label.*\.$"):
        learner.predict([[0.5]], unknown=unknown)
