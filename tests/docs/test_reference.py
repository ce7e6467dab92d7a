"""The reference: docs/reference.md is what the docstrings make it."""

import importlib.util
import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

import minout
import minout.paper
from minout.cli.app import COMMANDS

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
    named = set(re.findall(r"^### `(?:minout )?([\w-]+)", page, flags=re.M))
    public = {*minout.__all__, *minout.paper.__all__} - {"__version__"}
    assert public | {*COMMANDS} <= named


def test_every_type_that_a_public_method_returns_is_listed(page):
    entries = set(re.findall(r"^### `(\w+)`$", page, flags=re.M))
    public = {
        *(getattr(minout, name) for name in minout.__all__),
        *(getattr(minout.paper, name) for name in minout.paper.__all__),
    }
    returned = {
        each.__name__
        for cls in public
        if isinstance(cls, type)
        for name, member in inspect.getmembers_static(cls)
        if not name.startswith("_")
        for each in types_of(member)
        if each.__module__.startswith("minout")
    }
    assert {"PairSeparator", "Inspection", "Suspect", "Choice", "Audit"} <= returned
    assert returned <= entries
    assert {"SupportVector", "Support", "Refresh"} <= entries  # in fields of these


def types_of(member):
    """Yield the types in the annotation of what a method or a property returns."""
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    hints = [getattr(function, "__annotations__", {}).get("return")]
    for hint in hints:
        hints += get_args(hint)
        if isinstance(hint, type):
            yield hint
