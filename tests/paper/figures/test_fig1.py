"""Fig. 1: an update of one line moves the output at a point that another line had won."""

import subprocess
import sys
from dataclasses import replace

import pytest

from minout import results
from minout.paper.figures.fig1 import figure, run
from minout.paper.figures.fig1.run import PAPER, TESTING


@pytest.fixture
def rows():
    return [run.perform(task, None) for task in run.plan(TESTING, 3)]


def test_there_is_one_row_whatever_the_seeds(rows):
    assert len(rows) == 1
    assert rows[0].seed == 0


def test_the_step_is_the_gradient_worked_out_by_hand(rows):
    # h(x_new) = 0.125 · 0.5 + 0.5 = 0.5625, 1.4375 below the target; half of that, 0.71875, is the
    # step: the slope rises by 0.71875 · x_new = 0.359375, the intercept by 0.71875. All exact.
    values = rows[0].values
    assert values["slopes_before"] == [-1.0, 0.125, 1.25]
    assert values["slopes_after"] == [-1.0, 0.484375, 1.25]
    assert values["intercepts_after"] == [-1.5, 1.21875, -1.0]
    assert values["outputs_before"] == [0.40625, 0.5625, 1.03125]
    assert values["outputs_after"] == [0.85546875, 1.4609375, 2.005859375]
    assert values["winners_before"] == [1, 1, 2]
    assert values["winners_after"] == [1, 1, 1]


def test_the_paper_s_claims_hold(rows):
    assert [claim.holds for claim in figure.claims(rows)] == [True, True]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (replace(PAPER, learning_rate=0.0), [False, False]),  # nothing is learned
        (replace(PAPER, learning_rate=0.0625), [True, False]),  # too small a push to reach x2
        (replace(PAPER, x2=0.75), [False, False]),  # line 2 had won x2 before
        (replace(PAPER, target=0.0), [False, False]),  # line 2 is pushed down
    ],
)
def test_claims_can_be_false(settings, expected):
    [task] = run.plan(settings, 1)
    assert [claim.holds for claim in figure.claims([run.perform(task, None)])] == expected


def test_an_output_that_moved_under_the_same_winner_is_not_the_paper_s_case(rows):
    doctored = replace(rows[0], values={**rows[0].values, "winners_after": [1, 1, 2]})
    assert [claim.holds for claim in figure.claims([doctored])] == [True, False]


def test_rows_survive_the_disk_and_the_picture_draws_from_them(rows, tmp_path):
    results.write(rows, tmp_path / "fig1.jsonl")
    again = results.read(tmp_path / "fig1.jsonl")
    assert again[0].values == rows[0].values
    drawn = figure.draw(again)
    drawn.draw_without_rendering()
    words = [label.get_text() for label in drawn.axes[1].get_xticklabels()]
    assert words[-1] == "$x_2$\n$G=2$"


def test_nothing_imports_matplotlib_before_something_is_drawn():
    figures = ("fig1", "fig2", "fig6")
    imports = "".join(f"from minout.paper.figures.{each} import figure, run;" for each in figures)
    code = f"import sys; {imports} sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
