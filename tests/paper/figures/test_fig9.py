"""Fig. 9: conditional rehearsal against random with more and more modes."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from minout import results, streams
from minout.paper import AtRisk, Conditional, NoRehearsal, PaperLearner, Uniform
from minout.paper.figures import comparison
from minout.paper.figures.fig9 import figure, run
from minout.paper.figures.fig9.claims import sweeps
from minout.paper.figures.fig9.modes import Pictures, generate
from minout.paper.figures.fig9.policies import AtMost, Counted
from minout.paper.figures.fig9.run import PAPER, POLICIES, TESTING

SEEDS = 2


@pytest.fixture(scope="module")
def rows():
    return [run.perform(task, None) for task in run.plan(TESTING, SEEDS)]


def test_every_point_is_planned_once_for_no_more_than_three_seeds():
    tasks = run.plan(PAPER, 5)
    assert len(tasks) == len(set(tasks)) == 2 * 5 * 3 * 3
    assert {task.seed for task in tasks} == {0, 1, 2}


def test_the_learners_are_those_of_figures_4_and_5_but_for_rows_and_budget():
    default, long_steps = PAPER.learners
    rule = comparison.rule_for(default)
    assert rule == type(rule)()
    assert (long_steps.learning_rate, long_steps.reduction) == (0.1, "mean")
    for learner in PAPER.learners:
        assert (learner.budget, learner.per_class * learner.classes) == (100, 2_000)


@pytest.mark.parametrize("modes", [10, 300, 1_000])
def test_rows_are_nearer_to_their_own_mode_than_to_any_other(modes):
    data = generate(Pictures(noise=0.0), modes, 2_000, 10, 0)
    noisy = generate(Pictures(), modes, 2_000, 10, 0)
    centres, mode_of = np.unique(data.rows, axis=0, return_inverse=True)
    assert len(centres) == modes
    assert np.bincount(mode_of).min() >= 2_000 // modes
    distances = (noisy.rows**2).sum(axis=1)[:, None] - 2 * noisy.rows @ centres.T
    distances += (centres**2).sum(axis=1)
    assert (distances.argmin(axis=1) == mode_of).all()
    inverted = np.abs(noisy.rows - data.rows).mean()
    assert inverted == pytest.approx(0.05, abs=0.002)


def test_a_mode_has_one_label_and_a_label_as_many_modes_as_any_other():
    data = generate(Pictures(noise=0.0), 30, 120, 10, 1)
    label_of = {}
    for rows, labels in ((data.rows, data.labels), (data.test_rows, data.test_labels)):
        for row, label in zip(rows, labels.tolist(), strict=True):
            assert label_of.setdefault(row.tobytes(), label) == label
    assert len(label_of) == 30
    assert np.bincount(list(label_of.values())).tolist() == [3] * 10


def test_test_rows_are_new_examples_of_the_same_modes():
    data = generate(Pictures(), 100, 2_000, 10, 0)
    taught = {row.tobytes() for row in data.rows}
    assert len(data.test_rows) == 1_000
    assert taught.isdisjoint(row.tobytes() for row in data.test_rows)


def test_the_nearest_row_that_was_taught_has_the_label_of_a_test_row():
    data = generate(Pictures(), 1_000, 2_000, 10, 0)
    lengths = (data.rows**2).sum(axis=1)
    nearest = (lengths - 2 * data.test_rows @ data.rows.T).argmin(axis=1)
    assert (data.labels[nearest] == data.test_labels).all()


def test_rows_of_a_label_come_in_random_order():
    data = generate(Pictures(noise=0.0), 30, 300, 3, 0)
    stream = streams.ordered(data)
    first = stream.rows[stream.labels == 0][:10]
    assert len(np.unique(first, axis=0)) < 10  # in turn, they would be ten different modes


def test_rows_are_as_long_and_as_similar_as_those_of_mnist():
    generated, mnist = generate(Pictures(), 100, 2_000, 10, 0), streams.load(None)
    lengths, cosines = zip(*(_likeness(data) for data in (generated, mnist)), strict=True)
    assert lengths[0] == pytest.approx(lengths[1], rel=0.05)
    assert cosines[0] == pytest.approx(cosines[1], abs=0.02)


def test_a_seed_gives_the_same_pictures_and_another_gives_others():
    one, again, other = (generate(Pictures(), 10, 50, 10, seed) for seed in (0, 0, 1))
    assert (one.rows == again.rows).all()
    assert (one.labels == again.labels).all()
    assert (one.rows != other.rows).any()


@pytest.mark.parametrize("found", [0, 5, 6, 7, 40])
def test_a_budget_limits_what_conditional_rehearses_to_a_part_of_what_is_at_risk(found):
    ids = np.arange(0, 2 * found, 2)
    chosen = AtMost(6).choose(_at_risk(ids), np.random.default_rng(0))
    assert len(chosen) == min(found, 6)
    assert set(chosen) <= set(ids)
    assert (np.diff(chosen) > 0).all()


def test_every_step_draws_anew_from_a_set_over_the_budget():
    rng = np.random.default_rng(0)
    draws = {tuple(AtMost(6).choose(_at_risk(np.arange(40)), rng)) for _ in range(5)}
    assert len(draws) == 5


def test_with_a_budget_for_all_it_is_the_papers_policy():
    rule = comparison.rule_for(TESTING.learners[0])
    stream = streams.ordered(generate(TESTING.pictures, 12, 24, 3, 0))
    limited, paper = (
        PaperLearner(range(3), rule=rule, policy=policy) for policy in (AtMost(24), Conditional())
    )
    for learner in (limited, paper):
        learner.teach_many(stream.rows, stream.labels)
    assert (limited.layer.W == paper.layer.W).all()


@pytest.mark.parametrize("policy", [Conditional(), Uniform(3), NoRehearsal()], ids=POLICIES)
def test_counting_does_not_change_the_choice(policy):
    counted, ids = Counted(policy), np.arange(0, 14, 2)
    expected = policy.choose(_at_risk(ids), np.random.default_rng(0))
    chosen = counted.choose(_at_risk(ids), np.random.default_rng(0))
    assert (chosen == expected).all()
    assert counted.found == [7]


def test_no_policy_rehearses_more_than_the_budget(rows):
    for row in rows:
        most = row.settings["budget"] if row.settings["policy"] != "none" else 0
        assert row.values["rehearsed"] <= most
    limited = [row for row in rows if row.settings["policy"] == "conditional"]
    assert all(0 < row.values["rehearsed"] <= row.values["at_risk"] for row in limited)
    assert any(row.values["over_budget"] > 0 for row in limited)


@pytest.mark.parametrize("policy", POLICIES)
def test_values_are_those_of_a_learner_taught_the_same_stream(rows, policy):
    row = next(each for each in rows if each.settings["policy"] == policy)
    modes, seed = row.settings["modes"], row.seed
    data = generate(TESTING.pictures, modes, 24, 3, seed)
    stream = streams.ordered(data)
    chosen = {"conditional": AtMost(6), "uniform": Uniform(6), "none": NoRehearsal()}[policy]
    rule = comparison.rule_for(TESTING.learners[0])
    learner = PaperLearner(range(3), rule=rule, policy=chosen, seed=seed)
    steps = rehearsed = 0
    for x, y in zip(stream.rows, stream.labels.tolist(), strict=True):
        for unit in learner.teach(x, y).units:
            steps += unit.steps
            rehearsed += unit.steps * unit.mean_rehearsed
    assert row.values["steps"] == steps
    assert row.values["rehearsed"] == pytest.approx(rehearsed / steps, abs=1e-6)
    assert row.values["train"] == np.mean(learner.predict(stream.rows) == stream.labels)
    assert row.values["test"] == np.mean(learner.predict(data.test_rows) == data.test_labels)


def test_sweeps_find_their_rows(rows):
    found = sweeps(rows)
    assert [sweep.name for sweep in found] == [
        "rate 0.01, rehearsal loss: sum",
        "rate 0.1, rehearsal loss: mean",
    ]
    for sweep in found:
        assert (sweep.modes, sweep.budget) == ([3, 12], 6)
        assert sweep.values("none", "steps").shape == (2, SEEDS)


def test_claims_come_out_of_every_run(rows):
    for some in (rows, [row for row in rows if row.seed == 0]):
        claims = figure.claims(some)
        assert len(claims) == 6
        assert all(claim.paper and claim.measured for claim in claims)


@pytest.mark.parametrize(
    ("few", "many", "holds"),
    [
        (0.5, 0.55, [True, True]),
        (0.5, 0.5, [False, True]),
        (0.6, 0.55, [True, False]),
        (0.5, 0.45, [False, True]),
        (0.45, 0.45, [False, False]),
    ],
    ids=["as_expected", "never_ahead", "always_ahead", "behind_with_many", "behind"],
)
def test_claims_follow_the_lead_of_conditional(rows, few, many, holds):
    def accuracy_of(row):
        if row.settings["policy"] != "conditional":
            return 0.5
        return few if row.settings["modes"] <= row.settings["budget"] else many

    made = [with_values(row, test=accuracy_of(row)) for row in rows]
    for claims in (figure.claims(made)[:3], figure.claims(made)[3:]):
        assert [claim.holds for claim in claims[:2]] == holds
        assert f"ahead by {100 * (many - 0.5):.1f} ± 0.0 points of test" in claims[0].measured


def test_ahead_at_some_of_the_large_numbers_of_modes_is_neither_yes_nor_no(rows):
    more = [
        replace(row, settings={**row.settings, "modes": 24})
        for row in rows
        if row.settings["modes"] == 12
    ]
    ahead = [
        with_values(row, test=0.9 if row.settings["policy"] == "conditional" else 0.5)
        for row in more
    ]
    level = [with_values(row, test=0.5) for row in rows]
    assert figure.claims([*level, *ahead])[0].holds is None


def test_conditional_that_rehearses_as_many_is_not_selective(rows):
    same = [with_values(row, rehearsed=6) for row in rows]
    assert [claim.holds for claim in figure.claims(same)[2::3]] == [False, False]


def test_rows_survive_the_disk_and_the_picture_draws_from_them(rows, tmp_path):
    results.write(rows, tmp_path / "fig9.jsonl")
    again = results.read(tmp_path / "fig9.jsonl")
    assert again == rows
    drawn = figure.draw(again)
    drawn.draw_without_rendering()
    assert drawn.axes[0].get_title("left") == "rate 0.01, rehearsal loss: sum"
    legend = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert legend == ["conditional, at most 6", "6 at random", "no rehearsal"]
    assert drawn.get_supxlabel() == ""


def test_lessons_that_ran_into_the_cap_are_told_in_the_picture(rows):
    capped = [with_values(row, caps=2) for row in rows]
    words = figure.draw(capped).get_supxlabel()
    assert words == f"{2 * len(rows)} lessons ended at the cap of steps, not learned"


def test_nothing_imports_matplotlib_before_something_is_drawn():
    code = (
        "import sys; from minout.paper.figures.fig9 import figure, run;"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _at_risk(ids):
    def unused(*_):
        raise AssertionError("not asked")

    return AtRisk(0, ids, np.arange(100), unused, unused, None)


def _likeness(data):
    rows, labels = data.rows[::4], data.labels[::4]
    products = rows @ rows.T
    lengths = np.diag(products)
    cosines = products / np.sqrt(np.outer(lengths, lengths))
    return lengths.mean(), cosines[labels[:, None] != labels].mean()


def with_values(row, **values):
    return replace(row, values={**row.values, **values})
