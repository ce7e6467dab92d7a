"""skops stores a fitted classifier, and the only type to trust is the classifier's own."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from minout import MinoutClassifier

skops_io = pytest.importorskip("skops.io", reason="skops is not installed")
IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target]
OWN = "minout.estimator.MinoutClassifier"


@pytest.mark.parametrize(
    "labels", [NAMES, IRIS.target, IRIS.target > 0], ids=["str", "int", "bool"]
)
def test_a_classifier_goes_on_to_the_same_bits(labels, tmp_path):
    classifier = MinoutClassifier().partial_fit(IRIS.data[::2], labels[::2])
    skops_io.dump(classifier, tmp_path / "model.skops")
    assert skops_io.get_untrusted_types(file=tmp_path / "model.skops") == [OWN]
    other = skops_io.load(tmp_path / "model.skops", trusted=[OWN])
    assert other.certificate_ == classifier.certificate_
    for each in (classifier, other):
        each.partial_fit(IRIS.data[1::2], labels[1::2])
    assert (other.decision_function(IRIS.data) == classifier.decision_function(IRIS.data)).all()
    assert np.array_equal(other.predict(IRIS.data), classifier.predict(IRIS.data))
    assert other.classes_.dtype == classifier.classes_.dtype


def test_a_pipeline_with_names_of_columns_is_stored(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(IRIS.data, columns=list("abcd"))
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, MinoutClassifier()).fit(frame, NAMES)
    skops_io.dump(pipeline, tmp_path / "model.skops")
    other = skops_io.load(tmp_path / "model.skops", trusted=[OWN])
    assert other[-1].feature_names_in_.tolist() == list("abcd")
    assert (other.predict(frame) == pipeline.predict(frame)).all()
