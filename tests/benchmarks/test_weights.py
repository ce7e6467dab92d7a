"""The part `weights` of the engine's benchmark: its tables, its laws, and its goals."""

import numpy as np
import pytest

from benchmarks.engine import TESTING, weights
from benchmarks.engine.inputs import Inputs
from benchmarks.parts import no_progress
from oracle.parts import expect_survives, expect_whole, measured_of


@pytest.fixture(scope="module")
def rows():
    return weights.measure(Inputs(None, TESTING), no_progress)


def test_the_part_gives_rows_tables_and_goals(rows, tmp_path):
    measured = measured_of("weights", rows)
    expect_whole(measured)
    expect_survives(measured.rows, tmp_path / "rows.jsonl")


def test_every_law_holds_with_every_setting(rows):
    laws = [row for row in rows if isinstance(row, weights.LawRow)]
    assert len(laws) == 3 * len(weights.SETTINGS) - 1  # C × 3 says nothing where C is chosen
    for row in laws:
        assert 20 <= row.examples <= 80
        assert max(row.scores, row.probabilities) < weights.WITHIN
        assert row.same_choice


def test_no_choice_equals_what_is_pinned(rows):
    laws = [row for row in rows if isinstance(row, weights.LawRow)]
    pinned = {row.choice for row in laws if row.settings != "chosen"}
    assert len(pinned) == 4
    assert pinned.isdisjoint(row.choice for row in laws if row.settings == "chosen")


def test_a_table_has_all_weights_and_is_that_of_its_seed():
    one, same, other = (weights.random_table(np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert set(one.weights) == {1, 2, 3}
    assert np.array_equal(one.rows, same.rows)
    assert not np.array_equal(one.rows, other.rows)


def test_a_deviation_is_seen(monkeypatch):
    taught = weights._taught

    def forgets_weights(pins, rows, labels, _weights=None):
        return taught(pins, rows, labels)

    monkeypatch.setattr(weights, "_taught", forgets_weights)
    by_law = {row.law: row for row in weights.check_laws("plain", 0)}
    assert by_law[weights.REPEATED].scores < weights.WITHIN
    assert by_law[weights.ADDED].scores > 1e-3
    assert by_law[weights.TIMES_C].scores > 1e-3


def test_one_class_is_rare_in_both_halves():
    data = weights.rare_class(510, np.random.default_rng(0))
    assert data.rows.shape == data.test_rows.shape == (510, 10)
    assert data.labels.sum() == data.test_labels.sum() == 10


def test_models_are_compared_with_and_without_weights(rows):
    rare = [row for row in rows if isinstance(row, weights.RareRow)]
    assert [(row.model, row.balanced) for row in rare] == [
        (model, balanced)
        for balanced in (False, True)
        for model in (weights.OURS, weights.LOGISTIC)
    ]
    for row in rare:
        assert (row.examples, row.rare) == (153, 3)
        assert 0.0 <= row.recall_rare <= 1.0
        assert row.accuracy >= row.recall_rare / 2.0


@pytest.mark.parametrize(
    ("deviation", "ours", "missed"),
    [(1e-9, 0.89, []), (1e-6, 0.89, ["laws"]), (1e-9, 0.87, ["balanced"])],
    ids=["met", "deviates", "below"],
)
def test_goals_of_weights(deviation, ours, missed):
    law = weights.LawRow(0, "plain", weights.REPEATED, 20, deviation, 0.0, True, "")
    compared = [
        weights.RareRow(0, model, True, 510, 10, accuracy, 0.9)
        for model, accuracy in ((weights.OURS, ours), (weights.LOGISTIC, 0.89))
    ]
    found = [each.goal for each in weights.goals([law, *compared]) if not each.met]
    assert len(found) == len(missed)
    assert all(word in goal for word, goal in zip(missed, found, strict=True))
