"""What an import brings with it."""

import subprocess
import sys

HEAVY = ("pandas", "polars", "torch", "matplotlib", "sklearn", "scipy.linalg", "scipy.optimize")


def loaded_by(code: str) -> set[str]:
    asked = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_learner_brings_nothing_heavy():
    assert not loaded_by("from minout import Learner").intersection(HEAVY)


def test_minout_alone_brings_nothing_that_takes_time():
    assert not loaded_by("import minout").intersection({*HEAVY, "numpy", "scipy"})


def test_every_public_name_is_imported_when_it_is_used_and_listed_before():
    code = (
        "import minout\n"
        "assert set(minout.__all__) <= set(dir(minout))\n"
        "for name in minout.__all__: getattr(minout, name)\n"
        "from minout import *\n"
        "assert Learner is minout.Learner and vars(minout)['Learner'] is Learner"
    )
    assert "minout.estimator" in loaded_by(code)


def test_the_classifier_brings_nothing_heavy_but_scikit_learn():
    # scikit-learn itself imports pandas, where it is installed.
    loaded = loaded_by("from minout import MinoutClassifier")
    assert not loaded.intersection({"polars", "torch", "matplotlib"})


def test_the_classifier_works_where_pandas_polars_and_matplotlib_are_not():
    without = "import sys\nfor name in ('pandas', 'polars', 'matplotlib'): sys.modules[name] = None"
    use = (
        "from minout import MinoutClassifier\n"
        "c = MinoutClassifier().fit([[0.0], [1.0]], ['a', 'b'])\n"
        "assert c.predict([[0.1]]).tolist() == ['a']"
    )
    assert "minout.estimator" in loaded_by(f"{without}\n{use}")
