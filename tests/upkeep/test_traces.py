"""After `forget` and `compact`, nothing of a forgotten example is left in any file."""

import numpy as np
import pytest

from minout import Learner
from minout.upkeep import check, read_log

RNG = np.random.default_rng(7)
SECRET = "zq-secret"


def files(folder):
    return {each.name: each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def traces(folder, rows, *texts):
    """The files that hold a number of the rows (8 bytes in both orders, or 4), or a text."""
    numbers = np.unique(np.asarray(rows, dtype=np.float64))
    wanted = [each.tobytes() for each in numbers]
    wanted += [each.byteswap().tobytes() for each in numbers]
    wanted += [text.encode() for text in texts]
    wanted += [repr(float(each)).encode() for each in numbers]
    return {
        (name, number)
        for name, held in files(folder).items()
        for number in wanted
        if number in held
    }


def clusters(count, width=4):
    labels = RNG.integers(0, 3, count)
    return 3.0 * np.eye(3, width)[labels] + RNG.normal(size=(count, width)), [
        f"kind{n}" for n in labels
    ]


@pytest.mark.parametrize(
    ("durability", "settings"),
    [("example", {}), ("batch", {"expand": 3}), ("batch", {"regions": 2})],
    ids=["auto", "hats", "regions"],
)
def test_compacting_leaves_no_trace_of_forgotten_rows(tmp_path, durability, settings):
    rows, labels = clusters(60)
    ids = [f"{SECRET}-{n}" if n in (0, 7, 31) else f"id-{n}" for n in range(60)]
    secret = rows[[0, 7, 31]]
    with Learner.open(tmp_path / "m", durability=durability, **settings) as learner:
        for row, label, id in zip(rows, labels, ids, strict=True):
            learner.teach(row, label, id=id)
        learner.correct(f"{SECRET}-7", f"{SECRET}-label")
        learner.flush()
        assert traces(tmp_path / "m", secret, SECRET)
        learner.forget([each for each in ids if each.startswith(SECRET)])
        learner.compact()
        assert traces(tmp_path / "m", secret, SECRET) == set()
    assert traces(tmp_path / "m", secret, SECRET) == set()
    assert traces(tmp_path / "m", rows[1:2])  # the test can find what is there
    assert check(tmp_path / "m").ok


def test_compacting_leaves_no_trace_of_rows_that_fell_out_of_the_window(tmp_path):
    rows, labels = clusters(80)
    labels[:20] = [f"{SECRET}-label"] * 20
    ids = [f"{SECRET}-{n}" if n < 50 else n for n in range(80)]
    with Learner.open(tmp_path / "m", keep=30) as learner:
        learner.teach_many(rows, labels, ids, at=np.arange(80.0))
        learner.compact()
        assert learner.ids == ids[50:]
    assert traces(tmp_path / "m", rows[:50], SECRET) == set()


def test_compacting_leaves_no_trace_when_everything_is_forgotten(tmp_path):
    rows, labels = clusters(30)
    with Learner.open(tmp_path / "m") as learner:
        learner.teach_many(rows, labels, [f"{SECRET}-{n}" for n in range(30)])
        learner.forget(learner.ids)
        learner.compact()
    assert traces(tmp_path / "m", rows, SECRET, "kind0", "kind1", "kind2") == set()
    assert check(tmp_path / "m").ok


def test_a_label_that_is_forgotten_leaves_the_log_at_once(tmp_path):
    rows, labels = clusters(40)
    labels[3] = labels[9] = f"{SECRET}-label"
    with Learner.open(tmp_path / "m") as learner:
        learner.teach_many(rows, labels)
        learner.flush()
        assert any(SECRET in str(each.moved) for each in read_log(tmp_path / "m"))
        learner.forget_class(f"{SECRET}-label")
        learner.flush()
        entries = read_log(tmp_path / "m")
        assert SECRET not in str(entries)
        assert any(None in pair for each in entries for pair in each.moved)


def test_a_label_that_was_corrected_away_leaves_the_log_when_compacting(tmp_path):
    rows, labels = clusters(40)
    labels[3] = f"{SECRET}-label"
    with Learner.open(tmp_path / "m") as learner:
        learner.teach_many(rows, labels)
        learner.correct(3, "kind0")
        learner.compact()
        assert traces(tmp_path / "m", [], SECRET)  # an earlier label of a stored example
        learner.forget(3)
        learner.compact()
        assert traces(tmp_path / "m", [], SECRET) == set()


def test_the_log_keeps_forgotten_ids_if_asked(tmp_path):
    rows, labels = clusters(40)
    with Learner.open(tmp_path / "m") as learner:
        learner.teach_many(rows, labels, [f"{SECRET}-{n}" for n in range(40)])
        learner.forget([f"{SECRET}-1", f"{SECRET}-2"], log_ids=True)
        learner.forget([f"{SECRET}-3", f"{SECRET}-4"])
        learner.compact()
    entries = read_log(tmp_path / "m")
    forgets = [each.details.get("forgotten_ids") for each in entries if each.action == "forget"]
    assert forgets == [[f"{SECRET}-1", f"{SECRET}-2"], None]
    held = files(tmp_path / "m")["model.sqlite"]
    assert f'"{SECRET}-1"'.encode() in held
    assert f'"{SECRET}-3"'.encode() not in held


def test_compacting_changes_nothing_in_a_consolidated_model(changed):
    with Learner.open(changed) as learner:
        learner.consolidate()
        learner.save(changed.parent / "before")
        learner.compact()
        learner.save(changed.parent / "after")
    assert (changed.parent / "before").read_bytes() == (changed.parent / "after").read_bytes()
    assert Learner.open(changed, read_only=True).is_consolidated


def test_compacting_makes_the_file_smaller(tmp_path):
    rows, labels = clusters(300, width=400)
    plain = {"whiten": False, "lda_prior": False, "regions": 1, "expand": None}
    with Learner.open(tmp_path / "m", refresh="manual", **plain) as learner:
        learner.teach_many(rows, labels)
        learner.flush()
        learner.forget(list(range(280)))
    before = (tmp_path / "m" / "model.sqlite").stat().st_size
    with Learner.open(tmp_path / "m") as learner:
        learner.compact()
    assert (tmp_path / "m" / "model.sqlite").stat().st_size < before / 2
