"""Laws of the encoder: it only grows, can go back, is restored as it was, and many equals one."""

import json
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout.tables import TableEncoder
from minout.tables.kinds import MOST_VALUES

COLOURS = ["red", "green", "blue", "NA", None, "violet", "3", "yes"]
AGES = [1, 2.5, "7", "", None, np.float32(3.0), "unknown", "5-10"]
COMMENTS = ["the red one", "it was the best of times", "", None, 3.5, "not a list, but long" * 30]
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.sampled_from(AGES),
            "colour": st.sampled_from(COLOURS),
            "member": st.sampled_from(["yes", "no", "?", True, "unknown"]),
            "comment": st.sampled_from(COMMENTS),
            "since": st.sampled_from(
                [
                    date(2020, 2, 29),
                    "1999-12-31",
                    None,
                    datetime(2001, 5, 6, 7, 8),
                    "2001-05-06T12:00",
                ]
            ),
        },
        optional={
            "late": st.sampled_from([1.5, None, 7, "many", "few"]),
            "letter": st.sampled_from(COMMENTS),
        },
    ),
    min_size=1,
    max_size=12,
)
START = {
    "age": [1, 2.0],
    "colour": ["red", "blue"],
    "member": ["yes", "no"],
    "comment": ["the first", None],
    "since": ["2020-01-01", None],
}


def started(**overrides):
    encoder = TableEncoder({"comment": "text", "letter": "text", **overrides})
    encoder.start(START)
    return encoder


def widened(rows, width):
    """Rows as `Learner.widen` makes them: 0 in what was appended."""
    return np.array([np.pad(row, (0, width - len(row))) for row in rows])


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


@given(RECORDS)
def test_encoding_twice_is_the_same_as_once(records):
    encoder = started()
    rows = [encoder.encode(each).row for each in records]
    about = encoder.described()
    again = [encoder.encode(each) for each in records]
    assert [each.new for each in again] == [0] * len(records)
    assert same(widened(rows, encoder.width), [each.row for each in again])
    assert same([encoder.encode_known(each) for each in records], [each.row for each in again])
    assert encoder.described() == about


@given(RECORDS)
def test_many_are_encoded_as_one_after_the_other(records):
    records = [{**each, "late": each.get("late", 3)} for each in records]
    one, many = started(late="number"), started(late="number")
    rows = [one.encode(each).row for each in records]
    together = many.encode_many(records)
    assert one.described() == many.described()
    assert same(widened(rows, one.width), together.row)
    assert together.new == one.width - started().width
    assert same(many.encode_known_many(records), together.row)


@given(RECORDS, RECORDS)
def test_the_growth_is_what_was_appended_and_can_be_taken_back(records, others):
    encoder = started()
    encoder.encode_many(records)
    about, names, mark = encoder.described(), encoder.names, encoder.mark()
    grown = encoder.encode_many(others)
    assert grown.row.shape == (len(others), len(names) + grown.new)
    assert encoder.names[: len(names)] == names
    assert len(set(encoder.names)) == encoder.width == len(encoder.sources)
    encoder.roll_back(mark)
    assert encoder.described() == about
    assert encoder.names == names


@given(RECORDS)
def test_a_restored_encoder_is_the_same(records):
    encoder = started(colour="category", later="date")
    encoder.encode_many(records)
    twin = TableEncoder.restored(json.loads(json.dumps(encoder.described())))
    assert twin.described() == encoder.described()
    assert twin.describe_columns() == encoder.describe_columns()
    assert same(twin.encode_many(records).row, encoder.encode_many(records).row)
    assert twin.copy().described() == twin.described()


@given(RECORDS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_the_order_of_numbers_only(records, random):
    order = list(range(len(records)))
    random.shuffle(order)
    one, other = started(late="number"), started(late="number")
    rows = one.encode_many(records).row
    mixed = other.encode_many([records[n] for n in order]).row
    assert sorted(one.names) == sorted(other.names)
    place = {name: n for n, name in enumerate(other.names)}
    to = [place[name] for name in one.names]
    assert same(rows[order], mixed[:, to])


@settings(max_examples=20)
@given(RECORDS, st.randoms(use_true_random=False))
def test_the_order_of_the_first_rows_changes_nothing(records, random):
    mixed = list(records)
    random.shuffle(mixed)
    columns = list(records[0])
    encoders = [TableEncoder(), TableEncoder()]
    for encoder, each in zip(encoders, (records, mixed), strict=True):
        encoder.start({name: [record.get(name) for record in each] for name in columns})
    assert encoders[0].names == encoders[1].names
    colours = [name for name in encoders[0].names if name.startswith("colour=")]
    assert colours == sorted(colours)
    assert encoders[0].kinds == encoders[1].kinds


def test_an_unseen_category_is_all_zeros_and_registers_nothing():
    encoder = started()
    about = encoder.described()
    row = encoder.encode_known({**dict.fromkeys(START), "colour": "mauve", "other": 5})
    assert not row[[name.startswith("colour") for name in encoder.names]].any()
    assert encoder.described() == about


def frames():
    days = [datetime(2024, 1, 1) + timedelta(days=n) for n in range(4)]
    columns = {
        "n": [1.5, None, 3.0, 4.0],
        "k": [1, 2, None, 4],
        "word": ["a", None, "b", "a"],
        "flag": [True, False, None, True],
        "day": [*days[:3], None],
    }
    pandas = pd.DataFrame({**columns, "cat": pd.Categorical(["x", "y", "x", None])})
    whole = pandas.astype({"k": "Int64", "flag": "boolean"})
    cat = pl.Series("cat", ["x", "y", "x", None], dtype=pl.Categorical)
    polars = pl.DataFrame(columns).with_columns(cat)
    records = [
        {name: values[n] for name, values in {**columns, "cat": ["x", "y", "x", None]}.items()}
        for n in range(4)
    ]
    return {"pandas": pandas, "extension": whole, "polars": polars, "records": records}


@pytest.mark.parametrize("kind", ["pandas", "extension", "polars"])
def test_a_frame_is_encoded_as_its_records(kind):
    frame, records = frames()[kind], frames()["records"]
    encoder, plain = TableEncoder(), TableEncoder()
    rows = encoder.encode_many(frame).row
    assert same(rows, plain.encode_many(records).row)
    assert encoder.names == plain.names
    assert encoder.kinds == {
        "n": "number",
        "k": "number",
        "word": "category",
        "flag": "boolean",
        "day": "date",
        "cat": "category",
    }
    assert same(rows, encoder.encode_known_many(frame))


def test_very_many_categories_share_numbers_by_their_hash():
    early, late = TableEncoder({"w": "category"}), TableEncoder()
    words = [f"w{n % 400}" for n in range(1000)]
    early.start({"w": words, "x": [0] * 1000})
    assert early.width == 65
    late.start({"w": words[:3], "x": [0] * 3})
    rows = [late.encode({"w": word, "x": 0}) for word in words]
    assert late.width == 1 + MOST_VALUES + 64
    assert sum(each.new for each in rows) == late.width - 4
    assert "the first 100 values, and others hashed" in late.describe_columns()[0]
    for encoder in (early, late):
        rows = encoder.encode_known_many({"w": [*words, "never seen"], "x": [0] * 1001})
        assert (rows.sum(axis=1) == 1.0).all()
    assert late.encode_known({"w": "w1"})[late.names.index("w=w1")] == 1.0


def test_a_date_has_the_same_numbers_however_it_is_given():
    given = [
        "2024-02-29T06:00",
        datetime(2024, 2, 29, 6),
        np.datetime64("2024-02-29T06:00:00"),
        pd.Timestamp("2024-02-29 06:00"),
        "2024-02-29T08:00:00+02:00",
        pd.Timestamp("2024-02-29 08:00", tz="Europe/Kyiv"),
    ]
    encoder = TableEncoder()
    encoder.start({"t": ["2024-01-01"]})
    rows = np.array([encoder.encode({"t": each}).row for each in given[1:]])
    first = encoder.encode({"t": given[0]}).row
    assert (rows == first).all()
    day = encoder.names.index("t: time of day (sin)")
    assert first[day] == 1.0
    assert first[0] == 19782.25
    midnight = encoder.encode({"t": "2024-02-29"}).row
    assert midnight[day:].tolist() == [0.0, 0.0]


def test_a_column_that_comes_late_is_0_before_and_without_a_value():
    encoder = TableEncoder()
    encoder.start({"x": [1, 2], "empty": [None, None]})
    assert encoder.kinds["empty"] == "undecided"
    assert encoder.encode({"x": 1, "size": 3.5, "empty": None}).new == 2
    assert encoder.names == ["x", "size", "size is given"]
    assert encoder.encode({"x": 1, "empty": "a"}).row.tolist() == [1.0, 0.0, 0.0, 1.0]
    assert encoder.encode({"x": 1}).row.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert encoder.kinds == {"x": "number", "empty": "category", "size": "number"}
