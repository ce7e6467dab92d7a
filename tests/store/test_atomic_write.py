"""Atomic writes: ordinary files only, complete or not at all, and nothing left beside them."""

import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from minout import Learner
from minout.errors import UnwritableError
from minout.store import archive, atomic_write, prepare_folder


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_missing_folder_is_refused_and_not_made(tmp_path):
    with pytest.raises(UnwritableError, match=r"there is no folder .*nowhere; make it first\.$"):
        atomic_write(tmp_path / "nowhere" / "file", b"new", "The model")
    assert names(tmp_path) == []


def test_a_folder_is_refused(tmp_path):
    (tmp_path / "file").mkdir()
    with pytest.raises(UnwritableError, match=r"it is a folder; name a file\.$"):
        atomic_write(tmp_path / "file", b"new", "The model")
    assert names(tmp_path) == ["file"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(UnwritableError, match="there is no folder"):
        atomic_write(tmp_path / "file" / "inner", b"new", "The model")


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


def test_a_link_in_a_circle_is_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UnwritableError, match="could not be written"):
        atomic_write(tmp_path / "a", b"new", "The model")
    assert names(tmp_path) == ["a", "b"]


def test_a_learner_is_saved_by_the_same_rules(tmp_path):
    learner = Learner()
    learner.teach([1.0], "a")
    with pytest.raises(UnwritableError, match=r"The model could not be written to .*no folder"):
        learner.save(tmp_path / "nowhere" / "model.minout")
    (tmp_path / "link").symlink_to("model.minout")
    learner.save(tmp_path / "link")
    assert Learner.load(tmp_path / "model.minout").ids == [0]


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


def test_a_process_that_is_told_to_end_leaves_nothing_beside_the_file(tmp_path):
    learner = Learner()
    learner.teach([1.0], "a")
    (tmp_path / "m").mkdir()
    learner.save(tmp_path / "m" / "model.minout")
    program = (
        "import os, signal\n"
        "from minout.cli import main\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGTERM)\n"
        "main()\n"
    )
    words = [sys.executable, "-c", program, "export", tmp_path / "m", tmp_path / "out.minout"]
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert names(tmp_path) == ["m"]


TIMEOUTS = {
    "write": ((os, "fsync"), lambda learner, path: learner.save(path)),
    "stat": ((Path, "stat"), lambda learner, path: learner.save(path)),
    "load": ((archive, "_members"), lambda _, path: Learner.load(path)),
    "folder": (
        (Path, "mkdir"),
        lambda _, path: prepare_folder(path.parent / "new", create=True),
    ),
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


def test_a_timeout_of_the_system_is_told_in_a_sentence(tmp_path, monkeypatch):
    def late(*_):
        raise TimeoutError(errno.ETIMEDOUT, "Connection timed out")

    monkeypatch.setattr(os, "fsync", late)
    with pytest.raises(UnwritableError, match=r"Connection timed out\.$"):
        atomic_write(tmp_path / "m", b"new", "The model")
