"""The quick way of a plain row and the full checks: they accept, refuse and learn the same."""

import copy
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from minout import MinoutClassifier
from minout.classifier._inputs import InputColumns, is_plain_array, single_id, single_label

WIDTH = 3
ROWS = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.5], [4.0, 4.0, 1.0], [5.0, 4.0, 2.0]])
LABELS = {
    "whole": np.array([1, 1, 2, 2]),
    "short": np.array([1, 1, 2, 2], dtype=np.int8),
    "float": np.array([1.0, 1.0, 2.0, 2.0]),
    "bool": np.array([False, False, True, True]),
    "string": np.array(["a", "a", "b", "b"]),
    "object": np.array(["a", "a", "b", "b"], dtype=object),
}
TAUGHT = {
    kind: MinoutClassifier().partial_fit(ROWS, y, ids=["p", "q", 0, 1])
    for kind, y in LABELS.items()
}


class Subclass(np.ndarray):
    pass


@contextmanager
def full_checks():
    with patch("minout.classifier._model.is_plain_array", lambda *_: False):
        yield


def outcome(classifier, call):
    try:
        answer = call(classifier)
    except (ValueError, TypeError, Warning) as error:
        answer = type(error), str(error)
    if isinstance(answer, np.ndarray):
        answer = answer.dtype, answer.tolist()
    return None if answer is classifier else answer


def story(classifier):
    classes = classifier.classes_
    return (
        classes.dtype,
        classes.tolist(),
        classifier.all_ids_,
        classifier.ids_,
        classifier.certificate_,
        classifier.decision_function(ROWS).tolist(),
        classifier.predict(ROWS).tolist(),
        classifier.learner_.notes,
    )


def both(taught, call):
    quick, full = copy.deepcopy(taught), copy.deepcopy(taught)
    one = outcome(quick, call)
    with full_checks():
        other = outcome(full, call)
    assert one == other
    assert story(quick) == story(full)
    return one


NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, 2.5, -4.0, 1e-300, 1e15, 1e99, 1e101, 1e308, np.nan, np.inf, -np.inf]
)
ORDINARY = st.sampled_from([0.0, -0.0, 1.0, 2.5, 4.0, 4.5])
DTYPES = st.sampled_from(
    ["f8", "f4", "f2", "g", ">f8", "i8", "u1", "?", "c16", "O", "U3", "S3", "M8[D]"]
)


@st.composite
def tables(draw):
    shape = draw(
        st.sampled_from(
            [(1, WIDTH)] * 6
            + [(2, WIDTH), (0, WIDTH), (1, 2), (1, 4), (1, 0), (WIDTH,), (1, 1, 3), ()]
        )
    )
    numbers = draw(st.sampled_from([NUMBERS, ORDINARY, ORDINARY]))
    size = int(np.prod(shape))
    values = draw(st.lists(numbers, min_size=size, max_size=size))
    dtype = draw(st.one_of(st.just("f8"), st.just("f8"), DTYPES))
    with np.errstate(all="ignore"):
        numbers = np.array(values, dtype=float)
        if np.dtype(dtype).kind in "iuM?":
            numbers = np.nan_to_num(numbers, posinf=1.0, neginf=-1.0).clip(-9, 9).astype(int)
        table = numbers.astype(dtype).reshape(shape)
    spoilt = draw(st.sampled_from([None] * 8 + ["list", "Fortran", "slice", "subclass", "frame"]))
    if spoilt == "list":
        return table.tolist()
    if spoilt == "Fortran":
        return np.asfortranarray(table)
    if spoilt == "slice" and table.ndim == 2:
        return np.repeat(table, 2, axis=1)[:, ::2]
    if spoilt == "subclass":
        return table.view(Subclass)
    if spoilt == "frame" and table.ndim == 2 and table.dtype.kind in "fiu":
        import pandas as pd

        return pd.DataFrame(table.astype(table.dtype.newbyteorder("=")))
    return table


TEXTS = ["a", "b", "c", "", "a\0", "\0", np.str_("b")]
WHOLE = [1, 2, 0, -7, 300, 2**62, 2**63, 2**70, np.int64(2), np.int8(1), 1.0, np.float64(2)]
OTHERS = [2.5, np.nan, 1e300, True, False, None, b"a", 1j, ("a",)]
WORDS = st.sampled_from([*TEXTS, *WHOLE, *OTHERS])


@st.composite
def answers(draw):
    words = draw(st.one_of(st.lists(WORDS, min_size=1, max_size=1), st.lists(WORDS, max_size=3)))
    form = draw(st.sampled_from(["list", "list", "array", "array", "object", "column", "tuple"]))
    dtype = draw(st.sampled_from([None, None, "i8", "i1", "u8", "f8", "?", "U5", "S2", ">i8"]))
    if form == "list":
        return words
    if form == "tuple":
        return tuple(words)
    try:
        array = np.array(words, dtype=object if form == "object" else dtype)
    except (ValueError, TypeError, OverflowError):
        return words
    return array.reshape(-1, 1) if form == "column" and array.ndim == 1 else array


LISTED = [["p"], ["new"], [7], [0], [1], [True], [None], [1.0], [], ["x", "y"], ["x", "x"]]
UNLISTED = ["new", 5, ("t",), np.array([9]), np.array(["n"]), [np.int64(3)], [["p"]], [2**70]]
IDS = st.one_of(st.none(), st.none(), st.sampled_from([*LISTED, *UNLISTED]))


LIKELY = st.sampled_from([[1], [2], ["a"], ["c"], np.array([3]), np.array(["b"])])


@given(kind=st.sampled_from(list(LABELS)), X=tables(), y=LIKELY | answers(), ids=IDS)
@example(kind="whole", X=ROWS[:1], y=[1], ids=["p"])
@example(kind="whole", X=ROWS[:1], y=[2], ids=["p"])
@example(kind="whole", X=ROWS[1:2], y=[1], ids=["p"])
@example(kind="whole", X=ROWS[:1], y=[1], ids=None)
@example(kind="string", X=ROWS[:1], y=["a much longer one"], ids=None)
@example(kind="string", X=ROWS[:1], y=np.array([["a"]]), ids=None)
@example(kind="short", X=ROWS[:1], y=np.array([300]), ids=None)
@example(kind="whole", X=ROWS[:1], y=np.array([2**63], dtype=np.uint64), ids=None)
@example(kind="string", X=ROWS[:1], y=["a\0"], ids=None)
@example(kind="string", X=ROWS[:1], y=np.array(["a\0a"]), ids=None)
@example(kind="whole", X=ROWS[:1].astype(complex), y=[1], ids=None)
@example(kind="whole", X=ROWS[:1].astype(np.float16), y=[1], ids=None)
@example(kind="whole", X=np.array([["a", "b", "c"]]), y=[1], ids=None)
@example(kind="object", X=ROWS[:1].astype(np.float32), y=np.array(["c"]), ids=None)
def test_both_ways_accept_and_refuse_and_learn_the_same(kind, X, y, ids):
    both(TAUGHT[kind], lambda classifier: classifier.partial_fit(X, y, ids=ids))


@given(kind=st.sampled_from(list(LABELS)), X=tables(), what=st.sampled_from(["predict", "proba"]))
def test_both_ways_predict_the_same(kind, X, what):
    if what == "proba":
        both(TAUGHT[kind], lambda classifier: classifier.predict_proba(X))
    else:
        both(TAUGHT[kind], lambda classifier: classifier.predict(X))


@given(
    rows=st.lists(
        st.tuples(ORDINARY, ORDINARY, ORDINARY, st.sampled_from("abc")), min_size=1, max_size=8
    )
)
def test_a_stream_of_plain_rows_gives_the_same_model_either_way(rows):
    quick, full = copy.deepcopy(TAUGHT["string"]), copy.deepcopy(TAUGHT["string"])
    for *x, y in rows:
        quick.partial_fit(np.array([x]), [y])
        with full_checks():
            full.partial_fit(np.array([x]), [y])
    assert story(quick) == story(full)
    assert quick.audit().ok


@pytest.mark.parametrize(
    ("kind", "y"),
    [
        ("whole", [1]),
        ("whole", np.array([1])),
        ("short", np.array([1], dtype=np.int8)),
        ("string", ["c"]),
        ("string", np.array(["c"])),
        ("object", ["c"]),
        ("object", np.array(["c"], dtype=object)),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_plain_row_goes_the_quick_way(kind, y, dtype):
    classifier = copy.deepcopy(TAUGHT[kind])
    never = patch.object(InputColumns, "check_table_and_labels", side_effect=AssertionError)
    nor = patch.object(InputColumns, "check_table", side_effect=AssertionError)
    with never, nor:
        classifier.partial_fit(ROWS[:1].astype(dtype), y)
        classifier.partial_fit(ROWS[:1].astype(dtype), y, ids=["mine"])
        classifier.predict(ROWS.astype(dtype))


def test_with_named_columns_nothing_is_plain():
    import pandas as pd

    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    classifier = MinoutClassifier().fit(frame, LABELS["whole"])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        classifier.predict(ROWS)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        classifier.partial_fit(ROWS[:1], [1])


def test_a_quick_answer_is_never_a_guess():
    assert is_plain_array(ROWS, WIDTH)
    assert not is_plain_array(ROWS, None)
    assert not is_plain_array(ROWS[:0], WIDTH)
    assert single_label([True], np.dtype(np.int64)) is None
    assert single_label([1, 2], np.dtype(np.int64)) is None
    assert single_label(["a"], np.dtype(np.int64)) is None
    assert single_label([1], np.dtype("U")) is None
    assert single_id([True]) is None
