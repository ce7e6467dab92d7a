"""Every part of the engine's benchmark runs, small, and what can repeat repeats."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from benchmarks import engine, rivals
from benchmarks.engine import (
    expected,
    inputs,
    many_classes,
    regret,
    stream,
    thousand,
)
from benchmarks.engine.many_classes import ManyClassesRow
from benchmarks.inside import misfits
from benchmarks.learners import PLAIN, Steps, new_learner, teach
from benchmarks.parts import choose_parts
from minout.errors import InvalidInputError
from minout.streams import digits, pick_per_class
from oracle.parts import expect_survives, expect_whole

CLOCKS = {"mean", "mean_between", "refreshes_spread", "median", "p99", "maximum", "most"}
CLOCKS |= {"seconds", "memory_mb", "floor_single", "floor_double"}


OWN_FILES = ("window", "weights", "codes", "labels")
"""Parts that are measured in test files of their own."""
PINS = PLAIN._replace(C=5.0, standardize=False, regions=1, expand=None)


@pytest.fixture(scope="module", autouse=True)
def _little_is_chosen():
    """Settings are pinned in parts whose rows do not tell the choice; rivals have few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expected, "new_learner", partial(new_learner, PINS))
        forms = [PINS._replace(regions=p.regions, expand=p.expand) for p in regret.FIXED]
        patch.setattr(regret, "FIXED", forms)
        for name in ("SVC_C", "SHRINKAGE", "LOGISTIC_C", "RBF_C", "RBF_WIDTHS"):
            patch.setattr(rivals, name, getattr(rivals, name)[1:2])
        for name in ("FOREST", "BOOSTING"):
            grid = {key: values[:1] for key, values in getattr(rivals, name).items()}
            patch.setattr(rivals, name, grid)
        yield


@pytest.fixture(scope="module")
def data():
    few = pick_per_class(digits(), 12, np.random.default_rng(0))
    return few._replace(test_rows=few.test_rows[::3], test_labels=few.test_labels[::3])


def in_this_process(function, *arguments, progress):
    return function(*arguments, progress)


@pytest.fixture(scope="module")
def measured(data):
    shown = []
    with pytest.MonkeyPatch.context() as patch:  # `memory` alone has a process for each row
        for part in (many_classes, thousand):
            patch.setattr(part, "in_fresh_process", in_this_process)
        chosen = [part for part in engine.PARTS if part.name not in OWN_FILES]
        parts = engine.run(data, chosen, engine.TESTING, lambda *words: shown.append(words))
        found = list(parts)
    assert all(0 <= done <= total for _, done, total in shown)
    return {each.name: each for each in found}


def values(measured, part, kind=None):
    rows = [row.values for row in measured[part].rows]
    return [each for each in rows if kind is None or each["row"] == kind]


def test_every_part_gives_rows_tables_and_goals(measured):
    assert [*measured, *OWN_FILES] == [part.name for part in engine.PARTS]
    for each in measured.values():
        expect_whole(each)
    assert [n for part in engine.PARTS for n in part.numbers] == list(range(1, 24))


def test_rows_survive_the_disk_and_know_where_they_came_from(measured, tmp_path):
    rows = [row for each in measured.values() for row in each.rows]
    expect_survives(rows, tmp_path / "rows.jsonl")
    assert rows[0].figure == "engine stream"
    assert rows[0].settings["data"] == "digits"
    assert rows[0].settings["medium"] == engine.TESTING.medium
    assert {row.seed for row in measured["small"].rows} == {0, 1}


def test_stream_is_audited_at_every_pause_and_after_consolidation(measured):
    audits = values(measured, "stream", "AuditRow")
    assert [each["stored"] for each in audits] == [60, 120, 120]
    assert all(each["agrees"] and each["listed"] for each in audits)
    assert all(each["margins"] > 0 for each in audits)


def test_profile_of_the_stream_adds_up(measured):
    (speed,) = values(measured, "stream", "SpeedRow")
    assert speed["fast"] + speed["moved"] + speed["refreshes"] == speed["examples"] == 120
    parts = [speed[f"{name}_seconds"] for name in ("fast", "moved", "refresh")]
    assert sum(parts) == pytest.approx(speed["seconds"])
    assert speed["separators"] == 45
    assert min(speed["floor_single"], speed["floor_double"]) > 0


def test_a_misfit_that_no_certificate_reported_is_seen():
    learner = new_learner()
    teach(learner, np.eye(4), np.arange(4))
    assert stream._audit(learner, set()).listed
    assert not stream._audit(learner, {2}).listed


def test_certificates_add_up_to_the_misfits():
    rows, labels = np.zeros((6, 2)), np.arange(6) % 2  # equal rows, two labels: none is fitted
    learner = new_learner()
    certified: set[int | str] = set()
    stream._follow_certificates(certified, teach(learner, rows, labels).changes)
    assert certified == misfits(learner) != set()


def test_growth_counts_refreshes_apart():
    seconds = np.array([1.0, 1.0, 8.0, 2.0])
    steps = Steps(seconds, np.array([0, 0, 3, 1]), seconds == 8.0, [])
    (row,) = stream.growth_rows("shuffled", steps, [(4, 3), (9, 3)])
    assert (row.mean, row.mean_between, row.refreshes_spread) == (11 / 3, 1.5, 2.0)
    assert (row.long_run, row.median, row.maximum) == (3.5, 2.0, 8.0)
    assert (row.moved, row.refreshes) == (2, 1)


def test_orders_and_forgetting_end_in_one_model(measured):
    assert [row["order"] for row in values(measured, "order")] == 2 * [
        "ascending",
        "descending",
        "shuffled",
        "shuffled again",
    ]
    for row in values(measured, "order") + values(measured, "forget"):
        assert row["agreement"] == 1.0
        assert row["weights"] < 1e-6
        assert row["agrees"]
    (row,) = values(measured, "forget")
    assert (row["examples"], row["forgotten"]) == (80, 4)


def test_wrong_labels_are_fitted_or_listed(measured):
    many_rows, few_rows = values(measured, "noise")
    assert (many_rows["wrong"], few_rows["wrong"]) == (4, 2)
    assert many_rows["agrees"]
    assert many_rows["paper"] is None
    assert 0 < few_rows["paper"] <= 1
    assert many_rows["chance"] == pytest.approx(4 * 4 / 80)


def test_many_classes_count_their_separators(measured):
    rows = values(measured, "many")
    assert [row["separators"] for row in rows] == [10, 3]
    assert all(row["agrees"] for row in rows)
    assert rows[0]["accuracy_consolidated"] is not None
    assert rows[1]["accuracy_consolidated"] is None


def test_many_classes_of_both_kinds_are_consolidated_and_compared_with_lda(measured):
    rows = values(measured, "thousand")
    assert [row["data"] for row in rows] == ["differing covariances", "shared covariance"]
    for row in rows:
        assert (row["classes"], row["examples"], row["dimensions"]) == (12, 48, 12)
        assert (row["separators"], row["weights_mb"]) == (66, 66 * 13 * 8 / 1e6)
        assert row["agrees"]
        for name in ("accuracy", "accuracy_consolidated", "lda", "lda_plain"):
            assert 1 / 12 < row[name] <= 1.0  # above chance
        assert row["predict_one_seconds"] > 0.0
        assert row["predict_seconds"] > 0.0
    assert len(measured["thousand"].goals) == 10


def row_of_many(**changed):
    numbers = dict.fromkeys(ManyClassesRow._fields, 0)
    numbers |= {"classes": 1_000, "examples": 100_000, "rows_mb": 154.0, "agrees": True}
    numbers |= {"data": thousand.SHARED, "accuracy": 0.5, "lda": 0.9, "lda_plain": 0.8}
    numbers |= {"mean": 0.003, "memory_mb": 1_154.0, "predict_seconds": 0.0002}
    return ManyClassesRow(**{**numbers, "accuracy_consolidated": 0.896, **changed})


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({}, []),
        ({"mean": 0.0031}, ["mean of at most 3 ms"]),
        ({"memory_mb": 1_155.0}, ["memory grows by at most 1154 MB"]),
        ({"memory_mb": None}, ["memory grows by at most 1154 MB"]),
        ({"agrees": False}, ["all fitted or listed"]),
        ({"lda": 0.7, "lda_plain": 0.902}, ["within 0.5 points of LDA"]),
        ({"data": thousand.DIFFERING}, ["above LDA"]),
        ({"data": thousand.DIFFERING, "accuracy_consolidated": 0.901}, []),
        ({"predict_seconds": 0.00021}, ["a prediction takes at most 0.2 ms in batches"]),
        ({"classes": 5_000, "mean": 1.0, "memory_mb": 9_999.0, "lda": 1.0}, []),
    ],
    ids=[
        *("met", "slow", "large", "unknown", "unlisted"),
        *("below", "not-above", "above", "predicting", "more-classes"),
    ],
)
def test_goals_of_a_thousand_classes(changed, missed):
    goals = thousand.goals([row_of_many(**changed)])
    assert [each.goal.split(": ")[1] for each in goals if not each.met] == missed


@pytest.mark.parametrize(("seconds", "reached"), [(0.0, [4]), (600.0, [4, 8, 12])])
def test_of_too_many_classes_some_are_taught_until_the_time_is_over(
    monkeypatch, data, seconds, reached
):
    monkeypatch.setattr(thousand, "in_fresh_process", in_this_process)
    monkeypatch.setattr(thousand, "MOST_CLASSES", 11)
    monkeypatch.setattr(thousand, "CLASSES_AT_A_TIME", 4)
    settings = replace(engine.TESTING, embeddings=((True, 12, 4),), reach_seconds=seconds)
    (found,) = engine.run(data, choose_parts(engine.PARTS, ["thousand"]), settings)
    rows = [row.values for row in found.rows]
    assert [row["classes"] for row in rows] == reached
    assert [row["examples"] for row in rows] == [4 * classes for classes in reached]
    assert [len(line) for line in found.tables[1].lines] == [7] * len(reached)
    assert found.goals == []


def test_a_set_whose_process_ends_is_a_row_and_the_others_are_kept(monkeypatch, data):
    def ends_at_shared(function, settings, name, *shape, progress):
        if name == thousand.SHARED:
            raise ChildProcessError("exit code -9")
        return row_of_many(data=name)

    monkeypatch.setattr(thousand, "in_fresh_process", ends_at_shared)
    (found,) = engine.run(data, choose_parts(engine.PARTS, ["thousand"]), engine.TESTING)
    assert [row.values["row"] for row in found.rows] == ["ManyClassesRow", "EndedRow"]
    assert found.tables[0].lines[1][-1] == "exit code -9"
    assert {len(line) for line in found.tables[0].lines} == {len(found.tables[0].head)}
    assert not found.goals[-1].met


def test_memory_is_that_of_a_fresh_process(measured):
    rows = values(measured, "memory")
    assert [row["choices"] for row in rows] == ["automatic", "whiten, lda_prior"]
    for row in rows:
        assert row["examples"] == 120
        assert row["rows_mb"] == 120 * 64 * 4 / 1e6
        if row["peak_mb"] is not None:
            assert row["peak_consolidated_mb"] >= row["peak_mb"] >= row["before_mb"] > 10


def test_a_profile_adds_up_to_the_whole_stream(measured):
    rows = values(measured, "profile")
    assert {row["features"] for row in rows} == {"raw"}
    assert sum(row["share"] for row in rows) == pytest.approx(1.0)
    by_work = {row["work"]: row["seconds"] for row in rows}
    assert by_work["solves of small pools and their checks"] > 0.0
    assert by_work["cross-validation"] > 0.0


def test_predictions_are_timed_beside_logistic_regression(measured):
    rows = values(measured, "predict")
    calls = ["predict", "predict_proba", "decision_function", "predict"]
    assert [(row["classes"], row["call"], row["rows"]) for row in rows] == [
        (classes, call, count)
        for classes in (10, 5)
        for call, count in zip(calls, (40, 40, 40, 1), strict=True)
    ]
    assert all(row["agrees"] for row in rows)
    assert all(min(row["ours"], row["logistic"], row["product"]) > 0.0 for row in rows)
    assert len(measured["predict"].goals) == 4


def test_settles_count_the_rows_that_changed_sides(measured):
    rows = values(measured, "settle")
    assert [(row["columns"], row["joined"]) for row in rows] == [
        (columns, joined) for columns in (3, 8) for joined in (1, 10, 100)
    ]
    assert all(row["joined"] <= row["changed"] < row["inside"] for row in rows[::3])
    assert all(min(row["seconds"], row["scratch_seconds"]) > 0.0 for row in rows)


def test_expected_and_held_out_accuracy_are_compared_on_ten_sets(measured):
    rows = values(measured, "expected")
    assert len({row["name"] for row in rows}) == 10
    assert {(row["name"], row["examples"]) for row in rows if row["classes"] == 10} == {
        (name, size)
        for name in ("digits", "digits, wrong labels", "images, raw pixels")
        for size in (20, 60)
    }
    for row in rows:
        assert 0.0 <= row["low"] <= row["expected"] <= row["high"] <= 1.0
        assert row["when"] in ("consolidated", "streamed")
        assert 1 / row["classes"] < row["held_out"] <= 1.0  # above chance
        assert row["tested"] >= 20
    assert len(rows) == 2 * 2 * (10 * 2)  # streamed or not, two seeds, two sizes
    assert len(measured["expected"].goals) == 3


def row_of_expected(**changed):
    sizes = {"examples": 100, "columns": 3, "classes": 2, "tested": 50, "seconds": 0.01}
    found = {"expected": 0.9, "low": 0.8, "high": 0.95, "held_out": 0.9}
    return expected.ExpectedRow(
        **{"seed": 0, "name": "wine", "when": "consolidated", **sizes, **found, **changed}
    )


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({}, [False, False, False]),
        ({"held_out": 0.88}, [True, False, False]),
        ({"held_out": 0.88, "name": "wine", "examples": 99}, [False, False, False]),
        ({"held_out": 0.79}, [True, True, False]),
        ({"held_out": 0.5, "when": "streamed"}, [False, False, False]),
        ({"seconds": 1.1}, [False, False, True]),
    ],
    ids=["met", "off", "off-when-small", "outside", "streamed", "slow"],
)
def test_goals_of_the_expected_accuracy(changed, missed):
    goals = expected.goals([row_of_expected(), row_of_expected(**{"name": "iris", **changed})])
    assert [not each.met for each in goals] == missed


def test_curved_classes_are_measured_beside_batch_learners(measured):
    rows = values(measured, "bent")
    assert [(row["name"], row["examples"]) for row in rows] == [
        ("wine", 124),
        ("demo's digits", 120),
        *[("moons", 60), ("checkerboard", 60)],
        *[("pixels, 8 per class", 80)] * 2,
        *[("scattering, 3 per class", 30)] * 2,
    ]
    for row in rows:
        rivals = [row[name] for name in ("nearest", "svm", "forest", "boosting")]
        if row["name"].startswith("scattering"):
            assert rivals == [None] * 4
            assert row["rival"] is None
        else:
            assert row["rival"] in ("3-NN", "SVM", "forest", "boosting")
            assert all(1 / row["classes"] < each <= 1.0 for each in rivals)  # above chance
        if row["name"] != "checkerboard":  # of 16 fields: 60 rows do not show them
            assert 1 / row["classes"] < row["consolidated"]
        assert 0.0 < row["consolidated"] <= 1.0
        assert row["regions"] in (1, 2, 4, 8)
        assert row["hats"] in (0, 3, 9)


def test_forms_cost_separators_and_bytes(measured):
    rows = values(measured, "forms", "CostRow")
    assert [(row["data"], row["regions"], row["hats"]) for row in rows] == [
        *[("digits", regions, 0) for regions in (1, 2, 4, 8)],
        *[("thresholds", 1, hats) for hats in (0, 3, 9)],
    ]
    assert rows[0]["separators"] == 45
    assert rows[1]["separators"] > 45
    assert rows[4]["file_mb"] < rows[5]["file_mb"] < rows[6]["file_mb"]
    assert all(0.0 < row["seconds"] < 1.0 for row in rows)


def test_the_choice_is_a_part_of_the_stream_and_of_consolidating(measured):
    rows = values(measured, "forms", "ChoiceRow")
    assert [(row["order"], row["classes"], row["examples"]) for row in rows] == [
        (order, classes, examples)
        for order in ("labels", "shuffled")
        for classes in (2, 3)
        for examples in (40, 80)
    ]
    assert any(row["choices"] for row in rows)
    for row in rows:
        assert 0.0 <= row["choice_seconds"] < row["seconds"]
        assert 0.0 < row["consolidate_choice_seconds"] < row["consolidate_seconds"]


def test_the_choice_is_compared_with_every_fixed_form_on_the_same_splits(measured):
    rows = values(measured, "forms", "RegretRow")
    splits = [row.seed for row in measured["forms"].rows if row.values["row"] == "RegretRow"]
    assert len(rows) == 13 * (2 + 3)  # wine has too few rows for 150
    assert [row["chosen"] for row in rows[:13]] == [True, *[False] * 12]
    assert {(row["regions"], row["hats"]) for row in rows[1:13]} == {
        (regions, hats) for regions in (1, 2, 4, 8) for hats in (0, 3, 9)
    }
    assert splits == [seed for seed in (0, 1, 0, 1, 0) for _ in range(13)]


def _without_clocks(rows):
    return [
        {
            name: value
            for name, value in row.values.items()
            if name not in CLOCKS and not name.endswith(("_seconds", "_most"))
        }
        for row in rows
    ]


def test_what_is_not_a_clock_is_the_same_twice(data, measured):
    parts = choose_parts(engine.PARTS, ["stream", "forget", "tables", "expected", "bent"])
    for again in engine.run(data, parts, engine.TESTING):
        once = _without_clocks(measured[again.name].rows)
        assert _without_clocks(again.rows) == once, again.name


def test_sizes_follow_the_data(data):
    settings = engine.settings_for(data)
    assert (settings.medium, settings.paper, settings.small) == (12, 12, (10,))
    assert settings.growth_at == engine.SAMPLE.growth_at
    with pytest.raises(InvalidInputError, match="the rarest class has 12"):
        inputs.draw_per_class(data.labels, 13, np.random.default_rng(0))
