"""The running sums of a unit's steps against a dull count."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels
from minout.kernels import GradientStep, Sets, Tally

NEURONS, STORED = 2, 4
ROWS = st.sets(st.integers(0, STORED - 1)).map(sorted)


def ints(numbers):
    return np.array(numbers, dtype=np.int64)


@st.composite
def steps(draw):
    """Draws who was rehearsed, who won and how far, and the four sets around a step."""
    rows = [*draw(ROWS), STORED]
    winners = draw(st.lists(st.integers(0, NEURONS - 1), min_size=len(rows), max_size=len(rows)))
    amounts = draw(st.lists(st.integers(-3, 3), min_size=len(rows), max_size=len(rows)))
    return rows, winners, [amount / 8 for amount in amounts], [draw(ROWS) for _ in range(4)]


@given(st.lists(steps(), max_size=4))
def test_tally_equals_a_dull_count(walk):
    sums = Tally(
        np.zeros((NEURONS, STORED + 1)), *(np.zeros(STORED + 1, dtype=bool) for _ in range(3))
    )
    weight_changes = [[0.0] * (STORED + 1) for _ in range(NEURONS)]
    interfered, exact, rehearsed = set(), set(), set()
    for rows, winners, amounts, sets in walk:
        taken = GradientStep(ints(rows), ints(winners), np.array(amounts), ints([]))
        missed, leaked = kernels.tally(sums, taken, Sets(*(ints(each) for each in sets)))
        chosen = set(rows) - {STORED}
        for row, winner, amount in zip(rows, winners, amounts, strict=True):
            weight_changes[winner][row] += amount
        interfered |= set(sets[0])
        exact |= set(sets[1])
        rehearsed |= chosen
        assert missed == len(set(sets[1]) - chosen)
        assert leaked == bool((set(sets[2]) ^ set(sets[3])) - chosen)
    assert sums.weight_changes.tolist() == weight_changes
    for kept, truth in zip(sums[1:], (interfered, exact, rehearsed), strict=True):
        assert set(np.flatnonzero(kept).tolist()) == truth
