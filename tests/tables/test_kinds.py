"""What a column is taken for, and what its values are read as."""

import re
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.inputs.kinds import decide
from minout.inputs.values import as_number, as_time, is_missing, split_numbers

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
    "month_first": ("day", ["12/31/2020", "1/1/2021 0:00"], "month-first"),
    "day_first_by_one": ("day", ["3/4/2021", "25/10/1990 1:30 PM", None], "day-first"),
    "day_or_month": ("day", ["3/4/2021", "5/6/2021"], "category"),
    "month_names": ("day", ["25 Oct 1990", "Oct 25, 1990 6:55", "1-MAY-97"], "date"),
    "forms": ("day", ["2021-03-04", "3/31/21", "31.12.2020"], "month-first"),
    "slashes": ("day", ["2020/12/31", "2021/01/01 06:55"], "date"),
    "very_many": ("city", [f"city {n % 150}" for n in range(600)], "category"),
    "words": ("colour", ["red", "blue", "red"], "category"),
    "mixed": ("size", ["3", "4", "large"], "category"),
    "one_thousand": ("size", ["1,000", "2,000"], "number"),
    "currency": ("price", ["$3.50", "$1,234,567", "-€ 3"], "number"),
    "percent": ("share", ["3 %", "4.5%"], "number"),
    "currency_codes": ("price", [f"USD {n}.30" for n in MANY], "number"),
    "clock": ("start", [f"{n % 24:02}:{n:02}" for n in MANY], "number"),
    "postal_codes": ("zip", [f"0{2100 + n % 20}" for n in MANY], "category"),
    "postal_codes_by_one": ("zip", ["10115", "01067", " 80331 ", None], "category"),
    "padded_numbers": ("size", [f"{n:04}" for n in MANY], "number"),
    "padded_hours": ("hour", [f"{n % 24:02}" for n in MANY], "number"),
    "zeros_of_some_lengths": ("size", ["007", "12", "0"], "number"),
    "decimal_comma": ("size", ["3,5", "4,25", "7"], "category"),
    "european": ("size", ["1.234,50", "12,00"], "category"),
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
    "many_texts": ("review", [f"{LONG} {n % 150}" for n in range(600)], "text"),
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


NUMBERS = ["0", "7", "255", "12.5", " 5 ", "+1.", "007", "-3e4", "1e100", 0.5, 3, True]
NUMBERS += [
    "1,234.5",
    "-$3",
    "4 %",
    "USD 12.30",
    "-5 EUR",
    "08:45",
    "8:45:30.5",
    np.float32(0.1),
    np.int64(3),
    Decimal("2.50"),
    timedelta(hours=1),
    "\x1c7",
    -0.0,
]
EMPTY = ["", "NA", " NA ", "nan", "NaN", "-", "?", None, float("nan"), np.float64("nan")]
ODD = [
    "1_000",
    "3,5",
    "0,125",
    "12,34",
    "$",
    "%",
    "1,234,5",
    "١",
    "nAn",
    "+nan",
    "+NAN",
    "INF",
    "inf",
    "-Infinity",
    "1e400",
    "1e101",
    "1 2",
    "USD",
    "ABC 12",
    "8:60",
    "-8:45",
    "1:2",
]
ODD += ["0x1", "word", float("inf"), 1e101, 10**400, b"3", [1], {}, 1j, date(2020, 1, 1)]


@given(st.lists(st.sampled_from(NUMBERS + EMPTY + ODD), max_size=8))
def test_numbers_read_together_are_the_numbers_read_one_by_one(values):
    together, others = split_numbers(values)
    expected = [None if is_missing(each) else as_number(each) for each in values]
    assert np.array_equal(together, np.array(expected, dtype=float), equal_nan=True)
    are_odd = [as_number(each) is None and not is_missing(each) for each in values]
    assert others == np.flatnonzero(are_odd).tolist()


@pytest.mark.parametrize("n", range(len(ODD)))
def test_what_is_no_number_is_told_apart(n):
    assert split_numbers([ODD[n]])[1] == [0]
    assert split_numbers(["1", ODD[n], "", 2.0])[1] == [1]


WHY = {
    "day_or_month": "day or month may be first; set its kind to .* such as 3/4/2021",
    "decimal_comma": "decimal commas; teach a new model .*--decimal ,, such as 3,5",
    "european": "decimal commas; .*--decimal ,, such as 1.234,50",
    "half_numbers": "60 of 69 values are numbers",
    "humid": 'all differ, so if it is an identifier, set its kind to "ignore"',
    "names": "an identifier: 60 of 60 values differ",
}


@pytest.mark.parametrize("case", WHY)
def test_the_reason_says_what_to_do(case):
    name, values, _ = TAKEN[case]
    assert re.search(WHY[case], decide(name, values).why)


TIMES = {
    "us": ("10/25/1990 0:00", "month-first", datetime(1990, 10, 25)),
    "european": ("25/10/1990", "day-first", datetime(1990, 10, 25)),
    "ambiguous": ("3/4/2021", "", None),
    "day": ("3/4/2021", "day-first", datetime(2021, 4, 3)),
    "month": ("3/4/2021", "month-first", datetime(2021, 3, 4)),
    "points": ("3.4.2021", "month-first", datetime(2021, 4, 3)),
    "dashes": ("10-25-68", "month-first", datetime(2068, 10, 25)),
    "short": ("10/25/69", "month-first", datetime(1969, 10, 25)),
    "name": ("25 October 1990", "", datetime(1990, 10, 25)),
    "name_first": ("Oct. 25 1990 12:05 am", "", datetime(1990, 10, 25, 0, 5)),
    "noon": ("25-OCT-90 12:05:09 p.m.", "", datetime(1990, 10, 25, 12, 5, 9)),
    "other_name": ("25 Okt 1990", "", None),
    "no_month": ("5 Mayhem 2020", "", None),
    "thirteen": ("25/10/1990 13:00 PM", "day-first", None),
    "no_day": ("31/2/1990", "day-first", None),
    "no_hour": ("25/10/1990 24:00", "day-first", None),
    "mixed_marks": ("25/10-1990", "day-first", None),
    "half": ("25/10", "day-first", None),
}


@pytest.mark.parametrize("case", TIMES)
def test_dates_are_read_in_the_order_of_their_column(case):
    text, order, time = TIMES[case]
    assert as_time(text, order) == time
