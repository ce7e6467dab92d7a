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
from minout.paper.equations import GRID, activations
from minout.paper.rule import initial_layer
from oracle.interruptions import interrupt_at_line
from oracle.label_order import stream, unforeseen, walk
from oracle.training import check_report, train_unit

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
    if (state := learner._state) is None:
        return None
    tables = [[each.tobytes() for each in learner.index(label)] for label in range(3)]
    layer = [each.tobytes() for each in learner.layer]
    return len(learner), layer, tables, str(state.rng.bit_generator.state)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("clip", ["hard", "sigmoid"])
@pytest.mark.parametrize(("policy", "budget"), CHOICES)
def test_teaching_is_the_paper_to_the_last_bit_and_the_report_says_what_happened(
    policy, budget, clip, reduction
):
    rows, labels = stream(11, examples=24, parts=256)
    labels[::5] = (labels[::5] + 1) % 3  # some that cannot be learned, so that the cap is met
    rule = GradientRule(neurons=4, learning_rate=0.25, clip=clip, reduction=reduction, max_steps=30)
    learner = PaperLearner(range(3), policy=policy, budget=budget, rule=rule, seed=1)
    rng = np.random.default_rng(1)
    W, b = initial_layer(3, 8, rule, rng)
    seen = {"leaks": 0, "missed": 0.0, "caps": 0, "quiet": 0}
    for n, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True), 1):
        report = learner.teach(x, y)
        assert (report.example_id, report.label) == (n - 1, y)
        reports = {unit.unit: unit for unit in report.units}
        assert report.steps == sum(unit.steps for unit in report.units)
        assert report.neurons_moved == sum(len(unit.moved) for unit in report.units)
        for name in ("rehearsed", "wrong"):
            ids = {i for unit in report.units for i in getattr(unit, name).tolist()}
            assert getattr(report, name).tolist() == sorted(ids)
        for unit in range(3):
            positive = labels[:n] == unit
            steps, loss = train_unit(
                W[unit], b[unit], rows[:n], positive, rule, policy, budget, rng
            )
            assert report.losses[unit] == pytest.approx(loss, rel=1e-12)
            assert (unit in reports) == bool(steps)
            if not steps:
                seen["quiet"] += 1
                continue
            told = reports[unit]
            assert told.reached_max_steps == (loss >= 0.1)
            check_report(told, steps)
            inside = (rows[: n - 1] @ W[unit].T + b[unit]).min(axis=1) > 0
            assert told.wrong.tolist() == np.flatnonzero(inside != positive[:-1]).tolist()
            seen["leaks"] += told.leaks
            seen["missed"] += told.mean_missed
            seen["caps"] += told.reached_max_steps
        assert learner.layer.W.tobytes() == W.tobytes()
        assert learner.layer.b.tobytes() == b.tobytes()
    assert seen["caps"] > 0
    assert seen["quiet"] > 0
    assert (seen["missed"] == seen["leaks"] == 0) == (policy == "closed")


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
                    for ids, mask in zip(index.partition(neuron), masks, strict=True):
                        assert ids.tolist() == np.flatnonzero(mask).tolist()
                J = rng.choice(5, rng.integers(0, 6), replace=False)
                assert (index.interfered(J) == np.flatnonzero(maths.interfered(table, J))).all()
                if label in asked:
                    winner = activations(*(each[label] for each in learner.layer), x).argmin()
                    assert (asked[label] == index.interfered([winner])).all()
        learner.teach(x, y)


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


def test_with_the_sigmoid_whoever_is_not_rehearsed_stays_below_a_tenth():
    crept = 0
    for before, after, report in walk("closed", range(4), clip="sigmoid", cap=30):
        for example, unit in unforeseen(before, after, report):
            assert 1.0 / (1.0 + np.exp(-before[example, unit])) < 0.1
            assert 1.0 / (1.0 + np.exp(-after[example, unit])) < 0.1
            crept += 1
    assert crept > 0  # the clip is a threshold here, not an exact 0


@pytest.mark.parametrize(("policy", "budget"), CHOICES)
def test_the_same_seed_gives_the_same_bits_and_looking_changes_nothing(policy, budget):
    rng = np.random.default_rng(8)
    rows, labels = rng.normal(size=(20, 6)), rng.integers(0, 3, 20)
    knobs = {"policy": policy, "budget": budget, "rule": SMALL}
    first, other = (taught(rows, labels, **knobs, seed=seed) for seed in (4, 5))
    watched = PaperLearner(range(3), **knobs, seed=4)
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
    assert learner.scores(rows).tolist() == [(W @ x + b).min(axis=1).tolist() for x in rows]
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
    [([1.0, float("nan")], 0, "finite"), ([1.0, 2.0, 3.0], 0, "3 features"),
     ([[1.0, 2.0]], 0, "one row"), (["a", "b"], 0, "numbers"),
     ([1.0, 2.0], 7, "7 is not one of the classes"),
     ([1.0, 2.0], "0", "'0' is not one of the classes"), ([1e200, 1e200], 0, "overflowed")],
    ids=["nan", "wide", "table", "text", "unknown", "word", "huge"],
)  # fmt: skip
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
    found = learner.interfered([1.0, 2.0], 1)
    assert [(label, ids.tolist()) for label, ids in found.items()] == [(0, []), (1, [])]
    with pytest.raises(InvalidInputError, match="not been taught"):
        learner.predict([[1.0]])


def test_initial_weights_lie_on_the_grid_and_biases_are_0():
    W, b = initial_layer(2, 4, GradientRule(neurons=3), np.random.default_rng(5))
    again = np.random.default_rng(5).normal(0.0, 0.3, (2, 3, 4))
    assert (np.rint(W * GRID) == W * GRID).all()
    assert np.abs(W - again).max() <= 0.5 / GRID
    assert not b.any()


@pytest.mark.parametrize(
    "setting",
    [{"neurons": 0}, {"neurons": 2.5}, {"max_steps": 0}, {"learning_rate": 0.0},
     {"learning_rate": float("nan")}, {"stop_loss": -1.0}, {"initial_scale": float("inf")},
     {"reduction": "median"}, {"clip": "soft"}],
    ids=["neurons", "half", "steps", "rate", "nan", "loss", "scale", "reduction", "clip"],
)  # fmt: skip
def test_a_setting_out_of_range_is_refused_by_name(setting):
    with pytest.raises(InvalidInputError, match=f"`{next(iter(setting))}`"):
        GradientRule(**setting)
