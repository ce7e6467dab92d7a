"""Models of tables: numbers, categories, dates, text and missing values in any mix."""

import copy
import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest

from minout import InvalidInputError, Learner, MinoutClassifier
from minout.inputs import Schema
from oracle.margin import saved

SMALL = {"C": 1.0, "regions": 1, "expand": None}


def table(n=60, seed=0):
    """Rows with a label; the last categories of `town` appear late."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, "no", "yes")
    town = np.array([f"t{rng.integers(2 + 6 * k // n)}" for k in range(n)], dtype=object)
    size = rng.normal(size=n) + (y == "yes")
    size[rng.random(n) < 0.2] = np.nan
    colour = np.where(rng.random(n) < 0.7, np.where(y == "yes", "red", "blue"), "green")
    frame = pd.DataFrame({"size": size, "town": town, "colour": colour.astype(object)})
    frame.loc[rng.random(n) < 0.2, "colour"] = None
    return frame.assign(day=pd.date_range("2024-01-01", periods=n, freq="7h")), y


FRAME, Y = table()
RECORDS = FRAME.to_dict("records")
POLARS = pl.DataFrame(
    {name: FRAME[name].astype(object).where(FRAME[name].notna(), None).to_list() for name in FRAME}
)


def streamed(rows=FRAME, y=Y, *, batch=7, **settings):
    classifier = MinoutClassifier(**{**SMALL, **settings})
    for n in range(0, len(y), batch):
        ids = list(range(n, min(n + batch, len(y))))
        classifier.partial_fit(rows[n : n + batch], y[n : n + batch], ids=ids, at=0.0)
    return classifier


def everything(model):
    return saved(getattr(model, "learner_", model))


def model_of(learner):
    """What a consolidated model is: columns, choice, scores and probabilities."""
    learner.consolidate()
    assert learner.audit().ok
    scores = learner.scores(RECORDS), learner.probabilities(RECORDS)
    weights = learner.separator("yes", "no").weights
    return (
        learner.schema.encoder.names,
        learner.choice,
        *map(np.ndarray.tobytes, (*scores, weights)),
    )


@pytest.mark.parametrize("where", ["ram", "file"])
@pytest.mark.parametrize("settings", [SMALL, {}], ids=["pinned", "auto"])
def test_a_consolidated_table_is_a_function_of_its_examples(where, settings, tmp_path):
    taught = list(enumerate(RECORDS))
    one, other = Learner(**settings), Learner(**settings)
    if where == "file":
        other = Learner.open(tmp_path / "model.minout", **settings)
    one.teach_many(RECORDS, Y.tolist(), ids=range(60), at=0.0)
    first = dict(sorted(RECORDS[7].items()))
    other.teach_many([first, {**first, "size": 1.0, "town": "t1"}], [Y[7], Y[7]], ids=[7, "x"])
    other.teach({**RECORDS[0], "town": "nowhere", "new": 3.5, "colour": "mauve"}, "yes", id="late")
    for n, record in np.random.default_rng(1).permutation(np.array(taught, dtype=object)):
        if n != 7:
            other.teach(record, Y[n], id=n, at=0.0)
    other.forget(["late", "x"])
    assert model_of(one) == model_of(other)
    assert "nowhere" not in str(other.schema.to_notes())
    if where == "file":
        other.close()
        with Learner.open(tmp_path / "model.minout", read_only=True) as again:
            assert again.schema.encoder.names == one.schema.encoder.names
            assert (again.scores(RECORDS) == one.scores(RECORDS)).all()


def test_a_column_that_came_late_is_as_one_from_the_start():
    one, other = Learner(**SMALL), Learner(**SMALL)
    late = [{**each, "extra": n % 3, "kind": "ab"[n % 2]} for n, each in enumerate(RECORDS)]
    rows = [*RECORDS[:20], *late[20:]]
    one.teach_many(rows, Y.tolist(), ids=range(60), at=0.0)
    for n, (record, y) in enumerate(zip(rows, Y, strict=True)):
        other.teach(record, y, id=n, at=0.0)
    assert one.schema.encoder.names != other.schema.encoder.names
    assert model_of(one) == model_of(other)
    other.teach(late[0], Y[0])
    assert other.audit().ok


def test_frames_records_and_single_rows_are_the_same():
    frames = [MinoutClassifier(**SMALL).fit(each, Y) for each in (FRAME, POLARS, RECORDS)]
    scores = [each.decision_function(FRAME) for each in frames]
    assert (scores[0] == scores[1]).all()
    assert (scores[0] == scores[2]).all()
    one, many = Learner(**SMALL), Learner(**SMALL)
    many.teach_many(FRAME[:10], Y[:10].tolist(), at=0.0)
    one.teach_many(RECORDS[:10], Y[:10].tolist(), at=0.0)
    many.teach_many(POLARS[10:], Y[10:].tolist(), at=0.0)
    for record, y in zip(RECORDS[10:], Y[10:], strict=True):
        one.teach(record, y, at=0.0)
    assert model_of(one) == model_of(many)
    assert (one.scores(FRAME) == many.scores(POLARS)).all()
    forms = (RECORDS[3], FRAME[3:4], POLARS[3:4], FRAME.iloc[3], one.example(3)[0])
    assert {one.explain(each).margin for each in forms} == {one.explain(RECORDS[3]).margin}
    assert all(one.find(each) == [3] for each in forms)


@pytest.mark.parametrize("kept", ["copy", "pickle", "store"])
def test_a_restored_classifier_goes_on_with_the_same_bits(kept, tmp_path):
    settings = {"store": tmp_path / "model.minout"} if kept == "store" else {}
    classifier = streamed(FRAME[:40], Y[:40], **settings)
    if kept == "copy":
        classifier.save(tmp_path / "file")
        twin = MinoutClassifier.load(tmp_path / "file")
    elif kept == "pickle":
        twin = pickle.loads(pickle.dumps(classifier))
    else:
        classifier.learner_.close()
        twin = MinoutClassifier(**SMALL, **settings)
        classifier = streamed(FRAME[:40], Y[:40])
    for each in (classifier, twin):
        each.partial_fit(FRAME[40:], Y[40:], at=0.0)
        each.consolidate()  # until then the last digits may differ
    assert twin.columns_ == classifier.columns_
    assert twin.feature_names_in_.tolist() == list(FRAME)
    assert (twin.decision_function(FRAME) == classifier.decision_function(FRAME)).all()
    if kept == "store":
        twin.learner_.close()


def test_an_unseen_category_counts_as_0_and_is_not_remembered():
    classifier = MinoutClassifier(**SMALL).fit(FRAME, Y)
    new = FRAME[:3].assign(town="far away", size=[1.0, None, 2.0])
    encoder = classifier.learner_.schema.encoder
    (row, *_) = [classifier.learner_.expanded(new)[0][: encoder.width]]
    towns = [name.startswith("town") for name in encoder.names]
    assert not row[towns].any()
    assert classifier.explain(new[:1]).label == classifier.predict(new)[0]
    assert len(classifier.what_if(new, Y[:3])) == 3
    assert "far away" not in str(classifier.learner_.schema.to_notes())


def test_rows_of_weight_0_leave_no_category_behind():
    frame, weight = FRAME.copy(), np.where(np.arange(60) % 3, 1.0, 0.0)
    frame.loc[0, "town"] = "nowhere"
    for X in (frame, frame.to_dict("records")):
        classifier = MinoutClassifier(**SMALL).fit(X, Y, weight)
        assert "nowhere" not in str(classifier.learner_.schema.to_notes())
        assert len(classifier.all_ids_) == 40


def test_kinds_that_were_set_are_followed_and_saved(tmp_path):
    kinds = {"day": "ignore", "town": "category", "size": "number"}
    classifier = MinoutClassifier(**SMALL, column_kinds=kinds).fit(FRAME, Y)
    assert classifier.columns_["day"] == "left out (you said so)"
    classifier.save(tmp_path / "file")
    assert MinoutClassifier.load(tmp_path / "file").column_kinds == kinds
    learner = Learner.load(tmp_path / "file")
    learner.set_column_kinds({"day": "date", "later": "text"})
    learner.teach(RECORDS[0], "yes")
    assert learner.schema.encoder.kinds["day"] == "date"
    with pytest.raises(InvalidInputError, match="was encoded as category"):
        learner.set_column_kinds({"town": "text"})
    plain = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 2.0, 3.0]})
    learner = Learner(column_kinds={"a": "category"})
    learner.teach_many(plain, ["x", "y", "x"])
    assert learner.width == 4


def test_a_file_is_not_opened_with_other_kinds(tmp_path):
    settings = {**SMALL, "store": tmp_path / "model.minout"}
    MinoutClassifier(**settings, column_kinds={"day": "ignore"}).fit(FRAME, Y).learner_.close()
    for same in ({"day": "ignore"}, None):
        twin = MinoutClassifier(**settings, column_kinds=same)
        assert len(twin.predict(FRAME)) == 60
        twin.learner_.close()
    for other in ({"day": "date"}, {}):
        with pytest.raises(
            InvalidInputError, match=r"column_kinds={'day': 'ignore'}, not .*; pass"
        ):
            MinoutClassifier(**settings, column_kinds=other).predict(FRAME)


def mixed(n=160, seed=0):
    """Return a table in which two numbers tell the labels, and text tells nothing."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, "no", "yes")
    numbers = rng.normal(size=(n, 2)) + 1.5 * (y == "yes")[:, None]
    words = np.array([f"word{k}" for k in range(200)])
    said = [" ".join(rng.choice(words, 5)) for _ in range(n)]
    return pd.DataFrame({"a": numbers[:, 0], "b": 100.0 * numbers[:, 1], "said": said}), y


def test_text_does_not_outweigh_the_other_columns():
    frame, y = mixed(400)
    settings = {**SMALL, "standardize": True, "whiten": False, "lda_prior": False}
    correct = {}
    for names in (["a", "b"], ["a", "b", "said"]):
        classifier = MinoutClassifier(**settings).fit(frame[names][:100], y[:100])
        correct[len(names)] = np.mean(classifier.predict(frame[names][100:]) == y[100:])
    assert classifier.learner_.settings.blocks == ((2, 386),)
    assert correct[3] > correct[2] - 0.05 > 0.75


def test_text_and_codes_that_tell_nothing_cost_no_accuracy(tmp_path):
    frame, y = mixed(400)
    rng = np.random.default_rng(1)
    frame["code"] = [f"K-{n:03}" for n in rng.integers(0, 150, 400)]
    frame["group"] = [f"g{n}" for n in rng.integers(0, 20, 400)]
    correct = {}
    for names in (["a", "b"], list(frame)):
        classifier = MinoutClassifier().fit(frame[names][:200], y[:200])
        correct[len(names)] = np.mean(classifier.predict(frame[names][200:]) == y[200:])
    assert correct[5] >= correct[2] - 0.01 > 0.75
    classifier.save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 2_000_000


def test_text_that_comes_late_is_a_block_from_its_first_row_on(tmp_path):
    frame, y = mixed()
    frame["said"] = frame["said"].astype(object)
    frame.loc[:19, "said"] = None
    settings = {**SMALL, "standardize": True, "whiten": False, "lda_prior": False}
    classifier = MinoutClassifier(**settings, store=tmp_path / "model.minout")
    classifier.partial_fit(frame[:20], y[:20], ids=range(20))
    before = everything(classifier)
    with pytest.raises(InvalidInputError, match="stored with another row") as caught:
        classifier.partial_fit(frame[20:], y[20:], ids=[*range(100, 239), 0])
    assert caught.value.row == 139
    assert everything(classifier) == before
    classifier.partial_fit(frame[20:], y[20:], ids=range(20, 160))
    learner = classifier.learner_
    assert learner.settings.blocks == ((2, 386),)
    K = learner.inspect().K  # of a refresh in this call
    assert len(set(K[2:386])) == 1 < len(set(K))
    learner.close()
    with Learner.open(tmp_path / "model.minout", read_only=True) as reader:
        assert reader.settings.blocks == ((2, 386),)


def test_readers_can_predict_while_categories_appear():
    classifier = streamed(FRAME[:7], Y[:7])
    wrong, done = [], threading.Event()

    def read():
        while not done.is_set():
            try:
                classifier.predict_proba(FRAME)
                classifier.predict(FRAME)
            except Exception as error:
                wrong.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for n in range(20):
            classifier.partial_fit(FRAME[:2].assign(town=f"new {n}"), Y[:2], at=0.0)
        classifier.consolidate()
    finally:
        done.set()
        thread.join()
    assert wrong == []


def test_a_file_with_more_columns_does_not_contradict_what_is_stored():
    learner = Learner(**SMALL)
    learner.teach_many(RECORDS, Y.tolist(), ids=range(60))
    before = everything(learner)
    more = [{**each, "extra": n} for n, each in enumerate(RECORDS)]
    learner.teach_many(more, Y.tolist(), ids=range(60))
    assert everything(learner) == before
    learner.teach(more[0], Y[0], id="new")
    learner.consolidate()
    learner.teach(more[1], Y[1], id=1)
    assert len(learner) == 61
    with pytest.raises(InvalidInputError, match="stored with another row"):
        learner.teach({**more[1], "town": "elsewhere"}, Y[1], id=1)


def test_an_example_may_be_updated_with_a_new_category():
    learner, other = Learner(**SMALL), Learner(**SMALL)
    learner.teach_many(RECORDS, Y.tolist(), ids=range(60), at=0.0)
    learner.update(5, {**RECORDS[5], "town": "renamed"})
    rows = [*RECORDS[:5], *RECORDS[6:], {**RECORDS[5], "town": "renamed"}]
    other.teach_many(rows, [*Y[:5], *Y[6:], Y[5]], ids=[*range(5), *range(6, 60), 5], at=0.0)
    assert model_of(learner) == model_of(other)


BAD = {
    "word": (lambda frame: frame.assign(day="soon"), "'day' must be a date"),
    "infinity": (lambda frame: frame.assign(size=np.inf), "'size' must be a number"),
    "column": (lambda frame: frame.drop(columns="town"), "feature names"),
    "order": (lambda frame: frame[["town", "size", "colour", "day"]], "same order"),
    "array": (lambda frame: frame.to_numpy(), "pass a data frame"),
    "nothing": (lambda frame: frame[:0], "X has no rows"),
    "list": (lambda frame: frame.assign(town=[[1]] * len(frame)), "'town' holds a list"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_refused_and_change_nothing(case):
    classifier = streamed()
    before = everything(classifier)
    make, words = BAD[case]
    bad = make(FRAME.assign(colour="never seen"))
    with pytest.raises(ValueError, match=words):
        classifier.partial_fit(bad, Y[: len(bad)])
    with pytest.raises(ValueError, match=words):
        classifier.predict(bad)
    assert everything(classifier) == before


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (3, "must be a dict"),
        ({"other": "number"}, "has 'other', which is no column of X"),
        ({"size": "float"}, "must be one of number, boolean"),
    ],
    ids=["number", "name", "kind"],
)
def test_bad_kinds_are_refused(kinds, words):
    with pytest.raises(InvalidInputError, match=words):
        MinoutClassifier(column_kinds=kinds).fit(FRAME, Y)
    with pytest.raises(InvalidInputError, match="pass a data frame or records"):
        MinoutClassifier(column_kinds={"a": "number"}).fit([[1.0], [2.0]], ["a", "b"])


NOTES = {
    "number": 3,
    "table": {"table": {}},
    "width": "width",
    "announced": {"labels": {"dtype": "<U1", "announced": [1, "a"]}},
    "source": {"source": {"decimal": ";"}},
    "shape": {"source": {"image_shape": [0, 3]}},
    "other": {"source": {"colour": "red"}},
}


@pytest.mark.parametrize("case", NOTES)
def test_a_file_whose_schema_is_not_ours_is_refused(tmp_path, monkeypatch, case):
    learner = streamed().learner_
    entry = NOTES[case]
    if entry == "width":
        entry = copy.deepcopy(learner.schema.to_notes())
        entry["table"]["columns"].pop()
    learner.save(tmp_path / "right")
    Learner.load(tmp_path / "right")
    monkeypatch.setattr(Schema, "to_notes", lambda _: entry)
    learner.save(tmp_path / "wrong")
    with pytest.raises(InvalidInputError, match="was not written by minout"):
        Learner.load(tmp_path / "wrong")


def test_a_table_without_a_value_is_refused_and_one_of_zeros_is_learned():
    learner = Learner()
    with pytest.raises(InvalidInputError, match="no column to learn from"):
        learner.teach({"x": None}, "a")
    assert learner.is_new
    learner.teach_many([{"x": 0}] * 3, ["a", "b", "a"])
    learner.consolidate()
    assert learner.audit().ok
    assert learner.predict([{"x": 0}]).tolist() == ["a"]


def test_a_column_of_zeros_is_found_again_after_it_was_dropped():
    learner = Learner()
    records = [{"x": n, "z": 0, "b": False} for n in range(6)]
    learner.teach_many(records, ["a", "b"] * 3)
    learner.consolidate()
    assert [learner.find(each) for each in records] == [[n] for n in range(6)]
    assert learner.find({"x": 1, "z": 1, "b": False}) == []
    assert learner.find({"x": 1, "z": 0, "b": True}) == []
