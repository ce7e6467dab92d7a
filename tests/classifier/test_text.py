"""Lists and series of strings, with features="text"."""

import numpy as np
import pandas as pd
import pytest

from minout import HashedText, InvalidInputError, Learner, MinoutClassifier, ScalarCodec

TEXTS = [
    *(f"meeting at {hour} in room {hour + 3}, agenda attached" for hour in range(8)),
    *(f"cheap pills, click now and save {amount}$ !!!" for amount in range(8)),
]
KINDS = ["work"] * 8 + ["spam"] * 8
NEW = ["the agenda of our meeting", "SAVE now, cheap cheap"]


@pytest.mark.parametrize("kind", [tuple, np.array, pd.Series, pd.DataFrame])
def test_texts_are_learned_from_every_container(kind):
    classifier = MinoutClassifier(features="text").fit(kind(TEXTS), KINDS)
    assert classifier.predict(kind(NEW)).tolist() == ["work", "spam"]
    assert classifier.score(kind(TEXTS), KINDS) == 1.0


@pytest.mark.parametrize("X", ["cheap pills", ["a", None], np.eye(2), []])
def test_what_are_not_texts_is_refused_and_changes_nothing(X):
    classifier = MinoutClassifier(features="text").fit(TEXTS, KINDS)
    before = classifier.predict_proba(NEW).tobytes()
    with pytest.raises(InvalidInputError):
        classifier.partial_fit(X, ["work", "spam"])
    with pytest.raises(InvalidInputError):
        classifier.predict(X)
    assert classifier.all_ids_ == list(range(16))
    assert classifier.predict_proba(NEW).tobytes() == before


def test_tags_say_which_input_is_taken():
    text = MinoutClassifier(features="text").__sklearn_tags__().input_tags
    table = MinoutClassifier().__sklearn_tags__().input_tags
    for tags, is_text in ((text, True), (table, False)):
        assert tags.string == tags.one_d_array == is_text
        assert tags.two_d_array == tags.sparse == (not is_text)


def test_a_learner_takes_one_text_or_many(tmp_path):
    learner = Learner.open(tmp_path / "mails", features="text")
    learner.teach_many(TEXTS[:12], KINDS[:12])
    for text, kind in zip(TEXTS[12:], KINDS[12:], strict=True):
        learner.teach(text, kind)
    with pytest.raises(InvalidInputError, match="not a string"):
        learner.teach(None, "work")
    with pytest.raises(InvalidInputError, match="put one text into a list"):
        learner.predict("cheap pills")
    assert learner.predict(NEW).tolist() == ["work", "spam"]
    scores = learner.scores(NEW).tobytes()
    learner.close()
    with Learner.open(tmp_path / "mails", read_only=True) as again:
        assert again.features == HashedText()
        assert again.scores(NEW).tobytes() == scores


def test_texts_are_stored_as_a_byte_per_number_unless_a_codec_is_given(tmp_path):
    own = ScalarCodec(4, np.full(8, -1.0), np.ones(8))
    for features, memory, size in (("text", "auto", 8_194), (HashedText(8), own, 4)):
        path = tmp_path / str(size)
        with Learner.open(path, features=features, memory=memory) as learner:
            learner.teach_many(TEXTS, KINDS)
            assert learner.memory.bytes_per_row == len(learner.code(0)) == size
        for given in (None, features):
            with Learner.open(path, features=given) as again:
                assert again.memory.bytes_per_row == size
                assert again.predict(TEXTS).tolist() == KINDS


def test_a_consolidated_model_of_texts_depends_on_the_set_of_texts_alone():
    one, other = Learner(features="text"), Learner(features="text")
    one.teach_many(TEXTS, KINDS)
    for i in reversed(range(16)):
        other.teach(TEXTS[i], KINDS[i])
        other.teach(f"another text {i}", "spam", id="another")
        other.forget(["another"])
    for learner in (one, other):
        learner.consolidate()
    labels = one.classes.tolist()
    columns = [other.classes.tolist().index(label) for label in labels]
    assert one.scores(NEW).tobytes() == other.scores(NEW)[:, columns].tobytes()
