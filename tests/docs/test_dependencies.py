"""The page on dependencies names the libraries of pyproject.toml, each under its extra."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = {"default install": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_page_lists_what_is_installed(extra):
    page = (ROOT / "docs" / "dependencies.md").read_text()
    default, _, extras = page.partition("\nExtras:")
    rows = re.findall(r"^\| (.+?) \|.*\|$", default, re.M)[1:]
    if extra in PROJECT["optional-dependencies"]:
        rows = re.findall(rf"^\| `{extra}` \| (.+?) \|.*\|$", extras, re.M)
    listed = {name.lower() for row in rows for name in re.findall(r"[\w-]+", row)}
    wanted = {re.match(r"[\w-]+", each)[0].lower() for each in EXTRAS[extra]} - {"minout"}
    assert wanted <= listed
    assert listed <= wanted | {"and", "the", "other", "extras", "---"}
