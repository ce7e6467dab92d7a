"""What a policy is told, built from a table of who is clipped where."""

import numpy as np
from hypothesis import strategies as st

from minout.paper import AtRisk
from oracle.sets import interfered

STRIDE = 3
"""Example e has the id 3·e, so that an id taken for a place shows."""


def ids(examples):
    return np.array(sorted(examples), dtype=np.int64) * STRIDE


@st.composite
def situations(draw):
    """Draws sets of clipped neurons, the neuron that each example moves, and the new one's."""
    neurons = draw(st.integers(1, 4))
    neuron = st.integers(0, neurons - 1)
    clipped = draw(st.lists(st.sets(neuron), max_size=6))
    winners = draw(st.lists(neuron, min_size=len(clipped), max_size=len(clipped)))
    return clipped, winners, draw(neuron)


def told(clipped, winners, neuron, *, previous=None, asked=None):
    """Gives what a policy sees; `asked` collects the sets of neurons that it asks about."""

    def ask(neurons):
        if asked is not None:
            asked.append(set(neurons.tolist()))
        return ids(interfered(clipped, set(neurons.tolist())))

    return AtRisk(
        neuron=neuron,
        ids=ids(interfered(clipped, {neuron})),
        stored=ids(range(len(clipped))),
        interfered=ask,
        winners=lambda examples: np.array(
            [winners[example // STRIDE] for example in examples], dtype=np.int64
        ),
        previous=previous,
    )
