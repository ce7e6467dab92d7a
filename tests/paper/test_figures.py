"""Every figure runs small; its drawing and its verdicts come from rows alone."""

from dataclasses import replace
from html import escape

import numpy as np
import pytest

from minout.errors import InvalidInputError, UnwritableError
from minout.paper import PaperLearner, results
from minout.paper.figures import counting, line, map, mnist, modes, regions, sgd, toy
from minout.paper.figures import reproduce as module
from minout.paper.figures.measured import Task, in_words, plan, sweep, values
from minout.paper.figures.reproduce import FIGURES, Reproduced, reproduce, run_task, write_report
from minout.paper.results import Row


def row(settings, values, seed=0):
    return Row("fig", settings, seed, values, "0", "unknown")


def verdicts(claims):
    return [claim.holds for claim in claims]


@pytest.fixture(scope="module")
def smallest():
    """The smallest runs of every figure: one seed, in this process."""
    return {
        name: [run_task(name, task) for task in plan(figure.quick, 1)]
        for name, figure in FIGURES.items()
    }


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_and_judged_from_rows_that_were_on_the_disk(name, smallest, tmp_path):
    results.write(smallest[name], tmp_path / "rows.jsonl")
    again = results.read(tmp_path / "rows.jsonl")
    assert again == smallest[name]
    figure = FIGURES[name]
    drawn = figure.draw(again)
    assert all(axes.has_data() for axes in drawn.axes)
    claims = figure.claims(again)
    assert claims
    assert {type(holds) for holds in verdicts(claims)} <= {bool, type(None)}


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_task_gives_the_same_row_and_the_full_plan_has_every_variant(name):
    figure = FIGURES[name]
    task = plan(figure.quick, 2)[-1]
    if name in ("fig1", "fig3", "map", "fig9"):  # the others take longer and are made alike
        assert run_task(name, task) == run_task(name, task)
    full = plan(figure.paper, 5)
    assert len({(each.settings, each.variant, each.seed) for each in full}) == len(full)
    assert {each.variant for each in full} >= {task.variant}


def test_rows_pictures_and_a_page_are_written_from_several_processes(tmp_path):
    ticks = []
    made = [
        reproduce(name, 2, tmp_path, quick=True, tick=lambda *done: ticks.append(done))
        for name in ("fig1", "fig3")
    ]
    assert ticks == [(0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]
    assert [each.seed for each in made[1].rows] == [0, 1]
    for each in made:
        assert results.read(tmp_path / f"{each.name}.jsonl") == each.rows
        assert each.picture.read_bytes().startswith(b"\x89PNG")
        assert "<svg" in each.picture.with_suffix(".svg").read_text()
    write_report(made, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "src=fig1.png" in page
    assert "src=fig3.png" in page
    assert all(escape(claim.measured) in page for each in made for claim in each.claims)


def test_an_unknown_figure_no_seeds_and_a_file_in_the_way_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_run", pytest.fail)
    with pytest.raises(InvalidInputError, match="no figure 'fig11'"):
        reproduce("fig11", 1, tmp_path)
    with pytest.raises(InvalidInputError, match="at least 1, not 0"):
        reproduce("fig1", 0, tmp_path)
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(UnwritableError, match="Choose another --out"):
        reproduce("fig1", 1, tmp_path / "out")


def test_a_report_below_a_file_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "x.png").write_bytes(b"")
    made = Reproduced("fig1", [row({}, {})], [], tmp_path / "x.png")
    with pytest.raises(UnwritableError, match="could not be written"):
        write_report([made], tmp_path / "file" / "report.html")


def test_values_are_chosen_by_settings():
    rows = [
        row({"k": k, "policy": p}, {"v": k + s}, s) for k in (5, 2) for p in "ab" for s in (0, 1)
    ]
    assert values(rows, "v", k=5, policy="b").tolist() == [5.0, 6.0]
    assert sweep(rows, "v", "k", policy="a").tolist() == [[2.0, 3.0], [5.0, 6.0]]
    assert in_words(np.array([1.0]), " %") == "1.0 %"


def test_watching_predicts_what_the_learner_does():
    task = Task(replace(mnist.quick(mnist.FIG4), classes=3), "random", 1)
    data, learner = mnist.examples(task), mnist.learner_for(task)
    rows = np.concatenate([data.rows, data.test_rows])
    for report, predicted in mnist.watch(learner, data):
        assert len(learner) == report.example_id + 1
        assert (predicted == learner.predict(rows)).all()


def curves(policy, train, *, seen=1.0, test=None, rehearsed=100.0, **settings):
    told = {"train": [train], "seen": [seen], "test": [train if test is None else test]}
    return row({"policy": policy, "per_class": 100, **settings}, {**told, "rehearsed": [rehearsed]})


@pytest.mark.parametrize(
    ("random", "none", "expected"),
    [(0.99, 0.12, [True, True, True, True, True]), (0.9, 0.4, [True, True, False, False, True])],
)
def test_fig4_holds_where_the_numbers_say_so(random, none, expected):
    rows = [curves("conditional", 1.0), curves("random", random), curves("none", none)]
    assert verdicts(mnist.claims4(rows)) == expected


def test_fig4_sees_a_fall_and_what_was_forgotten():
    rows = [curves("conditional", 1.0), curves("random", 1.0), curves("none", 0.1)]
    rows[0].values.update(train=[0.6, 0.5, 0.99], seen=[1.0, 0.9, 0.99], test=[0.5, 0.6, 0.7])
    assert verdicts(mnist.claims4(rows))[:2] == [False, False]
    assert verdicts(mnist.claims4(rows))[4] is False


@pytest.mark.parametrize(("rehearsed", "holds"), [(49.0, False), (50.0, True), (201.0, False)])
def test_fig3_asks_for_half_to_twice_a_class(rehearsed, holds):
    assert verdicts(mnist.claims3([curves("conditional", 1.0, rehearsed=rehearsed)])) == [holds]


def test_fig5_asks_for_a_margin_over_each_kind_of_random():
    rows = [curves("conditional", 0.9), curves("random", 0.8), curves("random-once", 0.85)]
    assert verdicts(mnist.claims5(rows)) == [True, False]


def test_the_map_finds_a_setting_that_shows_both():
    def cells(at_100):
        found = {10: (1.0, 0.9, 0.9), 100: at_100}
        knobs = {"reduction": "sum", "learning_rate": 0.1, "initial_scale": 0.3}
        return [
            row({**knobs, "per_class": size, "policy": policy}, {"train": train})
            for size, trains in found.items()
            for policy, train in zip(map.POLICIES, trains, strict=True)
        ]

    assert verdicts(map.claims(cells((1.0, 0.99, 0.5)))) == [True]
    assert verdicts(map.claims(cells((1.0, 0.9, 0.5)))) == [False]  # random is not as good
    assert verdicts(map.claims(cells((0.9, 0.9, 0.5)))) == [False]  # nothing was learned


def test_fig6_must_hold_for_every_seed():
    rows = [
        row({"stream": s}, {"test": [0.1, end]}) for s, end in (("ordered", 0.1), ("shuffled", 0.9))
    ]
    assert verdicts(sgd.claims(rows)) == [True, True]
    worse = [
        row({"stream": "shuffled"}, {"test": [0.1, 0.7]}),
        row({"stream": "ordered"}, {"test": [0.1, 0.3]}),
    ]
    assert verdicts(sgd.claims([*rows, *worse])) == [False, False]


@pytest.mark.parametrize(("leaks", "inside", "expected"), [
    (0.0, 31.0, [True, True, True]), (5.0, 40.0, [False, False, True]),
])  # fmt: skip
def test_fig7_judges_s1_and_leaks(leaks, inside, expected):
    told = {"rehearsed": 10.0, "exact": 20.0, "missed": 5.0, "inside": inside}
    rows = [
        row(
            {"policy": policy, "classes": 2, "neurons": 50, "per_class": 30},
            {**told, "leaks": each},
        )
        for policy, each in (("conditional", leaks), ("closed", 0.0))
    ]
    assert verdicts(counting.claims(rows)) == expected


def test_fig8_asks_for_both_ends_and_a_rise_in_between():
    def runs(middle):
        found = {("T[x]", 0): 0.0, ("groups", 3): middle, ("one θ", 1): 90.0,
                 ("minout", 5): 50.0, ("minout", 1): 80.0, ("network", 9): 99.0}  # fmt: skip
        return [
            row({"kind": kind, "size": size, "how": how},
                {"forgetting": lost, "test": 10.0, "train": 100.0, "shared": 0.5})
            for (kind, size), lost in found.items() for how in ("alone", "rehearsed")
        ]  # fmt: skip

    assert verdicts(line.claims(runs(40.0))) == [True, True, True]
    assert verdicts(line.claims(runs(95.0))) == [True, False, True]


@pytest.mark.parametrize(
    ("random", "holds"), [((50.0, 60.0), True), ((89.0, 89.0), False), ((50.0, 89.0), None)]
)
def test_fig9_looks_where_modes_outnumber_the_budget(random, holds):
    rows = [
        row({"reduction": reduction, "learning_rate": 0.1, "budget": 100, "modes": n, "policy": p},
            {"test": test})
        for reduction in ("sum", "mean")
        for p, tests in (("conditional", (90.0, 90.0, 90.0)), ("random", (90.0, *random)))
        for n, test in zip((10, 300, 1_000), tests, strict=True)
    ]  # fmt: skip
    assert verdicts(modes.claims(rows)) == [holds, holds]


def test_fig10_asks_for_a_fall_at_every_number_of_regions():
    def runs(at_risk):
        return [
            row({"data": "digits", "regions": n}, {"at_risk": share, "checked": 10.0 - n})
            for n, share in zip((1, 2, 4), at_risk, strict=True)
        ]

    assert verdicts(regions.claims(runs((30.0, 20.0, 10.0)))) == [True, True]
    assert verdicts(regions.claims(runs((30.0, 10.0, 20.0)))) == [False, True]


def test_fig2_counts_what_moved_in_each_set():
    found = {"members": [3, 2, 9], "moved_members": [1, 1, 0]}
    assert verdicts(toy.claims2([row({}, found)])) == [True]
    assert verdicts(toy.claims2([row({}, {**found, "moved_members": [1, 1, 1]})])) == [False]


def test_modes_have_labels_of_equal_number_and_rows_near_their_mode():
    settings = modes.Settings(modes=20, per_class=30, noise=0.0, test_rows=40)
    data = modes.generate(settings, 3)
    assert len(np.unique(data.rows, axis=0)) == 20
    assert np.bincount(data.labels).tolist() == [30] * 10
    assert data.labels.tolist() == sorted(data.labels.tolist())
    assert {tuple(x) for x in data.test_rows} <= {tuple(x) for x in data.rows}


def test_a_learner_is_not_needed_to_draw(monkeypatch, smallest):
    monkeypatch.setattr(PaperLearner, "teach", pytest.fail)
    for name in ("fig4", "fig7", "fig9"):
        FIGURES[name].draw(smallest[name])
