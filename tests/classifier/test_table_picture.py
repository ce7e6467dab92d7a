"""The picture of a table tells the same story as the explanation that it is drawn from."""

import numpy as np
import pytest
from matplotlib.text import Text
from sklearn.datasets import load_wine

from minout import InvalidInputError, MinoutClassifier
from minout.classifier import draw_table

DATA = load_wine()
MODEL = MinoutClassifier(whiten=False, lda_prior=False, regions=1, expand=None).fit(
    DATA.data, DATA.target, ids=[f"bottle-{n}" for n in range(178)]
)


def words(figure):
    return [each.get_text() for each in figure.findobj(Text) if each.get_text()]


def test_it_names_the_columns_and_examples_that_contribute_most():
    found = MODEL.explain(DATA.data[3])
    told = "\n".join(words(draw_table(found, DATA.data[3], DATA.feature_names)))
    first = int(np.abs(found.columns).argmax())
    assert f"{DATA.feature_names[first]} = {DATA.data[3, first]:.4g}" in told
    assert str(found.supports[0].id) in told
    assert f"by a margin of {found.margin:.2f}" in told


def test_a_missing_value_is_called_missing():
    x = DATA.data[3].copy()
    found = MODEL.explain(x)
    x[int(np.abs(found.columns).argmax())] = np.nan
    assert "missing" in "\n".join(words(draw_table(found, x, DATA.feature_names)))


def test_names_of_other_columns_are_refused():
    with pytest.raises(InvalidInputError, match="13 columns, but there are 13 values and 2 names"):
        draw_table(MODEL.explain(DATA.data[0]), DATA.data[0], ["a", "b"])
