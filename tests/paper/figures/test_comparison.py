"""The runs behind figures 3, 4 and 5, and the map."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from minout import results
from minout.errors import InvalidInputError
from minout.paper.figures import comparison, seeds
from minout.paper.figures.task import Task
from minout.results import Row

FIGURES = ("fig3", "fig4", "fig5", "map")


def parts(name: str):
    return [import_module(f"minout.paper.figures.{name}.{part}") for part in ("run", "figure")]


@pytest.fixture(scope="module", params=FIGURES)
def made(request) -> tuple[str, list[Row]]:
    run, _ = parts(request.param)
    return request.param, [run.perform(task, None) for task in run.plan(run.TESTING, 2)]


def test_every_figure_draws_and_judges_its_own_rows(made):
    name, rows = made
    _, figure = parts(name)
    assert figure.draw(rows).axes
    for claim in figure.claims(rows):
        assert claim.paper
        assert claim.measured
        assert claim.holds in (True, False)


def test_rows_are_the_same_after_a_visit_to_the_disk(made, tmp_path: Path):
    _, rows = made
    results.write(rows, tmp_path / "rows.jsonl")
    assert results.read(tmp_path / "rows.jsonl") == rows


def test_a_row_knows_its_settings_and_can_be_run_again(made):
    name, rows = made
    run, _ = parts(name)
    task = run.plan(run.TESTING, 2)[1]
    assert run.perform(task, None) == rows[1]
    assert rows[1].seed == task.seed
    assert rows[1].settings["policy"] == task.variant


def test_the_map_never_reads_the_test_set(monkeypatch):
    run, _ = parts("map")
    task = run.plan(run.TESTING, 1)[0]
    before = run.perform(task, None)
    load = run.streams.load

    def doctored(source):
        data = load(source)
        return data._replace(test_rows=1.0 - data.test_rows, test_labels=data.test_labels[::-1])

    monkeypatch.setattr(run.streams, "load", doctored)
    assert run.perform(task, None) == before


def test_all_policies_get_the_same_stream():
    run, _ = parts("fig4")
    streams = [
        comparison.examples(task.settings, task.seed, None)[1] for task in run.plan(run.TESTING, 1)
    ]
    assert all(np.array_equal(each.rows, streams[0].rows) for each in streams)
    assert (np.diff(streams[0].labels) >= 0).all()


def test_fewer_classes_teach_only_the_first_labels():
    data, stream = comparison.examples(comparison.Settings(per_class=2, classes=3), 0, None)
    assert set(stream.labels.tolist()) == set(data.test_labels.tolist()) == {0, 1, 2}


def test_unknown_policy_is_refused_by_name():
    with pytest.raises(InvalidInputError, match="no policy 'best'"):
        comparison.policy_named("best", 3)


def curve(policy: str, seed: int, end: float, **values: list[float]) -> Row:
    curves = {
        "train": [0.5, end],
        "test": [0.5, end],
        "seen": [1.0, end],
        "rehearsed": [None, 100.0],
    }
    return results.row("figX", {"policy": policy, "per_class": 100}, seed, {**curves, **values})


def test_claims_of_fig4_fail_when_the_numbers_do():
    figure = parts("fig4")[1]
    good = [curve("conditional", 0, 1.0), curve("uniform", 0, 1.0), curve("none", 0, 0.1)]
    assert [claim.holds for claim in figure.claims(good)] == [True] * 5
    for place, bad, broken in [
        (0, curve("conditional", 0, 0.99), 0),
        (0, curve("conditional", 0, 1.0, seen=[1.0, 0.99, 1.0]), 1),
        (2, curve("none", 0, 0.31), 2),
        (1, curve("uniform", 0, 0.97), 3),
        (0, curve("conditional", 0, 1.0, train=[0.5, 0.4, 1.0]), 4),
    ]:
        rows = [*good]
        rows[place] = bad
        assert not figure.claims(rows)[broken].holds


def test_claims_of_fig5_ask_for_eight_points():
    figure = parts("fig5")[1]

    def rows(end: float) -> list[Row]:
        others = [curve(policy, 0, end) for policy in ("uniform", "uniform-once")]
        return [curve("conditional", 0, 0.98), *others]

    assert [claim.holds for claim in figure.claims(rows(0.89))][:2] == [True, True]
    assert [claim.holds for claim in figure.claims(rows(0.91))][:2] == [False, False]


def test_claim_of_fig3_asks_for_half_to_twice_a_class():
    figure = parts("fig3")[1]
    for rehearsed, holds in [(49.0, False), (51.0, True), (199.0, True), (201.0, False)]:
        row = curve("conditional", 0, 1.0, rehearsed=[None, rehearsed])
        assert figure.claims([row])[0].holds is holds


def test_smoothing_of_fig3_averages_only_examples_that_moved_a_unit():
    smooth = parts("fig3")[1]._smooth
    assert smooth([None, 4.0, None, 8.0]).tolist() == [0.0, 4.0, 4.0, 6.0]
    window = parts("fig3")[1].WINDOW
    assert smooth([100.0] + [2.0] * window)[-1] == 2.0
    assert smooth([3.0] + [None] * (window + 5))[-1] == 3.0


def test_the_map_finds_a_setting_that_shows_both_comparisons():
    figure = parts("map")[1]

    def cell(per_class: int, policy: str, train: float, rate: float = 0.1) -> Row:
        knobs = {
            "per_class": per_class, "reduction": "sum", "learning_rate": rate,
            "initial_scale": 0.3, "policy": policy,
        }  # fmt: skip
        return results.row("map", knobs, 0, {"train": train})

    def rows(small_random: float) -> list[Row]:
        small = [cell(10, "conditional", 1.0), cell(10, "uniform", small_random)]
        large = [cell(100, policy, 1.0) for policy in ("conditional", "uniform", "uniform-once")]
        return [*small, cell(10, "uniform-once", 0.5), *large]

    assert [claim.holds for claim in figure.claims(rows(0.9))] == [True, True]
    assert [claim.holds for claim in figure.claims(rows(0.95))] == [False, False]


def test_numbers_in_words_show_the_spread_over_seeds():
    assert seeds.in_words(np.array([1.0, 3.0]), " %") == "2.0 ± 1.4 %"
    assert seeds.in_words(np.array([2.0])) == "2.0"


def test_the_test_set_does_not_change_what_is_learned():
    run, _ = parts("fig5")
    task: Task = run.plan(run.TESTING, 1)[0]
    data, stream = comparison.examples(task.settings, 0, None)
    few = comparison.watch(
        comparison.learner_for(task.settings, "conditional", 0), stream,
        data.test_rows[:1], data.test_labels[:1],
    )  # fmt: skip
    assert comparison.as_values(few)["train"] == run.perform(task, None).values["train"]
