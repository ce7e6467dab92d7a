"""Damaged and forged copies are counted, and those that do harm are shown."""

from typer.testing import CliRunner

from benchmarks import commands, store
from benchmarks.store import copies
from benchmarks.tables import markdown


def test_copies_are_counted():
    parts = [part for part in store.PARTS if part.name == "copies"]
    found = list(store.run(parts, store.TESTING))
    assert [each.name for each in found] == ["copies"]
    for each in found:
        assert each.rows
        for table in each.tables:
            assert table.title in markdown(table)
    for form in ("file", "folder"):
        tried = [row.values["tried"] for row in found[0].rows if row.values["form"] == form]
        assert sum(tried) == store.TESTING.copies
    assert found[0].goals[0].met


def test_a_copy_that_does_harm_is_shown():
    row = copies.CopiesRow("folder", "forged: x", 3, 1, 1, 0, 0, 1, 2.0, ("plain: W: crash",))
    assert copies.tables([row])[1].lines == [("folder", "forged: x", "plain: W: crash")]
    assert not copies.goals([row])[0].met


def test_the_command_takes_the_number_of_copies(monkeypatch):
    asked = []
    monkeypatch.setattr(store, "run", lambda _, settings, __: asked.append(settings) or ())
    words = ["store", "--only", "copies", "--copies", "12", "--check-bounds"]
    result = CliRunner().invoke(commands.app, words)
    assert result.exit_code == 0, result.output
    assert asked == [store.Settings(copies=12, check_bounds=True)]
