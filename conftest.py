"""Pages that are run write their files where nobody minds."""

import pytest


@pytest.fixture(autouse=True)
def _elsewhere(request, tmp_path, monkeypatch):
    if request.node.path.suffix == ".md":
        monkeypatch.chdir(tmp_path)
