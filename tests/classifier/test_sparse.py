"""Sparse matrices: narrow ones are made dense, wide ones are projected."""

import numpy as np
import pytest
from scipy import sparse

from minout import InvalidInputError, Learner, MinoutClassifier, Projection

WIDE = 50_000


def wide_rows(count=30, seed=0):
    """Return sparse rows of three classes, each with columns of its own, and their labels."""
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.arange(count) % 3]
    columns = rng.integers(0, 40, (count, 12)) + 1_000 * (np.arange(count) % 3)[:, None]
    rows = np.repeat(np.arange(count), 12)
    ones = np.ones(12 * count)
    return sparse.csr_array((ones, (rows, columns.ravel())), shape=(count, WIDE)), y


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_a_narrow_matrix_is_the_same_as_its_dense_array(kind):
    X = np.random.default_rng(1).integers(0, 3, (20, 6)).astype(float)
    y = (X[:, 0] > X[:, 1]).astype(int)
    dense = MinoutClassifier().fit(X, y)
    narrow = MinoutClassifier().fit(kind(X), y)
    assert narrow.predict_proba(kind(X)).tobytes() == dense.predict_proba(X).tobytes()
    one = kind(X[:1])
    assert narrow.explain(one).margin == dense.explain(X[0]).margin
    assert narrow.what_if(kind(X), y) == dense.what_if(X, y)


def test_a_wide_matrix_is_refused_with_the_map_that_takes_it():
    X, y = wide_rows()
    classifier = MinoutClassifier()
    with pytest.raises(InvalidInputError, match=r'50,000 columns.*pass features="projection"'):
        classifier.fit(X, y)
    assert not classifier.__sklearn_is_fitted__()
    assert MinoutClassifier().fit(X[:, :1_024], y).n_features_in_ == 1_024


def test_a_wide_matrix_is_projected_and_never_made_dense(monkeypatch):
    def refuse(self, *args, **kwargs):
        raise AssertionError("a sparse matrix was made dense")

    for kind in (sparse.csr_array, sparse.csr_matrix):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)
    X, y = wide_rows()
    classifier = MinoutClassifier(features="projection").fit(X, y)
    test, labels = wide_rows(seed=1)
    assert classifier.score(test, labels) == 1.0
    assert classifier.predict_proba(test).argmax(axis=1).tolist() == [0, 1, 2] * 10
    assert classifier.explain(test[[0]]).label == "a"
    assert [each.interfered for each in classifier.what_if(test[:2], labels[:2])]
    assert classifier.n_features_in_ == WIDE


def test_a_learner_takes_sparse_rows_and_columns_that_come_later(tmp_path):
    X, y = wide_rows()
    learner = Learner(features="projection")
    learner.teach_many(X[:20, :3_000], y[:20].tolist())
    learner.teach(X[[20]], y[20], id="wider")
    assert learner.predict(X).tolist() == y.tolist()
    assert learner.explain(X[[0]].toarray()[0]).margin == learner.explain(X[[0]]).margin
    assert learner.what_if(X[[1]], "b") == learner.what_if(X[[1]].toarray()[0], "b")
    learner.save(tmp_path / "model")
    again = Learner.load(tmp_path / "model")
    assert again.features == Projection()
    assert again.scores(X).tobytes() == learner.scores(X).tobytes()
    assert learner.teach_many(sparse.csr_array((0, 7)), []) == []
