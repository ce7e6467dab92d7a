"""Tables as they are: numbers, categories, dates and missing values in any mix."""

import copy
import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest

from minout import InvalidInputError, Learner, MinoutClassifier
from minout.tables import TableEncoder

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


def in_polars(frame):
    records = frame.astype(object).where(frame.notna(), None)
    return pl.DataFrame({name: records[name].to_list() for name in frame})


def streamed(frame, y, *, batch=7, **settings):
    classifier = MinoutClassifier(**{**SMALL, **settings})
    for n in range(0, len(y), batch):
        ids = list(range(n, min(n + batch, len(y))))
        classifier.partial_fit(frame[n : n + batch], y[n : n + batch], ids=ids, at=0.0)
    return classifier


def test_a_fit_does_not_depend_on_the_order_of_rows():
    frame, y = table()
    order = np.random.default_rng(1).permutation(len(y))
    one = MinoutClassifier(**SMALL).fit(frame, y)
    other = MinoutClassifier(**SMALL).fit(frame.iloc[order], y[order])
    assert (one.decision_function(frame) == other.decision_function(frame)).all()
    assert one.columns_ == other.columns_


def test_a_consolidated_stream_predicts_the_same_in_any_order():
    frame, y = table()
    order = np.r_[:8, 8 + np.random.default_rng(1).permutation(len(y) - 8)]
    one, other = streamed(frame, y), streamed(frame.iloc[order], y[order])
    for each in (one, other):
        each.consolidate()
    assert one.predict(frame).tolist() == other.predict(frame).tolist()
    scores = one.decision_function(frame), other.decision_function(frame)
    assert np.allclose(*scores, rtol=0.0, atol=1e-6)


def test_categories_that_come_late_are_as_good_as_columns_from_the_start():
    frame, y = table()
    classifier = streamed(frame, y)
    widths = {len(row) for row in _rows_as_they_came(frame)}
    assert len(widths) > 2
    encoder = TableEncoder.restored(classifier.learner_.notes["table"])
    twin = Learner(**SMALL, missing="mean")
    twin.teach_many(encoder.encode_known_many(frame), y.tolist(), ids=range(len(y)), at=0.0)
    classifier.consolidate()
    twin.consolidate()
    rows = encoder.encode_known_many(frame)
    assert (classifier.learner_.scores(rows) == twin.scores(rows)).all()
    assert (classifier.decision_function(frame) == twin.scores(rows)[:, 1]).all()
    assert classifier.audit().ok


def _rows_as_they_came(frame):
    encoder = TableEncoder()
    encoder.start(frame[:7])
    return [encoder.encode(each).row for each in frame[7:].to_dict("records")]


@pytest.mark.parametrize("kept", ["file", "pickle", "copy", "folder"])
def test_a_restored_classifier_goes_on_with_the_same_bits(kept, tmp_path):
    frame, y = table()
    settings = {"store": tmp_path / "model"} if kept == "folder" else {}
    classifier = streamed(frame[:40], y[:40], **settings)
    if kept == "file":
        classifier.save(tmp_path / "file")
        twin = MinoutClassifier.load(tmp_path / "file")
    elif kept == "pickle":
        twin = pickle.loads(pickle.dumps(classifier))
    elif kept == "copy":
        twin = copy.deepcopy(classifier)
    else:
        classifier.learner_.close()
        twin = MinoutClassifier(**SMALL, **settings)
        classifier = streamed(frame[:40], y[:40])
    assert (twin.decision_function(frame) == classifier.decision_function(frame)).all()
    for each in (classifier, twin):
        each.partial_fit(frame[40:], y[40:], at=0.0)
    assert twin.columns_ == classifier.columns_
    assert twin.feature_names_in_.tolist() == ["size", "town", "colour", "day"]
    assert (twin.decision_function(frame) == classifier.decision_function(frame)).all()
    if kept == "folder":
        twin.learner_.close()


def test_two_classifiers_on_one_folder_take_over_each_other_s_categories(tmp_path):
    frame, y = table()
    settings = {**SMALL, "store": tmp_path / "model", "durability": "example"}
    one = MinoutClassifier(**settings).partial_fit(frame[:20], y[:20], at=0.0)
    other = MinoutClassifier(**settings)
    other.partial_fit(frame[20:40].assign(town="north"), y[20:40], at=0.0)
    one.partial_fit(frame[40:].assign(town="south"), y[40:], at=0.0)
    assert other.learner_.reload()
    assert (one.decision_function(frame) == other.decision_function(frame)).all()
    names = TableEncoder.restored(one.learner_.notes["table"]).names
    assert names.index("town=north") < names.index("town=south")
    for each in (one, other):
        each.learner_.close()


def test_an_unseen_category_and_a_missing_value_can_be_predicted():
    frame, y = table()
    classifier = MinoutClassifier(**SMALL).fit(frame, y)
    new = frame[:3].assign(town="far away", size=[1.0, None, 2.0])
    encoder = TableEncoder.restored(classifier.learner_.notes["table"])
    rows = encoder.encode_known_many(new)
    towns = [source == "town" for source in encoder.sources]
    assert not rows[:, towns].any()
    assert (classifier.predict(new) == classifier.learner_.predict(rows)).all()
    assert classifier.explain(new[:1]).label == classifier.explain(new.iloc[0]).label
    assert classifier.explain(dict(new.iloc[0])).label == classifier.predict(new)[0]
    assert len(classifier.what_if(new, y[:3])) == 3
    assert "far away" not in str(classifier.learner_.notes)


def test_a_word_among_numbers_is_learned_as_a_category():
    frame, y = table()
    classifier = MinoutClassifier(**SMALL).fit(frame, y)
    width = classifier.learner_.width
    strange = frame[:4].assign(size=["broken", 1.0, "broken", None], town="t0")
    empty = strange.assign(size=[None, 1.0, None, None])
    scores = classifier.decision_function(strange)
    assert (scores == classifier.decision_function(empty)).all()
    classifier.partial_fit(strange, ["broken"] * 4, at=0.0)
    assert classifier.learner_.width == width + 1
    assert classifier.columns_["size"].startswith("number, and 1 word as a category")
    assert classifier.predict(strange)[0] == "broken"
    assert classifier.audit().ok


def test_pandas_and_polars_are_the_same():
    frame, y = table()
    polars = in_polars(frame)
    one, other = MinoutClassifier(**SMALL).fit(frame, y), MinoutClassifier(**SMALL).fit(polars, y)
    assert one.columns_ == other.columns_
    assert (one.decision_function(polars) == other.decision_function(frame)).all()


def test_rows_of_weight_0_leave_no_category_behind():
    frame, y = table()
    weight = np.where(np.arange(60) % 3, 1.0, 0.0)
    frame.loc[0, "town"] = "nowhere"
    for X in (frame, in_polars(frame)):
        classifier = MinoutClassifier(**SMALL).fit(X, y, weight)
        assert "nowhere" not in str(classifier.learner_.notes)
        assert len(classifier.all_ids_) == 40


def test_overrides_are_followed_and_saved(tmp_path):
    frame, y = table()
    kinds = {"day": "ignore", "town": "category", "size": "number"}
    classifier = MinoutClassifier(**SMALL, column_kinds=kinds).fit(frame, y)
    assert classifier.columns_["day"] == "left out (you said so)"
    classifier.save(tmp_path / "file")
    assert MinoutClassifier.load(tmp_path / "file").column_kinds == kinds
    plain = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 2.0, 3.0]})
    classifier = MinoutClassifier(column_kinds={"a": "category"}).fit(plain, ["x", "y", "x"])
    assert classifier.learner_.width == 4


def test_a_folder_is_not_opened_with_other_overrides(tmp_path):
    frame, y = table()
    settings = {**SMALL, "store": tmp_path / "model"}
    kinds = {"day": "ignore"}
    classifier = MinoutClassifier(**settings, column_kinds=kinds).fit(frame, y)
    scores = classifier.decision_function(frame)
    classifier.learner_.close()
    for same in (kinds, None):
        twin = MinoutClassifier(**settings, column_kinds=same)
        assert (twin.decision_function(frame) == scores).all()
        twin.learner_.close()
    for other in ({"day": "date"}, {}, {"day": "ignore", "town": "category"}):
        words = "was made with column_kinds={'day': 'ignore'}, not .*; pass the same"
        with pytest.raises(InvalidInputError, match=words):
            MinoutClassifier(**settings, column_kinds=other).predict(frame)
    with pytest.raises(InvalidInputError, match="must be a dict"):
        MinoutClassifier(**settings, column_kinds=3).predict(frame)


def test_a_folder_of_plain_numbers_is_not_opened_with_overrides(tmp_path):
    settings = {**SMALL, "store": tmp_path / "model"}
    MinoutClassifier(**settings).fit([[0.0], [1.0]], ["a", "b"]).learner_.close()
    with pytest.raises(InvalidInputError, match="was made with column_kinds=None, not"):
        MinoutClassifier(**settings, column_kinds={"a": "number"}).predict([[1.0]])


def test_text_in_a_table_is_learned(tmp_path):
    rng = np.random.default_rng(0)
    words = {"no": "the parcel came too late again", "yes": "a fine thing that I like a lot"}
    y = np.array(["no", "yes"] * 30)
    said = [" ".join(rng.permutation(words[each].split())) + f" {n}" for n, each in enumerate(y)]
    frame = pd.DataFrame({"noise": rng.normal(size=60), "said": said})
    frame.loc[::10, "said"] = None
    classifier = streamed(frame[:50], y[:50])
    assert classifier.columns_["said"].startswith("category")
    classifier = MinoutClassifier(**SMALL).fit(frame[:50], y[:50])
    assert classifier.columns_["said"].startswith("text, hashed into 512 features (nearly all")
    told = frame["said"].notna().to_numpy()
    assert (classifier.predict(frame) == y)[told].all()
    encoder = TableEncoder.restored(classifier.learner_.notes["table"])
    sums = encoder.sum_by_column(classifier.explain(frame[55:56]).columns)
    assert abs(sums["said"]) > 10 * abs(sums["noise"])
    classifier.save(tmp_path / "file")
    twin = MinoutClassifier.load(tmp_path / "file")
    assert (twin.decision_function(frame) == classifier.decision_function(frame)).all()
    assert classifier.audit().ok


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
    assert classifier.learner_.settings.blocks == ((2, 514),)
    assert correct[3] > correct[2] - 0.05 > 0.75
    classifier.learner_.set_blocks([])
    classifier.consolidate()
    assert np.mean(classifier.predict(frame[100:]) == y[100:]) < 0.75


def test_a_table_without_text_has_no_blocks():
    frame, y = table()
    assert streamed(frame, y).learner_.settings.blocks == ()


def test_text_that_comes_late_is_a_block_from_its_first_row_on(tmp_path):
    frame, y = mixed()
    frame["said"] = frame["said"].astype(object)
    frame.loc[:19, "said"] = None
    settings = {**SMALL, "standardize": True, "whiten": False, "lda_prior": False}
    classifier = MinoutClassifier(**settings, store=tmp_path / "model")
    classifier.partial_fit(frame[:20], y[:20], ids=range(20))
    learner = classifier.learner_
    assert learner.settings.blocks == ()
    before = everything(classifier)
    with pytest.raises(InvalidInputError, match="stored with another row"):
        classifier.partial_fit(frame[20:], y[20:], ids=[*range(100, 239), 0])
    assert everything(classifier) == before
    classifier.partial_fit(frame[20:], y[20:], ids=range(20, 160))
    assert learner.settings.blocks == ((2, 514),)
    K = learner.inspect().K  # of a refresh in this call
    assert len(set(K[2:514])) == 1 < len(set(K))
    learner.close()
    with Learner.open(tmp_path / "model", read_only=True) as reader:
        assert reader.settings.blocks == ((2, 514),)


def test_a_model_with_text_that_was_taught_without_blocks_gets_them():
    frame, y = mixed()
    classifier = MinoutClassifier(**SMALL).fit(frame[:40], y[:40])
    blocks = classifier.learner_.settings.blocks
    classifier.learner_.set_blocks([])
    classifier.partial_fit(frame[40:42], y[40:42])
    assert classifier.learner_.settings.blocks == blocks


def test_readers_can_predict_while_categories_appear():
    frame, y = table()
    classifier = streamed(frame[:7], y[:7])
    wrong, done = [], threading.Event()

    def read():
        while not done.is_set():
            try:
                classifier.predict_proba(frame)
                classifier.predict(frame)
            except Exception as error:
                wrong.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for n in range(20):
            classifier.partial_fit(frame[:2].assign(town=f"new {n}"), y[:2], at=0.0)
    finally:
        done.set()
        thread.join()
    assert wrong == []
    assert "town=new 19" in TableEncoder.restored(classifier.learner_.notes["table"]).names


def everything(classifier):
    return pickle.dumps(classifier.learner_.__getstate__()), classifier.columns_


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
    frame, y = table()
    classifier = streamed(frame, y)
    before = everything(classifier)
    make, words = BAD[case]
    bad = make(frame.assign(colour="never seen"))
    with pytest.raises(ValueError, match=words):
        classifier.partial_fit(bad, y[: len(bad)])
    with pytest.raises(ValueError, match=words):
        classifier.predict(bad)
    assert everything(classifier) == before


def test_a_refused_id_takes_no_category_over():
    frame, y = table()
    classifier = streamed(frame, y)
    before = everything(classifier)
    with pytest.raises(InvalidInputError, match="stored with another row"):
        classifier.partial_fit(frame[:1].assign(town="never seen"), y[:1], ids=[0])
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
def test_bad_overrides_are_refused(kinds, words):
    with pytest.raises(InvalidInputError, match=words):
        MinoutClassifier(column_kinds=kinds).fit(*table())
    with pytest.raises(InvalidInputError, match="pass X as a data frame"):
        MinoutClassifier(column_kinds={"a": "number"}).fit([[1.0], [2.0]], ["a", "b"])


@pytest.mark.parametrize("note", [3, {}, "width"])
def test_a_file_whose_table_is_not_ours_is_refused(tmp_path, note):
    frame, y = table()
    classifier = streamed(frame, y)
    if note == "width":
        note = copy.deepcopy(classifier.learner_.notes["table"])
        note["slots"].pop()
    classifier.learner_.notes["table"] = note
    classifier.learner_.save(tmp_path / "f")
    with pytest.raises(InvalidInputError, match="note 'table' was not written by minout"):
        MinoutClassifier.load(tmp_path / "f")
