"""A picture tells the same story as the explanation that it is drawn from."""

import io
import sys

import numpy as np
import pytest
from matplotlib.text import Text
from sklearn.datasets import load_digits

from minout import InvalidInputError, MinoutClassifier
from minout.classifier import draw
from minout.errors import MissingExtraError

X, Y = load_digits(return_X_y=True)
WORDS = np.array(
    ["nought", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
)[Y]
IDS = [f"scan-{i}" for i in range(200)]
PLAIN = MinoutClassifier(whiten=False, lda_prior=False).fit(X[:200], WORDS[:200], ids=IDS)
MAPPED = MinoutClassifier(features="scattering").fit(X[:200], Y[:200])


def words(figure):
    return [each.get_text() for each in figure.findobj(Text) if each.get_text()]


def pictures(figure):
    return [axes.images[0] for axes in figure.findobj() if getattr(axes, "images", None)]


def written(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def test_it_says_who_won_against_whom_and_by_how_much():
    explanation = PLAIN.explain(X[300])
    figure = PLAIN.picture(X[300])
    told = words(figure)
    assert explanation.label in told
    assert f"and not {explanation.runner_up}, by a margin of {explanation.margin:.2f}" in told
    assert f"speak for {explanation.label}" in told
    assert f"speak for {explanation.runner_up}" in told
    assert written(figure).startswith(b"\x89PNG")


def test_it_shows_the_weightiest_examples_of_both_sides_with_ids_and_weights():
    explanation = PLAIN.explain(X[300])
    figure = PLAIN.picture(X[300])
    captions = "\n".join(words(figure))
    for sign in (1.0, -1.0):
        side = [each for each in explanation.supports if sign * each.weight > 0.0]
        for each in side[:5]:
            assert f"{each.id}" in captions
            assert f"{abs(each.weight):.2f}" in captions or f"{abs(each.weight):.3f}" in captions
        for each in side[5:]:
            assert f"\n{each.id}\n" not in captions
    first = explanation.supports[0]
    stored = PLAIN.learner_.example(first.id)[0].reshape(8, 8)
    shown = [np.asarray(each.get_array()) for each in pictures(figure)]
    assert any(np.allclose(each, stored / 16.0) for each in shown if each.shape == (8, 8))


def test_the_separator_is_drawn_where_its_weights_are_those_of_pixels():
    explanation = PLAIN.explain(X[300])
    weights = explanation.separator.reshape(8, 8)
    shown = [np.asarray(each.get_array()) for each in pictures(PLAIN.picture(X[300]))]
    assert any(np.array_equal(each, weights) for each in shown)
    assert len(pictures(MAPPED.picture(X[300]))) == 1  # the example alone


def test_with_a_feature_map_the_caller_brings_the_images():
    supports = MAPPED.explain(X[300]).supports
    images = {each.id: X[each.id] for each in supports}
    figure = MAPPED.picture(X[300], images=images)
    for_it = sum(each.weight > 0.0 for each in supports)
    expected = 1 + min(for_it, 5) + min(len(supports) - for_it, 5)
    assert len(pictures(figure)) == expected
    written(figure)


def test_a_row_in_no_class_is_told_as_such():
    rng = np.random.default_rng(0)
    rows = 16.0 * rng.random((400, 64))
    nowhere = rows[PLAIN.decision_function(rows).max(axis=1) <= 0.0][0]
    assert any("comes nearest, but is" in each for each in words(PLAIN.picture(nowhere)))


def test_with_one_class_there_is_only_the_example():
    classifier = MinoutClassifier().fit(X[:3], ["only"] * 3)
    figure = classifier.picture(X[0])
    assert "there is no other class" in words(figure)
    assert len(pictures(figure)) == 1
    written(figure)


def test_images_of_any_shape():
    rng = np.random.default_rng(0)
    rows = rng.random((6, 4 * 5 * 3))
    classifier = MinoutClassifier(image_shape=(4, 5, 3)).fit(rows, list("aaabbb"))
    for x in (rows[0], rows[:1], rows[0].reshape(4, 5, 3)):
        figure = draw(classifier.explain(rows[0]), x, image_shape=(4, 5, 3))
        assert np.asarray(pictures(figure)[0].get_array()).shape == (4, 5, 3)
        written(figure)
    blank = draw(classifier.explain(rows[0]), np.zeros((4, 5, 3)))
    written(blank)


@pytest.mark.parametrize("shape", [None, (4, 4), (60,), (4, 5, 3, 1)])
def test_a_row_that_is_no_image_is_refused(shape):
    rows = np.random.default_rng(0).random((4, 60))
    explanation = MinoutClassifier().fit(rows, list("aabb")).explain(rows[0])
    with pytest.raises(InvalidInputError, match="60 numbers"):
        draw(explanation, rows[0], image_shape=shape)


def test_long_names_are_cut_and_odd_ones_are_drawn_as_they_are():
    labels = ["a very long name of a class indeed", "$\\alpha_{$", "two\nlines"]
    rows = np.random.default_rng(0).random((9, 16))
    classifier = MinoutClassifier().fit(
        rows, np.repeat(labels, 3), ids=[f"$i_{i}" * 9 for i in range(9)]
    )
    seen = set()
    for x in rows[::3]:
        figure = classifier.picture(x)
        written(figure)
        seen |= {*words(figure)}
    assert {"a very long name …", "\\$\\alpha_{\\$", "two lines"} <= seen
    assert "speak for a very long name of a c…" in seen
    captions = [text.split("\n")[1] for text in seen if "\n\\$i_" in text]
    assert captions
    assert {len(caption.replace("\\$", "$")) for caption in captions} == {16}
    assert all(caption.endswith("…") for caption in captions)
    assert not any(labels[0] in text for text in seen)


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r'pip install "minout\[figures\]"'):
        PLAIN.picture(X[0])
