"""Fig. 2: the three sets of a clipped maxout unit, and who moves when one neuron does."""

import math
from dataclasses import replace

import numpy as np
import pytest

from minout import results
from minout.paper.figures.fig2 import figure, run
from minout.paper.figures.fig2.run import PAPER, TESTING


@pytest.fixture
def row():
    [task] = run.plan(TESTING, 3)
    return run.perform(task, None)


def test_the_paper_s_claims_hold_for_both_settings(row):
    [task] = run.plan(PAPER, 1)
    for each in (row, run.perform(task, None)):
        assert [claim.holds for claim in figure.claims([each])] == [True, True]


def test_sets_and_moves_equal_the_oracle(row):
    values = row.values
    j = values["neuron"]
    members, moved = [0, 0, 0], []
    moved_members = [0, 0, 0]
    for x in values["points"]:
        a, after = (
            [w[0] * x[0] + w[1] * x[1] + b for w, b in zip(W, c, strict=True)]
            for W, c in (
                (values["W_before"], values["b_before"]),
                (values["W_after"], values["b_after"]),
            )
        )
        others = any(a[i] >= 0 for i in range(len(a)) if i != j)
        which = 2 if others else (1 if a[j] >= 0 else 0)
        h, h_after = (max(min(each, 0.0) for each in z) for z in (a, after))
        moved.append(not math.isclose(h, h_after, abs_tol=1e-12))
        members[which] += 1
        moved_members[which] += moved[-1]
    assert values["moved"] == moved
    assert values["members"] == members
    assert values["moved_members"] == moved_members
    assert sum(members) == TESTING.points


def test_only_the_winner_of_x_new_moved_and_towards_the_target(row):
    values = row.values
    changed = [
        i
        for i in range(len(values["b_before"]))
        if values["W_before"][i] != values["W_after"][i]
        or values["b_before"][i] != values["b_after"][i]
    ]
    assert changed == [values["neuron"]]
    h, h_after = (
        max(np.array(values[f"W_{when}"]) @ values["x_new"] + np.array(values[f"b_{when}"]))
        for when in ("before", "after")
    )
    assert abs(h_after - TESTING.target) < abs(h - TESTING.target)


def test_a_clipped_new_example_moves_nothing():
    [task] = run.plan(replace(TESTING, x_new=(2.0, 0.0)), 1)
    values = run.perform(task, None).values
    assert values["W_before"] == values["W_after"]
    assert not any(values["moved"])


def test_claims_are_false_when_the_wrong_neuron_is_updated(monkeypatch):
    def broken(W, b, x, target, learning_rate):
        return W, b - np.eye(len(b))[2]  # pulls another line outwards

    monkeypatch.setattr(run, "_learned", broken)
    [task] = run.plan(PAPER, 1)
    row = run.perform(task, None)
    assert row.values["moved_members"][2] > 0
    assert [claim.holds for claim in figure.claims([row])] == [False, False]


def test_a_zero_that_changed_its_sign_counts_as_moved():
    assert run._moved(np.array([0.0, -1.0]), np.array([-0.0, -1.0])).tolist() == [True, False]


def test_rows_survive_the_disk_and_the_picture_draws_from_them(row, tmp_path):
    results.write([row], tmp_path / "fig2.jsonl")
    again = results.read(tmp_path / "fig2.jsonl")
    assert again[0].values == row.values
    drawn = figure.draw(again)
    drawn.draw_without_rendering()
    assert len(drawn.axes) == 2
    assert drawn.axes[1].get_xlabel().endswith(r"0 in $\mathcal{S}_3$")


def test_a_corner_is_cut_from_a_square():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    kept = figure._cut(square, np.array([1.0, 1.0]), -3.0)  # x + y ≤ 3
    assert kept.tolist() == [[0, 0], [2, 0], [2, 1], [1, 2], [0, 2]]
    assert figure._cut(square, np.array([1.0, 0.0]), 1.0).shape == (0, 2)  # x ≤ -1: nothing left
