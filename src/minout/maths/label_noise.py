"""How many labels are wrong, and which: a noise model on leave-one-out scores.

Example i has scores s_i, made without it, and the given label y_i. With sharpness β its true label
is k with probability q_ik = softmax(β s_i)_k, and k is written as j with probability T_kj:

    P(y_i = j) = Σ_k q_ik T_kj,   P(true label is k | y_i = j) = q_ik T_kj / P(y_i = j).

T is found by expectation maximisation, β by its likelihood on a grid. Rows of T are shrunk towards
one rate ε of wrong labels for all: ε/(m - 1) to each of the m - 1 other labels, with the weight of
`PRIOR` examples. If classes merely overlap, a lower β explains the labels better than a higher ε.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints

PRIOR = 10.0  # so many examples is the weight of the common rate of wrong labels in each row of T
COARSE, FINE = np.geomspace(0.5, 8.0, 11), np.geomspace(0.8, 1.25, 10)
"""β is one of these multiples of the sharpness, or of the best of those."""
ROUNDS, LAST_ROUNDS = 12, 40  # steps of expectation maximisation for each β, and for the best one
CERTAIN = 1e-4  # an example with 1 - q below this counts as right while T is found
LEAST = 1e-6  # the least rate of wrong labels, so that there is always an order of the examples
DROP = 1.92  # half the 95 % quantile of χ² with one degree of freedom: for the interval
SCALES, MOST = np.geomspace(1e-3, 1e3, 61), 0.9
"""The interval comes from these multiples of the rate of wrong labels, up to this one."""


class LabelNoise(NamedTuple):
    """What the model says of n labels of m classes.

    posterior (n, m) is the probability of each class to be the true label; low and high (m + 1,)
    are 95 % intervals of the number of wrong labels, by given label and in all.
    """

    posterior: Floats
    low: Floats
    high: Floats


def label_noise(scores: Floats, labels: Ints, sharpness: float) -> LabelNoise:
    """Return the noise model of labels (n,), columns of finite leave-one-out scores (n, m ≥ 2).

    The sharpness is the factor of the scores for the probabilities of given labels.
    """
    fits, T = [], _uniform(0.01, scores.shape[1])
    for beta in sharpness * COARSE:
        fits.append(_fit(scores, labels, beta, T))
        T = fits[-1].T
    best = max(fits, key=_likelihood)
    fits += [_fit(scores, labels, best.beta * factor, best.T) for factor in FINE]
    best = max(fits, key=_likelihood)
    q = softmax(best.beta * scores)
    T, _ = _transitions(q, labels, best.T, LAST_ROUNDS)
    joint = q * T[:, labels].T
    likely = [each.counts for each in fits if each.likelihood >= best.likelihood - DROP]
    posterior = joint / joint.sum(axis=1, keepdims=True)
    return LabelNoise(posterior, *_intervals(joint, labels, np.array(likely)))


class _Fit(NamedTuple):
    """T for some β, the logarithm of its likelihood, and the numbers of wrong labels by label."""

    beta: float
    T: Floats
    likelihood: float
    counts: Floats


def _likelihood(fit: _Fit) -> float:
    return fit.likelihood


def _fit(scores: Floats, labels: Ints, beta: float, T: Floats) -> _Fit:
    q = softmax(beta * scores)
    T, likelihood = _transitions(q, labels, T, ROUNDS)
    wrong = _wrong(q * T[:, labels].T, labels)
    counts = np.bincount(labels, wrong, len(T)).astype(float)
    return _Fit(beta, T, likelihood, counts)


def softmax(scores: Floats) -> Floats:
    """Return the softmax of each row."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _wrong(joint: Floats, labels: Ints) -> Floats:
    # The probability that each label is wrong.
    right = joint[np.arange(len(joint)), labels] / joint.sum(axis=1)
    return np.asarray(np.maximum(1.0 - right, 0.0))


def _transitions(q: Floats, labels: Ints, T: Floats, rounds: int) -> tuple[Floats, float]:
    # T after some steps, and the logarithm of the likelihood before the last one.
    m, own = q.shape[1], q[np.arange(len(q)), labels]
    doubtful = np.flatnonzero(own < 1.0 - CERTAIN)
    doubtful = doubtful[np.argsort(labels[doubtful], kind="stable")]
    q, given = q[doubtful], labels[doubtful]
    present, starts = np.unique(given, return_index=True)
    right, total, likelihood = np.bincount(labels, minlength=m) + 0.0, len(labels), 0.0
    right -= np.bincount(given, minlength=m)
    for _ in range(rounds):
        joint = q * T[:, given].T
        each = joint.sum(axis=1)
        stays = float((right * np.log(np.diag(T))).sum())
        likelihood = float(np.log(each).sum()) + stays + _log_prior(T)
        counts = np.diag(right)
        if len(given):
            counts[:, present] += np.add.reduceat(joint / each[:, None], starts, axis=0).T
        base = _uniform(max(1.0 - float(np.trace(counts)) / total, LEAST), m)
        T = (counts + PRIOR * base) / (counts.sum(axis=1, keepdims=True) + PRIOR)
    return T, likelihood


def _log_prior(T: Floats) -> float:
    # Of the rows of T about their common rate.
    base = _uniform(LEAST + float(1.0 - np.diag(T).mean()), len(T))
    return PRIOR * float((base * np.log(T / base)).sum())


def _uniform(rate: float, m: int) -> Floats:
    rate = min(rate, (m - 1) / m)
    T = np.full((m, m), rate / (m - 1))
    np.fill_diagonal(T, 1.0 - rate)
    return T


def _intervals(joint: Floats, labels: Ints, likely: Floats) -> tuple[Floats, Floats]:
    # From other rates of wrong labels that are likely, other β that are (`likely` are the numbers
    # of wrong labels with these), and the chance in which labels are wrong at a given rate.
    m, p = joint.shape[1], _wrong(joint, labels)
    right, total = joint[np.arange(len(joint)), labels], joint.sum(axis=1)
    rate = min(max(float(p.mean()), LEAST), MOST)
    fits, expected = np.empty((2, len(SCALES), m))
    for i, other in enumerate(np.minimum(SCALES * rate, MOST)):
        wrong = (total - right) * other / rate
        both = wrong + right * (1.0 - other) / (1.0 - rate)
        fits[i], expected[i] = (np.bincount(labels, e, m) for e in (np.log(both), wrong / both))
    fits, expected, likely = _with_sum(fits), _with_sum(expected), _with_sum(likely)
    count, spread = _with_sum(np.array([np.bincount(labels, e, m) for e in (p, p * (1.0 - p))]))
    is_likely = fits >= fits.max(axis=0) - DROP
    off, chance = np.where(is_likely, expected - count, 0.0), 2.0 * DROP * spread
    below = np.square(off.min(axis=0)) + np.square(np.minimum(likely - count, 0.0).min(axis=0))
    above = np.square(off.max(axis=0)) + np.square(np.maximum(likely - count, 0.0).max(axis=0))
    sizes = np.append(np.bincount(labels, minlength=m), len(labels))
    low = np.maximum(count - np.sqrt(below + chance), 0.0)
    return low, np.minimum(count + np.sqrt(above + chance), sizes)


def _with_sum(columns: Floats) -> Floats:
    return np.column_stack([columns, columns.sum(axis=1)])
