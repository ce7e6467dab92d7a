"""The reference: docs/reference.md is what the docstrings make it."""

import importlib.util
import re
from pathlib import Path

import pytest

import minout
import minout.paper
from minout.cli.app import OWN_FILES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.reference()


def test_the_file_is_what_the_docstrings_make_it(page):
    told = "Run `make reference` and commit docs/reference.md."
    assert (DOCS / "reference.md").read_text(encoding="utf-8") == page, told


def test_every_public_name_and_every_command_is_listed(page):
    named = set(re.findall(r"^### `(?:minout )?(\w+)", page, flags=re.M))
    public = {*minout.__all__, *minout.paper.__all__} - {"__version__"}
    assert public | {*OWN_FILES, "demo", "reproduce"} <= named


def test_every_entry_and_every_line_says_something(page):
    entries = re.findall(r"^### .*\n\n(?:`.*`\n\n)?(.*)$", page, flags=re.M)
    assert len(entries) > 40
    assert all(entries)
    assert re.findall(r"^\| `.*` \|  \|$", page, flags=re.M) == []
