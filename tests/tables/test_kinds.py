"""What a column is taken for, and why."""

from datetime import date, timedelta

import numpy as np
import pytest

from minout.tables import TableEncoder
from minout.tables.kinds import decide

MANY = range(60)
LONG = "it was the best of times, they say,"
TAKEN = {
    "numbers": ("age", [1, 2.5, None], "number"),
    "number_text": ("age", ["1", " 2.5 ", "-3e4", "NA", ""], "number"),
    "zero_one": ("flag", [0, 1, 1], "number"),
    "durations": ("took", [timedelta(hours=1)], "number"),
    "truth": ("flag", [True, None, False], "boolean"),
    "truth_text": ("flag", ["Yes", "no", "?", "TRUE"], "boolean"),
    "dates": ("day", [date(2020, 1, 2), "2021-03-04", None], "date"),
    "day_first": ("day", ["31.12.2020", "1.1.2021 06:55"], "date"),
    "month_first": ("day", ["12/31/2020", "1/1/2021"], "category"),
    "slashes": ("day", ["2020/12/31", "2021/01/01 06:55"], "date"),
    "very_many": ("city", [f"city {n % 150}" for n in range(600)], "text"),
    "words": ("colour", ["red", "blue", "red"], "category"),
    "mixed": ("size", ["3", "4", "large"], "category"),
    "one_thousand": ("size", ["1,000", "2,000"], "category"),
    "nearly_numbers": ("size", ["3"] * 19 + ["large"], "number"),
    "too_many_words": ("size", ["3"] * 18 + ["large", "small"], "category"),
    "too_few_numbers": ("size", ["3"] * 18 + ["large"], "category"),
    "numbers_and_lists": ("size", [3] * 19 + [[1]], "number"),
    "numbers_and_infinity": ("size", [3] * 19 + [float("inf")], "number"),
    "half_numbers": ("size", [*map(str, MANY), *["unknown"] * 9], "number"),
    "half_sizes": ("size", ["38", "39", "40", "L"] * 10, "category"),
    "nearly_dates": ("day", [*[f"2024-01-{n:02}" for n in range(1, 29)], "unknown"], "date"),
    "too_large": ("size", [*map(str, MANY), "1e400"], "number"),
    "nearly_ids": ("customer_id", [*map(str, MANY), "unknown"], "ignore"),
    "same_word": ("colour", ["red"] * 60, "category"),
    "few_names": ("name", [f"n{n}" for n in range(19)], "category"),
    "names": ("name", [f"n{n}" for n in MANY], "ignore"),
    "text": ("review", [f"it was the {n}th time I came" for n in MANY], "text"),
    "long_text": ("review", [f"{LONG} {n % 31}" for n in MANY], "text"),
    "very_long_text": ("review", [LONG * 9 + str(n) for n in MANY], "text"),
    "repeated_text": ("review", [f"{LONG} {n % 30}" for n in MANY], "category"),
    "short_text": ("review", [f"not so many words {n % 50}" for n in MANY], "category"),
    "few_texts": ("review", [f"{LONG} {n}" for n in range(19)], "category"),
    "ids": ("customer_id", [10 * n for n in MANY], "ignore"),
    "camel": ("customerId", [str(n) for n in MANY], "ignore"),
    "index": ("Unnamed: 0", np.arange(60), "ignore"),
    "humid": ("humid", list(MANY), "number"),
    "few_ids": ("id", [1, 2, 3], "number"),
    "id_again": ("id", [n // 2 for n in MANY], "number"),
    "id_of_parts": ("id", [n + 0.5 for n in MANY], "number"),
    "nothing": ("x", [None, "", float("nan")], "undecided"),
}


@pytest.mark.parametrize("case", TAKEN)
def test_a_column_is_taken_for(case):
    name, values, kind = TAKEN[case]
    decision = decide(name, values)
    assert decision.kind == kind
    assert decision.why
    assert "\n" not in decision.why


def test_each_column_has_a_line_that_says_what_it_is_and_why():
    encoder = TableEncoder({"pin": "category"})
    encoder.start(
        {
            "age": [3.5, "7"],
            "pin": [1, 2],
            "size": ["9", "large"],
            "empty": [None, None],
            "ok": ["yes", "no"],
        }
    )
    assert encoder.describe_columns() == [
        "age: number (each of 2 values is a number)",
        "pin: category, 2 values (you said so)",
        "size: category, 2 values (1 of 2 values are not numbers, such as 'large')",
        "empty: left out until it has a value (no value so far)",
        "ok: boolean (each of 2 values is a word for true or false)",
    ]


def test_each_number_of_a_row_has_a_name_and_a_column():
    encoder = TableEncoder()
    encoder.encode_many(
        [
            {"age": 3, "colour": "red", "seen": "2024-01-01T10:00", "ok": True},
            {"age": None, "colour": None, "seen": None, "ok": None},
        ]
    )
    assert encoder.names == [
        "age",
        "colour=red",
        "colour is missing",
        "seen",
        "seen: time of year (sin)",
        "seen: time of year (cos)",
        "seen: weekday (sin)",
        "seen: weekday (cos)",
        "seen: time of day (sin)",
        "seen: time of day (cos)",
        "ok",
    ]
    assert encoder.sources == ["age", "colour", "colour", *["seen"] * 7, "ok"]


def test_another_word_in_a_boolean_gets_its_own_number():
    encoder = TableEncoder()
    encoder.start({"smoker": ["yes", "no"]})
    assert encoder.encode({"smoker": "unknown"}).row.tolist() == [0.0, 1.0]
    assert encoder.encode({"smoker": 1}).row.tolist() == [1.0, 0.0]
    assert encoder.names == ["smoker", "smoker=unknown"]


def test_a_word_among_numbers_is_a_missing_number_and_gets_its_own_number():
    encoder = TableEncoder()
    encoder.start({"age": ["31", "28"]})
    assert np.isnan(encoder.encode_known({"age": "unknown"})).tolist() == [True]
    row, new = encoder.encode({"age": "unknown"})
    assert (np.isnan(row[0]), row[1], new) == (True, 1.0, 1)
    assert encoder.encode({"age": "40"}).row.tolist() == [40.0, 0.0]
    assert encoder.names == ["age", "age=unknown"]
    encoder.encode({"age": "over 90"})
    assert encoder.describe_columns() == [
        "age: number, and 2 words as categories, such as 'unknown' (each of 2 values is a number)"
    ]


def test_words_among_the_first_numbers_are_sorted_and_described():
    encoder = TableEncoder()
    encoder.start({"age": [*range(60), "unknown", "over 90"]})
    assert encoder.names == ["age", "age=over 90", "age=unknown"]
    assert encoder.describe_columns() == [
        "age: number, and 2 words as categories, such as 'over 90' (60 of 62 values are numbers)"
    ]


def test_very_many_words_among_numbers_share_numbers():
    encoder = TableEncoder({"age": "number"})
    encoder.start({"age": [f"w{n}" for n in range(101)]})
    assert encoder.describe_columns() == [
        "age: number, and more than 100 words, hashed into 64 features (you said so)"
    ]
    assert np.nansum(encoder.encode_known({"age": "never seen"})) == 1.0
    assert TableEncoder.restored(encoder.described()).names == encoder.names
    grown = TableEncoder()
    grown.start({"age": [1, 2]})
    grown.encode_many([{"age": f"w{n}"} for n in range(101)])
    assert grown.width == 1 + 100 + 64
    assert "100 words as categories, such as 'w0', and others" in grown.describe_columns()[0]


def test_a_word_in_a_late_column_of_numbers_is_no_given_number():
    encoder = TableEncoder({"size": "number"})
    encoder.start({"x": [1, 2]})
    assert encoder.encode({"x": 1, "size": "large"}).row.tolist() == [1.0, 0.0, 0.0, 1.0]
    assert encoder.encode({"x": 1, "size": 3}).row.tolist() == [1.0, 3.0, 1.0, 0.0]
    assert encoder.names == ["x", "size", "size is given", "size=large"]


@pytest.mark.parametrize("kind", ["number", "boolean"])
def test_a_late_column_that_starts_with_another_word_can_be_restored(kind):
    encoder = TableEncoder({"late": kind})
    encoder.start({"x": [1, 2]})
    encoder.encode({"x": 1, "late": "unknown"})
    twin = TableEncoder.restored(encoder.described())
    assert twin.encode({"late": 1}).row.tolist()[1:] == [1.0, 1.0, 0.0]


def test_a_column_that_was_left_out_can_be_given_a_kind_later():
    encoder = TableEncoder()
    encoder.start({"x": [1.0] * 60, "name": [f"n{n}" for n in MANY]})
    assert encoder.encode({"x": 1, "name": "n1"}).new == 0
    encoder.set_kind("name", "category")
    assert encoder.encode({"x": 1, "name": "n1"})[1] == 1
    assert encoder.names == ["x", "name=n1"]
    encoder.set_kind("other", "ignore")
    assert encoder.encode({"x": 1, "other": 5}).new == 0
