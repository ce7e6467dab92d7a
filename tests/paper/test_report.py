"""What a report says, against the same steps taken again from the weights before."""

import numpy as np
import pytest

from minout.paper import (
    Closed,
    Conditional,
    GradientRule,
    NoRehearsal,
    PaperLearner,
    PaperReport,
    Uniform,
    UnitReport,
    WeightChanges,
)
from oracle.loss import cross_entropy
from oracle.recording import Recording, stream
from oracle.replay import replay


@pytest.mark.parametrize("clip", ["hard", "sigmoid"])
@pytest.mark.parametrize(
    "policy",
    [NoRehearsal(), Conditional(), Closed(), Uniform(4), Uniform(4, fresh=False)],
    ids=repr,
)
def test_a_report_says_what_happened(policy, clip):
    rows, labels = stream(11, examples=24)
    labels[::5] = (labels[::5] + 1) % 3
    reduction = "mean" if clip == "hard" else "sum"
    rule = GradientRule(neurons=4, learning_rate=0.25, clip=clip, reduction=reduction, max_steps=30)
    recording = Recording(policy)
    learner = PaperLearner(range(3), rule=rule, policy=recording, seed=1)
    before = rule.initial(3, 8, np.random.default_rng(1))
    sums = {"leaks": 0, "missed": 0.0, "caps": 0, "quiet": 0}
    for n, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True), start=1):
        report = learner.teach(x, y)
        learner._check()
        after, choices = learner.layer, recording.taken()
        assert report.example_id == n - 1
        assert report.label == y
        for unit in range(3):
            positive = y == unit
            said = [each for each in report.units if each.unit == unit]
            least = (x @ before.W[unit].T + before.b[unit]).min()
            if not said:
                assert cross_entropy(least, positive) < 0.1
                assert (after.W[unit] == before.W[unit]).all()
                sums["quiet"] += 1
                continue
            (one,) = said
            mine, choices = choices[: one.steps], choices[one.steps :]
            steps, W, b = replay(
                before.W[unit],
                before.b[unit],
                rows[:n],
                labels[:n] == unit,
                mine,
                threshold=rule.threshold,
                learning_rate=0.25,
                reduction=reduction,
            )
            assert (after.W[unit] == W).all()
            assert (b == after.b[unit]).all()
            assert_says(one, steps)
            loss = cross_entropy((x @ W.T + b).min(), positive)
            assert one.loss_before == pytest.approx(cross_entropy(least, positive), rel=1e-12)
            assert one.loss == pytest.approx(loss, rel=1e-12)
            assert report.losses[unit] == pytest.approx(loss, rel=1e-12)
            assert one.reached_max_steps == (loss >= 0.1)
            assert one.steps == 30 if one.reached_max_steps else one.steps <= 30
            assert_weight_changes_make_the_difference(one.weight_changes, rows, before, after, unit)
            sums["leaks"] += one.leaks
            sums["missed"] += one.mean_missed
            sums["caps"] += one.reached_max_steps
        assert not choices
        before = after
    assert sums["caps"] > 0
    assert sums["quiet"] > 0
    if isinstance(policy, Closed):
        assert sums["leaks"] == sums["missed"] == 0
    else:
        assert sums["missed"] > 0


def assert_says(report, steps):
    """Compares the sets and means of one unit's report with its steps."""
    count = len(steps)
    assert report.steps == count
    assert set(report.moved) == set().union(*(step.moved for step in steps))
    assert set(report.interfered) == set().union(*(step.asked for step in steps))
    assert set(report.exact) == set().union(*(step.exact for step in steps))
    assert set(report.rehearsed) == set().union(*(step.chosen for step in steps))
    for ids in (report.moved, report.interfered, report.exact, report.rehearsed):
        assert ids.tolist() == sorted(set(ids.tolist()))
    missed = [len(step.exact - set(step.chosen)) for step in steps]
    leaks = [(step.inside_before ^ step.inside_after) - set(step.chosen) for step in steps]
    assert report.mean_rehearsed == sum(len(step.chosen) for step in steps) / count
    assert report.mean_exact == sum(len(step.exact) for step in steps) / count
    assert report.mean_missed == sum(missed) / count
    assert report.leaks == sum(bool(each) for each in leaks)
    total = {}
    for step in steps:
        for place, push in step.pushes.items():
            total[place] = total.get(place, 0.0) + push
    neurons, ids, amounts = (each.tolist() for each in report.weight_changes)
    assert dict(zip(zip(neurons, ids, strict=True), amounts, strict=True)) == total


def assert_weight_changes_make_the_difference(weight_changes, rows, before, after, unit):
    W, b = before.W[unit].copy(), before.b[unit].copy()
    for neuron, example, amount in zip(*(each.tolist() for each in weight_changes), strict=True):
        W[neuron] += amount * rows[example]
        b[neuron] += amount
    assert (after.W[unit] == W).all()
    assert (b == after.b[unit]).all()


def test_the_cap_is_reported_with_the_loss_that_was_left():
    learner = PaperLearner([0, 1], rule=GradientRule(neurons=2, learning_rate=0.001, max_steps=3))
    report = learner.teach([1.0, 1.0], 0)
    assert report.reached_max_steps
    assert [unit.steps for unit in report.units] == [3, 3]
    assert all(
        unit.reached_max_steps and 0.1 <= unit.loss < unit.loss_before for unit in report.units
    )
    assert report.losses.tolist() == [unit.loss for unit in report.units]


def test_a_unit_that_learns_at_its_last_step_has_not_hit_the_cap():
    def report(cap):
        rule = GradientRule(neurons=2, learning_rate=0.5, max_steps=cap)
        return PaperLearner([0], rule=rule).teach([1.0, 1.0], 0)

    needed = report(10_000).steps
    assert needed > 2
    assert not report(needed).reached_max_steps
    assert report(needed - 1).reached_max_steps


def test_a_loss_that_equals_the_bound_is_not_below_it():
    bound = float(np.log1p(1.0))  # the loss of an activation of 0
    rule = GradientRule(neurons=1, learning_rate=0.5, stop_loss=bound)
    report = PaperLearner([0, 1], rule=rule).teach([0.0], 0)
    assert [unit.loss_before for unit in report.units] == [bound, bound]
    assert [unit.steps for unit in report.units] == [1, 1]


def test_steps_too_small_for_the_grid_move_nothing_and_hit_the_cap():
    rule = GradientRule(neurons=2, learning_rate=2.0**-30, max_steps=4)
    learner = PaperLearner([0, 1], rule=rule, policy=Closed())
    learner.teach([1.0, 1.0], 0)
    before = learner.layer
    report = learner.teach([1.0, -1.0], 1)
    assert report.reached_max_steps
    assert report.neurons_moved == 0
    assert (learner.layer.W == before.W).all()
    assert all(len(unit.weight_changes.neurons) == len(unit.moved) == 0 for unit in report.units)
    learner._check()


def unit_report(unit, moved, interfered, rehearsed, *, steps=1, cap=False):
    nothing = np.empty(0, dtype=np.int64)
    return UnitReport(
        unit=unit,
        steps=steps,
        reached_max_steps=cap,
        loss_before=1.0,
        loss=0.05,
        moved=np.array(moved),
        interfered=np.array(interfered, dtype=np.int64),
        exact=nothing,
        rehearsed=np.array(rehearsed, dtype=np.int64),
        mean_rehearsed=0.0,
        mean_exact=0.0,
        mean_missed=0.0,
        leaks=0,
        wrong=np.array(moved, dtype=np.int64) + 10,
        weight_changes=WeightChanges(nothing, nothing, np.empty(0)),
    )


def test_a_step_report_sums_up_its_units():
    units = (
        unit_report(0, [1, 2], [3, 4], [9], steps=5),
        unit_report(2, [1], [0, 4], [1, 9], steps=7, cap=True),
    )
    report = PaperReport(6, "a", units, np.zeros(3))
    assert report.steps == 12
    assert report.neurons_moved == 3
    assert report.interfered.tolist() == [0, 3, 4]
    assert report.rehearsed.tolist() == [1, 9]
    assert report.wrong.tolist() == [11, 12]
    assert report.reached_max_steps
    assert not PaperReport(6, "a", units[:1], np.zeros(3)).reached_max_steps


def test_a_step_that_moved_nothing_reports_empty_sets():
    report = PaperReport(0, 1, (), np.zeros(2))
    assert report.steps == report.neurons_moved == 0
    assert report.rehearsed.tolist() == report.interfered.tolist() == []
    assert report.rehearsed.dtype == report.interfered.dtype == np.int64
    assert not report.reached_max_steps
