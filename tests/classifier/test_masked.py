"""Masked values are refused: NumPy would use the numbers behind the mask."""

import numpy as np
import pytest

from minout import Identity, InvalidInputError, Learner, MinoutClassifier, Scattering

ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
LABELS = ["a", "b", "a"]
MASKED = np.ma.array(ROWS, mask=[[False, False], [True, False], [False, False]])
FORMS = {
    "array": MASKED,
    "list of rows": list(MASKED),
    "list of lists": [[1.0, 2.0], [np.ma.masked, 4.0], [5.0, 7.0]],
}


@pytest.mark.parametrize("form", list(FORMS))
def test_masked_rows_are_refused(form):
    learner, classifier = Learner(), MinoutClassifier()
    with pytest.raises(InvalidInputError, match=r"x holds masked values; fill them in or drop"):
        learner.teach_many(FORMS[form], LABELS)
    for call in (classifier.fit, classifier.partial_fit):
        with pytest.raises(InvalidInputError, match="X holds masked values"):
            call(FORMS[form], LABELS)
    learner.teach_many(ROWS, LABELS)
    classifier.fit(ROWS, LABELS)
    with pytest.raises(InvalidInputError, match="masked values"):
        learner.predict(FORMS[form])
    with pytest.raises(InvalidInputError, match="masked values"):
        classifier.predict(FORMS[form])
    for features in (Identity(), Scattering()):
        with pytest.raises(InvalidInputError, match="X holds masked values"):
            features.transform(FORMS[form])


def test_masked_labels_are_refused():
    y = np.ma.array([1, 2, 1], mask=[False, True, False])
    with pytest.raises(InvalidInputError, match="y holds masked values"):
        MinoutClassifier().fit(ROWS, y)
    with pytest.raises(InvalidInputError, match="not a MaskedConstant"):
        Learner().teach_many(ROWS, y)
