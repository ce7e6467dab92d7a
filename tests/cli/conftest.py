"""What tests of the commands share: small tables, and ways to run a command."""

import csv
import json
import shutil

import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from minout import Learner
from minout.cli import app as cli
from minout.engine.choice import SHAPES
from minout.errors import MinoutError

KINDS = ("barolo", "grignolino", "barbera, sweet")


@pytest.fixture(autouse=True)
def _little_is_chosen(monkeypatch):
    """Let consolidating choose between few forms, which is faster: commands are not about that."""
    choose_little(monkeypatch)


def choose_little(patch):
    patch.setattr("minout.engine.settings.REGIONS", (1,))
    patch.setattr("minout.engine.settings.HATS", (0,))
    patch.setattr("minout.engine.settings.SHAPES", SHAPES[:2])


def invoke(*words, input=None):
    return CliRunner().invoke(cli.app, [str(word) for word in words], input=input)


@pytest.fixture
def run():
    """Run a command that must succeed; return what it prints."""

    def succeed(*words, input=None) -> str:
        result = invoke(*words, input=input)
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stdout

    return succeed


@pytest.fixture
def said(run):
    """Run a command that must succeed; return its notes on standard error."""

    def notes(*words, input=None) -> str:
        result = invoke(*words, input=input)
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stderr

    return notes


@pytest.fixture
def rows_of(run):
    """Run a command with --json; return its objects."""

    def objects(*words, input=None):
        return [json.loads(each) for each in run(*words, "--json", input=input).splitlines()]

    return objects


@pytest.fixture
def run_json(rows_of):
    """Run a command with --json; return its only object."""

    def only(*words, input=None):
        (found,) = rows_of(*words, input=input)
        return found

    return only


@pytest.fixture
def refused():
    """Run a command that must be refused; return the one line that says why."""

    def fail(*words, input=None) -> str:
        result = invoke(*words, input=input)
        assert result.exit_code == 1, (result.output, result.exception)
        assert isinstance(result.exception, MinoutError), result.exception
        assert "\n" not in str(result.exception)
        return str(result.exception)

    return fail


@pytest.fixture
def saved(tmp_path_factory):
    """Return the bytes of a model as one file: equal models have equal bytes."""

    def save(folder) -> bytes:
        file = tmp_path_factory.mktemp("saved") / "file"
        with Learner.open(folder, read_only=True) as learner:
            learner.save(file)
        return file.read_bytes()

    return save


def write_rows(file, rows):
    with file.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows(rows)
    return file


@pytest.fixture
def write_csv(tmp_path):
    """Write rows, the header first, to a file in tmp_path."""
    return lambda name, rows: write_rows(tmp_path / name, rows)


@pytest.fixture(scope="session")
def all_wines():
    """The wine data in label order: a header, then 178 rows with a kind and a bottle's name."""
    data = load_wine()
    rows = [
        [*x.tolist(), KINDS[y], f"b{i}"]
        for i, (x, y) in enumerate(zip(data.data, data.target, strict=True))
    ]
    return [[*data.feature_names, "kind", "bottle"], *rows]


@pytest.fixture
def wine_rows(all_wines):
    """The wine data, which a test may change."""
    return [row.copy() for row in all_wines]


@pytest.fixture
def wine(write_csv, wine_rows):
    return write_csv("wine.csv", wine_rows)


@pytest.fixture(scope="session")
def original(tmp_path_factory, all_wines):
    """The model that `wines` is a copy of."""
    return _learned(tmp_path_factory.mktemp("original"), all_wines, "--id", "bottle")


@pytest.fixture
def wines(original, tmp_path):
    """A model of all wines."""
    return shutil.copytree(original, tmp_path / "wines")


PEOPLE = [
    ["age", "city", "since", "vip", "about", "kind", "key"],
    *(
        [
            20 + i * 0.5 if i % 9 else "",
            ("rome", "oslo", "lima")[i % 3],
            f"20{10 + i % 12}-0{1 + i % 9}-1{i % 10}",
            ("yes", "no")[i % 2],
            f"likes {('red', 'blue')[i % 2]} cars number {i} and more words",
            "ab"[i % 3 == 0],
            f"k{i}",
        ]
        for i in range(60)
    ),
]


@pytest.fixture
def people(write_csv):
    """A table with columns of every kind."""
    return write_csv("people.csv", PEOPLE)


@pytest.fixture(scope="session")
def original_table(tmp_path_factory):
    """The model that `table` is a copy of."""
    return _learned(tmp_path_factory.mktemp("original"), PEOPLE, "--id", "key")


@pytest.fixture
def table(original_table, tmp_path):
    """A model of the table with columns of every kind."""
    return shutil.copytree(original_table, tmp_path / "table")


def _learned(folder, rows, *words):
    file = write_rows(folder / "data.csv", rows)
    with pytest.MonkeyPatch.context() as patch:
        choose_little(patch)
        patch.setattr("minout.steps.clock", lambda: 1_700_000_000.0)
        result = invoke("learn", folder / "model", file, "--label", "kind", *words)
    assert result.exit_code == 0, (result.output, result.exception)
    return folder / "model"
