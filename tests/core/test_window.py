"""A window keeps the newest examples and forgets the others exactly, in constant room."""

from datetime import UTC, datetime

import numpy as np
import pytest

from minout import InvalidInputError, Learner
from oracle.margin import SETTINGS, differs, model_bits, saved, stream

ROWS, LABELS = stream(5, examples=120, classes=3, features=3, apart=0.7)
NAMES = LABELS.tolist()


def windowed(keep, count=60, kind="plain", **more):
    learner = Learner(**SETTINGS[kind], keep=keep, **more)
    reports = [learner.teach(ROWS[i], NAMES[i], at=float(i)) for i in range(count)]
    return learner, reports


@pytest.mark.parametrize("kind", ["plain", "all", "auto"])
@pytest.mark.parametrize("keep", [20, {"per_label": 6}, "19s"], ids=["number", "label", "time"])
def test_a_windowed_learner_equals_one_that_was_taught_the_window_only(keep, kind):
    learner, _ = windowed(keep, kind=kind)
    other = Learner(**SETTINGS[kind])
    for i in learner.ids:
        other.teach(ROWS[i], NAMES[i], id=i)
    for each in (learner, other):
        each.consolidate()
    assert model_bits(learner) == model_bits(other)


def test_each_certificate_names_the_examples_that_fell_out():
    learner, reports = windowed(20)
    assert [report.certificate.forgotten for report in reports[:20]] == [()] * 20
    assert [report.certificate.forgotten for report in reports[20:]] == [(i,) for i in range(40)]
    assert learner.ids == list(range(40, 60))


def test_the_time_of_the_latest_example_counts_not_the_order():
    learner = Learner(keep="10s")
    learner.teach([0.0], "a", id="old", at=100.0)
    learner.teach([1.0], "b", id="new", at=109.0)
    report = learner.teach([0.2], "a", id="late", at=90.0)
    assert report.certificate.forgotten == ("late",)
    assert "late" not in learner
    report = learner.teach([0.9], "b", id="newest", at=112.0)
    assert report.certificate.forgotten == ("old",)
    assert learner.ids == ["new", "newest"]
    assert learner.classes.tolist() == ["b"]  # a label without examples leaves


def test_an_example_older_than_the_whole_window_is_forgotten_at_once():
    learner, _ = windowed(20)
    before = model_bits(learner), learner.ids
    report = learner.teach(ROWS[70], NAMES[70], id="late", at=-5.0)
    assert report.certificate.forgotten == ("late",)
    assert (model_bits(learner), learner.ids) == before
    assert isinstance(report.was_right, bool)


def test_a_datetime_is_a_time():
    learner = Learner(keep="1h")
    learner.teach([0.0], "a", at=datetime(2024, 5, 1, 10, 0, tzinfo=UTC))
    learner.teach([1.0], "b", at=np.datetime64("2024-05-01T10:30"))
    report = learner.teach([2.0], "b", at=datetime(2024, 5, 1, 11, 15, tzinfo=UTC))
    assert report.certificate.forgotten == (0,)


def test_room_and_file_stay_as_they_are_however_much_is_taught():
    learner, sizes, ends = Learner(keep=15, **SETTINGS["all"]), [], []
    rng = np.random.default_rng(0)
    for i in range(300):
        y = int(rng.integers(3))
        learner.teach(rng.normal(size=3) + y, y, at=float(i))
        if i % 100 == 99:
            learner.consolidate()
            sizes.append(len(learner.__getstate__()["model"]))
            ends.append(max(learner.inspect().places.values()))
    assert max(ends) <= 15
    assert max(sizes) <= 1.3 * min(sizes)


def test_settling_removes_what_support_vectors_that_fell_out_still_add(monkeypatch):
    monkeypatch.setattr("minout.core.separators.LARGE_POOL", 0)
    monkeypatch.setattr("minout.core.separators.PENDING_SHARE", 0.9)
    rows, labels = stream(8, examples=200, classes=2, features=2, apart=0.1)
    learner = Learner(**SETTINGS["loose"], keep=60, refresh="manual")
    rests = []
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        learner.teach(x, y, at=float(i))
        explanation = learner.explain(x)
        rests.append(explanation.forgotten)
        if explanation.runner_up is not None:
            parts = explanation.prior + explanation.bias + explanation.forgotten
            parts += sum(each.weight for each in explanation.supports)
            assert explanation.margin == pytest.approx(parts, abs=1e-9)
    assert any(rests)
    learner.settle()
    assert learner.explain(rows[0]).forgotten == 0.0
    assert learner.audit().ok


@pytest.mark.parametrize(
    "keep",
    [0, 1.5, True, "30", "0d", "30 days", {"per_label": 0}, {"label": 3}, [3], 2**40],
    ids=str,
)
def test_a_window_that_is_none_is_refused_in_a_sentence(keep):
    with pytest.raises(InvalidInputError, match=r"`keep` must be .*\.$"):
        Learner(keep=keep)
    learner, _ = windowed(20)
    before = saved(learner)
    with pytest.raises(InvalidInputError, match=r"`keep` must be"):
        learner.set_keep(keep)
    assert saved(learner) == before


@pytest.mark.parametrize(
    "at",
    ["today", np.nan, 1e300, True, [1.0], datetime.min, np.datetime64("NaT")],
    ids=str,
)
def test_a_time_that_is_none_is_refused_in_a_sentence(at):
    learner, _ = windowed(20)
    before = saved(learner)
    with pytest.raises(InvalidInputError, match=r"`at` is a time"):
        learner.teach(ROWS[0], NAMES[0], at=at)
    with pytest.raises(InvalidInputError):
        learner.teach_many(ROWS[:2], NAMES[:2], at=[5.0, at])
    with pytest.raises(InvalidInputError, match="3 times"):
        learner.teach_many(ROWS[:2], NAMES[:2], at=[1.0, 2.0, 3.0])
    assert saved(learner) == before


def test_was_right_is_the_prediction_before_teaching():
    learner, asked = Learner(), []
    for x, y in zip(ROWS, NAMES, strict=True):
        known = learner.classes.tolist() if len(learner) else []
        wanted = learner.predict([x])[0] == y if y in known else None
        report = learner.teach(x, y)
        assert report.was_right == wanted
        asked.append(wanted)
    assert asked.count(None) == 3
    assert {True, False} <= set(asked)
    assert learner.teach(ROWS[3], NAMES[3], id=3).was_right is None
    assert learner.correct(3, (NAMES[3] + 1) % 3).was_right is None


DAY = 86_400.0


def daily(keep, count):
    learner = Learner(keep=keep, **SETTINGS["plain"])
    for i in range(count):
        learner.teach(ROWS[i], "ab"[i % 2], id=f"{i}", at=i * DAY)
    return learner


@pytest.mark.parametrize("keep", ["all", 60, {"per_label": 30}, "3600d"], ids=str)
def test_a_forgotten_example_of_the_far_future_leaves_no_time_behind(keep):
    plain, other = daily(keep, 40), daily(keep, 40)
    other.teach([0.5, 0.5, 0.5], "a", id="later", at=3_000 * DAY)
    other.forget("later")
    for learner in (plain, other):
        learner.teach([0.25, 0.5, 0.0], "b", id="last", at=41 * DAY)
    assert plain.ids == other.ids
    for learner in (plain, other):
        learner.consolidate()
    assert differs(saved(plain), saved(other)) == []


def test_a_forgotten_example_no_longer_counts_as_the_latest():
    learner = daily("30d", 20)
    learner.teach([0.0, 1.0, 0.0], "a", id="later", at=45 * DAY)
    assert learner.ids == [*(f"{i}" for i in range(15, 20)), "later"]
    learner.teach([1.0, 1.0, 0.0], "a", id="early", at=16 * DAY)
    learner.forget("later")
    learner.teach([1.0, 1.0, 1.0], "b", id="earlier", at=-10 * DAY)
    assert "earlier" in learner
    learner.teach([1.0, 0.0, 1.0], "b", id="now", at=20.5 * DAY)
    assert "earlier" not in learner
    learner.forget(learner.ids)
    learner.teach([1.0, 0.0, 1.0], "b", id="first", at=-1000 * DAY)
    assert learner.ids == ["first"]
