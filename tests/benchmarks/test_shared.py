"""What the benchmarks share: data, rivals, tables, parts, and fresh processes."""

import os

import numpy as np
import pytest

from benchmarks import engine
from benchmarks.data import embedding_vectors, encoder_vectors, split_set, two_gaussians
from benchmarks.learners import PINNED, new_learner
from benchmarks.measuring import in_fresh_process
from benchmarks.parts import choose_parts
from benchmarks.rivals import plain_lda, streaming_lda, tuned_lda
from benchmarks.tables import Table, fit_width
from minout.errors import InvalidInputError


def test_the_two_gaussians_have_the_overlap_that_is_documented():
    table = two_gaussians(4_000, 4_000, np.random.default_rng(0))
    assert (np.diff(table.labels) >= 0).all()
    predicted = tuned_lda(table.rows, table.labels, folds=5).predict(table.test_rows)
    assert (predicted == table.test_labels).mean() == pytest.approx(0.9, abs=0.02)
    spans = table.rows.std(axis=0)
    assert spans.max() / spans.min() > 1e6


def test_encoder_vectors_have_unit_length_and_labels_in_order():
    vectors = encoder_vectors(4, 3, 2, dimensions=8, spread=1.0, rng=np.random.default_rng(0))
    assert np.allclose(np.linalg.norm(vectors.rows, axis=1), 1.0)
    assert vectors.labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert vectors.test_labels.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def embeddings(classes, examples, held_out, *, differing, dimensions=384, seed=1):
    rng = np.random.default_rng(seed)
    shape = {"dimensions": dimensions, "differing": differing}
    return embedding_vectors(classes, examples, held_out, **shape, rng=rng)


def within(rows, labels):
    return (
        rows - np.stack([rows[labels == c].mean(axis=0) for c in range(labels.max() + 1)])[labels]
    )


def test_embeddings_are_float32_in_label_order_and_about_of_unit_length():
    for differing in (True, False):
        data = embeddings(12, 3, 2, differing=differing, dimensions=8)
        assert data.rows.dtype == data.test_rows.dtype == np.float32
        assert data.labels.tolist() == np.repeat(np.arange(12), 3).tolist()
        assert data.test_labels.tolist() == np.repeat(np.arange(12), 2).tolist()
        lengths = np.linalg.norm(np.vstack([data.rows, data.test_rows]), axis=1)
        assert np.sqrt((lengths**2).mean()) == pytest.approx(1.0)
        assert np.allclose(lengths, 1.0) == differing


def test_embeddings_have_the_spectrum_that_is_documented():
    data = embeddings(40, 400, 1, differing=False, dimensions=30)
    found = np.linalg.eigvalsh(np.cov(within(data.rows, data.labels).T))[::-1]
    expected = (np.arange(30) + 5.0) ** -0.7
    assert np.allclose(found / found.sum(), expected / expected.sum(), rtol=0.15)


def test_embeddings_have_near_classes_in_groups_of_ten_with_scattered_labels():
    data = embeddings(40, 200, 1, differing=False, dimensions=60)
    Z = within(data.rows, data.labels)
    centres = np.stack([data.rows[data.labels == c].mean(axis=0) for c in range(40)])
    white = centres @ np.linalg.inv(np.linalg.cholesky(np.cov(Z.T))).T
    apart = np.linalg.norm(white[:, None] - white, axis=2)
    near = apart < 9.0
    assert (near.sum(axis=1) == 10).all()
    assert apart[near & (apart > 0.0)].mean() == pytest.approx(5.25, abs=0.5)
    assert apart[~near].mean() == pytest.approx(np.hypot(14.0, 5.25), abs=1.5)
    assert not near[:10, :10].all()


def test_covariances_of_embeddings_differ_only_if_asked():
    spreads = {}
    for differing in (True, False):
        data = embeddings(20, 400, 1, differing=differing, dimensions=40)
        Z = within(data.rows, data.labels)
        spreads[differing] = [np.square(Z[data.labels == c]).mean() for c in range(20)]
    assert max(spreads[False]) < 1.1 * min(spreads[False])
    assert max(spreads[True]) > 2.0 * min(spreads[True])


@pytest.mark.parametrize("differing", [True, False], ids=["differing", "shared"])
def test_lda_names_about_nine_in_ten_embeddings(differing):
    data = embeddings(200, 100, 10, differing=differing)
    for model in (streaming_lda, plain_lda):
        right = model(data.rows, data.labels, data.test_rows) == data.test_labels
        assert 0.85 < right.mean() < 0.95


@pytest.mark.parametrize("name", ["mixed units", "20 classes", "wine"])
def test_tables_are_split_by_class_and_in_label_order(name):
    data = split_set(name, 3)
    assert (np.diff(data.labels) >= 0).all()
    assert set(data.labels) == set(data.test_labels)
    again = split_set(name, 3)
    assert np.array_equal(data.rows, again.rows)


def test_lda_is_the_discriminant_with_the_pooled_covariance_and_its_ridge():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat([3, 5, 9], [30, 20, 10]))
    X = rng.normal(size=(60, 6)) * np.arange(1, 7) + labels[:, None] * rng.normal(size=6) / 2 + 70
    asked = rng.normal(size=(500, 6)) * 8 + 70
    means = {c: X[labels == c].mean(axis=0) for c in (3, 5, 9)}
    within = sum(np.outer(x - means[c], x - means[c]) for x, c in zip(X, labels, strict=True)) / 57
    inverse = np.linalg.inv(within + 0.25 * within.trace() / 6 * np.eye(6))
    distances = {c: [(x - mean) @ inverse @ (x - mean) for x in asked] for c, mean in means.items()}
    nearest = np.array(list(means))[np.argmin(list(distances.values()), axis=0)]
    assert (streaming_lda(X, labels, asked) == nearest).all()


def test_a_learner_has_the_settings_that_were_pinned():
    learner = new_learner(PINNED)
    for y in (0, 1):
        learner.teach(np.eye(2)[y], y)
    assert learner.choice.C == 500.0


def test_a_table_that_is_too_wide_is_transposed():
    table = Table("", ("who", "seconds", "accuracy"), [("ours", "1", "0.9")])
    assert fit_width(table, 80) == table
    transposed = fit_width(table, 20)
    assert transposed.head == ("who", "ours")
    assert transposed.lines == [("seconds", "1"), ("accuracy", "0.9")]


def test_names_numbers_and_commas_choose_parts():
    chosen = [part.name for part in choose_parts(engine.PARTS, ["memory, 2", "8"])]
    assert chosen == ["stream", "tables", "memory"]
    with pytest.raises(InvalidInputError, match="no part 'speed'"):
        choose_parts(engine.PARTS, ["speed"])


class Exiting:
    def __call__(self, progress): ...

    def __reduce__(self):
        return os._exit, (3,)


def test_an_error_or_the_end_of_a_fresh_process_is_raised():
    with pytest.raises(TypeError, match="interpreted as an integer"):
        in_fresh_process(int, "one", progress=lambda *_: None)  # the base is no number
    with pytest.raises(ChildProcessError, match="exit code 3"):
        in_fresh_process(Exiting(), progress=lambda *_: None)
