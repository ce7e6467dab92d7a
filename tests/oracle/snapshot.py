"""All that a learner keeps, copied to the last bit, so that "nothing changed" can be checked."""


def snapshot(learner):
    """Copies weights, memory, index, activations, products and the generator's state."""
    units = learner._units
    if units is None:
        return learner.classes.tolist(), None
    memory, index, kept = units.memory, units.index, units.activations
    n, end = kept.n, len(memory)
    return (
        learner.classes.tolist(),
        [array.tobytes() for array in units.layer],
        (end, memory._rows[:end].tobytes(), memory._labels[:end].tolist()),
        (index._end, index._alive.tobytes()),
        [[array.tobytes() for array in table] for table in index._tables],
        (n, kept._a[:, :, :n].tobytes(), kept._products[:n, :n].tobytes()),
        units.rng.bit_generator.state,
    )
