"""Estimates from leaving examples out are honest, or it is said why there are none."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from minout import Learner
from minout.cli import app as cli
from oracle.margin import SETTINGS, clusters

ROWS = np.arange(40.0).reshape(20, 2)


def consolidated(rows, labels, kind="auto"):
    learner = Learner(**SETTINGS[kind])
    learner.teach_many(rows, labels)
    learner.consolidate()
    return learner


def overlapping(rows=400):
    """Draw two labels of which one in four is on the wrong side of the best separator."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, 3))
    X[:, 0] += 1.349 * labels
    return X, [f"l{each}" for each in labels.tolist()]


@pytest.mark.parametrize("kind", ["plain", "all"])
def test_copies_of_rows_do_not_make_random_labels_predictable(kind):
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows, labels = rng.normal(size=(50, 8)), rng.integers(0, 2, 50)
        learner = consolidated(np.repeat(rows, 4, axis=0), np.repeat(labels, 4).tolist(), kind)
        found.append(learner.expected_accuracy())
    assert 0.4 < np.mean([each.accuracy for each in found]) < 0.56
    assert all(each.high - each.low > 0.25 for each in found)  # as of 50 examples, not of 200


@pytest.mark.parametrize("kind", ["plain", "whitened", "all"])
@pytest.mark.parametrize("columns", [60, 200])
def test_few_rows_of_many_columns_are_expected_to_do_as_well_as_new_ones(kind, columns):
    expected, new = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 3, 1_045)
        centres = 2.4 * rng.normal(size=(3, columns)) / np.sqrt(columns)
        rows = centres[labels] + rng.normal(size=(1_045, columns))
        learner = consolidated(rows[:45], labels[:45].tolist(), kind)
        expected.append(learner.expected_accuracy().accuracy)
        new.append(np.mean(learner.predict(rows[45:]) == labels[45:]))
    assert np.mean(expected) == pytest.approx(np.mean(new), abs=0.05)
    assert np.mean(new) < 0.85


def test_the_accuracy_of_two_gaussians_is_near_the_best_possible():
    expected = consolidated(*overlapping(2_000), "all").expected_accuracy()
    assert expected.low < 0.75 < expected.high
    assert 0.04 < expected.high - expected.low < 0.05


@pytest.mark.parametrize(
    ("rows", "labels", "reason"),
    [
        (ROWS, ["a"] * 20, "one label only"),
        (ROWS[:2], ["a", "b"], "2 different examples"),
        (ROWS[:9].repeat(5, axis=0), [*"abc"] * 15, "9 different examples"),
        (np.ones((20, 2)), [*"ab"] * 10, "1 different examples"),
        (ROWS, list(range(20)), "20 of 20 labels have only one example"),
        (ROWS, [*range(2), *["c", "d"] * 9], "2 of 4 labels have only one example"),
    ],
    ids=["one label", "two rows", "few different", "constant", "all alone", "some alone"],
)
def test_where_nothing_can_be_told_the_reason_is_given(rows, labels, reason):
    learner = Learner()
    learner.teach_many(rows, [str(each) for each in labels])
    for _ in range(2):
        for found in (learner.expected_accuracy(), learner.label_errors()):
            assert not found.reliable
            assert reason in found.reason
            assert all(math.isnan(each) for each in found[:3])
            assert (found.per_class, found.examples) == ({}, len(rows))
        assert math.isnan(learner.label_errors().likely)
        assert np.isnan(learner.label_probabilities()).all()
        assert learner.suspects(likely=True) == []
        assert all(math.isnan(each.probability) for each in learner.suspects(99))
        learner.consolidate()


@pytest.mark.parametrize("kind", ["plain", "means", "all", "auto"])
def test_where_each_row_has_all_labels_only_the_first_one_is_predicted(kind):
    rows, _ = clusters(0, classes=1, each=10)
    for labels in ([*"ab"], [*"abcde"]):
        learner = consolidated(rows.repeat(len(labels), axis=0), labels * 10, kind)
        expected = learner.expected_accuracy()
        assert expected.accuracy == 1.0 / len(labels)
        assert expected.low < expected.accuracy < expected.high
        assert expected.per_class["b"][:2] == (0.0, 0.0)
        assert 0.2 < expected.per_class["b"].high < 0.4
        assert not learner.label_errors().reliable


def test_commands_say_why_and_print_no_nan(tmp_path):
    def run(*words):
        result = CliRunner().invoke(cli.app, [str(word) for word in words])
        assert result.exit_code == 0, (result.output, result.exception)
        assert "nan" not in result.output.lower()
        return result.output

    rows, labels = overlapping(200)
    lines = [f"{','.join(map(str, row))},{y}" for row, y in zip(rows, labels, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c,label", *lines]))
    learned = run("learn", tmp_path / "m", tmp_path / "rows.csv", "--label", "label")
    learner = Learner.open(tmp_path / "m", read_only=True)
    reason = learner.label_errors().reason
    assert "The labels overlap" in reason
    assert "expected on new rows" in learned
    info, listed = run("info", tmp_path / "m"), run("list", tmp_path / "m", "--suspects")
    for said in (info, listed):
        assert reason[1:].rstrip(".") in said  # in the middle of a sentence, or alone
    told = json.loads(run("info", tmp_path / "m", "--json"))
    assert told["expected_accuracy"]["reliable"]
    errors = told["label_errors"]
    assert (errors["reliable"], errors["reason"], errors["low"]) == (False, reason, None)


def test_numbers_that_are_lost_in_rounding_spoil_no_estimate():
    rows = [
        [9400000.0, 370.0, 8.4e-07, -7.8e-08, -1.1e-05, 2.2e-08],
        [1700000.0, 610.0, 2.5e-06, 7.7e-08, -8.9e-06, -1.4e-08],
        [8800000.0, 810.0, 1.7e-06, 3.7e-08, -7.3e-06, -2.1e-08],
        [850000.0, -260.0, 2.1e-06, -1.9e-07, 5.5e-06, -7.6e-09],
        [-1400000.0, -320.0, 2.1e-06, -7e-08, 1.4e-05, 3.6e-09],
        [4700000.0, 350.0, -4.4e-08, 3e-08, -7.1e-07, -2.3e-08],
        [440000.0, -24.0, 7.9e-07, -1.1e-07, 8.7e-06, 7.8e-09],
    ]
    learner = Learner(C=1e4, refresh="manual")
    learner.teach_many(rows, [1, 1, 2, 1, 2, 1, 1])
    assert learner.suspects()
    assert np.isfinite(learner.left_out_probabilities()).all()
