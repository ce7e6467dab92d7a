"""scikit-learn's own law book, with no check excused."""

import os
import subprocess
import sys
from unittest import SkipTest

from sklearn.utils.estimator_checks import parametrize_with_checks

from minout import MinoutClassifier

PINS = {"C": 5.0, "whiten": False, "lda_prior": False, "standardize": True}
PINNED = MinoutClassifier(features="projection", **PINS, regions=1, expand=None)
NEED_SCIPY = "SCIPY_ARRAY_API is not set"
"""Why a check is skipped here: SciPy reads that variable when it is imported."""


@parametrize_with_checks([MinoutClassifier(), PINNED])
def test_the_classifier_obeys_scikit_learn(estimator, check):
    try:
        check(estimator)
    except SkipTest as skipped:
        if not str(skipped).startswith(NEED_SCIPY):
            raise AssertionError("a check is skipped") from skipped
        raise


def test_the_check_that_is_skipped_here_passes_where_scipy_lets_it_run():
    asked = (
        "from sklearn.utils.estimator_checks import estimator_checks_generator\n"
        "from minout import MinoutClassifier\n"
        "quick = MinoutClassifier(C=5.0, whiten=False, lda_prior=False, regions=1, expand=None)\n"
        "for estimator, check in estimator_checks_generator(quick):\n"
        "    if 'array_api' in (name := check.func.__name__):\n"
        "        check(estimator)\n"
        "        print(name)\n"
    )
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["check_array_api_input"]
