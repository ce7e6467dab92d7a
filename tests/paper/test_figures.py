"""Every figure runs small; its drawing and its verdicts come from rows alone."""

import json
from html import escape

import numpy as np
import pytest

from minout.errors import InvalidInputError, UnwritableError
from minout.paper import PaperLearner
from minout.paper.figures import line, mnist, regions, rehearsed, toy
from minout.paper.figures import reproduce as module
from minout.paper.figures.reproduce import FIGURES, reproduce, run_one
from minout.paper.figures.rows import Row

FEW = {"per_class": 4, "budget": 4, "neurons": 8}
QUICK = {  # what is smaller, and where a sweep stops
    "fig2": ({"points": 60}, {}),
    **dict.fromkeys(["fig3", "fig4", "fig5"], (FEW, {})),
    "map": ({"per_class": 2, "neurons": 6}, {"learning_rate": (0.1,), "initial_scale": (0.3,)}),
    "fig6": ({"per_class": 200, "points": 10}, {}),
    "fig7": ({"per_class": 4}, {"classes": (2, 4, 10), "neurons": (5, 50)}),
    "fig8": ({"per_class": 3, "prototypes": 30}, {"size": (0, 1, 3, 30, 5, 128)}),
    "fig9": (FEW | {"classes": 3, "side": 6, "test_rows": 24}, {"modes": (10, 30)}),
    "fig10": ({"clouds": 8, "labels": 2, "columns": 2, "rows": 300}, {"regions": (1, 4)}),
}


def quick(name):
    """The settings of a figure made small."""
    smaller, kept = QUICK.get(name, ({}, {}))
    found = [
        {**each, **smaller}
        for each in FIGURES[name].settings
        if all(each[knob] in allowed for knob, allowed in kept.items())
    ]
    if name == "map":  # two sizes
        return [each | {"per_class": 2 + (each["budget"] > 10)} for each in found]
    return found


def row(settings, values, seed=0):
    return Row(settings, seed, values)


def verdicts(claims):
    return [claim.holds for claim in claims]


@pytest.fixture(scope="module")
def smallest():
    """The smallest runs of every figure: one seed, in this process."""
    return {name: [run_one(name, each, 0) for each in quick(name)] for name in FIGURES}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_and_judged_from_rows_that_were_on_the_disk(name, smallest, monkeypatch):
    monkeypatch.setattr(PaperLearner, "teach", pytest.fail)
    lines = [json.dumps(each._asdict(), allow_nan=False) for each in smallest[name]]
    again = [Row(**json.loads(line)) for line in lines]
    assert [json.dumps(each._asdict()) for each in again] == lines
    assert all(axes.has_data() for axes in FIGURES[name].draw(again).axes)
    claims = FIGURES[name].claims(again)
    assert claims
    settings = [json.dumps(each, sort_keys=True) for each in FIGURES[name].settings]
    assert len(set(settings)) == len(settings)  # no run is done twice
    assert {type(holds) for holds in verdicts(claims)} <= {bool, type(None)}


@pytest.mark.parametrize("name", ["fig1", "fig3", "map", "fig9"])
def test_the_same_settings_and_seed_give_the_same_row(name, smallest):
    assert run_one(name, quick(name)[-1], 0) == smallest[name][-1]


def test_rows_pictures_and_a_page_are_written_from_several_processes(tmp_path, monkeypatch):
    ticks, names = [], ["fig1", "fig3"]
    for name in names:
        monkeypatch.setitem(FIGURES, name, FIGURES[name]._replace(settings=quick(name)))
    made = reproduce(names, 2, tmp_path, lambda *done: ticks.append(done))
    assert ticks == [*(("fig1", n, 1) for n in (0, 1)), *(("fig3", n, 2) for n in (0, 1, 2))]
    assert [each.seed for each in made[1].rows] == [0, 1]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for each in made:
        lines = (tmp_path / f"{each.name}.jsonl").read_text().splitlines()
        assert lines == [json.dumps(row._asdict()) for row in each.rows]
        assert each.picture.read_bytes().startswith(b"\x89PNG")
        assert "<svg" in each.picture.with_suffix(".svg").read_text()
        assert f"src={each.name}.png" in page
        assert all(escape(claim.measured) in page for claim in each.claims)


def test_an_unknown_figure_no_seeds_and_a_file_in_the_way_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_reproduce_one", pytest.fail)
    with pytest.raises(InvalidInputError, match="no figure 'fig11'"):
        reproduce(["fig1", "fig11"], 1, tmp_path, max)
    with pytest.raises(InvalidInputError, match="at least 1, not 0"):
        reproduce(["fig1"], 0, tmp_path, max)
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(UnwritableError, match="Choose another --out"):
        reproduce(["fig1"], 1, tmp_path / "out", max)


def test_watching_predicts_what_the_learner_does():
    settings = {**mnist.PAPER, **FEW, "classes": 3, "policy": "random"}
    data, learner = mnist.examples(settings, 1), mnist.learner_for(settings, 1)
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
            for policy, train in zip(mnist.COMPARED, trains, strict=True)
        ]

    assert verdicts(mnist.claims_map(cells((1.0, 0.99, 0.5)))) == [True]
    assert verdicts(mnist.claims_map(cells((1.0, 0.9, 0.5)))) == [False]  # random is not as good
    assert verdicts(mnist.claims_map(cells((0.9, 0.9, 0.5)))) == [False]  # nothing was learned


def test_fig6_must_hold_for_every_seed():
    def runs(ordered, shuffled):
        found = {"ordered": ordered, "shuffled": shuffled}
        return [row({"stream": name}, {"test": [0.1, end]}) for name, end in found.items()]

    assert verdicts(line.claims6(runs(0.1, 0.9))) == [True, True]
    assert verdicts(line.claims6([*runs(0.1, 0.9), *runs(0.3, 0.7)])) == [False, False]


@pytest.mark.parametrize(("leaks", "inside", "expected"), [
    (0.0, 31.0, [True, True, True]), (5.0, 40.0, [False, False, True]),
])  # fmt: skip
def test_fig7_judges_s1_and_leaks(leaks, inside, expected):
    told = {"rehearsed": 10.0, "exact": 20.0, "missed": 5.0, "inside": inside}
    knobs = {"classes": 2, "neurons": 50, "per_class": 30}
    rows = [
        row({"policy": policy, **knobs}, {**told, "leaks": each})
        for policy, each in (("conditional", leaks), ("closed", 0.0))
    ]
    assert verdicts(rehearsed.claims7(rows)) == expected


def test_fig8_asks_for_both_ends_and_a_rise_in_between():
    def runs(middle):
        found = {("T[x]", 0): 0.0, ("groups", 3): middle, ("one θ", 1): 90.0,
                 ("minout", 5): 50.0, ("minout", 1): 80.0, ("network", 9): 99.0}  # fmt: skip
        return [
            row({"kind": kind, "size": size, "how": how},
                {"forgetting": lost, "test": 10.0, "train": 100.0, "shared": 0.5})
            for (kind, size), lost in found.items() for how in ("alone", "rehearsed")
        ]  # fmt: skip

    assert verdicts(line.claims8(runs(40.0))) == [True, True]
    assert verdicts(line.claims8(runs(95.0))) == [True, False]


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
    assert verdicts(rehearsed.claims9(rows)) == [holds, holds]


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
    small = {"modes": 20, "per_class": 30, "noise": 0.0, "test_rows": 40}
    data = rehearsed.generate({**FIGURES["fig9"].settings[0], **small}, 3)
    assert len(np.unique(data.rows, axis=0)) == 20
    assert np.bincount(data.labels).tolist() == [30] * 10
    assert data.labels.tolist() == sorted(data.labels.tolist())
    assert {tuple(x) for x in data.test_rows} <= {tuple(x) for x in data.rows}
