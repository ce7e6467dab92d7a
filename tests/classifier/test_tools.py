"""scikit-learn's tools take the classifier for one of theirs."""

from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from minout import MinoutClassifier

IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target]
STRAIGHT = {"regions": 1, "expand": None}


def test_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), SelectKBest(k=2), MinoutClassifier())
    pipeline.fit(IRIS.data, NAMES)
    assert pipeline.score(IRIS.data, NAMES) > 0.9
    assert pipeline.predict_proba(IRIS.data).shape == (150, 3)
    assert pipeline[-1].n_features_in_ == 2


def test_grid_search_in_two_processes():
    strengths = [500.0, 0.5]
    search = GridSearchCV(MinoutClassifier(**STRAIGHT), {"C": strengths}, cv=2, n_jobs=2)
    search.fit(IRIS.data, NAMES)
    assert search.best_params_["C"] in strengths
    assert search.best_estimator_.audit().ok
    assert search.score(IRIS.data, NAMES) > 0.9


def test_inside_other_estimators():
    vote = VotingClassifier(
        [
            ("minout", MinoutClassifier(**STRAIGHT)),
            ("tree", DecisionTreeClassifier(random_state=0)),
        ],
        voting="soft",
    )
    for estimator in (
        vote,
        OneVsRestClassifier(MinoutClassifier(**STRAIGHT)),
        CalibratedClassifierCV(MinoutClassifier(**STRAIGHT), cv=2),
    ):
        assert estimator.fit(IRIS.data, NAMES).score(IRIS.data, NAMES) > 0.9


def test_a_clone_has_the_parameters_and_none_of_the_examples():
    classifier = MinoutClassifier(C=5.0, features=len, image_shape=(2, 2))
    assert clone(classifier).get_params() == classifier.get_params()
    assert not hasattr(clone(MinoutClassifier(**STRAIGHT).fit(IRIS.data, NAMES)), "classes_")


def test_its_own_arguments_can_be_routed():
    classifier = MinoutClassifier()
    for request in ("set_partial_fit_request", "set_predict_request", "set_fit_request"):
        assert hasattr(classifier, request)
