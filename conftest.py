"""Pages that are run write their files into a temporary folder."""

import pytest

collect_ignore = ["docs/make_reference.py"]
"""Collected as a module it would hide the package tests/docs, which is imported as `docs`."""


@pytest.fixture(autouse=True)
def _elsewhere(request, monkeypatch):
    if request.node.path.suffix == ".md":
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
