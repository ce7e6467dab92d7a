"""The engine without a learner around it: states, and all that can be seen of them."""

import numpy as np

from minout import core
from oracle.margin import plain


def new_state(width, *, dtype="float64", **settings):
    """Return a state that nothing has been taught."""
    state = core.State(core.Settings(**settings), width, np.dtype(dtype))
    return state.replaced(widths=core.Widths(width, width))


def teach(state, x, label, example_id):
    """Teach one row, and return the step."""
    return core.teach(state, np.asarray(x, dtype=state.examples.dtype), label, example_id)


def taught_state(rows, labels, *, dtype="float64", **settings):
    """Return a state that was taught rows one by one, under the ids "e0", "e1", …."""
    state = new_state(np.shape(rows)[1], dtype=dtype, **settings)
    for i, (x, y) in enumerate(zip(rows, labels, strict=True)):
        state = teach(state, x, y, f"e{i}").state
    return state


def contents(state):
    """Return all that can be seen of a state, as plain values by name that can be compared."""
    examples, view = state.examples, core.inspect(state)._asdict()
    del view["images"]  # a cache
    places = examples.places()
    facts = {
        name: getattr(examples, name)[places].copy()
        for name in ("given", "digests", "weights", "times", "keys", "violations")
    }
    moved = None if state.last_move is None else core.partition(state)
    facts |= {"listed": dict(state.listed), "corrected": dict(state.corrected), "moved": moved}
    facts |= {name: getattr(state, name) for name in ("next_id", "taught", "settings", "widths")}
    return {name: plain(each) for name, each in {**view, **facts}.items()}
