"""Small problems of the tests take the ways that large ones take."""

import pytest

from minout.core import prediction


@pytest.fixture(autouse=True)
def _predictions_search(monkeypatch):
    monkeypatch.setattr(prediction, "SMALL", -1)
