"""The recipes: their shell commands work on the files that their Python makes.

Their Python is run as doctests.
"""

from pathlib import Path

import pytest

from docs.page import run_doctest_page

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "messy_table",
            [
                "colour: category, 3 values",
                "Numbers have a decimal comma.",
                "Nothing new: 89 were known already",
                "line,id,label",
                "column,value,contribution",
                "bottled: date",
            ],
        ),
        ("images", ["Taught", "4", "example:", "id,label", "label:", "Taught", "(all)"]),
        ("embeddings", ["Taught", "line,id,label", "example:"]),
    ],
    ids=["messy_table", "images", "embeddings"],
)
def test_every_command_of_a_recipe_says_what_it_should(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    printed = run_doctest_page((RECIPES / f"{name}.md").read_text(encoding="utf-8"))
    assert len(printed) == len(said)
    for each, words in zip(printed, said, strict=True):
        assert words in each
        assert "error:" not in each
