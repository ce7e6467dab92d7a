"""`Predictor`: batches of columns, as Ray Data passes them."""

import numpy as np
import pytest

from minout import InvalidInputError, Learner
from minout.cluster import Predictor
from oracle.margin import STRAIGHT, clusters

PINNED = STRAIGHT | {"C": 5.0, "whiten": False, "lda_prior": False, "standardize": True}
PETS = [{"legs": 4, "says": "meow"}, {"legs": 2, "says": "tweet"}, {"legs": 4, "says": "woof"}]


@pytest.fixture
def arrays(tmp_path):
    """A model of arrays, its rows, and its learner."""
    rows, labels = clusters(0, classes=3, each=9)
    learner = Learner(**PINNED)
    learner.teach_many(rows, labels)
    learner.save(tmp_path / "arrays.minout")
    return tmp_path / "arrays.minout", rows, learner


def test_rows_are_the_only_column_or_the_one_that_is_named(arrays):
    model, rows, learner = arrays
    wanted = learner.predict(rows).tolist()
    only = Predictor(model)({"item": rows})
    named = Predictor(model, column="x")({"id": np.arange(27), "x": [*rows]})
    assert only["predicted"].tolist() == named["predicted"].tolist() == wanted
    assert only["probability"].tolist() == learner.probabilities(rows).max(axis=1).tolist()
    assert (named["id"] == np.arange(27)).all()
    with pytest.raises(InvalidInputError, match=r"Name the column .* there are id, x"):
        Predictor(model)({"id": np.arange(27), "x": [*rows]})


def test_rows_that_no_label_scores_get_the_unknown_one(arrays):
    model, rows, learner = arrays
    rows = np.random.default_rng(0).normal(size=(200, rows.shape[1]))
    found = Predictor(model, unknown=-1)({"item": rows})["predicted"].tolist()
    assert found == learner.predict(rows, unknown=-1).tolist()
    assert -1 in found


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context")
def test_a_table_is_predicted_by_name_on_ray(two_nodes, tmp_path):
    data = pytest.importorskip("ray.data", reason="Ray Data cannot be imported here")
    with Learner.open(tmp_path / "pets.minout", **PINNED) as learner:
        learner.teach_many(PETS, ["cat", "bird", "dog"])
        wanted = learner.predict(PETS).tolist()
    rows = [{"number": n, **PETS[n % 3]} for n in range(12)]
    made = data.from_items(rows).map_batches(
        Predictor, fn_constructor_args=[tmp_path / "pets.minout"], batch_size=4, concurrency=1
    )
    found = {row["number"]: row["predicted"] for row in made.take_all()}
    assert found == {n: wanted[n % 3] for n in range(12)}
