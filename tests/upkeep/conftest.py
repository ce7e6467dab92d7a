"""Models in folders: wines, as they are and with a few changes."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

from minout import Learner

KINDS = ("barolo", "grignolino", "barbera")
SETTINGS = {
    **{"C": 3.0, "whiten": True, "lda_prior": True, "standardize": True},
    **{"regions": 1, "expand": None},
}
"""All pinned, so that nothing has to be chosen."""


@pytest.fixture(scope="session")
def wine_data():
    """Rows (178, 13), labels and ids."""
    data = load_wine()
    order = np.random.default_rng(0).permutation(len(data.data))
    labels = [KINDS[n] for n in data.target[order]]
    return data.data[order], labels, [f"bottle-{n}" for n in order.tolist()]


@pytest.fixture(scope="session")
def original(tmp_path_factory, wine_data):
    """The model that `changed` is a copy of."""
    rows, labels, ids = wine_data
    folder = tmp_path_factory.mktemp("original") / "wines"
    with Learner.open(folder, **SETTINGS) as learner:
        learner.notes["cellar"] = "north"
        learner.teach_many(rows, labels, ids, weights=np.linspace(1.0, 2.0, len(rows)), at=7.0)
        learner.correct(ids[5], "barbera")
        learner.forget([ids[9], ids[100]])
    return folder


@pytest.fixture
def changed(tmp_path, original):
    """A model of 176 examples: taught, corrected, told to forget, with notes; it is closed."""
    return Path(shutil.copytree(original, tmp_path / "wines"))
