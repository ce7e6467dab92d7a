"""Atomic writes: ordinary files only, complete or not at all, and nothing left beside them."""

import os
import socket
import sys
from pathlib import Path

import pytest

from minout import Learner
from minout.errors import UnwritableError
from minout.store import atomic_write


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_missing_folder_is_refused_and_not_made(tmp_path):
    with pytest.raises(UnwritableError, match=r"there is no folder .*nowhere; make it first\.$"):
        atomic_write(tmp_path / "nowhere" / "file", b"new", "The model")
    assert names(tmp_path) == []


def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as each:
        each.bind(str(path))


def link_to_device(path):
    path.symlink_to("/dev/null")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="special files are those of Unix")
@pytest.mark.parametrize("make", [make_fifo, make_socket, link_to_device])
def test_a_special_file_is_refused_and_stays(tmp_path, make, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    make(tmp_path / "file")
    before = os.lstat(tmp_path / "file").st_mode
    with pytest.raises(UnwritableError, match=r"it is not a regular file; name another one\.$"):
        atomic_write(tmp_path / "file", b"new", "The model")
    assert os.lstat(tmp_path / "file").st_mode == before
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("there", [True, False], ids=["target", "no target"])
def test_a_link_stays_and_its_target_is_written(tmp_path, there):
    (tmp_path / "data").mkdir()
    if there:
        (tmp_path / "data" / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("data/real")
    atomic_write(tmp_path / "link", b"new", "The model")
    assert os.readlink(tmp_path / "link") == "data/real"
    assert (tmp_path / "data" / "real").read_bytes() == b"new"
    assert names(tmp_path) == ["data", "link"]
    assert names(tmp_path / "data") == ["real"]


def interrupt_at(count):
    """Raises KeyboardInterrupt at the count-th call or return."""
    left = [count]

    def event(_frame, _kind, _argument):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    return event


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed file
def test_an_interruption_at_any_moment_leaves_the_old_file_or_the_new_and_nothing_else(tmp_path):
    path, seen = tmp_path / "file", set()
    for count in range(2, 10_000):
        path.write_bytes(b"old")
        try:
            sys.setprofile(interrupt_at(count))
            try:
                atomic_write(path, b"new", "A file")
            finally:
                sys.setprofile(None)
        except KeyboardInterrupt:
            assert names(tmp_path) == ["file"], count
            seen.add(path.read_bytes())
            continue
        break
    assert seen == {b"old", b"new"}
    assert count > 50


TIMEOUTS = {
    "write": ((os, "fsync"), lambda learner, path: learner.save(path)),
    "stat": ((Path, "stat"), lambda learner, path: learner.save(path)),
}


@pytest.mark.parametrize("where", TIMEOUTS)
def test_a_timeout_that_a_signal_handler_raises_is_not_told_as_an_error_of_the_file(
    tmp_path, monkeypatch, where
):
    learner = Learner()
    learner.teach([1.0], "a")
    learner.save(tmp_path / "m")
    before, alarm = (tmp_path / "m").read_bytes(), TimeoutError("too late")
    place, call = TIMEOUTS[where]

    def late(*_, **__):
        raise alarm

    monkeypatch.setattr(*place, late)
    with pytest.raises(TimeoutError) as caught:
        call(learner, tmp_path / "m")
    assert caught.value is alarm
    monkeypatch.undo()
    assert names(tmp_path) == ["m"]
    assert (tmp_path / "m").read_bytes() == before
