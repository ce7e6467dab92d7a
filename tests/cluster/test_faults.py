"""Workers that die, tasks that never end well, workers of another kind, Ctrl-C, killed drivers."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from minout import Learner
from minout.cluster import Local, Ray
from minout.cluster.session import fingerprint
from minout.errors import ClusterError
from oracle.codecs import AsTheyAre
from oracle.margin import clusters, consolidated_copy, everything, saved
from tests.cluster.conftest import children
from tests.cluster.test_contract import PINNED, taught


@pytest.fixture(autouse=True)
def _nothing_is_left():
    """Compare the processes and open files before and after each test."""
    before, files = children(), len(os.listdir("/proc/self/fd"))
    yield
    assert children() == before
    assert len(os.listdir("/proc/self/fd")) <= files + 2


def test_what_a_killed_worker_was_doing_is_done_again():
    learner, killed, others = taught(), [], children()
    expected = saved(consolidated_copy(learner))

    def kill(share, _text):
        mine = children() - others
        if 0.0 < share < 1.0 and len(killed) < 3 and not mine & {*killed}:
            killed.append(min(mine))
            os.kill(killed[-1], signal.SIGKILL)

    learner.consolidate(Local(2, on_progress=kill))
    assert len(killed) == 3
    assert saved(learner) == expected


def test_a_task_that_always_ends_its_worker_is_one_sentence():
    with Local(2).open() as session, pytest.raises(ClusterError) as caught:
        dict(session.get([session.submit(signal.raise_signal, signal.SIGKILL)]))
    assert str(caught.value).startswith(
        "A task ended its worker process 3 times (the last time by signal 9)"
    )


def test_on_ray_too(two_nodes):
    with (
        Ray().open() as session,
        pytest.raises(ClusterError, match="begun up to 3 times") as caught,
    ):
        dict(session.get([session.submit(signal.raise_signal, signal.SIGKILL)]))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["local", "ray"])
def test_workers_that_would_compute_other_bits_are_refused(request, monkeypatch, name):
    executor = Local(1) if name == "local" else Ray()
    if name == "ray":
        request.getfixturevalue("two_nodes")
    learner = taught()
    before = everything(learner)
    monkeypatch.setattr("minout.cluster.session.fingerprint", lambda: "minout 0.0.1 abc")
    with pytest.raises(ClusterError, match=r"would compute other bits .* there, minout 0.0.1 abc"):
        learner.consolidate(executor)
    assert everything(learner) == before


def fingerprint_with(**variables):
    code = "from minout.cluster.session import fingerprint; print(fingerprint())"
    command, env = [sys.executable, "-c", code], os.environ | variables
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


def test_a_fingerprint_tells_another_blas_but_not_another_build_of_the_kernels():
    usual = fingerprint_with()
    assert usual.strip() == fingerprint()
    assert fingerprint_with(MINOUT_KERNELS="_baseline") == usual
    assert fingerprint_with(OPENBLAS_CORETYPE="Prescott") != usual


def test_a_codec_that_workers_cannot_import_is_one_sentence():
    class Mine(AsTheyAre):
        pass

    Mine.__module__, Mine.__qualname__ = "__main__", "Mine"
    sys.modules["__main__"].Mine = Mine
    rows, labels = clusters(4, classes=3, each=6, features=4)
    learner = Learner(**PINNED, memory=Mine(4))
    learner.teach_many(rows, labels)
    before = everything(learner)
    try:
        with pytest.raises(
            ClusterError, match=r"cannot load what it needs .*Mine.* your own codec"
        ):
            learner.consolidate(Local(1))
        with Local(1).open() as session, pytest.raises(ClusterError, match="cannot load"):
            dict(session.get([session.submit(Mine, 4)]))
    finally:
        del sys.modules["__main__"].Mine
    assert everything(learner) == before


@pytest.mark.parametrize("at", [1, 4, 9])
def test_an_interrupt_leaves_the_learner_as_it_was(at):
    learner, said = taught(), []
    before = everything(learner)

    def interrupt(*told):
        said.append(told)
        if len(said) == at:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        learner.consolidate(Local(2, on_progress=interrupt))
    assert everything(learner) == before
    learner.consolidate(Local(2))
    assert learner.is_consolidated


def test_an_interrupt_while_a_worker_starts_leaves_no_process(monkeypatch):
    others, started = children(), []

    class Interrupted(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self.pid)
            if len(started) == 2:
                self.returncode = 0  # else Python says that nobody waits for it
                raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    learner = taught()
    with pytest.raises(KeyboardInterrupt) as kept:  # its traceback holds all that was begun
        learner.consolidate(Local(2))
    assert len(started) == 2
    end = time.monotonic() + 20.0
    while children() - others and time.monotonic() < end:
        for pid in started:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.05)
    assert children() == others
    assert kept.type is KeyboardInterrupt


def test_workers_end_with_a_killed_driver():
    code = (
        "import time; from minout.cluster import Local\n"
        "with Local(2).open() as session:\n"
        "    print([each._process.pid for each in session._workers], flush=True)\n"
        "    dict(session.get([session.submit(time.sleep, 600) for _ in range(2)]))\n"
    )
    driver = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with driver:
        pids = [int(each) for each in driver.stdout.readline().strip("[]\n").split(",")]
        time.sleep(1.0)  # they are in the middle of a task
        assert all(_is_running(pid) for pid in pids)
        driver.kill()
    deadline = time.monotonic() + 60.0
    while any(_is_running(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_is_running(pid) for pid in pids)


def _is_running(pid):
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:ray"])
def test_an_address_where_no_ray_answers_is_one_sentence(address, monkeypatch):
    ray = pytest.importorskip("ray", reason="Ray cannot be imported here")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    learner, start = taught(), time.monotonic()
    before = everything(learner)
    with pytest.raises(ClusterError, match=f"No Ray answers at {address} "):
        learner.consolidate(Ray(address))
    assert time.monotonic() - start < 30.0
    assert everything(learner) == before


def test_rows_are_shared_not_copied():
    rows = np.zeros((1_000_000, 8))
    with Local(1).open() as session:
        tasks = [session.submit(_anonymous, session.put(each)) for each in (rows[:1], rows)]
        found = dict(session.get(tasks))
        assert found[1] < found[0] + rows.nbytes // 4
        assert rows.nbytes <= session.moved < 1.01 * rows.nbytes
    with pytest.raises(ClusterError, match="cannot be sent to another process"):
        Local(1).open().__enter__().submit(lambda: None)


def _anonymous(rows):
    """Return the bytes of memory that only this process has, after reading all rows."""
    assert rows.sum() == 0.0
    assert not rows.flags.writeable
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * 1024
