"""A picture tells the same story as the explanation that it is drawn from."""

import io
import sys

import numpy as np
import pytest
from matplotlib.text import Text
from sklearn.datasets import load_digits, load_wine

from minout import InvalidInputError, MinoutClassifier
from minout.errors import MissingExtraError
from minout.picture import draw, draw_table

X, Y = load_digits(return_X_y=True)
STRAIGHT = {"whiten": False, "lda_prior": False, "regions": 1, "expand": None}
PLAIN = MinoutClassifier(**STRAIGHT).fit(X[:200], Y[:200], ids=[f"scan-{i}" for i in range(200)])


def words(figure):
    return [each.get_text() for each in figure.findobj(Text) if each.get_text()]


def pictures(figure):
    """Return the arrays of all images, after drawing everything."""
    figure.savefig(io.BytesIO(), format="png")
    shown = [axes.images[0] for axes in figure.findobj() if getattr(axes, "images", None)]
    return [np.asarray(each.get_array()) for each in shown]


def test_it_says_who_won_by_how_much_and_shows_the_weightiest_examples_of_both_sides():
    explanation, figure = PLAIN.explain(X[300]), PLAIN.picture(X[300])
    told = words(figure)
    assert str(explanation.label) in told
    assert f"and not {explanation.runner_up}, by a margin of {explanation.margin:.2f}" in told
    captions = "\n".join(told)
    for sign, label in ((1.0, explanation.label), (-1.0, explanation.runner_up)):
        assert f"speak for {label}" in told
        side = [each for each in explanation.supports if sign * each.weight > 0.0]
        for each in side[:5]:
            assert f"{each.id}" in captions
            assert f"{abs(each.weight):.2f}" in captions or f"{abs(each.weight):.3f}" in captions
        for each in side[5:]:
            assert f"\n{each.id}\n" not in captions
    stored = PLAIN.learner_.example(explanation.supports[0].id)[0].reshape(8, 8)
    assert any(np.allclose(each, stored / 16.0) for each in pictures(figure))


def test_the_separator_is_drawn_where_its_weights_are_those_of_pixels():
    weights = PLAIN.explain(X[300]).separator.reshape(8, 8)
    assert any(np.array_equal(each, weights) for each in pictures(PLAIN.picture(X[300])))


def test_with_a_feature_map_the_caller_brings_the_images():
    mapped = MinoutClassifier(features="scattering").fit(X[:100], Y[:100])
    assert len(pictures(mapped.picture(X[300]))) == 1  # the example alone
    supports = mapped.explain(X[300]).supports
    figure = mapped.picture(X[300], images={each.id: X[each.id] for each in supports})
    for_it = sum(each.weight > 0.0 for each in supports)
    assert len(pictures(figure)) == 1 + min(for_it, 5) + min(len(supports) - for_it, 5)


def test_a_row_in_no_class_is_told_as_such():
    rows = 16.0 * np.random.default_rng(0).random((400, 64))
    nowhere = rows[PLAIN.decision_function(rows).max(axis=1) <= 0.0][0]
    assert any("comes nearest, but is" in each for each in words(PLAIN.picture(nowhere)))


def test_with_one_class_there_is_only_the_example():
    figure = MinoutClassifier().fit(X[:3], ["only"] * 3).picture(X[0])
    assert "there is no other class" in words(figure)
    assert len(pictures(figure)) == 1


def test_images_of_any_shape():
    rows = np.random.default_rng(0).random((6, 4 * 5 * 3))
    explanation = MinoutClassifier().fit(rows, list("aaabbb")).explain(rows[0])
    for x in (rows[0], rows[:1], rows[0].reshape(4, 5, 3), np.zeros((4, 5, 3))):
        assert pictures(draw(explanation, x, image_shape=(4, 5, 3)))[0].shape == (4, 5, 3)
    for shape in (None, (4, 4), (60,), (4, 5, 3, 1)):
        with pytest.raises(InvalidInputError, match="60 numbers"):
            draw(explanation, rows[0], image_shape=shape)


def test_long_names_are_cut_and_odd_ones_are_drawn_as_they_are():
    labels = ["a very long name of a class indeed", "$\\alpha_{$", "two\nlines"]
    rows = np.random.default_rng(0).random((9, 16))
    classifier = MinoutClassifier().fit(rows, np.repeat(labels, 3))
    seen = set()
    for x in rows[::3]:
        figure = classifier.picture(x)
        pictures(figure)
        seen |= {*words(figure)}
    assert {"a very long name …", "\\$\\alpha_{\\$", "two lines"} <= seen
    assert not any(labels[0] in text for text in seen)


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="Pictures need matplotlib"):
        PLAIN.picture(X[0])


def test_the_picture_of_a_table_names_columns_and_examples_that_contribute_most():
    wines = load_wine()
    x, names = wines.data[3].copy(), wines.feature_names
    ids = [f"bottle-{n}" for n in range(178)]
    found = MinoutClassifier(**STRAIGHT).fit(wines.data, wines.target, ids=ids).explain(x)
    told = "\n".join(words(draw_table(found, x, names)))
    first = int(np.abs(found.columns).argmax())
    assert f"{names[first]} = {x[first]:.4g}" in told
    assert str(found.supports[0].id) in told
    assert f"by a margin of {found.margin:.2f}" in told
    x[first] = np.nan
    assert f"{names[first]} = missing" in "\n".join(words(draw_table(found, x, names)))
    with pytest.raises(InvalidInputError, match="13 columns, but there are 13 values and 2 names"):
        draw_table(found, x, ["a", "b"])
