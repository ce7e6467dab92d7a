"""What tests of the model commands share: real data as CSV, and two ways to run a command."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from minout import Learner
from minout.cli import app as cli
from minout.engine.choice import SHAPES
from minout.errors import MinoutError

KINDS = ("barolo", "grignolino", "barbera, sweet")


def choose_little(patch):
    """Lets consolidating choose between few forms, which is faster: commands are not about that."""
    patch.setattr("minout.engine.settings.REGIONS", (1,))
    patch.setattr("minout.engine.settings.HATS", (0,))
    patch.setattr("minout.engine.settings.SHAPES", SHAPES[:2])


@pytest.fixture
def little_is_chosen(monkeypatch):
    """A model has one region per label and no hat functions, as in `wines`."""
    choose_little(monkeypatch)


@pytest.fixture
def run():
    """Runs a command that must succeed and gives what it prints."""

    def succeed(*words, input=None) -> str:
        result = CliRunner().invoke(cli.app, [str(word) for word in words], input=input)
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stdout

    return succeed


@pytest.fixture
def run_json(run):
    """Runs a command with --json and gives its one object."""
    return lambda *words, input=None: json.loads(run(*words, "--json", input=input))


@pytest.fixture
def refused():
    """Runs a command that must be refused and gives the one sentence (or two) that says why."""

    def fail(*words, input=None) -> str:
        result = CliRunner().invoke(cli.app, [str(word) for word in words], input=input)
        assert result.exit_code == 1, (result.output, result.exception)
        assert isinstance(result.exception, MinoutError), result.exception
        assert "\n" not in str(result.exception)
        return str(result.exception)

    return fail


@pytest.fixture
def on_disk():
    """Gives the bytes of the files of a model by name; the lock has none."""
    return lambda folder: {
        each.name: each.read_bytes() for each in folder.iterdir() if each.name != ".lock"
    }


@pytest.fixture
def exported(tmp_path_factory):
    """Gives the bytes of a model as one file: equal models have equal bytes."""

    def export(folder) -> bytes:
        file = tmp_path_factory.mktemp("exported") / "file"
        with Learner.open(folder, read_only=True) as learner:
            learner.save(file)
        return file.read_bytes()

    return export


def write_rows(file, rows):
    """Writes rows, the header first, to a file."""
    with file.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows(rows)
    return file


@pytest.fixture
def write_csv(tmp_path):
    """Writes rows, the header first, to a file in tmp_path."""
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
def numbers(wine_rows):
    """The features of the wines, (178, 13)."""
    return np.array([row[:13] for row in wine_rows[1:]], dtype=float)


@pytest.fixture
def wine(write_csv, wine_rows):
    return write_csv("wine.csv", wine_rows)


@pytest.fixture(scope="session")
def original(tmp_path_factory, all_wines):
    """The model that `wines` is a copy of."""
    folder = tmp_path_factory.mktemp("original")
    file = write_rows(folder / "wine.csv", all_wines)
    words = ["learn", folder / "wines", file, "--label", "kind", "--id", "bottle"]
    with pytest.MonkeyPatch.context() as patch:
        choose_little(patch)
        for module in ("learner", "teaching"):
            patch.setattr(f"minout.{module}.clock", lambda: 1_700_000_000.0)
        result = CliRunner().invoke(cli.app, list(map(str, words)))
    assert result.exit_code == 0, (result.output, result.exception)
    return folder / "wines"


@pytest.fixture
def wines(tmp_path, wine, original):
    """A model of all the wines."""
    return Path(shutil.copytree(original, tmp_path / "wines"))
