"""Labels go in as users write them and come back the same."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from minout import InvalidInputError, MinoutClassifier
from minout.inputs.labels import LabelCodec

DTYPES = ["int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "bool"]
X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [4.0, 4.0], [5.0, 4.0], [4.0, 5.0]])


@given(data=st.data(), dtype=st.sampled_from([*DTYPES, "U5", "O"]))
def test_labels_come_back_in_their_own_dtype(data, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "UO":
        each = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=5)
    elif dtype.kind == "b":
        each = st.booleans()
    else:
        low, high = (0, 1000) if dtype.kind == "f" else (0, 127)
        each = st.integers(low, high)
    y = np.array(data.draw(st.lists(each, min_size=1)), dtype=dtype)
    labels, codec = LabelCodec().encode(y)
    back = codec.decode(labels)
    assert back.dtype.kind == dtype.kind
    assert back.dtype == dtype or dtype.kind == "U"
    assert back.tolist() == y.tolist()


SMALL_OR_LARGE = st.integers(-200, 200) | st.integers(-(2**62), 2**62)


@given(
    first=st.sampled_from(DTYPES),
    second=st.sampled_from(DTYPES),
    a=SMALL_OR_LARGE,
    b=SMALL_OR_LARGE,
)
@example(first="uint64", second="int64", a=2**60 + 1, b=-1)
@example(first="int64", second="float64", a=2**60 + 1, b=-1)
@example(first="bool", second="int8", a=1, b=-1)
@example(first="uint8", second="int8", a=255, b=-1)
@example(first="float32", second="int64", a=1, b=2**40)
def test_a_dtype_that_widens_still_tells_all_numbers_apart(first, second, a, b):
    with np.errstate(over="ignore"):
        one, two = np.array([a]).astype(first), np.array([b]).astype(second)
    assume(np.isfinite([*one, *two]).all())
    refusal = ""
    try:
        labels, codec = LabelCodec().encode(one)
        more, wider = codec.encode(two)
    except InvalidInputError as error:
        refusal = str(error)
    if max(int(one[0]), int(two[0])) >= 2**63:
        assert "64 bits" in refusal
    elif refusal:
        assert "neighbours" in refusal
        assert "float" in first + second
    else:
        assert wider.decode(labels + more).tolist() == labels + more


@pytest.mark.parametrize(
    ("y", "says"),
    [
        ([1.5, 2.0], "Unknown label type"),
        ([None, None], "NoneType"),
        (["a", None], "NoneType and str"),
        (["a", 1], "int and str"),
        (["a", float("nan")], "float and str"),
        ([float("nan"), 1.0], "NaN"),
        ([float("inf"), 1.0], "infinity"),
        ([b"a", b"b"], r"not \|S1"),
        ([2**63, 0], "64 bits"),
        ([2**70, 0], "64 bits"),
        ([1e300, 0.0], "64 bits"),
        ([2.0**60, 0.0], "neighbours"),
        (["a\0", "b"], "NUL"),
        (np.array(["a\0", "b"], dtype=object), "NUL"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), "datetime64"),
        ([1j, 2j], "Complex"),
        ([["a", "b"], ["a", "b"]], "1d array"),
        ([["a"], ["b", "c"]], "inhomogeneous"),
        ("ab", "1d array"),
        (None, "requires y"),
        ([0], "inconsistent numbers"),
    ],
)
def test_what_is_not_a_label_is_refused_and_changes_nothing(y, says):
    classifier = MinoutClassifier()
    with pytest.raises(ValueError, match=says):
        classifier.partial_fit(X[:2], y)
    assert not hasattr(classifier, "classes_")
    classifier.fit(X, list("aaabbb"))
    before = classifier.decision_function(X)
    with pytest.raises(ValueError):  # noqa: PT011  (the kind of label may be refused first)
        classifier.partial_fit(X[:2], y)
    assert len(classifier.all_ids_) == 6
    assert (classifier.decision_function(X) == before).all()


def test_strings_and_numbers_do_not_mix():
    classifier = MinoutClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    with pytest.raises(InvalidInputError, match="labels are whole numbers"):
        classifier.partial_fit(X[:1], ["a"])
    with pytest.raises(InvalidInputError, match="labels are whole numbers"):
        classifier.correct(0, "a")
    named = MinoutClassifier().fit(X, list("aaabbb"))
    with pytest.raises(InvalidInputError, match="labels are strings"):
        named.partial_fit(X[:1], [0])


def test_a_label_that_pandas_calls_missing_is_refused():
    pd = pytest.importorskip("pandas")
    for y in ([pd.NA, 1], pd.Series([pd.NA, 1]), np.array([pd.NA, 1], dtype=object)):
        with pytest.raises(InvalidInputError, match="missing"):
            MinoutClassifier().fit([[0.0], [1.0]], y)
