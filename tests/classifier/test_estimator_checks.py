"""scikit-learn's own law book, with no check excused."""

import os
import subprocess
import sys

from sklearn.utils.estimator_checks import parametrize_with_checks

from minout import MinoutClassifier

VARIANTS = [
    MinoutClassifier(),
    MinoutClassifier(refresh="manual", regions=1, expand=None),
    MinoutClassifier(C=5.0, whiten=False, lda_prior=False, standardize=True),
    MinoutClassifier(features="random_fourier", regions=1, expand=None),
    MinoutClassifier(features="projection", regions=1, expand=None),
]


@parametrize_with_checks(VARIANTS)
def test_the_classifier_obeys_scikit_learn(estimator, check):
    check(estimator)


def test_not_one_check_is_skipped_where_scipy_lets_all_of_them_run():
    # Which checks are run does not depend on the settings; with these they are run quickly.
    asked = (
        "from sklearn.utils.estimator_checks import check_estimator\n"
        "from minout import MinoutClassifier\n"
        "pins = {'C': 5.0, 'whiten': False, 'lda_prior': False, 'standardize': True}\n"
        "quick = MinoutClassifier(**pins, regions=1, expand=None)\n"
        "for result in check_estimator(quick): print(result['status'])\n"
    )
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True
    )
    statuses = done.stdout.split()
    assert len(statuses) > 50
    assert set(statuses) == {"passed"}
