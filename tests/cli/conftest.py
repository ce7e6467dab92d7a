"""What tests of the commands share: small tables, and ways to run a command."""

import csv
import json
import shutil

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from minout import Learner
from minout.cli import app as cli
from minout.core.choice import SHAPES
from minout.errors import MinoutError
from minout.features import UnknownMap
from oracle.margin import saved as saved_facts

KINDS = ("barolo", "grignolino", "barbera, sweet")


@pytest.fixture(autouse=True)
def _little_is_chosen(monkeypatch):
    """Let consolidating choose between few forms, which is faster: commands are not about that."""
    choose_little(monkeypatch)


def choose_little(patch):
    patch.setattr("minout.core.settings.REGIONS", (1,))
    patch.setattr("minout.core.settings.HATS", (0,))
    patch.setattr("minout.core.settings.SHAPES", SHAPES[2:4])


def invoke(*words, input=None):
    return CliRunner().invoke(cli.app, [str(word) for word in words], input=input)


def _succeed(*words, input=None):
    result = invoke(*words, input=input)
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def _objects(*words, input=None):
    printed = _succeed(*words, "--json", input=input).stdout
    return [json.loads(each) for each in printed.splitlines()]


def _only(*words, input=None):
    (found,) = _objects(*words, input=input)
    return found


def _fail(*words, input=None):
    result = invoke(*words, input=input)
    assert result.exit_code == 1, (result.output, result.exception)
    assert isinstance(result.exception, MinoutError), result.exception
    assert "\n" not in str(result.exception)
    return str(result.exception)


@pytest.fixture
def run():
    """Run a command that must succeed; return what it prints."""
    return lambda *words, input=None: _succeed(*words, input=input).stdout


@pytest.fixture
def said():
    """Run a command that must succeed; return its notes on standard error."""
    return lambda *words, input=None: _succeed(*words, input=input).stderr


@pytest.fixture
def rows_of():
    """Run a command with --json; return its objects."""
    return _objects


@pytest.fixture
def run_json():
    """Run a command with --json; return its only object."""
    return _only


@pytest.fixture
def refused():
    """Run a command that must be refused; return the one line that says why."""
    return _fail


@pytest.fixture
def saved():
    """Return all that a model knows: equal models have equal facts."""

    def facts(model):
        with Learner.open(model, features=UnknownMap(), read_only=True) as learner:
            return saved_facts(learner)

    return facts


def objects(rows):
    """The rows of a table as dicts; the first one has the names."""
    header, *others = rows
    return [dict(zip(header, row, strict=True)) for row in others]


def features(rows):
    """The rows of a table as dicts, without its last two columns: label and id."""
    return objects([row[:-2] for row in rows])


def write_rows(file, rows):
    with file.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows(rows)
    return file


@pytest.fixture
def write_csv(tmp_path):
    """Write rows, the header first, to a file in tmp_path."""
    return lambda name, rows: write_rows(tmp_path / name, rows)


def write_images(folder, shape):
    """Write six dark and six light images, each kind in its folder."""
    rng = np.random.default_rng(0)
    for kind, low in (("dark", 0), ("light", 128)):
        (folder / kind).mkdir(parents=True)
        for i in range(6):
            pixels = rng.integers(low, low + 128, size=shape, dtype=np.uint8)
            Image.fromarray(pixels).save(folder / kind / f"{i}.png")


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
    return shutil.copy(original, tmp_path / "wines.minout")


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
    return shutil.copy(original_table, tmp_path / "table.minout")


def _learned(folder, rows, *words):
    file = write_rows(folder / "data.csv", rows)
    with pytest.MonkeyPatch.context() as patch:
        choose_little(patch)
        patch.setattr("minout.steps.clock", lambda: 1_700_000_000.0)
        _succeed("learn", folder / "model.minout", file, "--label", "kind", *words)
    return folder / "model.minout"
