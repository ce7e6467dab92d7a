"""A window keeps the newest examples and forgets the others exactly, in constant room."""

from datetime import UTC, datetime

import numpy as np
import pytest

from minout import InvalidInputError, Learner, MinoutClassifier
from oracle.margin import SETTINGS, model_bits, saved, stream

ROWS, LABELS = stream(5, examples=120, classes=3, features=3, apart=0.7)
NAMES = LABELS.tolist()


def windowed(keep, count=60, kind="plain", **more):
    learner = Learner(**SETTINGS[kind], keep=keep, **more)
    reports = [learner.teach(ROWS[i], NAMES[i], at=float(i)) for i in range(count)]
    return learner, reports


@pytest.mark.parametrize("kind", SETTINGS)
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


def test_so_many_of_each_label_are_kept():
    learner, _ = windowed({"per_label": 4})
    for label in (0, 1, 2):
        mine = [i for i in range(60) if NAMES[i] == label]
        assert [i for i in learner.ids if NAMES[i] == label] == mine[-4:]


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


def test_equal_times_fall_out_in_the_order_of_teaching():
    learner = Learner(keep=3)
    for i in range(6):
        learner.teach(ROWS[i], NAMES[i], id=f"e{i}", at=7.0)
    assert learner.ids == ["e3", "e4", "e5"]


def test_a_datetime_is_a_time():
    learner = Learner(keep="1h")
    learner.teach([0.0], "a", at=datetime(2024, 5, 1, 10, 0, tzinfo=UTC))
    learner.teach([1.0], "b", at=np.datetime64("2024-05-01T10:30"))
    report = learner.teach([2.0], "b", at=datetime(2024, 5, 1, 11, 15, tzinfo=UTC))
    assert report.certificate.forgotten == (0,)


def test_a_corrected_example_pushes_the_oldest_of_its_new_label_out():
    learner, _ = windowed({"per_label": 4})
    example = next(i for i in learner.ids if NAMES[i] == 0)
    theirs = [i for i in learner.ids if NAMES[i] == 1]
    newest = [i for i in theirs if i > example]
    report = learner.correct(example, 1)
    gone = example if len(newest) == len(theirs) else theirs[0]
    assert report.certificate.forgotten == (gone,)
    assert sum(learner.example(i)[1] == 1 for i in learner.ids) == 4
    assert learner.audit().ok


def test_room_and_file_stay_as_they_are_however_much_is_taught():
    learner, sizes, ends = Learner(keep=15, regions=1, expand=None), [], []
    rng = np.random.default_rng(0)
    for i in range(600):
        y = int(rng.integers(3))
        learner.teach(rng.normal(size=3) + y, y, at=float(i))
        if i % 100 == 99:
            learner.consolidate()
            sizes.append(len(saved(learner)))
            ends.append(max(learner.inspect().places.values()))
    assert max(ends) <= 15
    assert max(sizes) <= 1.3 * min(sizes)


def test_places_are_used_again_without_a_window():
    learner = Learner(**SETTINGS["plain"])
    for i in range(40):
        learner.teach(ROWS[i], NAMES[i], id=i)
        if i >= 10:
            learner.forget(i - 10)
    assert max(learner.inspect().places.values()) <= 11
    assert learner.ids == list(range(30, 40))


def test_a_window_is_refreshed_again_and_again():
    _, reports = windowed(20, count=120, kind="all")
    refreshed = [i for i, report in enumerate(reports) if report.refresh]
    assert len([i for i in refreshed if i > 40]) >= 4


def test_another_window_forgets_at_once():
    learner, _ = windowed("all")
    certificate = learner.set_keep(25)
    assert set(certificate.forgotten) == set(range(35))
    assert learner.ids == list(range(35, 60))
    assert learner.settings.keep == 25
    assert learner.set_keep("all").forgotten == ()
    learner.teach(ROWS[60], NAMES[60])
    assert len(learner) == 26
    assert learner.audit().ok


def test_settling_removes_what_support_vectors_that_fell_out_still_add(monkeypatch):
    monkeypatch.setattr("minout.engine.separators.LARGE_POOL", 0)
    monkeypatch.setattr("minout.engine.separators.PENDING_SHARE", 0.9)
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
    [0, -1, 1.5, True, None, "", "30", "d", "0d", "-3d", "30 days", "1e9d", {"per_label": 0},
     {"per_label": "3"}, {"label": 3}, {}, {"per_label": 2, "x": 1}, [3], 2**40],
    ids=str,
)  # fmt: skip
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
    ["today", np.nan, np.inf, 1e300, True, [1.0], b"5", datetime.min, np.timedelta64(3, "s"),
     np.complex128(3), np.datetime64("NaT")],
    ids=str,
)  # fmt: skip
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


def test_a_dictionary_that_the_caller_changes_later_is_not_the_window():
    keep = {"per_label": 4}
    learner, _ = windowed(keep)
    keep["per_label"] = 1
    learner.teach(ROWS[60], NAMES[60], at=60.0)
    assert len(learner) == 12
    assert learner.settings.keep == {"per_label": 4}


def test_an_example_of_the_far_future_can_be_taken_back():
    learner = Learner(keep="10s")
    learner.teach([0.0], "a", id="now", at=100.0)
    learner.teach([1.0], "b", id="future", at=1e9)
    assert learner.ids == ["future"]
    learner.forget("future")
    learner.teach([0.0], "a", id="again", at=101.0)
    assert learner.ids == ["again"]


def test_the_classifier_has_the_window_of_its_learner():
    classifier = MinoutClassifier(keep=30).fit(ROWS[:50], NAMES[:50], at=np.arange(50.0))
    assert classifier.all_ids_ == list(range(20, 50))
    assert classifier.ids_ == classifier.all_ids_
    classifier.partial_fit(ROWS[50:90], NAMES[50:90], at=np.arange(50.0, 90.0))
    assert classifier.all_ids_ == list(range(60, 90))
    assert classifier.ids_ == list(range(60, 90))
    gone = [i for each in classifier.certificates_ for i in each.forgotten]
    assert gone == list(range(20, 60))


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
