"""A killed process loses nothing that was acknowledged; the rest is as if it had gone on."""

import signal

import pytest

from faults.killing import kill
from long import LONG
from minout import model_store
from oracle.operations import KINDS, script

WALKS = [*KINDS] if LONG else ["auto", "newest 30"]
KILLS, OPERATIONS = (63, 200) if LONG else (5, 80)
"""For each durability and each of these settings."""


@pytest.mark.parametrize("kind", WALKS)
@pytest.mark.parametrize("durability", ["example", "batch"])
def test_killed_at_any_moment_a_model_is_what_was_acknowledged(kind, durability, monkeypatch):
    monkeypatch.setattr(model_store, "BATCH_SECONDS", 0.002)
    calls = script(7, OPERATIONS, **KINDS[kind])
    kills = kill(calls, KILLS, durability=durability, seed=1)
    assert kills.problems == []
    assert kills.survived == kills.tried == KILLS
    assert kills.operations >= KILLS
    if durability == "example":
        assert max(kills.lost) == 0


def test_a_process_that_is_told_to_end_loses_no_more_than_a_killed_one():
    kills = kill(script(7, 40), 3, number=signal.SIGTERM, seed=3)
    assert kills.problems == []
    assert max(kills.lost) == 0
