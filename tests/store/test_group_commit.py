"""Group commits by a thread of their own, beside calls of the thread that changes the model."""

import threading
import time

import pytest

from minout import Learner, group_commit, model_store

NEVER = 1e9


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """A learner in a folder; the other thread commits as soon as a commit is due."""
    monkeypatch.setattr(group_commit, "INTERVAL", 0.0005)
    monkeypatch.setattr(model_store, "BATCH_SECONDS", NEVER)
    with Learner.open(tmp_path / "m") as learner:
        learner.teach([0.0], "a", id="first")
        learner.flush()
        yield learner


def test_a_flush_beside_a_group_commit_loses_nothing(opened, tmp_path, monkeypatch):
    real, here, pauses = model_store.FolderStore.flush, threading.get_ident(), []

    def flush(store, state):
        if threading.get_ident() == here and pauses:
            model_store.BATCH_SECONDS = 0.0  # the other thread finds that a commit is due
            time.sleep(pauses.pop())
        real(store, state)

    monkeypatch.setattr(model_store.FolderStore, "flush", flush)
    for n in range(100):
        model_store.BATCH_SECONDS = NEVER
        opened.teach([float(n % 7)], "ab"[n % 7 > 3], id=n)
        pauses.append(n % 30 / 10_000)
        opened.flush()
    model_store.BATCH_SECONDS = NEVER
    assert Learner.open(tmp_path / "m", read_only=True).ids == ["first", *range(100)]
    assert opened.audit().ok


def test_a_group_commit_does_not_end_a_turn(opened, tmp_path, monkeypatch):
    asked, held = threading.Event(), threading.Event()
    real = opened._lock.pause

    def pause(seconds):
        if threading.current_thread().name == "minout commits":
            asked.set()
            assert held.wait(60.0)
        return real(seconds)

    monkeypatch.setattr(opened._lock, "pause", pause)
    assert asked.wait(60.0)
    model_store.BATCH_SECONDS = 0.0
    with opened.turn():
        opened.teach([1.0], "b", id="second")
        held.set()
        time.sleep(0.1)  # many times the interval
        assert Learner.open(tmp_path / "m", read_only=True).ids == ["first"]
        opened.teach([2.0], "b", id="third")
    model_store.BATCH_SECONDS = NEVER
    opened.flush()
    assert Learner.open(tmp_path / "m", read_only=True).ids == ["first", "second", "third"]
