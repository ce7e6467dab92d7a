"""Small streams to teach the paper's learner, and whose outputs they changed."""

import numpy as np

from minout.paper import GradientRule, PaperLearner


def stream(seed, *, examples=40, classes=3, features=8, parts=8):
    """Draw rows in multiples of 1/parts, about a centre for each class, sorted by label.

    The first row is 0: with biases of 0 every neuron ties there, and sits exactly on the hard clip.
    """
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(0, classes, examples))
    centres = rng.integers(-parts, parts + 1, (classes, features))
    rows = (centres[labels] + rng.integers(-parts, parts + 1, (examples, features))) / parts
    rows[0] = 0.0
    return rows, labels


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
