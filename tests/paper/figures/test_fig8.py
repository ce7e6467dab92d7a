"""Fig. 8: the sharing line, from a θ for every row to one θ for all."""

from dataclasses import replace

import numpy as np
import pytest

from minout import results, streams
from minout.maths import perceptron
from minout.maths.sharing import by_nearest, for_all
from minout.paper import TableLearner
from minout.paper.figures.fig8 import figure, line, run
from minout.paper.figures.fig8.claims import TABLES, point_runs
from minout.paper.figures.fig8.settings import PAPER, TESTING
from minout.paper.figures.task import Task


@pytest.fixture(scope="module")
def data():
    return streams.load(None)


@pytest.fixture(scope="module")
def rows():
    return [run.perform(task, None) for task in run.plan(TESTING, 1)]


def test_every_point_is_planned_with_and_without_rehearsal():
    tasks = run.plan(PAPER, 5)
    assert len(tasks) == len(set(tasks)) == 12 * 2 * 5
    assert tasks[0].variant == "rows 0 rehearsed"
    assert tasks[-1].variant == "network 128 alone"


def test_a_table_by_row_forgets_nothing_and_knows_nothing_else(rows):
    for rehearsing in (True, False):
        [runs] = point_runs(rows, "rows", rehearsing=rehearsing)
        assert [runs.mean(name) for name in ("forgetting", "train", "test")] == [0, 1, 0.1]
        assert [runs.mean(name) for name in ("shared", "rehearsed", "idle")] == [0, 0, 0]


def test_one_theta_and_one_neuron_share_everything(rows):
    for rehearsing in (True, False):
        shared = [
            runs.mean("shared")
            for runs in point_runs(rows, "all", "minout", "network", rehearsing=rehearsing)
            if runs.size != 8
        ]
        assert shared == [1, 1, 1]


def test_more_is_shared_from_point_to_point(rows):
    for kinds in (TABLES, ("minout",)):
        for rehearsing in (True, False):
            shared = [
                runs.mean("shared") for runs in point_runs(rows, *kinds, rehearsing=rehearsing)
            ]
            assert shared == sorted(set(shared))


def test_only_the_rehearsing_rehearse_and_forget_less(rows):
    for kind in ("groups", "all", "minout", "network"):
        pairs = zip(
            point_runs(rows, kind, rehearsing=True),
            point_runs(rows, kind, rehearsing=False),
            strict=True,
        )
        for rehearsing, alone in pairs:
            assert rehearsing.mean("rehearsed") > 0 == alone.mean("rehearsed")
            assert rehearsing.mean("forgetting") < alone.mean("forgetting")
            assert rehearsing.mean("train") == 1


def test_prototypes_and_judges_are_not_taught(data):
    examples = run.drawn(PAPER, 3, None)
    taught, prototypes, others = (
        {row.tobytes() for row in rows}
        for rows in (examples.stream.rows, examples.prototypes, examples.others[0])
    )
    assert (len(taught), len(prototypes), len(others)) == (300, 300, 1000)
    assert taught.isdisjoint(prototypes | others)
    assert prototypes.isdisjoint(others)
    assert taught | prototypes | others <= {row.tobytes() for row in data.rows}
    assert np.bincount(examples.stream.labels).tolist() == [30] * 10


def test_the_choice_of_rates_does_not_look_at_the_test_set(data, monkeypatch):
    task = Task(TESTING, 0, "all 1 rehearsed")
    chosen = run.held_out_accuracy(task, None)
    blind = data._replace(test_rows=data.test_rows * 0, test_labels=data.test_labels * 0)
    monkeypatch.setattr(streams, "load", lambda _: blind)
    assert run.held_out_accuracy(task, None) == chosen > 0.4


def test_a_table_tells_how_many_of_the_group_were_there_before():
    learner = TableLearner(by_nearest(np.array([[-1.0], [1.0]])), 2, learning_rate=0.1)
    table = line.Table(learner)
    told = [table.teach(np.array([x]), y) for x, y in ((-1, 0), (1, 1), (-2, 1), (-2, 1), (2, 0))]
    assert [report.at_risk for report in told] == [(0,), (0,), (1,), (), (1,)]
    assert [report.rehearsed for report in told] == [0, 0, 1, 0, 1]
    assert [report.caps for report in told] == [0, 0, 0, 0, 0]


def test_a_table_tells_whom_it_could_not_learn_in_time():
    table = line.Table(TableLearner(for_all, 2, max_steps=1))
    told = [table.teach(np.array([0.5]), y) for y in (0, 1)]
    assert [report.caps for report in told] == [1, 1]


@pytest.mark.parametrize("rehearse", [True, False])
def test_a_network_steps_on_the_new_and_then_on_each_stored_example(rehearse):
    rng = np.random.default_rng(0)
    start = perceptron.initial((2, 4, 3), rng)
    xs, labels = rng.normal(size=(6, 2)), [0, 1, 2, 0, 1, 2]
    network = line.Network(
        perceptron.Perceptron(*(part.copy() for part in start)),
        rehearse=rehearse, learning_rate=0.1, max_steps=1, rng=np.random.default_rng(1),
    )  # fmt: skip
    told = [network.teach(x, y) for x, y in zip(xs, labels, strict=True)]
    order = np.random.default_rng(1)
    for n in range(6):
        perceptron.sgd_step(start, xs[n], labels[n], 0.1)
        for i in order.permutation(n) if rehearse else []:
            perceptron.sgd_step(start, xs[i], labels[i], 0.1)
    assert all((a == b).all() for a, b in zip(start, network.net, strict=True))
    assert [report.rehearsed for report in told] == ([0, 1, 2, 3, 4, 5] if rehearse else [0] * 6)
    assert [report.at_risk for report in told] == [(float(n),) for n in range(6)]
    assert [report.caps for report in told] == [1] * 6


def test_a_network_that_knows_an_example_leaves_it_at_that():
    rng = np.random.default_rng(0)
    net = perceptron.initial((2, 4, 3), rng)
    network = line.Network(net, rehearse=True, learning_rate=0.1, max_steps=1_000, rng=rng)
    x = np.array([1.0, -1.0])
    assert network.teach(x, 2) == line.ExampleReport((0.0,), (0.0,), 0, 0)
    assert perceptron.loss(net, x, 2) < 0.1
    assert network.teach(x, 2) == line.ExampleReport((), (), 0, 0)


def test_lessons_are_averaged_over_what_moved():
    reports = [
        line.ExampleReport((0.0, 0.0), (0.0, 0.0), 0, 0),
        line.ExampleReport((1.0,), (1.0,), 1, 1),
        line.ExampleReport((), (), 0, 0),
        line.ExampleReport((0.0, 1.5), (3.0, 3.0), 2, 0),
    ]
    told = run._told(reports)
    assert told["shared"] == 0.5  # 1 of 1, 0 of 3 and 1.5 of 3
    assert told["shared_exactly"] == 1
    assert told["at_risk"] == 0.5
    assert told["rehearsed"] == 0.75
    assert (told["idle"], told["caps"]) == (1, 1)


def test_claims_come_out(rows):
    claims = figure.claims(rows)
    assert [claim.holds for claim in claims[:4]] == [True] * 4
    assert len(claims) == 6
    assert "from T[x] to one θ" in claims[2].measured


def test_claims_can_be_false(rows):
    same = [
        replace(row, values={**row.values, "forgetting": 0.1, "train": 0.9, "rehearsed": 1,
                             "test": 0.1 if row.values["kind"] == "minout" else 0.9})
        for row in rows
    ]  # fmt: skip
    assert [claim.holds for claim in figure.claims(same)] == [False] * 5 + [None]


def test_the_same_seed_gives_the_same_row(rows):
    task = next(each for each in run.plan(TESTING, 1) if each.variant == "minout 8 rehearsed")
    assert run.perform(task, None) in rows


def test_rows_survive_the_disk_and_the_picture_draws_from_them(rows, tmp_path):
    results.write(rows, tmp_path / "fig8.jsonl")
    again = results.read(tmp_path / "fig8.jsonl")
    assert again == rows
    drawn = figure.draw(again)
    drawn.draw_without_rendering()
    words = [text.get_text() for axes in drawn.axes for text in axes.texts]
    assert {"one θ", "network", "3 groups", "minout, $k$ = 8"} <= set(words)


def test_lessons_that_ran_into_the_cap_are_told_in_the_picture(rows):
    assert figure.draw(rows).get_supxlabel() == ""
    capped = [replace(row, values={**row.values, "caps": 2}) for row in rows]
    words = figure.draw(capped).get_supxlabel()
    assert words == f"{2 * len(rows)} lessons ended at the cap of steps, not learned"
