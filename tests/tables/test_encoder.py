"""Laws of the encoder: it only grows, many equals one, and its order can be made canonical."""

import copy
import json
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import HashedText, InvalidInputError
from minout.inputs import TableEncoder
from minout.inputs.tables import Table, frame_table, record_table

COLOURS = ["red", "green", "blue", "NA", None, "violet", "3", 3, "yes", True]
AGES = [0, 1, 2.5, "7", "", None, np.float32(3.0), "unknown", "5-10"]
COMMENTS = ["the red one", "it was the best of times", "", None, 3.5, "not a list, but long" * 30]
DATES = [date(2020, 2, 29), "1999-12-31", None, datetime(2001, 5, 6, 7, 8), "2001-05-06T12:00"]
VALUES = {
    "age": st.sampled_from(AGES),
    "colour": st.sampled_from(COLOURS),
    "member": st.sampled_from(["yes", "no", "?", True, "unknown"]),
    "comment": st.sampled_from(COMMENTS),
    "since": st.sampled_from(DATES),
}
LATE = {
    "late": st.sampled_from([0, 1.5, None, 7, "many", "few"]),
    "letter": st.sampled_from(COMMENTS),
    "tag": st.sampled_from(["x", "y", None]),
    "when": st.sampled_from(["2020-01-01", None]),
}
RECORDS = st.lists(st.fixed_dictionaries(VALUES, optional=LATE), min_size=1, max_size=12)
KINDS = {"comment": "text", "letter": "text", "late": "number", "tag": "category", "when": "date"}
FIRST = [
    {"age": 1, "colour": "red", "member": "yes", "comment": "the first", "since": "2020-01-01"},
    {"age": 2.0, "colour": "blue", "member": "no", "comment": None, "since": None},
]


def started(**kinds):
    return extended(TableEncoder({**KINDS, **kinds}), FIRST)


def extended(encoder, records):
    return encoder.encode_new(record_table(records))[0]


def encoded(encoder, *records):
    return encoder.encode(record_table(records))


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


@given(RECORDS)
def test_many_are_encoded_as_one_after_the_other(records):
    one, many = started(), extended(started(), records)
    for record in records:
        one = extended(one, [record])
    assert one.to_notes() == many.to_notes()
    rows = encoded(many, *records)
    assert same(rows, [encoded(many, each)[0] for each in records])


@given(RECORDS, RECORDS)
def test_features_are_appended_only_and_nothing_new_gives_the_same_encoder(records, others):
    before = extended(started(), records)
    notes, rows = before.to_notes(), encoded(before, *records)
    after = extended(before, others)
    assert after.names[: before.width] == before.names
    assert len(set(after.names)) == after.width
    wider = encoded(after, *records)
    assert same(wider[:, : before.width], rows)
    assert before.to_notes() == notes
    assert extended(after, others) is after
    assert encoded(before, *others).shape == (len(others), before.width)


@given(RECORDS)
def test_an_encoder_that_was_written_and_read_is_the_same(records):
    encoder = extended(started(), records)
    twin = TableEncoder.from_notes(json.loads(json.dumps(encoder.to_notes())))
    assert twin.to_notes() == encoder.to_notes()
    assert (twin.names, twin.blocks) == (encoder.names, encoder.blocks)
    assert twin.described() == encoder.described()
    assert same(encoded(twin, *records), encoded(encoder, *records))


@given(RECORDS, RECORDS, st.randoms(use_true_random=False))
def test_canonical_rows_depend_on_the_set_of_records_only(records, forgotten, random):
    mixed = list(records)
    random.shuffle(mixed)
    mixed = [dict(sorted(each.items())) for each in mixed]
    one, other = extended(started(), records), started()
    for record in [*forgotten, *mixed]:
        other = extended(other, [record])
    one, rows = one.canonical(encoded(one, *records, *FIRST))
    other, others = other.canonical(encoded(other, *mixed, *FIRST))
    assert one.names == other.names
    assert one.names == sorted(one.names, key=lambda name: name.partition("=")[0].split(":")[0])
    assert sorted(map(repr, rows.tolist())) == sorted(map(repr, others.tolist()))


@given(RECORDS)
def test_canonical_rows_stand_for_the_same_values_and_stay_canonical(records):
    encoder = extended(TableEncoder(KINDS), records[:1])
    encoder = extended(encoder, records)
    rows = encoded(encoder, *records)
    settled, canonical = encoder.canonical(rows)
    for before, after in zip(rows, canonical, strict=True):
        was, now = encoder.decode(before), settled.decode(after)
        assert {name: now.get(name) for name in was} == was
    assert same(encoded(settled, *records), canonical)
    assert settled.canonical(canonical)[0] is settled
    TableEncoder.from_notes(settled.to_notes())


def test_a_column_that_no_row_has_any_more_leaves_no_trace():
    encoder = extended(started(), [{"secret": "word"}, {"age": "hidden"}])
    settled, _ = encoder.canonical(encoded(encoder, *FIRST))
    assert "secret" not in settled.columns
    assert "hidden" not in json.dumps(settled.to_notes())


def test_a_late_value_after_canonical_rows_is_encoded_as_before():
    encoder = extended(TableEncoder(), [{"x": 0, "b": None, "c": 1}] * 2)
    settled, rows = encoder.canonical(encoded(encoder, *[{"x": 0, "b": None, "c": 1}] * 2))
    assert settled.names == ["c"]
    assert settled.decode(rows[0]) == {"x": 0.0, "c": 1.0}
    later = extended(settled, [{"x": None, "b": 3, "c": 1}])
    assert later.names == ["c", "x", "b", "b is given"]
    assert same(encoded(later, {"x": None, "b": 3, "c": 1}), [[1.0, np.nan, 3.0, 1.0]])


def test_rows_of_zeros_keep_their_features():
    encoder = extended(TableEncoder(), [{"x": 0, "b": None}] * 2)
    settled, rows = encoder.canonical(np.zeros((2, 1)))
    assert (settled.names, rows.shape) == (["x"], (2, 1))


def frames():
    days = [datetime(2024, 1, n + 1) for n in range(4)]
    columns = {
        "n": [1.5, None, 3.0, 4.0],
        "k": [1, 2, None, 4],
        "word": ["a", None, "b", "a"],
        "flag": [True, False, None, True],
        "day": [*days[:3], None],
    }
    pl = pytest.importorskip("polars")
    pandas = pd.DataFrame({**columns, "cat": pd.Categorical(["x", "y", "x", None])})
    cat = pl.Series("cat", ["x", "y", "x", None], dtype=pl.Categorical)
    listed = {**columns, "cat": ["x", "y", "x", None]}
    return {
        "records": [{name: values[n] for name, values in listed.items()} for n in range(4)],
        "pandas": pandas,
        "extension": pandas.astype({"k": "Int64", "flag": "boolean"}),
        "polars": pl.DataFrame(columns).with_columns(cat),
    }


@pytest.mark.parametrize("kind", ["pandas", "extension", "polars"])
def test_a_frame_is_encoded_as_its_records(kind):
    table, records = frame_table(frames()[kind]), record_table(frames()["records"])
    encoder, plain = TableEncoder().encode_new(table)[0], TableEncoder().encode_new(records)[0]
    assert same(encoder.encode(table), plain.encode(records))
    assert encoder.names == plain.names
    kinds = ["number", "number", "category", "boolean", "date", "category"]
    assert list(encoder.kinds.values()) == kinds


def test_very_many_categories_share_features_by_their_hash():
    words = [f"w{n % 400}" for n in range(1000)]
    early = extended(TableEncoder({"w": "category"}), [{"w": each} for each in words])
    assert early.width == 100 + 16
    often = extended(TableEncoder(), [{"w": each} for each in [*words, *["w399"] * 9]])
    assert "w=w399" in often.names
    assert "w=w399" not in early.names
    late = extended(TableEncoder({"w": "category"}), [{"w": "w0"}])
    late = extended(late, [{"w": each} for each in words])
    assert late.width == 100 + 16
    assert "the first 100 values, and others hashed" in late.described()["w"]
    for encoder in (early, late):
        rows = encoded(encoder, *({"w": each} for each in [*words, "never seen"]))
        assert (rows.sum(axis=1) == 1.0).all()
        assert encoder.decode(rows[-1]) == {"w": "(hashed)"}
    assert late.lossy_columns == ["w"]


def test_a_date_has_the_same_numbers_however_it_is_given():
    forms = [
        "2024-02-29T06:00",
        datetime(2024, 2, 29, 6),
        np.datetime64("2024-02-29T06:00:00"),
        pd.Timestamp("2024-02-29 06:00"),
        "2024-02-29T08:00:00+02:00",
        pd.Timestamp("2024-02-29 08:00", tz="Europe/Kyiv"),
    ]
    table = record_table([{"t": each} for each in [*forms, "2024-02-29"]])
    encoder = TableEncoder({"t": "date"}).encode_new(table)[0]
    *rows, midnight = encoder.encode(table)
    assert (np.array(rows) == rows[0]).all()
    day = encoder.names.index("t: time of day (sin)")
    assert (rows[0][0], rows[0][day]) == (19782.25, 1.0)
    assert midnight[day:].tolist() == [0.0, 0.0]


def test_a_column_that_comes_late_is_0_before_and_without_a_value():
    encoder = extended(TableEncoder(), [{"x": 1, "e": None}, {"x": 2, "e": None}])
    assert encoder.kinds["e"] == "undecided"
    encoder = extended(encoder, [{"x": 1, "size": 3.5, "e": None}, {"e": "a"}])
    assert encoder.names == ["x", "size", "size is given", "e=a"]
    assert encoded(encoder, {"x": 1}).tolist() == [[1.0, 0.0, 0.0, 0.0]]
    assert encoder.kinds == {"x": "number", "e": "category", "size": "number"}


def test_words_among_numbers_and_booleans_get_features_like_categories():
    encoder = extended(TableEncoder(), [{"age": "31", "ok": "yes"}])
    encoder = extended(encoder, [{"age": "unknown", "ok": "maybe"}])
    assert encoder.names == ["age", "ok", "age=unknown", "ok=maybe"]
    rows = encoded(encoder, {"age": "unknown", "ok": "maybe"}, {"age": 4, "ok": 1})
    assert same(rows, [[np.nan, 0.0, 1.0, 1.0], [4.0, 1.0, 0.0, 0.0]])
    expected = "number, and 1 word as a category, such as 'unknown' (its value is a number)"
    assert encoder.described()["age"] == expected


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, True, 1.0, "1", "true"], ["1", "true"]),
        ([Decimal("1.0"), Decimal("1.00"), 1], ["1.0", "1.00", "1"]),
    ],
    ids=["truth", "decimals"],
)
def test_equal_values_that_are_different_words_stay_different(values, words):
    encoder = extended(TableEncoder({"w": "category"}), [{"w": "x"}])
    encoder = extended(encoder, [{"w": each} for each in values])
    assert encoder.names == ["w=x", *(f"w={word}" for word in words)]


def test_text_is_hashed_and_a_block_and_missing_text_is_zeros():
    texts = ["the red one", "", "the blue one", None, "the red one", "NA"]
    table = record_table([{"x": 0, "comment": each} for each in texts])
    encoder = TableEncoder({"comment": "text"}).encode_new(table)[0]
    expected = HashedText(384).transform(
        [each if each != "NA" else "" for each in map(str_, texts)]
    )
    assert (encoder.encode(table)[:, 1:] == expected).all()
    assert encoder.blocks == ((1, 385),)
    sums = encoder.sum_by_column(np.arange(385) + 0.5)
    assert sums == {"x": 0.5, "comment": (np.arange(1, 385) + 0.5).sum()}
    assert len(json.dumps(encoder.to_notes())) < 300


def test_a_category_is_a_block_and_one_that_came_late_joins_it():
    encoder = extended(TableEncoder(), [{"c": each, "x": 1} for each in ("a", None, "b")])
    assert encoder.names == ["c=a", "c=b", "c is missing", "x"]
    assert encoder.blocks == ((0, 3),)
    encoder = extended(encoder, [{"c": "late"}])
    assert encoder.blocks == ((0, 3), (4, 5))
    rows = encoded(encoder, *({"c": each, "x": 1} for each in ("a", None, "b", "late")))
    settled, _ = encoder.canonical(rows)
    assert settled.names == ["c=a", "c=b", "c=late", "c is missing", "x"]
    assert settled.blocks == ((0, 4),)


@pytest.mark.parametrize("kind", ["day-first", "month-first"])
def test_a_date_that_comes_later_is_read_in_the_order_of_the_first_ones(kind):
    first, refused = "25/10/1990", "10/25/90"
    if kind == "month-first":
        first, refused = refused, first
    encoder = extended(TableEncoder(), [{"t": first}])
    assert encoder.kinds == {"t": kind}
    days = datetime(2021, *((4, 3) if kind == "day-first" else (3, 4))) - datetime(1970, 1, 1)
    assert encoded(encoder, {"t": "3/4/2021"})[0, 0] == days.days
    twin = TableEncoder.from_notes(json.loads(json.dumps(encoder.to_notes())))
    assert same(encoded(twin, {"t": "3/4/2021"}), encoded(encoder, {"t": "3/4/2021"}))
    with pytest.raises(InvalidInputError, match="must be a date such as"):
        encoded(encoder, {"t": refused})


def str_(text):
    return text or ""


def test_a_column_that_was_left_out_can_be_given_a_kind_later():
    names = [{"x": 1.0, "name": f"n{n}"} for n in range(60)]
    encoder = extended(TableEncoder(), names)
    assert encoder.kinds["name"] == "ignore"
    assert extended(encoder, [{"x": 1, "name": "n1"}]) is encoder
    encoder = encoder.with_kinds({"name": "category", "other": "ignore"})
    encoder = extended(encoder, [{"x": 1, "name": "n1", "other": 5}])
    assert encoder.names == ["x", "name=n1"]
    with pytest.raises(InvalidInputError, match=r"'x' was encoded as number.*x=category"):
        encoder.with_kinds({"x": "category"})


BAD = {
    "beyond": ("age", "1e200", "'age' must be a number, but here it is '1e200'"),
    "infinity": ("age", float("inf"), "'age' must be a number, but here it is inf"),
    "huge": ("age", 10**400, "'age' must be a number"),
    "complex": ("age", np.complex128(1j), "'age' must be a number"),
    "no_date": ("since", "2020-02-30", "'since' must be a date .* it is '2020-02-30'"),
    "number": ("since", 7, "'since' must be a date"),
    "list": ("colour", ["red"], "'colour' holds a list"),
    "bytes": ("colour", b"red", "'colour' holds a bytes"),
    "text": ("comment", {"a": 1}, "'comment' holds a dict"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_value_of_another_kind_is_refused_with_its_row(case):
    name, value, words = BAD[case]
    encoder = started()
    table = record_table([FIRST[0], {**FIRST[0], "colour": "new", name: value}])
    for encode in (encoder.encode_new, encoder.encode):
        with pytest.raises(InvalidInputError, match=words) as caught:
            encode(table)
        assert caught.value.row == 1


def test_an_infinite_number_in_a_frame_is_refused():
    frame = pd.DataFrame({"age": [1.0, np.nan, np.inf]})
    with pytest.raises(InvalidInputError, match="'age' must be a number, but here it is inf"):
        started().encode(frame_table(frame))


def test_tables_that_are_none_are_refused():
    with pytest.raises(InvalidInputError, match="no columns"):
        TableEncoder().encode_new(Table({}, 1))
    with pytest.raises(InvalidInputError, match="not a int") as caught:
        record_table([{}, 3])
    assert caught.value.row == 1
    for names in (["a", "a"], [1, "1"]):
        with pytest.raises(InvalidInputError, match="Two columns"):
            frame_table(pd.DataFrame([[1, 2]], columns=names))


FORGED = {
    "kinds": (["kinds"], {"age": "nothing"}),
    "columns": (["columns"], 3),
    "column": (["columns", 0], "age"),
    "kind": (["columns", 0, 1], "nothing"),
    "name_twice": (["columns", 0, 0], "colour"),
    "places": (["columns", 0, 5], None),
    "place": (["columns", 0, 5], {"number": 99}),
    "negative": (["columns", 0, 5], {"number": -1}),
    "twice": (["columns", 0, 5], {"number": 1}),
}


@pytest.mark.parametrize("case", FORGED)
def test_what_no_encoder_wrote_is_refused(case):
    path, value = FORGED[case]
    notes = json.loads(json.dumps(started().to_notes()))
    TableEncoder.from_notes(notes)
    forged = copy.deepcopy(notes)
    part = forged
    for each in path[:-1]:
        part = part[each]
    part[path[-1]] = value
    with pytest.raises((ValueError, TypeError, KeyError, AttributeError)):
        TableEncoder.from_notes(forged)


def test_very_long_words_and_half_characters_can_be_saved():
    words = ["x" * 10_000, "x" * 10_001, "\ud800"]
    encoder = extended(started(), [{"colour": each} for each in words])
    assert encoder.width == started().width + len(words)
    notes = json.loads(json.dumps(encoder.to_notes()))
    assert TableEncoder.from_notes(notes).names == encoder.names
    assert not any("hash" in name for name in encoder.names)
