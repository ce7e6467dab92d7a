"""Estimates from leaving examples out are given only where they can be trusted."""

import json
import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from minout import Learner, core
from minout.cli import app as cli

WORDS = {"sport": "goal team match coach player win", "food": "salt bake oven dish sauce taste"}
PRIOR = {"whiten": False, "lda_prior": True, "standardize": False}
WHITE = {"whiten": True, "lda_prior": False, "standardize": False}
PLAIN = {"whiten": False, "lda_prior": False, "standardize": False}


def texts(count):
    rng = np.random.default_rng(0)
    labels = [sorted(WORDS)[i % 2] for i in range(count)]
    return [" ".join(rng.choice(WORDS[label].split(), 4)) for label in labels], labels


def iris(count=150, *, expand=None, **settings):
    X, y = load_iris(return_X_y=True)
    learner = Learner(regions=1, expand=expand, **settings)
    learner.teach_many(X[:count], y[:count].tolist())
    learner.consolidate()
    return learner


def of_texts(**settings):
    learner = Learner(features="text", **settings)
    learner.teach_many(*texts(40))
    return learner


def estimates(learner):
    return learner.expected_accuracy(), learner.label_errors()


@pytest.mark.parametrize("pins", [PRIOR, WHITE], ids=["prior", "white"])
def test_few_texts_per_feature_get_no_estimate_but_a_reason(pins):
    for found in estimates(of_texts(**pins)):
        assert not found.reliable
        assert "40 examples" in found.reason
        assert "4,096 features" in found.reason
        assert all(math.isnan(each) for each in found[:3])
        assert found.per_class == {}
        assert found.examples == 40
    assert math.isnan(found.likely)


@pytest.mark.parametrize("pins", [PRIOR, WHITE], ids=["prior", "white"])
def test_many_rows_per_feature_get_an_estimate(pins):
    expected, errors = estimates(iris(**pins))
    assert expected[4:] == (True, "", 150)
    assert errors[4:7] == (True, "", 150)
    assert 0.9 < expected.low < expected.accuracy < expected.high
    assert errors.low <= errors.wrong <= errors.high
    assert list(expected.per_class) == list(errors.per_class) == [0, 1, 2]


def test_without_metric_and_prior_few_rows_get_an_estimate():
    assert all(found.reliable and found.reason == "" for found in estimates(of_texts(**PLAIN)))


@pytest.mark.parametrize(("count", "reliable"), [(80, True), (79, False)])
def test_twenty_rows_per_feature_are_enough(count, reliable):
    assert [each.reliable for each in estimates(iris(count, **PRIOR))] == [reliable] * 2


def test_hat_functions_are_features():
    learner = iris(expand=3, **PRIOR)
    width = learner.expanded([learner.example(0)[0]]).shape[1]
    assert 4 * 20 < 150 < 20 * width
    assert f"{width} features" in learner.expected_accuracy().reason


def test_suspects_keep_their_order_and_lose_their_probabilities(monkeypatch):
    rng = np.random.default_rng(1)
    learner = Learner(C=0.5, **PRIOR)
    learner.teach_many(rng.normal(size=(40, 6)), rng.integers(0, 2, 40).tolist())
    found = learner.suspects(99)
    assert len(found) > 10
    assert all(math.isnan(each.probability) for each in found)
    assert np.isnan(learner.label_probabilities()).all()
    monkeypatch.setattr(core.left_out, "ROWS_PER_FEATURE", 0)
    trusted = learner.suspects(99)
    assert [each._replace(probability=0.0) for each in trusted] == [
        each._replace(probability=0.0) for each in found
    ]
    assert np.isfinite(learner.label_probabilities()).all()


def test_commands_say_why_and_print_no_nan(tmp_path):
    def run(*words):
        result = CliRunner().invoke(cli.app, [str(word) for word in words])
        assert result.exit_code == 0, (result.output, result.exception)
        assert "nan" not in result.output.lower()
        return result.output

    rng = np.random.default_rng(0)
    labels = np.arange(100) % 3
    rows = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 12)) * 9.0  # loud, and in all classes
    rows += rng.normal(size=(100, 12)) + 4.0 * np.eye(3, 12)[labels]
    lines = [
        f"{','.join(map(str, row))},l{y}" for row, y in zip(rows.tolist(), labels, strict=True)
    ]
    head = ",".join([*(f"c{k}" for k in range(12)), "label"])
    (tmp_path / "rows.csv").write_text("\n".join([head, *lines]))
    learned = run("learn", tmp_path / "m", tmp_path / "rows.csv", "--label", "label")
    learner = Learner.open(tmp_path / "m", read_only=True)
    reason = learner.expected_accuracy().reason
    assert reason
    said = reason[1:].rstrip(".")  # in the middle of a sentence, or alone
    assert said in learned
    assert run("info", tmp_path / "m").count(said) == 2
    assert said in run("list", tmp_path / "m", "--suspects")
    told = json.loads(run("info", tmp_path / "m", "--json"))
    for name in ("expected_accuracy", "label_errors"):
        assert (told[name]["reliable"], told[name]["reason"]) == (False, reason)
        assert told[name]["low"] is None
