"""Every part of the classifier's benchmark runs, small, and measures what it says."""

import numpy as np
import pytest

from benchmarks import classifier
from benchmarks.classifier import costs, datasets, files
from benchmarks.parts import choose_parts
from benchmarks.tables import markdown
from minout.errors import InvalidInputError


def test_every_part_gives_rows_tables_and_goals(monkeypatch):
    monkeypatch.setattr(costs, "FIRST_FITS", 1)
    for name in ("OURS", "THEIRS", "FIT", "SVM"):
        monkeypatch.setattr(costs, name, "import sys")  # the real ones take long
    found = list(classifier.run(classifier.PARTS, classifier.TESTING))
    assert [each.name for each in found] == ["overhead", "start", "files", "tables"]
    for each in found:
        assert each.rows
        for table in each.tables:
            assert table.title in markdown(table)
    rows = found[-1].rows
    assert [row.values["table"] for row in rows] == ["iris", "one column"]
    assert all(row.values["ours"] > 0.8 for row in rows)
    assert all(0.0 <= row.values["gap"] <= 1.0 for row in rows)


def test_parts_are_picked_by_name():
    assert [part.name for part in choose_parts(classifier.PARTS, ["files"])] == ["files"]
    assert len(choose_parts(classifier.PARTS, [])) == 4
    with pytest.raises(InvalidInputError, match="There is no part 'speed'"):
        choose_parts(classifier.PARTS, ["speed"])


def test_the_gap_is_the_confidence_less_the_accuracy():
    P = np.array([[0.95, 0.05], [0.92, 0.08], [0.4, 0.6], [0.35, 0.65]])
    assert datasets.calibration_gap(P, np.array([0, 0, 1, 0])) == pytest.approx((0.13 + 0.25) / 4)
    assert datasets.log_loss(P[:1], np.array([1])) == pytest.approx(-np.log(0.05))


def test_labels_are_drawn_with_their_probabilities():
    P = np.tile([0.2, 0.5, 0.3], (20_000, 1))
    drawn = datasets.draw_labels(P, np.random.default_rng(0))
    assert np.bincount(drawn) / 20_000 == pytest.approx([0.2, 0.5, 0.3], abs=0.02)


def test_a_default_install_is_counted_without_extras():
    required = costs._required_by("minout")
    assert {"minout", "numpy", "numba", "llvmlite", "scikit-learn"} <= required
    assert not {"matplotlib", "mlxtend", "pandas", "pyarrow"} & required
    assert costs._installed_bytes("numpy") > 10_000_000


@pytest.mark.parametrize("columns", [3, 40])
def test_every_row_is_read_and_learned(columns):
    row = files.csv_speed(columns, 120, distance=3.0, rng=np.random.default_rng(1))
    assert (row.columns, row.rows) == (columns, 120)
    assert row.megabytes > 120 * columns * 2 / 1e6
    assert min(row.read_per_second, row.learned_per_second) > 0
    assert row.consolidate_seconds > 0
    assert row.save_seconds > 0


def test_classes_that_are_closer_leave_more_misfits():
    near, far = (files.csv_speed(3, 120, distance=distance).misfits for distance in (1.0, 30.0))
    assert near > far


def test_both_sides_are_timed_and_compared():
    found = costs.overhead(5, calls=30)
    assert (found.columns, found.calls) == (5, 30)
    assert min(found[2:]) > 0.0
    assert found.teaching == found.partial_fit - found.teach
    assert found.predicting == found.predict - found.learner_predict


def test_what_is_timed_moves_nothing(monkeypatch):
    seen = []

    class Watched(costs.MinoutClassifier):
        def partial_fit(self, X, y):
            super().partial_fit(X, y)
            seen.append((self.certificate_.moved, self.certificate_.checked))

    monkeypatch.setattr(costs, "MinoutClassifier", Watched)
    costs.overhead(20, calls=30)
    assert seen == [((), 0)] * 30


@pytest.mark.parametrize(("first_fit", "is_met"), [(9.0, True), (9.5, False)], ids=["at", "above"])
def test_the_first_fit_is_measured_by_the_import_of_sklearn_and_numba(first_fit, is_met):
    row = costs.StartRow(1.0, 1.0, first_fit, 0.5, 1.5, (), {"minout": 1})
    (goal,) = [each for each in costs.start_goals([row]) if "first fit" in each.goal]
    assert goal.met is is_met
    assert ("ratio, compiled before", "0.33") in costs.start_tables([row])[0].lines
