"""The classifier's notes in a file that someone else may have written."""

import pytest

from minout import InvalidInputError, Learner, MinoutClassifier

NOTES = [
    {},
    3,
    [1],
    {"width": 1},
    {"width": "x", "dtype": "<U1"},
    {"width": -1, "dtype": "<U1"},
    {"names": [3], "dtype": "<U1"},
    {"dtype": "|V1000000000"},
    {"dtype": 3},
    {"dtype": "<U1", "announced": 3},
    {"dtype": "<U1", "announced": [1, "a"]},
    {"dtype": "<U1", "class_weight": 3},
    {"dtype": "<U1", "class_weight": {"balanced": True, "weights": [[1]]}},
]


@pytest.mark.parametrize("number", range(len(NOTES)))
def test_a_file_whose_notes_are_not_ours_is_refused(tmp_path, number):
    learner = Learner()
    learner.teach_many([[0.0], [1.0]], ["a", "b"])
    learner.notes["classifier"] = NOTES[number]
    learner.save(tmp_path / "f")
    with pytest.raises(InvalidInputError, match="note 'classifier' was not written by minout"):
        MinoutClassifier.load(tmp_path / "f")


@pytest.mark.parametrize("note", [3, {"columns": 3}], ids=["number", "columns"])
def test_a_file_whose_columns_are_not_ours_is_refused(tmp_path, note):
    learner = Learner()
    learner.teach_many([[0.0], [1.0]], ["a", "b"])
    learner.notes["files"] = note
    learner.save(tmp_path / "f")
    with pytest.raises(InvalidInputError, match="note 'files' was not written by minout"):
        MinoutClassifier.load(tmp_path / "f")
