"""Frames of pandas and polars go in as they are."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

from minout import MinoutClassifier

IRIS = load_iris()
COLUMNS = ["sepal length", "sepal width", "petal length", "petal width"]
NAMES = IRIS.target_names[IRIS.target]
PANDAS = pd.DataFrame(IRIS.data, columns=COLUMNS)
POLARS = pl.DataFrame(IRIS.data, schema=COLUMNS)


@pytest.mark.parametrize(
    ("frame", "labels"),
    [
        (PANDAS, pd.Series(NAMES)),
        (PANDAS, pd.Series(NAMES, dtype="category")),
        (PANDAS.convert_dtypes(), pd.Series(NAMES, dtype="string")),
        (PANDAS.astype(np.float32), NAMES.tolist()),
        (POLARS, pl.Series(NAMES)),
        (POLARS, pl.Series(NAMES, dtype=pl.Categorical)),
        (POLARS, NAMES),
    ],
)
def test_a_frame_is_learned_like_the_array_in_it(frame, labels):
    rows = np.asarray(frame, dtype=np.float64)
    plain = MinoutClassifier(regions=1, expand=None).fit(rows, NAMES)
    framed = MinoutClassifier(regions=1, expand=None).fit(frame, labels)
    assert framed.feature_names_in_.tolist() == COLUMNS
    assert framed.n_features_in_ == 4
    assert (framed.decision_function(frame) == plain.decision_function(rows)).all()
    assert framed.predict(frame).tolist() == plain.predict(rows).tolist()
    assert framed.score(frame, labels) == plain.score(rows, NAMES)


def test_numbers_of_columns_are_no_names():
    classifier = MinoutClassifier(C=5.0, regions=1, expand=None)
    classifier.fit(pd.DataFrame(IRIS.data), NAMES)
    assert not hasattr(classifier, "feature_names_in_")
    scores = classifier.decision_function(IRIS.data)  # without a warning about names
    assert (classifier.decision_function(pd.DataFrame(IRIS.data)) == scores).all()


@pytest.mark.parametrize("frame", [PANDAS[COLUMNS[::-1]], POLARS[COLUMNS[::-1]]])
def test_columns_in_another_order_are_refused(frame):
    classifier = MinoutClassifier(C=5.0, regions=1, expand=None).fit(PANDAS, NAMES)
    with pytest.raises(ValueError, match="same order"):
        classifier.predict(frame)
    with pytest.raises(ValueError, match="same order"):
        classifier.partial_fit(frame, NAMES)
    assert len(classifier.all_ids_) == 150


@pytest.mark.parametrize(
    ("frame", "labels"),
    [
        (PANDAS, pd.Series(NAMES).where(IRIS.target > 0)),
        (PANDAS, pd.Series(IRIS.target, dtype="Int64").where(IRIS.target > 0)),
        (POLARS, pl.Series([None, *NAMES[1:]])),
        (POLARS, pl.Series([None, *IRIS.target[1:].tolist()])),
    ],
)
def test_missing_labels_are_refused(frame, labels):
    classifier = MinoutClassifier()
    with pytest.raises(ValueError):  # noqa: PT011  (each library has its own words for it)
        classifier.fit(frame, labels)
    assert not hasattr(classifier, "classes_")


@pytest.mark.parametrize(
    "frame",
    [
        PANDAS.mask(PANDAS > 7.0),
        POLARS.with_columns(pl.lit(None, dtype=pl.Float64).alias(COLUMNS[0])),
        PANDAS.assign(**{COLUMNS[0]: "long"}),
        POLARS.with_columns(pl.lit("long").alias(COLUMNS[0])),
    ],
    ids=["missing", "none", "words", "polars-words"],
)
@pytest.mark.parametrize("first", [PANDAS, POLARS], ids=["pandas", "polars"])
def test_missing_values_and_words_are_refused_after_plain_numbers(frame, first):
    classifier = MinoutClassifier().fit(first[:60], NAMES[:60])
    with pytest.raises(ValueError):  # noqa: PT011  (each library has its own words for it)
        classifier.partial_fit(frame[60:], NAMES[60:])
    assert len(classifier.all_ids_) == 60


def test_a_frame_goes_to_a_function_of_the_users_as_an_array():
    def described(batch):
        return [[len(row[0]), row[1]] for row in batch]

    frame = pd.DataFrame({"word": ["a", "abcdef", "b", "uvwxyz"], "count": [1, 9, 2, 8]})
    classifier = MinoutClassifier(features=described).fit(frame, ["s", "l", "s", "l"])
    assert classifier.predict(frame).tolist() == ["s", "l", "s", "l"]
