"""Every part about folders runs, small, and its goals follow from its rows."""

import pytest
from typer.testing import CliRunner

from benchmarks import commands, store
from benchmarks.store import cost, kills, lag, opening, readers, together
from benchmarks.tables import markdown

NAMES = ("cost", "open", "readers", "together", "kills", "lag")


@pytest.mark.parametrize("name", NAMES)
def test_a_part_gives_rows_tables_and_goals(name, monkeypatch):
    monkeypatch.setattr(readers, "STORED", 60)
    parts = [part for part in store.PARTS if part.name == name]
    (found,) = store.run(parts, store.TESTING)
    assert found.rows
    assert found.goals
    for table in found.tables:
        assert table.title in markdown(table)
    if name in ("kills", "together"):
        assert found.goals[0].met
    if name == "cost":
        assert [row.values["rows"] for row in found.rows] == [20, 20, 60, 20]


def test_goals_are_met_or_not():
    row = cost.CostRow("table", "batch", 10, 2, 1.0, 1.1, 1.0, 1.0)
    assert [each.met for each in cost.goals([row, row._replace(seconds=1.3)])] == [True, False]
    row = opening.OpenRow(10, 2, 0.1, 0.2, 100, 50)
    assert [each.met for each in opening.goals([row, row._replace(seconds=1)])] == [True, False]
    row = readers.ReadersRow(1.0, 10.0, 9.0, 3, 5.0, 4.0)
    slow = row._replace(beside_predicted=1.0)
    assert [each.met for each in readers.goals([row, slow])] == [True, False]
    row = lag.LagRow(1.0, 1.0, 1, 1, 0.1, 0.2, 0.1)
    assert [each.met for each in lag.goals([row, row._replace(most_of_99=2.0)])] == [True, False]


def test_a_state_that_was_wrong_is_shown():
    row = together.TogetherRow(1.0, 4, 20, 10, ("notes of a later state",))
    assert together.tables([row])[1].lines == [("notes of a later state",)]
    assert [each.met for each in together.goals([row])] == [False]
    assert [each.met for each in together.goals([row._replace(problems=())])] == [True]


def test_what_did_not_survive_is_shown():
    row = kills.KillsRow("example", 3, 2, 30, 1, ("3 were acknowledged",))
    assert kills.tables([row])[1].lines == [("example", "3 were acknowledged")]
    assert not kills.goals([row])[0].met


def test_the_command_takes_sizes(monkeypatch):
    asked = []
    monkeypatch.setattr(store, "run", lambda _, settings, __: asked.append(settings) or ())
    words = ["store", "--only", "kills", "--kills", "12", "--lag-seconds", "3"]
    result = CliRunner().invoke(commands.app, words)
    assert result.exit_code == 0, result.output
    assert asked == [store.Settings(kills=12, lag_seconds=3.0)]
