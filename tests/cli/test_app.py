"""The command line: what it prints, and how it says no."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import minout
from minout.cli import app as cli
from minout.cli import reproduce as reproduce_command
from minout.errors import MissingExtraError

runner = CliRunner()


def run(*words: str):
    return runner.invoke(cli.app, list(words))


def test_version_is_the_packages():
    assert run("--version").output.strip() == minout.__version__


@pytest.mark.parametrize("words", [["--help"], ["reproduce", "--help"]])
def test_every_command_explains_itself(words):
    result = run(*words)
    assert result.exit_code == 0
    assert "Example" in result.output or words == ["--help"]


def test_reproduce_prints_claims_and_where_the_pictures_are(tmp_path):
    result = run("reproduce", "fig1", "fig2", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "holds" in result.output
    assert "fig2.png" in result.output
    assert (tmp_path / "report.html").exists()


def test_all_and_nothing_mean_every_figure(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        reproduce_command, "plans", lambda names, seeds: asked.append((names, seeds)) or []
    )
    run("reproduce", "--out", str(tmp_path))
    run("reproduce", "all", "--seeds", "2", "--out", str(tmp_path))
    everything = list(reproduce_command.FIGURES)
    assert asked == [(everything, 5), (everything, 2)]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["reproduce", "fig11"], "There is no figure 'fig11'"),
        (["reproduce", "fig1", "--seeds", "0"], "`seeds` must be at least 1"),
        (["reproduce", "fig1", "--out", "/proc/nowhere"], "Nothing can be written to"),
        (["reproduce", "fig2", "--data", "/nowhere"], "There is no folder /nowhere"),
        (["reproduce", "fig[/9]"], "There is no figure 'fig[/9]'"),
        (["reproduce", "fig1", "--out", "/proc/no[bold]where"], "/proc/no[bold]where"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_1(words, sentence):
    command = [sys.executable, "-c", "from minout.cli import main; main()", *words]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert told.stderr.startswith("error: ")
    assert sentence in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1


def test_an_extra_is_named_with_its_brackets(monkeypatch, capsys):
    def missing():
        raise MissingExtraError('Figures need matplotlib: pip install "minout[figures]".')

    monkeypatch.setattr(cli, "app", missing)
    with pytest.raises(SystemExit):
        cli.main()
    assert 'pip install "minout[figures]".' in capsys.readouterr().err
