"""Curved classes and forms: the tables that are drawn, the batch learners, and the goals."""

import numpy as np
import pytest

from benchmarks.curved import CURVED, clusters, curved_split, split_any
from benchmarks.engine import bent, forms, regret
from benchmarks.inside import form, timed_choices
from benchmarks.learners import AUTOMATIC, STRAIGHT, consolidated_learner, new_learner, teach
from benchmarks.rivals import tuned_batch_learners
from benchmarks.tables import standard_error
from minout.engine import frame


def rng(seed=0):
    return np.random.default_rng(seed)


def batch(data):
    return tuned_batch_learners(data.rows, data.labels, folds=3, trees=10, jobs=1)


@pytest.mark.parametrize("name", CURVED)
def test_drawn_tables_are_in_label_order_and_repeat(name):
    data, again = (curved_split(name, 90, 60, rng(3)) for _ in range(2))
    assert len(data.rows) == len(data.labels) == 90
    assert len(data.test_rows) == len(data.test_labels) == 60
    assert (np.diff(data.labels) >= 0).all()
    assert np.bincount(data.labels).min() > 10
    assert all(map(np.array_equal, data, again))


def test_classes_of_a_checkerboard_differ_from_field_to_field():
    data = curved_split("checkerboard", 8_000, 1, rng())
    fields = np.floor(data.rows).astype(int)
    is_odd = fields.sum(axis=1) % 2 == 1
    assert fields.min() == 0
    assert fields.max() == 3
    assert (data.labels == is_odd).mean() == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("name", [name for name in CURVED if name != "clusters"])
def test_no_plane_separates_classes_that_batch_learners_tell_apart(name):
    data = curved_split(name, 1_000, 1_000, rng())
    straight = consolidated_learner(STRAIGHT, data.rows, data.labels, dtype="float64")
    plane = (straight.predict(data.test_rows) == data.test_labels).mean()
    best = max((m.predict(data.test_rows) == data.test_labels).mean() for m in batch(data).values())
    assert best > plane + 0.05


def test_clusters_of_a_class_lie_apart():
    X, labels = clusters(4_000, rng(), classes=2)
    own = X[labels == 0]
    assert set(labels) == {0, 1}
    assert own.var(axis=0).mean() > 1.5  # a single cluster has 1


def test_stored_sets_leave_rows_to_test_on():
    data = split_any("wine", 100, 5_000, rng())
    assert data is not None
    assert (len(data.rows), len(data.test_rows)) == (100, 78)
    assert split_any("wine", 150, 5_000, rng()) is None


def test_batch_learners_are_tuned_and_validated_on_the_training_rows():
    data = split_any("wine", 100, 0, rng())
    models = batch(data)
    assert list(models) == list(bent.RIVALS)
    for model in models.values():
        assert 0.8 < model.best_score_ <= 1.0
        assert len(model.cv_results_["params"]) in (2, 4, 16)
    units = data.rows.std(axis=0).max() / data.rows.std(axis=0).min()
    assert units > 1_000
    assert models["3-NN"].best_params_["scaler"] != "passthrough"


def test_a_consolidated_learner_is_that_of_the_stream():
    data = curved_split("moons", 120, 300, rng())
    streamed = new_learner(dtype="float64")
    teach(streamed, data.rows, data.labels)
    streamed.consolidate()
    direct = consolidated_learner(AUTOMATIC, data.rows, data.labels, dtype="float64")
    assert form(direct) == form(streamed)
    assert np.array_equal(direct.scores(data.test_rows), streamed.scores(data.test_rows))


def test_choices_are_timed_only_where_asked():
    choose = frame.choose
    with timed_choices() as seconds:
        data = curved_split("moons", 40, 1, rng())
        consolidated_learner(AUTOMATIC, data.rows, data.labels)
    assert frame.choose is choose
    assert len(seconds) == 1
    assert seconds[0] > 0.0


def test_the_standard_error_is_that_of_the_mean():
    assert standard_error([1.0]) == 0.0
    assert standard_error([1.0, 3.0]) == pytest.approx(1.0)


def row_of_bent(**changed):
    sizes = {"seed": 0, "name": "wine", "examples": 100, "columns": 2, "classes": 2}
    ours = {"streamed": 0.96, "consolidated": 0.96, "straight": 0.96}
    rivals = {"nearest": 0.9, "svm": 0.96, "forest": 0.9, "boosting": 0.96, "rival": "SVM"}
    chosen = {"regions": 2, "hats": 3, "seconds": 1.0}
    return bent.BentRow(**{**sizes, **ours, **rivals, **chosen, **changed})


STREAM = "stream at most 1 point below consolidated"
BEST = "within 1 point of the best batch learner"
RIVAL = "not two standard errors below the chosen rival"
STRAIGHT_FORM = "not two standard errors below 1 region without hats"


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ([{}], []),
        ([{"streamed": 0.949}], [STREAM]),
        ([{"svm": 0.961}], [RIVAL]),
        ([{"boosting": 0.99}], []),
        ([{"svm": 0.961}, {"svm": 0.960}], []),
        ([{"svm": 0.961}, {"svm": 0.962}], [RIVAL]),
        ([{"name": "moons", "svm": 0.969, "boosting": 0.969}], []),
        ([{"name": "moons", "boosting": 0.971}], [BEST]),
        ([{"name": "moons", "boosting": 0.975}, {"name": "moons", "svm": 0.975}], []),
        ([{"name": "digits"}], ["≥ 98.6 %"]),
        ([{"name": "demo's digits"}], []),
        ([{"name": "pixels, 100 per class", "consolidated": 0.904}], ["≥ 90.5 %"]),
        ([{"name": "pixels, 7 per class", "consolidated": 0.5}], []),
        ([{"name": "scattering, 10 per class", "straight": 0.961}], [STRAIGHT_FORM]),
        ([{"name": "scattering, 10 per class", "svm": None, "rival": None}], []),
    ],
    ids=[
        *("met", "stream", "rival", "other-rival", "within-errors", "beyond-errors", "near-best"),
        *("far-from-best", "best-by-mean", "digits", "demo", "pixels", "few-pixels"),
        *("straight", "no-rivals"),
    ],
)
def test_goals_of_curved_classes(changed, missed):
    goals = bent.goals([row_of_bent(**each) for each in changed])
    assert [each.goal.split(": ")[1] for each in goals if not each.met] == missed


def test_the_table_of_curved_classes_counts_what_was_chosen():
    many = [row_of_bent(regions=regions) for regions in (1, 2, 2, 4, 8)]
    none = dict.fromkeys(bent.RIVALS.values()) | {"rival": None}
    (table,) = bent.tables([*many, row_of_bent(name="scattering, 10 per class", **none)])
    assert [line[-1] for line in table.lines] == [
        "2 × 3: 2; 1 × 3: 1; 4 × 3: 1; others: 1",
        "2 × 3: 1",
    ]
    assert table.lines[0][3] == "96.00 ± 0.00"
    assert table.lines[1][6:12] == ("–",) * 6


@pytest.mark.parametrize(
    ("examples", "choices", "choice_seconds", "met"),
    [
        (9_999, 1, 5.0, True),
        (9_999, 1, 5.1, False),
        (9_999, 0, 0.0, False),
        (10_000, 1, 5.1, True),
        (10_000, 1, 33.3, True),
        (10_000, 1, 33.4, False),
    ],
)
def test_goals_of_the_time_of_the_choice(examples, choices, choice_seconds, met):
    row = forms.ChoiceRow("labels", 2, examples, 100.0, choices, choice_seconds, 1.0, 0.5, 1, 0)
    regrets = [regret_row(True, 2, 0, 0.9), regret_row(False, 1, 0, 0.9)]
    assert [each.met for each in forms.goals([row, *regrets])] == [met, True]


def regret_row(chosen, regions, hats, accuracy, seed=0, examples=100):
    return regret.RegretRow(seed, "wine", examples, chosen, regions, hats, accuracy)


def test_regret_is_to_the_fixed_form_with_the_best_mean():
    rows = [
        *(regret_row(True, 1, 0, 0.90, seed) for seed in (0, 1)),
        *(regret_row(False, 1, 0, accuracy, seed) for seed, accuracy in enumerate((0.99, 0.80))),
        *(regret_row(False, 2, 3, accuracy, seed) for seed, accuracy in enumerate((0.90, 0.92))),
    ]
    (table,) = regret.tables(rows)
    assert table.lines[0][5:] == ("91.00 %", "2 × 3", "1.00 ± 1.00", "1 × 0: 2")
    (goal,) = regret.goals(rows)
    assert not goal.met
    assert goal.measured == "1.00 points; most with wine, 100 rows: 1.00"


def test_regret_is_the_mean_over_sets_and_sizes_and_may_be_negative():
    rows = [
        *(regret_row(True, 1, 0, 0.90), regret_row(False, 1, 0, 0.914)),
        *(regret_row(True, 1, 0, 0.9, 0, 300), regret_row(False, 1, 0, 0.89, 0, 300)),
    ]
    (goal,) = regret.goals(rows)
    assert goal.met
    assert goal.measured.startswith("0.20 points; most with wine, 100 rows: 1.40")
