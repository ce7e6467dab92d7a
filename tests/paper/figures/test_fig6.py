"""The appendix's figure: SGD learns the shuffled stream and fails on the ordered one."""

from dataclasses import replace

import numpy as np
import pytest

from minout import results, streams
from minout.paper.figures.fig6 import figure, run
from minout.paper.figures.fig6.run import TESTING
from minout.paper.figures.task import Task

TINY = replace(TESTING, hidden=16, per_class=5, points=4)


@pytest.fixture(scope="module")
def data():
    return streams.load(None)


@pytest.fixture(scope="module")
def rows(data):
    with pytest.MonkeyPatch.context() as patch:  # reading the sample takes seconds: read it once
        patch.setattr(streams, "load", lambda _: data)
        return [run.perform(task, None) for task in run.plan(TESTING, 1)]


@pytest.fixture
def loaded(data, monkeypatch):
    monkeypatch.setattr(streams, "load", lambda _: data)
    return data


def test_each_stream_is_planned_with_each_seed():
    tasks = [(task.variant, task.seed) for task in run.plan(TESTING, 2)]
    assert tasks == [("ordered", 0), ("ordered", 1), ("shuffled", 0), ("shuffled", 1)]


def test_the_paper_s_claims_hold_on_the_sample(rows):
    assert [claim.holds for claim in figure.claims(rows)] == [True, True]


def test_claims_are_false_when_the_streams_are_exchanged(rows):
    other = {"ordered": "shuffled", "shuffled": "ordered"}
    exchanged = [
        replace(row, values={**row.values, "stream": other[row.values["stream"]]}) for row in rows
    ]
    assert [claim.holds for claim in figure.claims(exchanged)] == [False, False]


def test_both_streams_start_from_the_same_weights(rows):
    ordered, shuffled = (row.values for row in rows)
    assert ordered["taught"] == list(range(0, 2001, 200))
    assert ordered["test_accuracy"][0] == shuffled["test_accuracy"][0]
    assert ordered["test_accuracy"][1] != shuffled["test_accuracy"][1]


def test_the_network_names_the_digit_that_it_was_taught_last(rows):
    # 200 examples between two measurements: each ends with one digit, a tenth of the test set.
    assert rows[0].values["test_accuracy"][-5:] == [0.1] * 5


@pytest.mark.parametrize("variant", run.VARIANTS)
def test_a_row_equals_a_pass_written_out(loaded, variant):
    row = run.perform(Task(TINY, 3, variant), None)
    weights_rng, order_rng = np.random.default_rng(3).spawn(2)
    picked = streams.pick_per_class(loaded, 5, order_rng)
    order = order_rng.permutation(50)
    if variant == "ordered":
        order = np.array(sorted(order, key=lambda i: picked.labels[i]))
    rows, labels = picked.rows[order], picked.labels[order]
    W1 = weights_rng.normal(0, np.sqrt(2 / 784), (784, 16))
    W2 = weights_rng.normal(0, np.sqrt(2 / 16), (16, 10))
    b1, b2 = np.zeros(16), np.zeros(10)
    test = []
    for n in range(51):
        if n in (0, 12, 25, 38, 50):
            scores = np.maximum(loaded.test_rows @ W1 + b1, 0) @ W2 + b2
            test.append(np.mean(scores.argmax(axis=1) == loaded.test_labels))
        if n < 50:
            hidden = np.maximum(rows[n] @ W1 + b1, 0)
            wrong = np.exp(hidden @ W2 + b2)
            wrong = 0.01 * (wrong / wrong.sum() - np.eye(10)[labels[n]])
            back = (W2 @ wrong) * (hidden > 0)
            W1, b1 = W1 - np.outer(rows[n], back), b1 - back
            W2, b2 = W2 - np.outer(hidden, wrong), b2 - wrong
    assert row.values["taught"] == [0, 12, 25, 38, 50]
    assert row.values["test_accuracy"] == test
    assert row.values["per_label"] == [5] * 10


def test_the_choice_of_the_rate_does_not_look_at_the_test_set(loaded, monkeypatch):
    task = Task(replace(TINY, per_class=None, points=1), 0, "shuffled")
    chosen = run.held_out_accuracy(task, None)
    blind = loaded._replace(test_rows=loaded.test_rows * 0, test_labels=loaded.test_labels * 0)
    monkeypatch.setattr(streams, "load", lambda _: blind)
    assert run.held_out_accuracy(task, None) == chosen
    assert chosen > 0.5


def test_rows_survive_the_disk_and_the_picture_draws_from_them(rows, tmp_path):
    results.write(rows, tmp_path / "fig6.jsonl")
    again = results.read(tmp_path / "fig6.jsonl")
    assert again == rows
    drawn = figure.draw(again)
    drawn.draw_without_rendering()
    words = [text.get_text() for text in drawn.axes[0].texts]
    assert "chance" in words
    assert [word for word in words if word.isdigit()] == list("0123456789")


def test_the_full_stream_has_the_higher_bound(rows):
    full = [replace(row, values={**row.values, "taught": [0, 60_000]}) for row in rows]
    assert "above 85 %" in figure.claims(full)[1].paper
    assert "above 80 %" in figure.claims(rows)[1].paper


def test_a_claim_tells_mean_spread_and_seeds(rows):
    def ending(accuracy):
        return [replace(row, values={**row.values, "test_accuracy": [accuracy]}) for row in rows]

    assert figure.claims(ending(0.5))[1].measured == "50.0 % (1 seed)"
    both = figure.claims(ending(0.5) + ending(0.75))[1]
    assert both.measured == "62.5 ± 17.7 % (2 seeds)"
