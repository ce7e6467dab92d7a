"""A killed process loses nothing that was acknowledged; the rest is as if it had gone on."""

import signal

import pytest

from faults.killing import kill
from minout import model_store
from oracle.operations import script

KILLS = 10
"""For each durability; `python -m benchmarks store --only kills` has a thousand."""


@pytest.fixture(scope="module")
def calls():
    return script(7, 120)


@pytest.mark.parametrize("durability", ["example", "batch"])
def test_killed_at_any_moment_a_model_is_what_was_acknowledged(calls, durability, monkeypatch):
    monkeypatch.setattr(model_store, "BATCH_SECONDS", 0.002)
    kills = kill(calls, KILLS, durability=durability, seed=1)
    assert kills.problems == []
    assert kills.survived == kills.tried == KILLS
    assert kills.operations >= KILLS
    if durability == "example":
        assert max(kills.lost) == 0


def test_a_process_that_is_killed_with_a_window_has_forgotten_what_fell_out():
    calls = script(9, 80, keep=12)
    kills = kill(calls, 5, seed=2)
    assert kills.problems == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["term", "hangup"])
def test_a_process_that_is_told_to_end_loses_no_more_than_a_killed_one(calls, number):
    kills = kill(calls, 5, number=number, seed=3)
    assert kills.problems == []
    assert max(kills.lost) == 0
