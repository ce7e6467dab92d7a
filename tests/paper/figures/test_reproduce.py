"""Running figures: every one of them, on several processes, with its files."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from minout import results
from minout.errors import InvalidInputError, MinoutError, UnwritableError
from minout.paper.figures import reproduce as module
from minout.paper.figures.report import write_report
from minout.paper.figures.reproduce import FIGURES, Plan, plans, reproduce


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Two figures with the cheap settings: one task here, several in other processes."""
    out = tmp_path_factory.mktemp("figures")
    ticks: list[int] = []
    made = [
        reproduce(plan, None, out, lambda: ticks.append(1))
        for plan in plans(["fig3", "fig1"], 2, cheap=True)
    ]
    return out, made, ticks


def test_figures_come_in_the_papers_order_however_they_are_asked_for(done):
    _, made, _ = done
    assert [each.name for each in made] == ["fig1", "fig3"]


def test_every_task_ticks_once(done):
    _, made, ticks = done
    assert len(ticks) == sum(len(each.rows) for each in made) == 3


def test_rows_and_both_pictures_are_on_disk(done):
    out, made, _ = done
    for each in made:
        assert results.read(out / f"{each.name}.jsonl") == each.rows
        assert (out / f"{each.name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{each.name}.svg").read_text()


def test_rows_come_in_the_order_of_the_tasks(done):
    _, made, _ = done
    assert [row.seed for row in made[1].rows] == [0, 1]


def test_every_row_knows_version_and_commit(done):
    _, made, _ = done
    for row in made[1].rows:
        assert row.version
        assert re.fullmatch(r"unknown|[0-9a-f]{12}(-dirty)?", row.commit)


def test_report_holds_every_picture_and_every_claim_and_nothing_from_outside(done, tmp_path):
    _, made, _ = done
    write_report(made, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == len(made)
    assert "http" not in page
    cells = _cells(page)
    for each in made:
        for claim in each.claims:
            assert claim.paper in cells
            assert claim.measured in cells


def test_report_below_a_file_is_one_sentence(done, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UnwritableError, match="could not be written"):
        write_report(done[1], tmp_path / "file" / "report.html")


def test_a_picture_that_cannot_be_finished_leaves_the_old_one(tmp_path, monkeypatch):
    (plan,) = plans(["fig1"], 1)
    made = reproduce(plan, None, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UnwritableError, match="No space left"):
        reproduce(plan, None, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert len(made.pictures) == 2


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_a_plan_for_each_setting(name):
    for cheap in (True, False):
        (plan,) = plans([name], 2, cheap=cheap)
        assert plan.tasks
        assert {task.seed for task in plan.tasks} <= {0, 1}


def test_unknown_figure_and_no_seeds_are_refused():
    with pytest.raises(InvalidInputError, match="no figure 'fig11'"):
        plans(["fig11"], 1)
    with pytest.raises(InvalidInputError, match="at least 1, not 0"):
        plans(["fig1"], 0)


def test_a_file_in_the_way_is_refused_before_anything_runs(tmp_path, monkeypatch):
    (tmp_path / "out").write_text("in the way")
    monkeypatch.setattr(module, "_perform", pytest.fail)
    with pytest.raises(UnwritableError, match="Choose another --out"):
        reproduce(plans(["fig1"], 1)[0], None, tmp_path / "out")


def test_an_error_in_a_worker_reaches_the_caller_and_leaves_no_rows(tmp_path):
    plan: Plan = plans(["fig3"], 2, cheap=True)[0]
    with pytest.raises(MinoutError, match="nowhere"):
        reproduce(plan, Path(tmp_path / "nowhere"), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def _cells(page: str) -> list[str]:
    class Cells(HTMLParser):
        found: list[str]

        def handle_data(self, data: str) -> None:
            self.found.append(data)

    parser = Cells()
    parser.found = []
    parser.feed(page)
    return parser.found
