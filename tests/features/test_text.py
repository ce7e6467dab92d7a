"""Hashed text: an oracle, what counts as the same text, and what is not text."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.features import HashedText
from oracle.projection import text_row


@settings(max_examples=40)
@given(st.text(alphabet="aAbz_9 .!\n", max_size=30), st.integers(0, 2**63 - 1))
def test_rows_are_those_of_a_slow_count(text, seed):
    found = HashedText(16, seed=seed).transform([text])[0]
    np.testing.assert_allclose(found, text_row(text, seed, 16), atol=1e-6)


@settings(max_examples=60)
@given(st.lists(st.text(max_size=20), max_size=5))
def test_any_strings_have_rows_alone_and_in_any_order(texts):
    rows = HashedText(32).transform(texts)
    assert np.isfinite(rows).all()
    assert HashedText(32).transform(texts[::-1]).tobytes() == rows[::-1].tobytes()
    for text, row in zip(texts, rows, strict=True):
        assert HashedText(32).transform([text]).tobytes() == row.tobytes()


def row(text):
    return HashedText().transform([text]).tobytes()


def test_case_spaces_and_composed_letters_do_not_matter_but_order_does():
    assert row("Caf\u00e9  au\tlait ") == row("cafe\u0301 AU\nLAIT")
    assert row("dog bites man") != row("man bites dog")
    assert row("now") != row("now!")


def test_only_text_without_words_has_zeros():
    rows = HashedText().transform(["", " \n\t", "a", "中", "!", "\ud800"])
    assert rows.any(axis=1).tolist() == [False, False, True, True, True, True]


def test_long_and_short_texts_have_rows_of_about_unit_length():
    texts = ["word", "the quick brown fox", "lorem ipsum dolor " * 20_000]
    lengths = np.linalg.norm(HashedText(4096).transform(texts), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=0.2)


TEXTS = ["one", "two", ""]


@pytest.mark.parametrize(
    "X",
    [
        tuple(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        np.array(TEXTS)[:, None],
        pd.Series(TEXTS, index=[5, 3, 1]),
        pd.Series(TEXTS, dtype="string"),
        pd.Series(TEXTS, dtype="category"),
        pd.DataFrame({"text": TEXTS}),
        pl.Series(TEXTS),
        pl.DataFrame({"text": TEXTS}),
    ],
    ids=[
        "tuple",
        "array",
        "objects",
        "column",
        "series",
        "strings",
        "category",
        "frame",
        "polars",
        "polars frame",
    ],
)
def test_every_container_of_strings_gives_the_same_rows(X):
    assert HashedText().transform(X).tobytes() == HashedText().transform(TEXTS).tobytes()


BAD = {
    "one string": ("dear sir", "but got str; put one text into a list"),
    "bytes": (b"dear", "but got bytes"),
    "None": (None, "but got NoneType"),
    "a number": (7, "but got int"),
    "a set": ({"a"}, "but got set"),
    "None in it": (["a", None], "Text 1 is NoneType, not a string"),
    "a missing value": (pd.Series(["a", "b", np.nan]), "Text 2 is float"),
    "numbers in it": ([3, "a"], "Text 0 is int"),
    "bytes in it": ([b"a"], "Text 0 is bytes"),
    "lists in it": ([["a"]], "Text 0 is list"),
    "two columns": (np.array([["a", "b"]]), "an array of shape"),
    "two columns of a frame": (pd.DataFrame({"a": ["x"], "b": ["y"]}), "an array of shape"),
    "an array of one string": (np.array("a"), "an array of shape"),
    "an array of numbers": (np.eye(2), "an array of shape"),
}


@pytest.mark.parametrize(("X", "told"), BAD.values(), ids=BAD)
def test_what_are_not_texts_is_refused_in_a_sentence(X, told):
    with pytest.raises(InvalidInputError) as caught:
        HashedText().transform(X)
    assert told in str(caught.value)
    assert str(caught.value).endswith(".")
