"""The text benchmark on a few made-up mails."""

import pytest
from typer.testing import CliRunner

from benchmarks import commands
from benchmarks.text import load_mails
from minout.errors import MissingDataError


@pytest.fixture
def folder(tmp_path):
    words = {"easy-ham-1": "agenda meeting room", "spam-1": "cheap pills save"}
    for group in ("easy-ham-1", "easy-ham-2", "hard-ham-1", "spam-1", "spam-2"):
        (tmp_path / "data" / group).mkdir(parents=True)
    for group, text in words.items():
        for i in range(24):
            file = tmp_path / "data" / group / f"{i:02}.txt"
            file.write_text(f"{text} {i}", encoding="utf-8")
    return tmp_path


def test_every_method_is_listed_with_its_accuracy(folder):
    done = CliRunner().invoke(commands.app, ["text", "--data", str(folder)])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "36 to learn from, 12 to test on" in done.output
    assert done.output.count("100.00%") == 6
    for name in ("hashed text, one pass", "consolidated", "logistic", "SGDClassifier"):
        assert name in done.output


def test_no_mail_is_both_learned_and_tested(folder):
    mails = load_mails(folder)
    assert set(mails.texts).isdisjoint(mails.test_texts)
    assert len({*mails.texts, *mails.test_texts}) == 48
    told = dict(zip(mails.texts, mails.labels, strict=True))
    assert all(("cheap" in text) == (label == "spam") for text, label in told.items())


def test_a_folder_without_mails_is_named(tmp_path):
    with pytest.raises(MissingDataError, match="There is no folder easy-ham-1"):
        load_mails(tmp_path)
