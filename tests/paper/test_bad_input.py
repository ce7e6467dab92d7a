"""What the door refuses: in one sentence, and with nothing changed."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.maths.sharing import for_all
from minout.paper import GradientRule, PaperLearner, Uniform
from minout.paper.sharing import TableLearner
from oracle.recording import stream
from oracle.snapshot import snapshot

RULE = GradientRule(neurons=2, learning_rate=0.5, max_steps=5)
NAN, INF = float("nan"), float("inf")


def fresh():
    return PaperLearner([0, 1], rule=RULE, policy=Uniform(1))


def taught():
    learner = fresh()
    for row, label in zip(*stream(2, examples=10, classes=2, features=3), strict=True):
        learner.teach(row, int(label))
    return learner


def refused(call, *args, **kwargs):
    """Expects a refusal in one line that ends with a full stop."""
    with pytest.raises(InvalidInputError) as caught:
        call(*args, **kwargs)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) > 15


BAD_ROWS = {
    "NaN": [1.0, NAN, 0.0],
    "infinity": [1.0, INF, 0.0],
    "minus infinity": [1.0, -INF, 0.0],
    "a number whose square overflows": [1e101, 0.0, 0.0],
    "no features": [],
    "a number": 1.0,
    "many rows": [[1.0, 2.0, 3.0]],
    "three axes": np.zeros((1, 1, 3)),
    "words": ["1", "2", "3"],
    "a word": "123",
    "objects": np.array([1.0, 2.0, 3.0], dtype=object),
    "None": None,
    "a None among numbers": [1.0, None, 3.0],
    "a set": {1.0, 2.0, 3.0},
    "a dictionary": {0: 1.0},
    "ragged": [[1.0], [2.0, 3.0]],
    "ragged arrays": [np.zeros(2), np.zeros(3)],
    "complex numbers": [1j, 2.0, 3.0],
    "dates": np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
    "bytes": b"123",
    "a number too large for a float": [10**400, 1, 2],
}
WRONG_WIDTH = {"too narrow": [1.0, 2.0], "too wide": [1.0] * 4}


@pytest.mark.parametrize("method", ["teach", "interfered"])
@pytest.mark.parametrize("learner", [fresh, taught])
@pytest.mark.parametrize("x", BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_is_refused_and_changes_nothing(method, learner, x):
    learner = learner()
    before = snapshot(learner)
    refused(getattr(learner, method), x, 0)
    assert snapshot(learner) == before


@pytest.mark.parametrize("method", ["teach", "interfered"])
@pytest.mark.parametrize("x", WRONG_WIDTH.values(), ids=WRONG_WIDTH)
def test_a_row_of_another_width_is_refused_and_changes_nothing(method, x):
    learner = taught()
    before = snapshot(learner)
    with pytest.raises(InvalidInputError, match=f"x has {len(x)} features, .* taught with 3"):
        getattr(learner, method)(x, 0)
    assert snapshot(learner) == before


@pytest.mark.parametrize("method", ["predict", "scores", "outputs"])
@pytest.mark.parametrize(
    "X",
    [
        *([x] for name, x in BAD_ROWS.items() if name not in ("many rows", "no features")),
        *([x] for x in WRONG_WIDTH.values()),
        [],
        [[]],
        [1.0, 2.0, 3.0],
        np.zeros((1, 2, 3)),
        [[1.0, 2.0, 3.0], [1.0, 2.0]],
    ],
    ids=str,
)
def test_bad_rows_are_not_predicted(method, X):
    learner = taught()
    before = snapshot(learner)
    refused(getattr(learner, method), X)
    assert snapshot(learner) == before


BAD_LABELS = {
    "another number": 2,
    "a negative number": -1,
    "half a class": 0.5,
    "a word": "0",
    "no word": "",
    "None": None,
    "NaN": NAN,
    "a tuple": (0,),
    "a list": [0],
    "a dictionary": {},
    "a set": {0},
    "an array": np.array([0, 1]),
    "a long array": np.zeros((9, 9)),
    "a complex number": 1j,
}


@pytest.mark.parametrize("y", BAD_LABELS.values(), ids=BAD_LABELS)
@pytest.mark.parametrize("method", ["teach", "interfered"])
@pytest.mark.parametrize("learner", [fresh, taught])
def test_an_unknown_label_is_refused_and_changes_nothing(learner, method, y):
    learner = learner()
    before = snapshot(learner)
    refused(getattr(learner, method), [1.0, 2.0, 3.0], y)
    assert snapshot(learner) == before


@pytest.mark.parametrize(("y", "label"), [(1, 1), (np.int64(1), 1), (np.uint8(0), 0)])
def test_a_label_that_equals_a_class_is_that_class(y, label):
    report = taught().teach([1.0, 2.0, 3.0], y)
    assert report.label == label
    assert type(report.label) is int


def test_a_word_as_a_label_may_be_numpys():
    learner = PaperLearner(np.array(["a", "b"]), rule=RULE)
    report = learner.teach([1.0], np.array(["b"])[0])
    assert report.label == "b"
    assert type(report.label) is str


@pytest.mark.parametrize(
    "classes",
    [
        [],
        (),
        [[0, 1]],
        [[0], [1, 2]],
        [0, 1, 0],
        ["a", "a"],
        [0, "a"],
        [0.5, 1.5],
        [0, 1.0],
        [True, False],
        [None],
        [2**70],
        None,
        5,
        "ab",
        {0, 1},
        {0: "a"},
        [(0, 1), 2],
    ],
    ids=str,
)
def test_classes_that_cannot_be_told_apart_are_refused(classes):
    refused(PaperLearner, classes, rule=RULE)


@pytest.mark.parametrize(
    "classes", [[3], ["only"], range(2), (5, -5), np.array([1, 2]), np.array(["x", "y"])], ids=str
)
def test_classes_come_as_any_list_of_labels(classes):
    learner = PaperLearner(classes, rule=RULE)
    assert learner.classes.tolist() == list(classes)
    assert learner.teach([1.0], classes[0]).label == classes[0]


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None], ids=repr)
def test_a_seed_that_is_no_number_from_0_on_is_refused(seed):
    refused(PaperLearner, [0, 1], seed=seed)


@pytest.mark.parametrize("ask", ["predict", "scores", "outputs"])
def test_a_learner_that_was_taught_nothing_says_so(ask):
    learner = fresh()
    refused(getattr(learner, ask), [[1.0, 2.0, 3.0]])
    refused(lambda: learner.layer)
    assert len(learner) == 0


def test_before_the_first_example_nobody_is_interfered_with():
    learner = fresh()
    said = learner.interfered([1.0, 2.0, 3.0], 0)
    assert said.keys() <= {0, 1}
    assert all(ids.tolist() == [] for ids in said.values())
    assert snapshot(learner) == snapshot(fresh())
    learner.teach([1.0], 0)  # asking did not settle the width


def test_no_rows_have_no_predictions():
    learner = taught()
    nothing = np.empty((0, 3))
    assert learner.predict(nothing).tolist() == []
    assert learner.predict(nothing).dtype == learner.classes.dtype
    assert learner.scores(nothing).shape == learner.outputs(nothing).shape == (0, 2)


def test_a_caller_may_reuse_its_arrays():
    x, classes = np.array([1.0, 2.0, 3.0]), np.array([0, 1])
    learner, untouched = PaperLearner(classes, rule=RULE), PaperLearner([0, 1], rule=RULE)
    learner.teach(x, 0)
    untouched.teach([1.0, 2.0, 3.0], 0)
    x[:] = 99.0
    classes[:] = 7
    assert snapshot(learner) == snapshot(untouched)
    X = np.array([[1.0, 2.0, 3.0]])
    learner.predict(X)
    assert X.tolist() == [[1.0, 2.0, 3.0]]


def test_a_row_that_changes_while_it_is_learned_is_learned_as_it_was():
    x = np.array([1.0, 2.0, 3.0])

    class Scribbling(Uniform):
        def choose(self, at_risk, _):
            x[:] = 99.0
            return at_risk.ids

    learner, untouched = (
        PaperLearner([0, 1], rule=RULE, policy=policy(1)) for policy in (Scribbling, Uniform)
    )
    learner.teach(x, 0)
    untouched.teach([1.0, 2.0, 3.0], 0)
    assert x.tolist() == [99.0] * 3
    assert learner.layer.W.tobytes() == untouched.layer.W.tobytes()


@pytest.mark.parametrize(
    "form",
    [
        lambda x: x.tolist(),
        lambda x: tuple(x.tolist()),
        lambda x: x.astype(np.float32),
        lambda x: x.astype(np.int16),
        lambda x: x > 0,
        lambda x: np.repeat(x, 2)[::2],
        lambda x: np.asfortranarray(np.stack([x, x], axis=1))[:, 0],
        lambda x: x.astype(">f8"),
    ],
)
def test_the_same_numbers_in_another_form_teach_the_same(form):
    learner, other = fresh(), fresh()
    for number in range(4):
        x = np.array([0.0, 1.0, number % 2], dtype=np.float64)
        learner.teach(x, number % 2)
        other.teach(form(x), number % 2)
        X = np.stack([x, 1 - x])
        assert other.scores(np.asfortranarray(X)).tobytes() == learner.scores(X).tobytes()
    assert snapshot(learner) == snapshot(other)


def test_a_read_only_row_is_welcome():
    x = np.array([1.0, 2.0, 3.0])
    x.flags.writeable = False
    learner = taught()
    learner.teach(x, 1)
    assert len(learner.predict(x[None])) == 1


def test_rows_too_large_to_multiply_are_refused_or_reported():
    rule = GradientRule(neurons=1, learning_rate=1.0, max_steps=20)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        learner = PaperLearner([0, 1], rule=rule, policy=Uniform(9), seed=seed)
        for _ in range(6):
            x, y = rng.choice([1e200, -1e200, 1.0], 2), int(rng.integers(2))
            try:
                report = learner.teach(x, y)
            except InvalidInputError:
                continue
            learned = all(unit.loss < 0.1 for unit in report.units)
            assert learned or report.reached_max_steps, f"losses {report.losses}, and no word of it"


@pytest.mark.parametrize("y", [True, 1.0, np.True_, np.float64(1.0), None, b"1"], ids=repr)
def test_a_label_that_only_equals_a_class_is_refused(y):
    learner = taught()
    before = snapshot(learner)
    for call in (learner.teach, learner.interfered):
        refused(call, [1.0, 0.0, 0.0], y)
    refused(learner.teach_many, [[1.0, 0.0, 0.0]], [y])
    assert snapshot(learner) == before


@pytest.mark.parametrize(
    "classes", [[0, True], [2**63, 1], ["a", "b\0"]], ids=["bool", "large", "null"]
)
def test_classes_that_a_learner_would_refuse_as_labels_are_refused(classes):
    refused(PaperLearner, classes)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PaperLearner([0, 1], seed=True),
        lambda: GradientRule(neurons=True),
        lambda: GradientRule(max_steps=True),
        lambda: GradientRule(learning_rate=True),
        lambda: GradientRule(stop_loss=True),
        lambda: Uniform(True),
    ],
    ids=["seed", "neurons", "max_steps", "learning_rate", "stop_loss", "size"],
)
def test_a_setting_that_is_true_or_false_is_no_number(make):
    refused(make)


@pytest.mark.parametrize(
    "answer",
    [[[0], [1, 2]], [0, [1]], {0}, "0", None, object()],
    ids=["ragged", "nested", "set", "text", "none", "object"],
)
def test_an_answer_of_a_policy_that_is_no_list_of_ids_is_refused(answer):
    class Odd:
        def choose(self, at_risk, rng):
            rng.random()
            return answer if len(at_risk.stored) > 3 else []

    learner = PaperLearner([0, 1], rule=RULE, policy=Odd())
    rows, labels = stream(2, examples=5, classes=2, features=3)
    learner.teach_many(rows[:4], labels[:4].tolist())
    before = snapshot(learner)
    refused(learner.teach, -8.0 * rows[0], 1 - int(labels[0]))
    assert snapshot(learner) == before


@pytest.mark.parametrize(
    "unknown", [2**70, 1.5, True, [1], "a\0"], ids=["large", "float", "bool", "list", "null"]
)
def test_an_unknown_that_is_no_label_is_refused(unknown):
    refused(taught().predict, np.zeros((2, 3)), unknown=unknown)


def test_an_unknown_may_be_wider_than_the_classes():
    learner = PaperLearner(np.array([0, 1], dtype=np.int8), rule=RULE)
    learner.teach([1.0, 0.0], 1)
    far = learner.predict([[-100.0, 0.0], [100.0, 0.0]], unknown=1000)
    assert set(far.tolist()) <= {0, 1, 1000}


def test_rows_whose_steps_overflow_in_a_table_are_refused():
    learner = TableLearner(for_all, classes=2, learning_rate=1e210)
    learner.teach(np.array([1.0, 0.0]), 0)
    before = learner.predict(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    refused(learner.teach, np.array([1e100, 1e100]), 1)
    assert learner.predict(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist() == before
    refused(learner.teach, np.array([0.0, 1.0]), True)
    assert learner.teach(np.array([0.0, 1.0]), 1).at_risk == 1


def test_a_table_learns_large_rows_without_a_warning():
    learner = TableLearner(for_all, classes=2)
    learner.teach(np.array([1.0, 0.0]), 0)
    learner.teach(np.array([1e100, 1e100]), 1)
    assert learner.predict(np.array([[1e100, 1e100]])).tolist() == [1]


def test_initial_weights_that_overflow_are_refused():
    refused(PaperLearner([0, 1], rule=GradientRule(initial_scale=1e307)).teach, [1.0, 2.0], 0)
