"""The README: its shell commands work on the files that its Python makes.

Its Python is run as a doctest.
"""

import re
from pathlib import Path

import pytest

from docs.page import run_doctest_page

README = Path(__file__).parents[2] / "README.md"
PAGE = README.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each command prints, in a folder where the page's Python was run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("readme"))
        return run_doctest_page(PAGE)


def test_every_command_says_something_and_none_fails(printed):
    assert len(printed) == 7
    assert [said for said in printed if not said or "error:" in said or "Usage" in said] == []


def test_the_first_suspect_is_the_wrong_label_and_is_corrected(printed):
    learned, suspects, corrected, explained, audited, messy, again = printed
    assert "misfits: 1;" in learned
    assert suspects.startswith("Of 178 labels about 1 ")
    assert suspects.splitlines()[2].startswith("bottle-0,2,")
    assert re.search(r"label: +2 → 0\n", corrected)
    assert re.search(r"predicted: +0\n", explained)
    assert "everything agrees" in audited
    assert "colour: category, 2 values" in messy
    assert again.splitlines()[2].startswith("bottle-0,2,")


def test_pictures_are_there():
    pictures = re.findall(r"!\[.*?\]\((.+?)\)", PAGE)
    assert len(pictures) == 2
    assert [each for each in pictures if not (README.parent / each).is_file()] == []
