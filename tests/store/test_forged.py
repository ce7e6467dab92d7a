"""Values that no model has, with right checksums, are refused; a bug is not told as damage."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from minout import Learner, kernels, store
from minout.core import packing
from minout.errors import MissingDataError
from minout.features import HashedText
from minout.store.tables import COUNTERS
from store.forging import edited_arrays, edited_json, reseal
from store.models import SETTINGS, taught

HUGE = 10**400


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the bytes of a file of each kind."""
    path, found = tmp_path_factory.mktemp("files") / "m", {}
    for kind in SETTINGS:
        taught(kind).save(path)
        found[kind] = path.read_bytes()
    return found


def refused(path):
    """Return whether a file is refused as one that is damaged."""
    with pytest.raises(MissingDataError, match="was truncated or damaged"):
        Learner.load(path)
    return True


FACTS = {
    "widths": [
        *([3, row] for row in (-1, 0, 4, 2**63, HUGE, None, True)),
        *([given, 3] for given in (-3, 0, 4, None, True)),
        [None, None],
    ],
    "width": [2, 4, HUGE, None],
    "dtype": ["float32", "uint8", "object"],
    "choice.C": [0.0, -1.0, float("inf"), float("nan"), 1e-320, 1e308, HUGE, True, "auto"],
    "choice.sharpness": [0.0, -1.0, float("inf"), float("nan"), HUGE, True],
    "settings.C": [0.0, -1.0, float("inf"), float("nan"), HUGE, True, "x"],
    "settings.whiten": [1, "x", None],
    "seen": [-1, 10**6, HUGE, True],
    "labels": [[], ["c0", "c1"], ["c0", "c0", "c1"], ["c0", "c1", 7], ["c0", "c1", ["c2"]]],
    "schedule.refresh_at": [1, [1], [-1, 1], [1, HUGE], [True, 1]],
    "schedule.chosen_at": [[1, 1], [HUGE, 1, 1], [1, HUGE, 1], [1, True, 1], [1, 1, -1]],
}


@pytest.mark.parametrize("name", FACTS)
def test_a_fact_that_no_model_has_is_refused(files, tmp_path, name):
    for value in FACTS[name]:
        (tmp_path / "m").write_bytes(files["hats"])

        def change(about, value=value):
            *above, last = name.split(".")
            for each in above:
                about = about[each]
            assert type(about[last]) is not type(value) or about[last] != value
            about[last] = value

        edited_json(tmp_path / "m", "about", change)
        assert refused(tmp_path / "m")


@pytest.mark.parametrize("name", COUNTERS)
def test_a_number_that_no_model_has_is_refused(files, tmp_path, name):
    for value in (-1, 2**62) if name == "next_id" else (-1, 3, 2**62):
        (tmp_path / "m").write_bytes(files["hats"])
        with closing(sqlite3.connect(tmp_path / "m")) as connection:
            connection.execute(f"UPDATE meta SET {name} = ?", (value,))
            reseal(connection)
            connection.commit()
        assert refused(tmp_path / "m")


def _put(name, value):
    return lambda arrays: arrays[name].reshape(-1).__setitem__(0, value)


def _replaced(name, function):
    return lambda arrays: arrays.__setitem__(name, function(arrays))


ARRAYS = {
    "metric, nan": ("metric", "metric", _put("K", np.nan)),
    "metric, precision": ("metric", "metric", _put("precision", np.inf)),
    "metric, sums": ("metric", "sums", _put("sums", np.inf)),
    "metric, more classes": ("metric", "sums", _replaced("counts", lambda _: np.ones(9))),
    "metric, scores": ("metric", "scores", _put("V", np.nan)),
    "metric, no scores": ("metric", "scores", dict.clear),
    "metric, alpha": ("metric", 0, _put("alpha", -1.0)),
    "metric, idle": ("metric", 0, _put("idle", -1)),
    "metric, left": ("metric", 0, _put("left", -1)),
    "metric, forgotten": ("metric", 0, _put("pool", 5)),
    "metric, nobody": ("metric", 0, _put("pool", 2**62)),
    "metric, third label": ("metric", 0, "third label"),
    "metric, twice": ("metric", 0, lambda a: a["pool"].__setitem__(0, a["pool"][1])),
    "metric, pending": ("metric", 0, _replaced("pending", lambda a: a["pool"][:1])),
    "metric, lists": ("metric", 0, _replaced("misfits", lambda a: a["misfits"].astype("<f8"))),
    "hats, height": ("hats", "hats", _put("height", 0.0)),
    "hats, order": ("hats", "hats", _put("left", 1e9)),
    "hats, column": ("hats", "hats", _put("of", 3)),
    "missing, fill": ("missing", "hats", _put("fill", np.nan)),
    "missing, large": ("missing", "hats", _put("fill", 1e200)),
    "missing, mark": ("missing", "hats", _put("mark", 0.0)),
    "missing, column": ("missing", "hats", _put("missing", 4)),
    "missing, negative": ("missing", "hats", _put("missing", -1)),
    "far, near": ("far", "scores", lambda a: np.logical_not(a["near"], out=a["near"])),
    "far, counts": ("far", "scores", _put("counts", 0.0)),
    "far, V": ("far", "scores", _put("V", np.nan)),
    "far, shape": ("far", "scores", _replaced("V", lambda a: a["V"][:, :2])),
    "far, sign": ("far", "bounds", lambda a: np.negative(a["alpha"], out=a["alpha"])),
    "far, support": ("far", "bounds", _replaced("pool", lambda a: a["pool"][1:])),
    "far, idle support": ("far", "bounds", _put("alpha", 0.0)),
    "far, bounds": ("far", "bounds", _replaced("bounds", lambda a: a["bounds"][:2])),
    "codes, bounds": ("codes", "memory", _put("low", np.nan)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_numbers_that_contradict_each_other_are_refused(files, tmp_path, name):
    kind, where, change = ARRAYS[name]
    (tmp_path / "m").write_bytes(files[kind])
    if change == "third label":
        learner = Learner.load(tmp_path / "m")
        low, high = (list(dict.fromkeys(learner._state.regions.labels))[n] for n in (0, 1))
        third = next(n for n in learner.ids if learner.example(n)[1] not in (low, high))
        change = _put("pool", third)  # ids are keys here
    edited_arrays(tmp_path / "m", where, change)
    assert refused(tmp_path / "m")


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("plain", np.array([1.1e100, 0.0, 0.0])),
        ("plain", np.array([np.nan, 0.0, 0.0])),
        ("missing", np.array([np.inf, 0.0, 0.0])),
        ("plain", np.array([0.0, 0.0])),
    ],
    ids=["large", "nan", "infinite", "short"],
)
def test_rows_that_cannot_be_taught_are_refused(files, tmp_path, kind, row):
    (tmp_path / "m").write_bytes(files[kind])
    with closing(sqlite3.connect(tmp_path / "m")) as connection:
        digest = kernels.digests(row[None]).tobytes()
        connection.execute("UPDATE rows SET row = ? WHERE key = 0", (row.tobytes(),))
        connection.execute("UPDATE examples SET digest = ? WHERE key = 0", (digest,))
        reseal(connection)
        connection.commit()
    assert refused(tmp_path / "m")


def test_another_width_than_that_of_the_map_is_refused(tmp_path):
    learner = Learner(features=HashedText(8))
    learner.teach_many(["one", "two"], ["a", "b"])
    learner.save(tmp_path / "m")

    def change(features):
        features["settings"]["width"] = 16
        features["fingerprint"] = HashedText(16).fingerprint

    edited_json(tmp_path / "m", "features", change)
    assert refused(tmp_path / "m")


@pytest.mark.parametrize("kind", ["regions", "hats"])
def test_more_regions_or_hats_than_were_chosen_are_refused(files, tmp_path, kind):
    (tmp_path / "m").write_bytes(files[kind])

    def change(about):
        about["settings"][{"hats": "expand"}.get(kind, kind)] = about["choice"][kind] = 1

    edited_json(tmp_path / "m", "about", change)
    assert refused(tmp_path / "m")


@pytest.mark.parametrize("corrected", ["[]", "[1]", "[null]", '["c0", 7]', "{}", "x"], ids=range(6))
def test_earlier_labels_that_no_example_has_are_refused(files, tmp_path, corrected):
    (tmp_path / "m").write_bytes(files["plain"])
    with closing(sqlite3.connect(tmp_path / "m")) as connection:
        connection.execute("UPDATE examples SET corrected = ? WHERE key = 3", (corrected,))
        reseal(connection)
        connection.commit()
    assert refused(tmp_path / "m")


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyError, ValueError, TypeError])
def test_a_bug_is_not_told_as_a_damaged_file(monkeypatch, tmp_path, error):
    taught("plain").save(tmp_path / "m")

    def broken(*_, **__):
        raise error

    monkeypatch.setattr(packing, "_separators", broken)
    with pytest.raises(error):
        Learner.load(tmp_path / "m")


@pytest.mark.parametrize(
    "details",
    ["[1", "[" * 99_999, '{"moved": [[["a"], "b"]]}', '{"checked": "x"}'],
    ids=["no JSON", "deep", "nested", "no count"],
)
def test_an_entry_of_the_log_that_cannot_be_read_is_damage(files, tmp_path, details):
    (tmp_path / "m").write_bytes(files["plain"])
    with closing(sqlite3.connect(tmp_path / "m")) as connection:
        connection.execute("INSERT INTO log VALUES (9, 1.0, 'x', NULL, ?)", (details,))
        connection.commit()
    with pytest.raises(MissingDataError):
        store.read_log(tmp_path / "m")
    assert "1 entries of the log cannot be read." in store.audit(tmp_path / "m").problems
    learner = Learner.open(tmp_path / "m")
    for call in (lambda: learner.forget_class("c0"), learner.compact):
        with pytest.raises(MissingDataError):
            call()
    assert store.repair(tmp_path / "m", tmp_path / "new").lost == 0
    assert {each.action for each in store.read_log(tmp_path / "new")} == {"consolidate"}
