"""Estimate which labels are wrong, and how many, from scores of examples that are left out."""

from typing import NamedTuple

import numpy as np

from minout import maths
from minout._typing import Bools, Floats, Id, Ints, Label
from minout.core.calibration import probabilities
from minout.core.expected import doubt
from minout.core.left_out import in_order, left_out_scores
from minout.core.state import State

LIKELY = 0.5  # from this probability on a label is likely to be wrong
MOST_OVERLAP, MOST_DIFFERENT = 0.1, 0.25
"""Nothing is said if more than these shares of the examples look like another label: rightly, or
at all, since labels that overlap much look as if as many were wrong."""

ODD = 0.01
"""Intervals begin lower by this share of the examples: so many may have a right label and look like
another one, such as a driving school among schools, whatever the model of wrong labels says."""


class ClassErrors(NamedTuple):
    """The estimated number of wrong labels among the examples of one label.

    Attributes
    ----------
    wrong : float
        How many of its examples are expected to have another true label.
    low, high : int
        A 95 % interval of this number.
    examples : int
        The number of its stored examples.
    """

    wrong: float
    low: int
    high: int
    examples: int


class LabelErrors(NamedTuple):
    """The estimated number of wrong labels.

    Attributes
    ----------
    wrong : float
        How many stored examples are expected to have a wrong label: the sum of the probabilities
        in `suspects`.
    low, high : int
        A 95 % interval of this number, if the model of wrong labels is right (docs/theory.md). It
        begins lower by 1 % of the examples, and ends no earlier than at the number that get another
        label when they are left out.
    per_class : dict of label to ClassErrors
        The same for the examples of each label, in the order of the labels.
    reliable : bool
        Whether there is an estimate. If not, all counts but `examples` are NaN and `per_class` is
        empty.
    reason : str
        Why there is none: the labels overlap, or there are too few examples. "" if there is one.
    examples : int
        The number of stored examples.
    likely : int
        How many have a wrong label with a probability of 0.5 or more.
    """

    wrong: float
    low: float
    high: float
    per_class: dict[Label, ClassErrors]
    reliable: bool
    reason: str
    examples: int
    likely: float


class Suspect(NamedTuple):
    """A stored example whose label may be wrong.

    Attributes
    ----------
    id, label : int or str
        The example and the label that it has.
    probability : float
        The probability that this label is wrong: see docs/theory.md. NaN where the estimate cannot
        be trusted (`label_errors().reliable`); the order of the suspects holds all the same.
    suggested_label : int or str
        The most probable other label.
    slack : float
        The sum of its slacks over the separators of its region: the total by which its margins
        fall short of the target, 1.
    """

    id: Id
    label: Label
    probability: float
    suggested_label: Label
    slack: float


class TrueLabels(NamedTuple):
    """The probability of each label to be the true one, of all examples.

    `places` (n,) are in the order of their digests; `given` (n,) are the numbers of their labels in
    `names`, sorted, and `differs` (n,) says where the example gets another label when it is left
    out. `reason` is why none of this can be trusted, or "".
    """

    places: Ints
    given: Ints
    names: list[Label]
    noise: maths.LabelNoise
    differs: Bools
    reason: str

    @property
    def wrong(self) -> Floats:
        """The probability (n,) that each label is wrong."""
        rows = np.arange(len(self.given))
        return np.asarray(np.clip(1.0 - self.noise.posterior[rows, self.given], 0.0, 1.0))

    def suggested(self) -> Ints:
        """Return the number of the most probable other label of each example; needs two labels."""
        others = self.noise.posterior.copy()
        others[np.arange(len(self.given)), self.given] = -1.0
        return np.asarray(others.argmax(axis=1))


def left_out_probabilities(state: State) -> tuple[Ints, Floats]:
    """Return the places of all examples, ascending, and the label probabilities without them."""
    places = state.examples.places()
    scores = left_out_scores(state, places)
    if scores.shape[1] == 1:
        return places, np.ones_like(scores)
    return places, probabilities(scores, state.choice)


def true_labels(state: State) -> TrueLabels:
    """Return what the noise model says of all labels; there must be an example."""
    places, names = in_order(state), sorted(state.regions.names)
    labels = state.regions.order.owner[state.examples.regions[places]]
    if len(names) == 1:
        noise = maths.LabelNoise(np.ones((len(places), 1)), np.zeros(2), np.zeros(2))
        return TrueLabels(places, labels, names, noise, labels > 0, doubt(state))
    scores = left_out_scores(state, places)
    differs = scores.argmax(axis=1) != labels
    noise = maths.label_noise(scores, labels, state.choice.sharpness)
    found = TrueLabels(places, labels, names, noise, differs, doubt(state))
    return found if found.reason else found._replace(reason=_overlap(found))


def _overlap(found: TrueLabels) -> str:
    # Where labels overlap, no model tells wrong labels from right ones that look like others.
    differ = float(found.differs.mean())
    if differ <= MOST_DIFFERENT and differ - float(found.wrong.mean()) <= MOST_OVERLAP:
        return ""
    return (
        f"The labels overlap: {differ:.0%} of the examples get another label when they are left "
        "out. Wrong ones among them cannot be told."
    )


def label_probabilities(state: State) -> tuple[Ints, Floats]:
    """Return the places of all examples, ascending, and how probable each label is to be true.

    NaN where the estimate cannot be trusted, see `LabelErrors.reliable`.
    """
    found = true_labels(state)
    order = np.argsort(found.places)
    posterior = found.noise.posterior[order]
    return found.places[order], np.full_like(posterior, np.nan) if found.reason else posterior


def label_errors(state: State) -> LabelErrors:
    """Return the estimated number of wrong labels; there must be an example.

    As many labels may be wrong as examples get another one when they are left out.
    """
    reason = doubt(state)
    if not reason:
        found = true_labels(state)
        reason = found.reason
    if reason:
        nan = np.nan
        return LabelErrors(nan, nan, nan, {}, False, reason, state.count, nan)
    wrong, m = found.wrong, len(found.names)
    counts = np.bincount(found.given, wrong, m)
    sizes = np.bincount(found.given, minlength=m)
    differ = np.bincount(found.given, found.differs, m)
    least = np.maximum(found.noise.low - ODD * np.append(sizes, sizes.sum()), 0.0)
    low = np.floor(least).astype(int).tolist()
    most = np.maximum(found.noise.high, np.append(differ, differ.sum()))
    high = np.ceil(most).astype(int).tolist()
    per_class = {
        label: ClassErrors(float(counts[k]), low[k], high[k], int(sizes[k]))
        for k, label in enumerate(found.names)
    }
    likely = int(np.count_nonzero(wrong >= LIKELY))
    interval = low[m], high[m]
    return LabelErrors(float(wrong.sum()), *interval, per_class, True, "", len(wrong), likely)


def suspects(state: State, n: int | None, *, likely: bool = False) -> list[Suspect]:
    """Return at most n examples that have slack or are likely wrong, the most probable first.

    Examples of equal probability are in the order of their slack. With `likely`, only those whose
    labels are wrong with a probability of 0.5 or more, none where that cannot be told; None is no
    limit.
    """
    if len(state.labels) < 2:
        return []
    found = true_labels(state)
    wrong, slack = found.wrong, slacks(state)[found.places]
    first = np.lexsort((found.places, -slack, -wrong))
    listed = wrong >= LIKELY
    if likely:
        listed &= found.reason == ""
    else:
        listed |= slack > 0.0
    suggested = found.suggested()
    return [
        Suspect(
            state.examples.ids[int(found.places[i])],
            found.names[found.given[i]],
            np.nan if found.reason else float(wrong[i]),
            found.names[suggested[i]],
            float(slack[i]),
        )
        for i in first[listed[first]][:n].tolist()
    ]


def slacks(state: State) -> Floats:
    """Return the sum of the slacks of each example, by place."""
    total = np.zeros(state.examples.end)
    for pair in state.separators.stored():
        pool = state.separators[pair].pool
        slack = state.frame.choice.lam * pool.alpha / state.examples.weights[pool.places]
        np.add.at(total, pool.places, slack)
    return total
