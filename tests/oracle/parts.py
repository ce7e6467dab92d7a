"""What the result of every part of a benchmark must have."""

from benchmarks import engine
from benchmarks.parts import choose_parts, run_parts
from minout.results import read, write


def expect_whole(measured):
    """Assert that a part has rows, tables whose lines have a value per column, and goals."""
    assert measured.rows
    assert measured.tables
    for table in measured.tables:
        assert table.lines
        assert {len(line) for line in table.lines} == {len(table.head)}
    assert measured.goals or measured.name == "profile"
    assert {goal.part for goal in measured.goals} <= {measured.name}


def expect_survives(rows, file):
    """Assert that rows can be written and read again."""
    write(rows, file)
    assert read(file) == rows


def measured_of(name, rows):
    """Return the result of a part of the engine's benchmark whose rows have been measured."""
    (part,) = choose_parts(engine.PARTS, [name])
    (found,) = run_parts("engine", [part._replace(measure=lambda *_: rows)], None, {})
    return found
