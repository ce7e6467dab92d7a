"""What a model knows of its inputs: forms of rows, labels and ids as text, the facts of files."""

import pickle

import numpy as np
import pandas as pd
import pytest

from minout import InvalidInputError, Learner

RECORDS = [{"a": n, "b": -n} for n in range(6)]
ARRAY = np.array([[n, -n] for n in range(6)], dtype=float)
LABELS = ["low"] * 3 + ["high"] * 3


def lengths(texts):
    return [[len(each), each.count("e")] for each in texts]


@pytest.mark.parametrize("settings", [{"features": "projection"}, {"memory": "uint8"}])
def test_records_of_numbers_are_arrays_with_names_for_other_maps(settings):
    named, plain = Learner(**settings), Learner(**settings)
    named.teach_many(RECORDS, LABELS, at=0.0)
    plain.teach_many(ARRAY, LABELS, at=0.0)
    assert named.schema.columns == ["a", "b"]
    mixed = [{"b": each["b"], "other": "word", "a": str(each["a"])} for each in RECORDS]
    assert (named.scores(mixed) == plain.scores(ARRAY)).all()
    for wrong, words in (({"a": 1}, "'b' is missing"), ({"a": 1, "b": "x"}, "must be a number")):
        with pytest.raises(InvalidInputError, match=words):
            named.teach(wrong, "low")


def test_a_frame_of_plain_numbers_is_an_array_with_names():
    learner, plain = Learner(), Learner()
    learner.teach_many(pd.DataFrame(RECORDS), LABELS, at=0.0)
    plain.teach_many(ARRAY, LABELS, at=0.0)
    assert learner.schema.names == ("a", "b")
    assert (learner.scores(pd.DataFrame(RECORDS)[["b", "a"]]) == plain.scores(ARRAY)).all()
    assert learner.settings.missing == "error"


@pytest.mark.parametrize("features", ["text", lengths])
def test_records_of_one_column_are_its_texts(features):
    texts, named = Learner(features=features), Learner(features=features)
    words = ["be", "me", "elephant", "evergreen"]
    texts.teach_many(words, LABELS[1:5], at=0.0)
    named.teach_many([{"word": each} for each in words], LABELS[1:5], at=0.0)
    assert (named.scores(words) == texts.scores([{"w": each} for each in words])).all()
    assert texts.explain("he").label == named.explain({"word": "he"}).label


BAD = {
    "number": ({"X": [[0.0, 1.0], [np.nan, 1.0]]}, 1),
    "masked": ({"X": np.ma.array(ARRAY[:2], mask=np.eye(2))}, None),
    "label": ({"y": ["low", 3]}, 1),
    "id": ({"ids": [True, "b"]}, 0),
    "twice": ({"ids": ["c", "c"]}, 1),
    "stored": ({"ids": ["new", "a"]}, 1),
    "weight": ({"weights": [1.0, -1.0]}, 1),
    "time": ({"at": [0.0, "now"]}, 1),
    "count": ({"y": ["low"]}, None),
}


@pytest.mark.parametrize("case", BAD)
def test_an_error_names_the_row_at_fault_and_nothing_is_taught(case):
    learner = Learner()
    learner.teach([5.0, 5.0], "low", id="a")
    wrong, row = BAD[case]
    with pytest.raises(InvalidInputError) as caught:
        learner.teach_many(**{"X": ARRAY[:2], "y": ["low", "high"], **wrong})
    assert caught.value.row == row
    assert learner.ids == ["a"]


def test_labels_and_ids_of_a_file_are_those_of_the_model():
    numbers, words = Learner(), Learner()
    numbers.teach_many([[0.0], [1.0]], [1, 2], ids=[7, "8"])
    words.teach_many([[0.0], [1.0]], ["1.0", "cat"])
    assert numbers.labels_of(["1", "2.0", "3", 4]) == [1, 2, 3, 4]
    assert words.labels_of(["1", 1, "2", "2.0", "dog"]) == ["1.0", "1.0", "2", "2", "dog"]
    assert [numbers.find_id(each) for each in ("7", "8", "9", "1e0")] == [7, "8", None, None]


@pytest.mark.parametrize("kept", ["copy", "store", "pickle"])
def test_what_is_known_of_files_is_kept(kept, tmp_path):
    learner = Learner.open(tmp_path / "model") if kept == "store" else Learner()
    learner.teach_many(RECORDS, LABELS)
    learner.set_source(label="kind", image_shape=[2, 1])
    learner.set_source(id="number", decimal=",")
    if kept == "copy":
        learner.save(tmp_path / "file")
        twin = Learner.load(tmp_path / "file")
    elif kept == "pickle":
        twin = pickle.loads(pickle.dumps(learner))
    else:
        learner.close()
        twin = Learner.open(tmp_path / "model", read_only=True)
    assert twin.schema.source == ("kind", "number", ",", (2, 1), None)
    assert twin.schema.columns == ["a", "b"]
    for wrong in ({"label": 3}, {"decimal": ";"}, {"image_shape": [3]}):
        with pytest.raises(InvalidInputError):
            Learner().set_source(**wrong)
