"""Fig. 10: what a step of the exact engine concerns, against the number of regions per label."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from minout import Learner, results
from minout.paper.figures.fig10 import figure
from minout.paper.figures.fig10.claims import sweeps
from minout.paper.figures.fig10.clouds import Clouds, generate
from minout.paper.figures.fig10.run import DATA, LEARNER, PAPER, TESTING, perform, plan, tabled

SEEDS = 2


@pytest.fixture(scope="module")
def rows():
    return [perform(task, None) for task in plan(TESTING, SEEDS)]


def test_every_data_set_number_of_regions_and_seed_is_run_once():
    tasks = plan(PAPER, 9)
    found = {(task.settings.data, task.settings.regions, task.seed) for task in tasks}
    assert found == {(d, r, s) for d in DATA for r in (1, 2, 4, 8, 16) for s in range(3)}
    assert len(tasks) == len(found)


def test_a_cloud_has_one_label_and_a_label_as_many_clouds_as_any_other():
    X, y = generate(Clouds(count=12, labels=3, spread=0.0), 600, 0)
    label_of = {}
    for row, label in zip(X, y.tolist(), strict=True):
        assert label_of.setdefault(row.tobytes(), label) == label
    assert np.bincount(list(label_of.values())).tolist() == [4, 4, 4]


def test_a_seed_gives_the_same_rows_and_another_gives_others():
    for data in DATA:
        point = plan(TESTING, 1)[0].settings._replace(data=data)
        one, again, other = (tabled(point, seed) for seed in (0, 0, 1))
        assert (one.rows == again.rows).all()
        assert (one.rows != other.rows).any()
        assert len(one.rows) == len(one.labels) == TESTING.rows


def test_test_rows_are_not_taught():
    for task in plan(TESTING, 1):
        table = tabled(task.settings, task.seed)
        taught = {row.tobytes() for row in table.rows}
        assert taught.isdisjoint(row.tobytes() for row in table.test_rows)


def test_values_are_those_of_a_learner_taught_the_same_rows(rows):
    for row, task in zip(rows, plan(TESTING, SEEDS), strict=True):
        table, (data, regions, _, count) = tabled(task.settings, task.seed), task.settings
        assert (row.settings["data"], row.settings["regions"]) == (data, regions)
        learner, half = Learner(regions=regions, refresh="manual", **LEARNER), count // 2
        learner.teach_many(table.rows[:half], table.labels[:half].tolist())
        learner.consolidate()
        at_risk, checked = [], []
        for n in range(half, count):
            x, y = table.rows[n], int(table.labels[n])
            found, report = learner.what_if(x, y), learner.teach(x, y)
            assert not found.refresh
            if report.certificate.moved:
                at_risk.append(len(found.interfered) / n)
                checked.append(report.certificate.checked / (n + 1))
        assert row.values["units"] == sum(len(each) for each in learner.regions().values())
        assert row.values["steps"] == len(at_risk) > 5
        assert row.values["taught"] == count - half
        assert row.values["at_risk"] == pytest.approx(np.mean(at_risk), abs=1e-6)
        assert row.values["checked"] == pytest.approx(np.mean(checked), abs=1e-6)
        right = learner.predict(table.test_rows) == table.test_labels
        assert row.values["test"] == np.mean(right)
        assert row.values["misfits"] == len(learner.misfits)
        if regions == 1:  # then a unit has an output where its label has one
            outputs = learner.outputs(table.rows) > 0
            assert row.values["unclipped"] == pytest.approx(outputs.sum(axis=1).mean(), abs=1e-6)
            continue
        fitted = 1 - len(learner.misfits) / len(learner)
        assert fitted <= row.values["unclipped"] <= row.values["units"]


def test_shares_are_shares(rows):
    for row in rows:
        assert 0 < row.values["at_risk"] <= 1
        assert row.values["checked"] > 0


def test_more_regions_per_label_are_more_units(rows):
    for sweep in sweeps(rows):
        one, many = sweep.values("units")
        assert (many > 1.5 * one).all()


@pytest.mark.parametrize("name", ["at_risk", "checked"])
@pytest.mark.parametrize(
    ("few", "many", "holds"),
    [(0.5, 0.25, True), (0.5, 0.5, False), (0.25, 0.5, False)],
    ids=["falls", "level", "rises"],
)
def test_claims_follow_the_shares(rows, name, few, many, holds):
    made = [
        replace(row, values={**row.values, name: few if row.settings["regions"] == 1 else many})
        for row in rows
    ]
    claims = figure.claims(made)
    assert len(claims) == 2 * len(DATA)
    for claim in claims[("at_risk", "checked").index(name) :: 2]:
        assert claim.holds is holds
        assert f"1: {100 * few:.1f} ± 0.0 %; 4: {100 * many:.1f} ± 0.0 %" in claim.measured


def test_rows_survive_the_disk_and_the_picture_draws_from_them(rows, tmp_path):
    results.write(rows, tmp_path / "fig10.jsonl")
    again = results.read(tmp_path / "fig10.jsonl")
    assert again == rows
    drawn = figure.draw(again)
    drawn.draw_without_rendering()
    names = [axes.get_title("left") for axes in drawn.axes[:2]]
    assert names == ["8 clouds in 2 columns, 2 labels", "digits, 64 columns, 10 labels"]
    units = sweeps(rows)[0].values("units").mean(axis=1)
    ticks = [text.get_text() for text in drawn.axes[2].get_xticklabels()]
    assert ticks == [f"1\n({units[0]:.0f})", f"4\n({units[1]:.0f})"]


def test_nothing_imports_matplotlib_before_something_is_drawn():
    code = (
        "import sys; from minout.paper.figures.fig10 import figure, run;"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
