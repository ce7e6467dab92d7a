"""Small streams to teach, and a policy that remembers what another one chose."""

import numpy as np


class Recording:
    """Chooses as another policy does, and keeps each choice."""

    def __init__(self, policy):
        self.policy, self.choices = policy, []

    def choose(self, at_risk, rng):
        chosen = self.policy.choose(at_risk, rng)
        self.choices.append(chosen.copy())
        return chosen

    def taken(self):
        """Hands over the choices made since it was last asked."""
        choices, self.choices = self.choices, []
        return choices


def stream(seed, *, examples=40, classes=3, features=8, parts=8):
    """Draws rows in multiples of 1/parts, about a centre for each class, sorted by label.

    The first row is 0: with biases of 0 every neuron ties there, and sits exactly on the hard clip.
    """
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(0, classes, examples))
    centres = rng.integers(-parts, parts + 1, (classes, features))
    rows = (centres[labels] + rng.integers(-parts, parts + 1, (examples, features))) / parts
    rows[0] = 0.0
    return rows, labels
