"""Rows on disk: written then read they are the same, and a damaged file says so."""

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import minout
from minout.errors import MissingDataError, UnwritableError
from minout.paper.results import Row, read, row, write

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = NUMBERS | st.booleans() | st.text(max_size=8) | st.none()
VALUES = st.dictionaries(st.text(max_size=5), LEAVES | st.lists(NUMBERS, max_size=4), max_size=4)
ROWS = st.builds(Row, st.text(max_size=5), VALUES, st.integers(), VALUES, st.text(), st.text())
SOME = [
    Row("fig1", {"rate": 0.1, "name": "σ \u2028 \n"}, 3, {"curve": [1.0, 0.1]}, "0.1.0", "abc"),
    Row("fig2", {}, 0, {"text": "x"}, "0.1.0", "unknown"),
]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROWS, max_size=4))
def test_written_then_read_changes_nothing(tmp_path, rows):
    path = tmp_path / "rows.jsonl"
    write(rows, path)
    assert read(path) == rows


def test_a_row_is_stamped_and_keeps_its_own_copy():
    knobs, values = {"rate": 0.1}, {"accuracy": 1.0}
    stamped = row("fig4", knobs, 7, values)
    knobs["rate"] = values["accuracy"] = 0.0
    assert stamped.settings == {"rate": 0.1}
    assert stamped.values == {"accuracy": 1.0}
    assert (stamped.figure, stamped.seed) == ("fig4", 7)
    assert stamped.version == minout.__version__
    assert re.fullmatch(r"unknown|[0-9a-f]{7,40}(-dirty)?", stamped.commit)
    with pytest.raises(dataclasses.FrozenInstanceError):
        stamped.seed = 8


def test_a_stamped_row_is_the_same_before_and_after_the_disk(tmp_path):
    stamped = row("fig", {"splits": ((0, 1), (2,)), "by": {3: 0.5}}, 1, {"curve": (0.1, 1)})
    write([stamped], tmp_path / "rows.jsonl")
    assert read(tmp_path / "rows.jsonl") == [stamped]


def git(folder, *words):
    identity = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgsign=false")
    ran = subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


ROW = "from minout.paper.results import row; print(row('f', {}, 0, {}))"


def commit_of_a_copy(folder):
    """Asks a copy of the package, with nothing else of it around, for the commit of its rows."""
    source, copy = Path(minout.__file__).parent, folder / "minout"
    if not copy.exists():
        for room in ("paper", "store"):
            (copy / room).mkdir(parents=True)
            (copy / room / "__init__.py").touch()
        for file in [*source.glob("*.py"), source / "paper/results.py", *source.glob("store/*.py")]:
            (copy / file.relative_to(source)).write_text(file.read_text())
        (copy / "__init__.py").write_text('"""Imports nothing, so that this is quick."""\n')
    ran = subprocess.run(
        [
            sys.executable,
            "-BPc",
            "from minout.paper.results import row; print(row('f', {}, 0, {}))",
        ],
        env=os.environ | {"PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return re.search(r"commit='(.*)'", ran.stdout)[1]


def test_the_commit_is_that_of_the_code_and_of_nothing_around_it(tmp_path):
    assert commit_of_a_copy(tmp_path) == "unknown"  # no checkout
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "Somebody else's work")
    assert commit_of_a_copy(tmp_path) == "unknown"  # somebody else's checkout
    git(tmp_path, "add", "minout")
    git(tmp_path, "commit", "--quiet", "-m", "Ours")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert commit_of_a_copy(tmp_path) == commit[:12]
    (tmp_path / "minout" / "errors.py").write_text(
        Path(minout.__file__).with_name("errors.py").read_text() + "# changed\n"
    )
    assert commit_of_a_copy(tmp_path) == commit[:12] + "-dirty"


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-10],
        lambda text: text + "not json\n",
        lambda text: text.replace('"seed"', '"sed"', 1),
        lambda text: text + "[1, 2]\n",
    ],
)
def test_a_damaged_file_says_so_in_one_line(tmp_path, damage):
    path = tmp_path / "rows.jsonl"
    write(SOME, path)
    path.write_text(damage(path.read_text()))
    with pytest.raises(MissingDataError, match=r"^[^\n]*\.$") as caught:
        read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_is_not_there_says_so(tmp_path, name):
    with pytest.raises(MissingDataError, match=r"^[^\n]*\.$"):
        read(tmp_path / name)


def test_a_write_that_fails_half_way_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "rows.jsonl"
    write(SOME, path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UnwritableError, match="No space left on device"):
        write(SOME[1:], path)
    assert read(path) == SOME
