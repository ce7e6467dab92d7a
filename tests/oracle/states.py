"""The engine without a learner around it: states, and the bytes of the file that they make."""

import copy
import tempfile
from pathlib import Path

import numpy as np

from minout import engine, model_file
from minout.features import Identity
from oracle.margin import IN_MEMORY


def new_state(width, *, dtype="float64", **settings):
    """Return a state that nothing has been taught."""
    return engine.State(engine.Settings(**settings), width, np.dtype(dtype))


def teach(state, x, label, example_id):
    """Teach one row, and return the change that did it."""
    delta = engine.teach(state, np.asarray(x, dtype=state.examples.dtype), label, example_id)
    delta = delta._replace(widths=engine.Widths(len(x), len(x)))
    engine.apply(state, delta)
    return delta


def taught_state(rows, labels, *, dtype="float64", **settings):
    """Return a state that was taught rows one by one, under the ids "e0", "e1", …."""
    state = new_state(np.shape(rows)[1], dtype=dtype, **settings)
    for i, (x, y) in enumerate(zip(rows, labels, strict=True)):
        teach(state, x, y, f"e{i}")
    return state


def written(state):
    """Return the bytes of the file that a state makes."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        model_file.write(Path(folder) / "model", Identity(state.examples.dtype.name), state)
        return (Path(folder) / "model").read_bytes()


def twin(state):
    """Return a copy that shares nothing with a state."""
    return copy.deepcopy(state)
