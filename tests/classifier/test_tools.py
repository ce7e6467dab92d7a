"""scikit-learn's tools take the classifier for one of theirs."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
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


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_cross_validation_without_tuning_or_scaling(load):
    X, y = load(return_X_y=True)
    assert cross_val_score(MinoutClassifier(), X, y, cv=3).mean() > 0.9


def test_grid_search_in_two_processes():
    strengths = [500.0, 0.5, "auto"]
    search = GridSearchCV(MinoutClassifier(**STRAIGHT), {"C": strengths}, cv=3, n_jobs=2)
    search.fit(IRIS.data, NAMES)
    assert search.best_params_["C"] in strengths
    assert search.best_estimator_.audit().ok
    assert search.score(IRIS.data, NAMES) > 0.9


@pytest.mark.parametrize("scoring", ["roc_auc_ovr", "neg_log_loss", "balanced_accuracy"])
def test_scorers_that_need_probabilities(scoring):
    classifier = MinoutClassifier().fit(IRIS.data, NAMES)
    assert np.isfinite(get_scorer(scoring)(classifier, IRIS.data, NAMES))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_out_of_fold_answers(method):
    answers = cross_val_predict(MinoutClassifier(**STRAIGHT), IRIS.data, NAMES, cv=3, method=method)
    assert answers.shape == ((150,) if method == "predict" else (150, 3))


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
    features = len
    classifier = MinoutClassifier(C=5.0, features=features, image_shape=(2, 2))
    copied = clone(classifier)
    assert copied.get_params() == classifier.get_params()
    assert not hasattr(clone(MinoutClassifier().fit(IRIS.data, NAMES)), "classes_")


def test_its_own_arguments_can_be_routed():
    classifier = MinoutClassifier()
    for request in ("set_partial_fit_request", "set_predict_request", "set_fit_request"):
        assert hasattr(classifier, request)
