"""A copy of a model is complete or not there, also while another process teaches."""

import subprocess
import sys

import numpy as np
import pytest

from minout import Learner
from minout.errors import MissingDataError, UnwritableError
from minout.upkeep import backup, check

TEACHER = """
import sys
import numpy as np
from minout import Learner
rng = np.random.default_rng(0)
with Learner.open(sys.argv[1], durability="example", refresh="manual") as learner:
    print("ready", flush=True)
    for n in range(100_000):
        learner.teach(rng.normal(size=20), int(rng.integers(3)), id=n)
"""


def saved(folder, file):
    Learner.open(folder, read_only=True).save(file)
    return file.read_bytes()


def test_the_copy_is_the_model(changed, tmp_path):
    assert backup(changed, tmp_path / "copy") == 176
    assert check(tmp_path / "copy").ok
    assert saved(tmp_path / "copy", tmp_path / "a") == saved(changed, tmp_path / "b")
    assert {each.name for each in tmp_path.iterdir()} == {"wines", "copy", "a", "b"}


def test_a_model_is_copied_while_another_process_teaches_it(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", TEACHER, str(tmp_path / "m")], stdout=subprocess.PIPE
    ) as teacher:
        assert teacher.stdout.readline() == b"ready\n"
        counts = []
        while len(counts) < 4 or counts[-1] == counts[0]:
            assert teacher.poll() is None
            target = tmp_path / f"copy{len(counts)}"
            try:
                counts.append(backup(tmp_path / "m", target))
            except MissingDataError:  # nothing has been committed yet
                assert not target.exists()
                continue
            if counts[-1]:
                assert Learner.open(target, read_only=True).ids == list(range(counts[-1]))
        teacher.kill()
    assert counts == sorted(counts)
    assert check(tmp_path / f"copy{len(counts) - 1}").ok


def test_what_is_committed_during_the_copy_is_not_in_it(changed, tmp_path, monkeypatch):
    monkeypatch.setattr("minout.store.database.FEW", 2)  # pages at a time
    before, steps = saved(changed, tmp_path / "before"), []
    with Learner.open(changed, durability="example") as learner:

        def teach(fraction):
            learner.teach(np.full(13, float(len(steps))), "barolo", id=len(steps))
            steps.append(fraction)

        assert backup(changed, tmp_path / "copy", progress=teach) == 176
    assert steps == sorted(steps)
    assert len(steps) > 3
    assert saved(tmp_path / "copy", tmp_path / "after") == before


@pytest.mark.parametrize("what", ["folder", "file", "link"])
def test_nothing_is_overwritten(changed, tmp_path, what):
    target = tmp_path / "copy"
    if what == "folder":
        target.mkdir()
    elif what == "file":
        target.write_text("mine")
    else:
        target.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnwritableError, match="There is already a"):
        backup(changed, target)
    assert target.is_symlink() or target.exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_an_interruption_leaves_nothing(changed, tmp_path, error):
    def stop(_):
        raise error

    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else UnwritableError
    with pytest.raises(expected):
        backup(changed, tmp_path / "copy", progress=stop)
    assert {each.name for each in tmp_path.iterdir()} == {"wines"}


def test_a_full_disk_leaves_nothing(changed, tmp_path, monkeypatch):
    import sqlite3

    real = sqlite3.connect

    def connect(name, *args, **options):
        connection = real(name, *args, **options)
        if "copy" in str(name) and not options:
            connection.execute("PRAGMA max_page_count=5")
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect)
    with pytest.raises(UnwritableError, match="could not be written"):
        backup(changed, tmp_path / "copy")
    assert {each.name for each in tmp_path.iterdir()} == {"wines"}


def test_a_damaged_model_is_not_copied(changed, tmp_path):
    held = bytearray((changed / "model.sqlite").read_bytes())
    held[-3000:-2000] = bytes(1000)
    (changed / "model.sqlite").write_bytes(held)
    with pytest.raises(MissingDataError, match="is damaged, so it was not copied"):
        backup(changed, tmp_path / "copy")
    assert {each.name for each in tmp_path.iterdir()} == {"wines"}
