"""The learner: the specification to the last bit, honest reports, all or nothing."""

import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import minout
from minout import maths
from minout.errors import InvalidInputError
from minout.paper import GradientRule, PaperLearner
from minout.paper.equations import activations
from minout.paper.specification import POLICIES, Rehearsal, initial_layer, teach
from oracle.interruptions import interrupt_at_line
from oracle.label_order import stream
from oracle.loss import cross_entropy
from oracle.replay import replay

HOME = str(Path(minout.__file__).parent)
CHOICES = [("none", None), ("conditional", None), ("conditional", 3), ("closed", None),
           ("random", 4), ("random-once", 4)]  # fmt: skip
SMALL = GradientRule(neurons=4, learning_rate=0.25, max_steps=30)


def taught(rows, labels, *, policy="conditional", budget=None, rule=SMALL, seed=0):
    learner = PaperLearner(range(3), policy=policy, budget=budget, rule=rule, seed=seed)
    for x, y in zip(rows, labels.tolist(), strict=True):
        learner.teach(x, y)
    return learner


def bits(learner):
    """Copy all that a learner has learned, and what it would draw next."""
    state = learner._state
    if state is None:
        return None
    tables = [[each.tobytes() for each in learner.index(label)] for label in range(3)]
    layer = [each.tobytes() for each in learner.layer]
    return len(learner), layer, tables, str(state.rng.bit_generator.state)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("clip", ["hard", "sigmoid"])
@pytest.mark.parametrize(("policy", "budget"), CHOICES)
def test_teaching_is_the_specification_and_the_report_says_what_happened(
    policy, budget, clip, reduction
):
    rows, labels = stream(11, examples=24, parts=256)
    labels[::5] = (labels[::5] + 1) % 3  # some that cannot be learned, so that the cap is met
    rule = GradientRule(neurons=4, learning_rate=0.25, clip=clip, reduction=reduction, max_steps=30)
    learner = PaperLearner(range(3), policy=policy, budget=budget, rule=rule, seed=1)
    rng = np.random.default_rng(1)
    layer = initial_layer(3, 8, rule, rng)
    seen = {"leaks": 0, "missed": 0.0, "caps": 0, "quiet": 0}
    for n, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True), 1):
        before = copy.deepcopy(layer)
        report = learner.teach(x, y)
        traces = teach(layer, rows[:n], labels[:n], rule, Rehearsal(policy, budget, rng))
        assert (report.example_id, report.label) == (n - 1, y)
        assert learner.layer.W.tobytes() == layer.W.tobytes()
        assert learner.layer.b.tobytes() == layer.b.tobytes()
        reports = {unit.unit: unit for unit in report.units}
        for unit, trace in enumerate(traces):
            loss = cross_entropy((x @ layer.W[unit].T + layer.b[unit]).min(), y == unit)
            assert report.losses[unit] == pytest.approx(loss, rel=1e-12)
            if not trace.moved:
                assert unit not in reports
                assert loss < 0.1
                seen["quiet"] += 1
                continue
            told = reports[unit]
            steps, W, _ = replay(
                before.W[unit], before.b[unit], rows[:n], labels[:n] == unit, trace.rehearsed,
                threshold=rule.threshold, learning_rate=0.25, reduction=reduction,
            )  # fmt: skip
            assert (layer.W[unit] == W).all()
            assert told.reached_max_steps == (loss >= 0.1)
            check_report(told, steps)
            wrong = (activations(layer.W[unit], layer.b[unit], rows[: n - 1]).min(axis=1) > 0) != (
                labels[: n - 1] == unit
            )
            assert told.wrong.tolist() == np.flatnonzero(wrong).tolist()
            seen["leaks"] += told.leaks
            seen["missed"] += told.mean_missed
            seen["caps"] += told.reached_max_steps
    assert seen["caps"] > 0
    assert seen["quiet"] > 0
    assert (seen["missed"] == seen["leaks"] == 0) == (policy == "closed")


def check_report(report, steps):
    """Compare the sets, means and changes of one unit's report with its steps, taken again."""
    assert report.steps == len(steps)
    assert set(report.moved.tolist()) == set().union(*(step.moved for step in steps))
    for name, field in (("interfered", "asked"), ("exact", "exact"), ("rehearsed", "chosen")):
        sizes = [len(getattr(step, field)) for step in steps]
        assert set(getattr(report, name)) == set().union(*(getattr(s, field) for s in steps))
        assert getattr(report, f"mean_{name}") == sum(sizes) / len(steps)
    missed = [len(step.exact - set(step.chosen)) for step in steps]
    leaks = [(step.inside_before ^ step.inside_after) - set(step.chosen) for step in steps]
    assert report.mean_missed == sum(missed) / len(steps)
    assert report.leaks == sum(bool(each) for each in leaks)
    total = {}
    for step in steps:
        for place, push in step.pushes.items():
            total[place] = total.get(place, 0.0) + push
    neurons, ids, amounts = (each.tolist() for each in report.changes)
    assert dict(zip(zip(neurons, ids, strict=True), amounts, strict=True)) == total


def test_a_report_sums_up_its_units():
    rows, labels = stream(2)
    report = taught(rows[:-1], labels[:-1]).teach(rows[-1], (labels[-1] + 1) % 3)
    assert len(report.units) > 1
    assert report.steps == sum(unit.steps for unit in report.units)
    assert report.neurons_moved == sum(len(unit.moved) for unit in report.units)
    for name in ("rehearsed", "wrong"):
        sets = [set(getattr(unit, name).tolist()) for unit in report.units]
        assert getattr(report, name).tolist() == sorted(set().union(*sets))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("clip", ["hard", "sigmoid"])
def test_the_index_equals_brute_force_after_every_example(clip, seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(-8, 9, (30, 4)) / 8, rng.integers(0, 3, 30)
    rule = GradientRule(neurons=5, learning_rate=1.0, clip=clip, max_steps=6)
    learner = PaperLearner(range(3), policy="closed", rule=rule, seed=seed)
    for n, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        asked = learner.interfered(x, (y + 1) % 3)
        for label in range(3):
            index = learner.index(label)
            if n:
                a = activations(*(each[label] for each in learner.layer), rows[:n])
                table = a <= rule.threshold
                assert (index.clipped == table.T).all()
                assert (index.counters == table.sum(axis=1)).all()
                for neuron in range(5):
                    masks = maths.partition(table, neuron)
                    assert [s.tolist() for s in index.partition(neuron)] == [
                        np.flatnonzero(mask).tolist() for mask in masks
                    ]
                J = rng.choice(5, rng.integers(0, 6), replace=False)
                assert (index.interfered(J) == np.flatnonzero(maths.interfered(table, J))).all()
                if label in asked:
                    winner = activations(*(each[label] for each in learner.layer), x).argmin()
                    assert (asked[label] == index.interfered([winner])).all()
        learner.teach(x, y)


def walk(policy, seeds, *, clip="hard", cap=1, rate=1.0):
    """Teach random labels; yield the outputs at the stored rows before and after each example."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rows, labels = rng.integers(-8, 9, (40, 4)) / 8, rng.integers(0, 6, 40)
        rule = GradientRule(4, rate, clip=clip, initial_scale=1.0, max_steps=cap)
        learner = PaperLearner(range(6), policy=policy, rule=rule, seed=seed)
        learner.teach(rows[0], labels[0])
        for n in range(1, len(rows)):
            before = learner.scores(rows[:n])
            report = learner.teach(rows[n], labels[n])
            yield before, learner.scores(rows[:n]), report


def unforeseen(before, after, report):
    """List (example, unit) where a score changed though the example was not rehearsed there."""
    rehearsed = {unit.unit: set(unit.rehearsed.tolist()) for unit in report.units}
    changed = zip(*np.nonzero(before.view(np.uint64) != after.view(np.uint64)), strict=True)
    return [(e, u) for e, u in changed if e not in rehearsed.get(int(u), ())]


@pytest.mark.parametrize(("cap", "rate", "seeds"), [(1, 1.0, 8), (30, 0.2, 2)])
def test_closed_changes_no_bit_of_an_output_that_it_did_not_rehearse(cap, rate, seeds):
    updates = moved = 0
    for before, after, report in walk("closed", range(seeds), cap=cap, rate=rate):
        outputs = np.maximum(before, 0.0), np.maximum(after, 0.0)
        assert unforeseen(*outputs, report) == []
        updates += report.steps
        moved += (before != after).sum()
    assert updates > 1_000
    assert moved > 500


def test_the_papers_policy_changes_some_that_it_did_not_rehearse():
    assert any(
        unforeseen(np.maximum(before, 0.0), np.maximum(after, 0.0), report)
        for before, after, report in walk("conditional", range(5))
    )


def test_an_update_of_one_neuron_moves_nobody_in_s3():
    updates = 0
    for before, after, report in walk("none", range(8)):  # exact is Ŝ of the one that moves
        for unit in report.units:
            assert len(unit.moved) <= 1
            safe = np.setdiff1d(np.arange(len(before)), unit.interfered)
            h = np.maximum(before[safe, unit.unit], 0.0), np.maximum(after[safe, unit.unit], 0.0)
            assert (h[0] == 0.0).all()
            assert (h[1] == 0.0).all()
            updates += 1
    assert updates > 1_000


def test_with_the_sigmoid_whoever_is_not_rehearsed_stays_below_a_tenth():
    crept = 0
    for before, after, report in walk("closed", range(4), clip="sigmoid", cap=30):
        for example, unit in unforeseen(before, after, report):
            assert 1.0 / (1.0 + np.exp(-before[example, unit])) < 0.1
            assert 1.0 / (1.0 + np.exp(-after[example, unit])) < 0.1
            crept += 1
    assert crept > 0  # the clip is a threshold here, not an exact 0


@pytest.mark.parametrize(
    ("policy", "clip", "word"),
    [("conditional", "hard", "None"), ("closed", "sigmoid", "below 0.1"),
     ("closed", "hard", "in no bit")],
)  # fmt: skip
def test_guarantee_says_what_a_run_has(policy, clip, word):
    assert word in PaperLearner([0], policy=policy, rule=GradientRule(clip=clip)).guarantee


@pytest.mark.parametrize(("policy", "budget"), CHOICES)
def test_the_same_seed_gives_the_same_bits_and_looking_changes_nothing(policy, budget):
    rng = np.random.default_rng(8)
    rows, labels = rng.normal(size=(20, 6)), rng.integers(0, 3, 20)
    first, other = (
        taught(rows, labels, policy=policy, budget=budget, seed=seed) for seed in (4, 5)
    )
    watched = PaperLearner(range(3), policy=policy, budget=budget, rule=SMALL, seed=4)
    for x, y in zip(rows, labels.tolist(), strict=True):
        watched.interfered(x, y)
        watched.teach(x, y)
        watched.predict(rows)
        watched.layer.W[:] = 0.0
        watched.index(y).clipped[:] = True
    assert bits(watched) == bits(first) != bits(other)


def test_what_a_class_is_called_changes_no_weight():
    rows, labels = stream(7, examples=15)
    first, names = taught(rows, labels), ["pear", "fig", "plum"]
    words = PaperLearner(names, rule=SMALL)
    for x, y in zip(rows, labels.tolist(), strict=True):
        assert words.teach(x, names[y]).label == names[y]
    assert words.layer.W.tobytes() == first.layer.W.tobytes()
    assert words.predict(rows).tolist() == [names[y] for y in first.predict(rows)]


def test_scores_are_least_activations_and_the_first_of_equals_is_predicted():
    rows, labels = stream(3, examples=20)
    learner = taught(rows, labels)
    W, b = learner.layer
    least = [[min(w @ x + c for w, c in zip(*unit, strict=True)) for unit in zip(W, b, strict=True)]
             for x in rows]  # fmt: skip
    assert learner.scores(rows).tolist() == least
    tied = PaperLearner(["b", "a"], rule=GradientRule(neurons=1, max_steps=1))
    tied.teach([0.0], "a")
    tied._state.units[0].b[:] = tied._state.units[1].b
    assert tied.predict([[0.0]]).tolist() == ["b"]


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda learner: pickle.loads(pickle.dumps(learner))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_learns_on_alone(copied):
    rows, labels = stream(5, examples=20)
    learner = taught(rows[:10], labels[:10], policy="random", budget=2)
    before, twin = bits(learner), copied(learner)
    for x, y in zip(rows[10:], labels[10:].tolist(), strict=True):
        twin.teach(x, y)
    assert bits(learner) == before
    assert bits(twin) == bits(taught(rows, labels, policy="random", budget=2))


@pytest.mark.parametrize("count", [0, 8])  # 8: the buffers grow
def test_an_interruption_at_any_line_leaves_all_or_nothing(count):
    rows, labels = stream(3, examples=12, features=4)
    rule = GradientRule(neurons=2, learning_rate=0.5, max_steps=2)
    knobs = {"policy": "random", "budget": 2, "rule": rule}
    start, done = (taught(rows[:n], labels[:n], **knobs) for n in (count, count + 1))
    before, after = bits(start), bits(done)
    number, tracing = 0, sys.gettrace()
    while True:
        number += 1
        learner = copy.deepcopy(start)
        sys.settrace(interrupt_at_line(number, HOME))
        try:
            learner.teach(rows[count], int(labels[count]))
        except KeyboardInterrupt:
            sys.settrace(tracing)
            assert bits(learner) in (before, after)
            if bits(learner) == before:
                learner.teach(rows[count], int(labels[count]))
            assert bits(learner) == after
        else:
            break
        finally:
            sys.settrace(tracing)
    assert number > 50


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([1.0, float("nan")], 0, "finite"),
        ([1.0, 2.0, 3.0], 0, "3 features"),
        ([[1.0, 2.0]], 0, "one row"),
        (["a", "b"], 0, "numbers"),
        ([1.0, 2.0], 7, "7 is not one of the classes"),
        ([1.0, 2.0], "0", "'0' is not one of the classes"),
        ([1e200, 1e200], 0, "overflowed"),
    ],
    ids=["nan", "wide", "table", "text", "unknown", "word", "huge"],
)
def test_a_bad_example_is_refused_in_a_sentence_and_changes_nothing(x, y, words):
    learner = taught(*stream(1, examples=9, features=2))
    before = bits(learner)
    with pytest.raises(InvalidInputError, match=words) as caught:
        learner.teach(x, y)
    assert str(caught.value).endswith(".")
    assert bits(learner) == before


@pytest.mark.parametrize(
    "bad",
    [{"classes": []}, {"classes": [1, 1]}, {"classes": [0, "a"]}, {"classes": [0.5]},
     {"policy": "all"}, {"policy": "random"}, {"policy": "random", "budget": -1},
     {"policy": "closed", "budget": 3}],
    ids=["none", "twice", "mixed", "floats", "unknown", "unbound", "negative", "closed"],
)  # fmt: skip
def test_bad_parameters_are_refused(bad):
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$"):
        PaperLearner(**{"classes": [0, 1], **bad})


def test_before_the_first_example_there_is_nothing_to_ask():
    learner = PaperLearner(range(2))
    assert len(learner) == 0
    assert {label: ids.tolist() for label, ids in learner.interfered([1.0, 2.0], 1).items()} == {
        0: [],
        1: [],
    }
    with pytest.raises(InvalidInputError, match="not been taught"):
        learner.predict([[1.0]])


def test_every_policy_has_its_number_in_the_kernel():
    from minout.kernels import training

    numbers = [training.NONE, training.RANDOM, training.RANDOM_ONCE, training.CONDITIONAL,
               training.CLOSED]  # fmt: skip
    assert dict(zip(POLICIES, range(5), strict=True)) == dict(
        zip(("none", "random", "random-once", "conditional", "closed"), numbers, strict=True)
    )
