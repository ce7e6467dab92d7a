"""Explain why a row gets its label: the separator that decides and its support vectors."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Id, Ints, Label
from minout.core.regions import pair_number
from minout.core.state import State
from minout.maths import by_column, slopes


class Support(NamedTuple):
    """A support vector and its term in a margin: positive for the label, negative against it."""

    id: Id
    label: Label
    weight: float


class Explanation(NamedTuple):
    """The separator that decides the label of a row, and the terms of its margin.

    Attributes
    ----------
    label : int or str
        The predicted label: the one with the highest score.
    runner_up : int or str or None
        The label against which the margin is smallest; None if there is only one label.
    region, runner_up_region : int
        The regions of the two labels that the separator stands between, numbered from 0.
    margin : float
        The margin against the runner-up: the sum of `prior`, `bias`, `forgotten` and the weights of
        `supports`.
    prior : float
        The term of the linear discriminant; 0 without `lda_prior`.
    bias : float
        The term of the bias.
    supports : tuple of Support
        The support vectors of the separator, the largest absolute weight first.
    forgotten : float
        The term of support vectors that have fallen out of the window since the separator was last
        solved; 0 without a window, and after `settle()`.
    scores : dict of label to float
        The smallest margin that the row would have with each label.
    separator : ndarray of shape (d,)
        By how much the margin rises with each column of the row: the weights of the separator, or
        with `expand` their slopes at the row. A positive number means that a higher value supports
        the label.
    at_mean : float
        The margin of a row that has the mean of every column.
    columns : ndarray of shape (d,)
        What each column adds to that margin, because its value differs from its mean: the margin is
        the sum of `at_mean` and `columns`. Hat functions and marks of missing values count for
        their column.
    """

    label: Label
    runner_up: Label | None
    region: int
    runner_up_region: int
    margin: float
    prior: float
    bias: float
    supports: tuple[Support, ...]
    forgotten: float
    scores: dict[Label, float]
    separator: Floats
    at_mean: float
    columns: Floats


class SupportVector(NamedTuple):
    """A support vector of a separator: a stored example and its dual coefficient α."""

    id: Id
    label: Label
    alpha: float


class PairSeparator(NamedTuple):
    """The separator between two labels a and b: the margin of x for a is `weights @ x + bias`.

    Here x is a row as `Learner.expanded` returns it: with `expand`, columns are followed by their
    hat functions.

    Attributes
    ----------
    weights : ndarray of shape (d,)
        A positive weight means that a higher value supports a.
    bias : float
        The constant term.
    supports : tuple of SupportVector
        The support vectors, the largest `alpha` first.
    """

    weights: Floats
    bias: float
    supports: tuple[SupportVector, ...]


@kernels.one_blas_thread()
def pair_separator(state: State, a: int, b: int) -> PairSeparator:
    """Return the separator between the regions numbered a and b, positive on the side of a."""
    side = 1.0 if a < b else -1.0
    pair = pair_number(a, b)
    pool, (w, bias) = state.separators[pair].pool, state.weights(pair)
    used = np.flatnonzero(pool.alpha > 0.0)
    supports = tuple(
        SupportVector(*each) for each in _ranked(state, pool.places[used], pool.alpha[used])
    )
    origin = state.frame.geometry.origin
    return PairSeparator(side * w, side * (bias - float(w @ origin)), supports)


@kernels.one_blas_thread()
def explain(state: State, x: Floats) -> Explanation:
    """Return the explanation of the label of a row x (d,)."""
    regions = state.regions
    given = state.examples.read(x[None])[0]
    x = state.expanded(x[None])[0]
    scores = state.region_scores(x[None])[0]
    winner_of = {  # of equal ones, the first
        label: max(regions.of(label), key=lambda c: scores[c]) for label in sorted(regions.names)
    }
    by_label = {label: float(scores[c]) for label, c in winner_of.items()}
    label = max(by_label, key=lambda each: by_label[each])
    if len(by_label) == 1:
        nothing = np.zeros(len(given))
        return Explanation(
            label, None, 0, 0, np.inf, 0.0, 0.0, (), 0.0, by_label, nothing, np.inf, nothing
        )
    winner = winner_of[label]
    margins = state.margins(x, winner)
    other = int(margins.argmin())
    side = 1.0 if winner < other else -1.0
    pair = pair_number(winner, other)
    pool, (w, b) = state.separators[pair].pool, state.weights(pair)
    used = np.flatnonzero(pool.alpha > 0.0)
    origin, K = state.frame.geometry[:2]
    z = x - origin
    image = z * K if K.ndim == 1 else K @ z
    rows = state.examples.table[pool.places[used]] - origin
    parts = side * pool.signs[used] * pool.alpha[used]
    weights = parts * (rows @ image)
    supports = tuple(Support(*each) for each in _ranked(state, pool.places[used], weights))
    of_prior = state.separators.scores.prior(pair)
    prior, bias = side * float(of_prior.w @ z + of_prior.b), float(parts.sum())
    rest = 0.0
    if state.separators[pair].left:
        rest = float(margins[other]) - prior - bias - float(weights.sum())
    return Explanation(
        label,
        regions.labels[other],
        regions.index(winner),
        regions.index(other),
        float(margins[other]),
        prior,
        bias,
        supports,
        rest,
        by_label,
        side * slopes(state.examples.expansion, w, given),
        side * b,
        by_column(state.examples.expansion, side * w * z, len(given)),
    )


def _ranked(state: State, places: Ints, values: Floats) -> Iterator[tuple[Id, Label, float]]:
    # Examples with a value each, the largest absolute value first.
    order = np.lexsort((places, -np.abs(values)))
    for place, value in zip(places[order].tolist(), values[order].tolist(), strict=True):
        yield state.examples.ids[place], state.label_at(place), value
