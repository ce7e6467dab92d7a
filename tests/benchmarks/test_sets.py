"""Rows are drawn so that what is measured on the others can be compared with what is expected."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import expected, labels, probabilities, sets

LABELS = np.repeat(["a", "b", "c"], [40, 8, 4])
ROWS = [f"text {n}" for n in range(len(LABELS))]


def test_a_row_is_learned_or_tested_and_of_a_label_three_quarters_are_learned_at_most():
    split = sets.drawn((ROWS, LABELS), 10, seed=3)
    assert sorted(split.rows + split.test_rows) == sorted(ROWS)
    learned = np.unique(split.labels, return_counts=True)
    assert dict(zip(*learned, strict=True)) == {"a": 10, "b": 6, "c": 3}
    of_row = dict(zip(ROWS, LABELS, strict=True))
    assert [of_row[row] for row in split.test_rows] == split.test_labels.tolist()


def test_weights_give_test_rows_the_shares_of_the_labels_that_were_learned():
    split = sets.drawn((ROWS, LABELS), 10, seed=3)
    weights = sets.weights_to_test(split)
    shares = [weights[split.test_labels == label].sum() for label in "abc"]
    assert shares == pytest.approx([10 / 19, 6 / 19, 3 / 19])


def test_labels_of_few_rows_are_left_out_with_their_rows(monkeypatch):
    one = sets.Set("text", sets.REPORT, lambda _: (ROWS, LABELS.tolist()))
    monkeypatch.setitem(sets.SETS, "texts", one)
    texts, y = sets.load("texts", Path())
    assert texts == ROWS[:48]
    assert y.tolist() == LABELS[:48].tolist()


def test_a_set_that_must_be_fetched_is_refused_without_a_folder():
    with pytest.raises(SystemExit, match=r"mails needs --data FOLDER, filled by"):
        sets.load("mails")


@pytest.mark.parametrize("benchmark", [expected, labels, probabilities], ids=lambda m: m.__name__)
def test_reported_tables_use_no_set_for_development(benchmark):
    assert set(benchmark.SETS) <= set(sets.chosen("report"))
