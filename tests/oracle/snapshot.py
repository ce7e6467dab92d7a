"""All that a learner keeps, copied to the last bit, so that "nothing changed" can be checked."""

import numpy as np


def snapshot(learner):
    """Copies weights, memory, index, activations, products and the generator's state."""
    paper = learner._gradient.paper
    if paper is None:
        return learner.classes.tolist(), None
    memory, index, kept = paper.memory, paper.index, paper.activations
    n, end = kept.n, memory.end
    return (
        learner.classes.tolist(),
        [array.tobytes() for array in paper.layer],
        (end, memory._rows[:end].tobytes(), memory._labels[:end].tolist()),
        np.flatnonzero(memory._alive).tolist(),
        (index._end, index._alive.tobytes()),
        [[array.tobytes() for array in table] for table in index._tables],
        (n, kept._a[:, :, :n].tobytes(), kept._products[:n, :n].tobytes()),
        paper.rng.bit_generator.state,
    )
