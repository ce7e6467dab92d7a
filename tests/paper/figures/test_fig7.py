"""Fig. 7: how many are rehearsed, how many should be, and what closing the set costs."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from minout import results
from minout.paper.evaluate import watch
from minout.paper.figures import comparison
from minout.paper.figures.fig7 import figure, run
from minout.paper.figures.fig7.claims import over_neurons, over_units
from minout.paper.figures.fig7.run import PAPER, TESTING

SEEDS = 2


@pytest.fixture(scope="module")
def rows():
    return [run.perform(task, None) for task in run.plan(TESTING, SEEDS)]


def test_the_two_sweeps_share_a_point():
    tasks = run.plan(PAPER, 5)
    points = {(task.settings.classes, task.settings.neurons) for task in tasks}
    assert points == {(m, 50) for m in range(2, 11)} | {(10, k) for k in (5, 10, 20, 50, 100)}
    assert len(tasks) == len(set(tasks)) == 13 * 2 * 5


def test_sweeps_find_their_rows(rows):
    units, neurons = over_units(rows), over_neurons(rows)
    assert (units.knob, units.at, neurons.knob, neurons.at) == (
        "classes",
        [2, 4],
        "neurons",
        [4, 8],
    )
    assert units.values("closed", "taught").tolist() == [[8, 8], [16, 16]]
    assert (units.values("closed", "steps")[1] == neurons.values("closed", "steps")[1]).all()


def test_closed_rehearses_all_whom_it_can_reach_and_nothing_leaks(rows):
    for row in seeds_of(rows, "closed"):
        values = row.values
        assert values["leaks"] == values["missed"] == values["misplaced"] == 0
        assert values["rehearsed"] == values["exact"]
        assert values["inside"] == row.settings["per_class"]


def test_conditional_reaches_whom_it_rehearses_and_more(rows):
    for row in seeds_of(rows, "conditional"):
        values = row.values
        for weight in ("", "_per_step"):
            reached = values[f"rehearsed{weight}"] + values[f"missed{weight}"]
            assert values[f"exact{weight}"] == pytest.approx(reached, abs=2e-6)
    assert sum(row.values["leaks"] for row in seeds_of(rows, "conditional")) > 0


@pytest.mark.parametrize("policy", run.POLICIES)
def test_sizes_are_those_of_fig_3(rows, policy):
    row = seeds_of(rows, policy)[0]
    settings = replace(TESTING.base, classes=row.settings["classes"])
    data, stream = comparison.examples(settings, row.seed, None)
    learner = comparison.learner_for(settings, policy, row.seed)
    curves = watch(learner, stream, data.test_rows, data.test_labels)
    for name in ("rehearsed", "exact", "missed"):
        assert row.values[name] == pytest.approx(np.nanmean(getattr(curves, name)), abs=1e-6)
    for name in ("steps", "leaks", "caps"):
        assert row.values[name] == getattr(curves, name).sum()
    assert (row.values["train"], row.values["test"]) == (curves.train[-1], curves.test[-1])


def test_means_over_steps_count_every_step(rows):
    row = seeds_of(rows, "conditional")[0]
    settings = replace(TESTING.base, classes=row.settings["classes"])
    _, stream = comparison.examples(settings, row.seed, None)
    learner = comparison.learner_for(settings, "conditional", row.seed)
    rehearsed = own = stored = steps = 0
    for i, (x, y) in enumerate(zip(stream.rows, stream.labels.tolist(), strict=True)):
        for unit in learner.teach(x, y).units:
            steps += unit.steps
            rehearsed += unit.steps * unit.mean_rehearsed
            stored += unit.steps * i
            own += unit.steps * sum(int(label) == unit.unit for label in stream.labels[:i])
    means = [row.values[f"{name}_per_step"] for name in ("rehearsed", "own_class", "stored")]
    assert means == pytest.approx([rehearsed / steps, own / steps, stored / steps], abs=1e-6)


def test_claims_come_out_of_every_run(rows):
    one_seed = [row for row in rows if row.seed == 0]
    for some in (rows, one_seed):
        claims = figure.claims(some)
        assert len(claims) == 6
        assert claims[-1].holds
        assert claims[-1].measured.startswith("0 leaks")


def test_a_leak_of_closed_makes_its_claim_false(rows):
    broken = [with_values(row, leaks=1, steps=4) for row in rows]
    *_, reach, closed = figure.claims(broken)
    assert (reach.holds, closed.holds) == (False, False)
    assert "25.0 ± 0.0 % of the steps leak" in reach.measured


def test_claims_about_sizes_can_be_false(rows):
    swollen = [
        with_values(row, rehearsed=10 + row.settings["neurons"], inside=1, own_class=1)
        for row in rows
    ]
    assert [claim.holds for claim in figure.claims(swollen)[:4]] == [False] * 4


def test_rows_survive_the_disk_and_the_picture_draws_from_them(rows, tmp_path):
    results.write(rows, tmp_path / "fig7.jsonl")
    again = results.read(tmp_path / "fig7.jsonl")
    assert again == rows
    drawn = figure.draw(again)
    drawn.draw_without_rendering()
    assert drawn.axes[0].get_title("left") == "more units, each of 8 neurons"
    words = [text.get_text() for text in drawn.axes[1].texts]
    assert "conditional rehearses" in words
    assert drawn.get_supxlabel() == ""


def test_lessons_that_ran_into_the_cap_are_told_in_the_picture(rows):
    capped = [with_values(row, caps=1, lessons=10) for row in rows]
    words = figure.draw(capped).get_supxlabel()
    assert words == "12 of 120 lessons ended at the cap of 500 steps, not learned"


def test_nothing_imports_matplotlib_before_something_is_drawn():
    code = (
        "import sys; from minout.paper.figures.fig7 import figure, run;"
        "from minout.paper.figures.fig8 import figure, run; sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def seeds_of(rows, policy):
    return [row for row in rows if row.settings["policy"] == policy]


def with_values(row, **values):
    return replace(row, values={**row.values, **values})
