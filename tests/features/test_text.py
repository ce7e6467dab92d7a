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
def test_any_strings_have_rows_in_any_order(texts):
    rows = HashedText(32).transform(texts)
    assert np.isfinite(rows).all()
    assert HashedText(32).transform(texts[::-1]).tobytes() == rows[::-1].tobytes()


def test_a_common_word_counts_less_than_a_rare_one():
    """Words of one length have as many runs."""

    def shared(word):
        a, b = HashedText(2**14).transform([f"{word} moss", f"{word} fern"]).astype(float)
        return a @ b

    assert shared("the") < 0.2
    assert shared("elk") > 0.4


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["the", "of", "THE", "elk", "fern,"]), max_size=12))
def test_rows_of_common_words_are_those_of_a_slow_count(words):
    text = " ".join(words)
    found = HashedText(16).transform([text])[0]
    np.testing.assert_allclose(found, text_row(text, 0, 16), atol=1e-6)


def row(text):
    return HashedText().transform([text]).tobytes()


def test_case_spaces_and_composed_letters_do_not_matter_but_order_does():
    assert row("Caf\u00e9  au\tlait ") == row("cafe\u0301 AU\nLAIT")
    assert row("dog bites man") != row("man bites dog")
    assert row("now") != row("now!")


def test_only_text_without_words_has_zeros():
    rows = HashedText().transform(["", " \n\t", "a", "中", "!", "\ud800"])
    assert rows.any(axis=1).tolist() == [False, False, True, True, True, True]


TEXTS = ["one", "two", ""]
CONTAINERS = {
    "objects": np.array(TEXTS, dtype=object),
    "column": np.array(TEXTS)[:, None],
    "series": pd.Series(TEXTS, index=[5, 3, 1]),
    "category": pd.Series(TEXTS, dtype="category"),
    "frame": pd.DataFrame({"text": TEXTS}),
    "polars": pl.Series(TEXTS),
    "polars frame": pl.DataFrame({"text": TEXTS}),
}


@pytest.mark.parametrize("X", CONTAINERS.values(), ids=CONTAINERS)
def test_every_container_of_strings_gives_the_same_rows(X):
    assert HashedText().transform(X).tobytes() == HashedText().transform(TEXTS).tobytes()


BAD = {
    "one string": ("dear sir", "but got str; put one text into a list"),
    "a set": ({"a"}, "but got set"),
    "None in it": (["a", None], "Text 1 is NoneType, not a string"),
    "a missing value": (pd.Series(["a", "b", np.nan]), "Text 2 is float"),
    "two columns": (np.array([["a", "b"]]), "an array of shape"),
}


@pytest.mark.parametrize(("X", "told"), BAD.values(), ids=BAD)
def test_what_are_not_texts_is_refused_in_a_sentence(X, told):
    with pytest.raises(InvalidInputError) as caught:
        HashedText().transform(X)
    assert told in str(caught.value)
    assert str(caught.value).endswith(".")
