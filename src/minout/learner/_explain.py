"""Why a row gets its label: the separator that decided, and the stored examples it rests on."""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats
from minout.learner._margin import Margin
from minout.learner.certificate import Id, Label


class Support(NamedTuple):
    """Is a stored example's part in a decision: positive speaks for the label, negative against."""

    id: Id
    label: Label
    weight: float


class Explanation(NamedTuple):
    """Says which separator decided about a row, and why it says what it says.

    The row gets `label`, because the least of its unit's margins, `margin`, against `runner_up`, is
    the highest of all units' (`scores`). That margin is the sum of `prior`, what the linear
    discriminant says (0 where none is used), of `bias`, and of the weights of `supports`, the
    stored examples that the separator rests on, the weightiest first. `separator` holds its
    weights, one for each number of a row, positive where more of it speaks for the label. With one
    class there is nothing to decide: runner_up is None and the margin infinite.
    """

    label: Label
    runner_up: Label | None
    margin: float
    prior: float
    bias: float
    supports: tuple[Support, ...]
    scores: dict[Label, float]
    separator: Floats


@kernels.one_blas_thread()
def explain(margin: Margin, x: Floats) -> Explanation:
    """Takes the decision about a row x (d,) apart."""
    scores = margin.scores(x[None])[0]
    by_label = {label: float(scores[margin.class_of[label]]) for label in sorted(margin.labels)}
    label = max(by_label, key=lambda each: by_label[each])  # ties go to the first
    winner = margin.class_of[label]
    if len(margin.labels) == 1:
        return Explanation(label, None, np.inf, 0.0, 0.0, (), by_label, np.zeros(len(x)))
    margins = margin.margins(x, winner)
    other = int(margins.argmin())
    side = 1.0 if winner < other else -1.0
    pair = margin.pair_of(label, margin.labels[other])
    pool = margin.pools[pair]
    used = np.flatnonzero(pool.alpha > 0.0)
    z, K = x - margin.geometry.origin, margin.geometry.K
    image = z * K if K.ndim == 1 else K @ z
    rows = margin.memory.table[pool.places[used]] - margin.geometry.origin
    parts = side * pool.signs[used] * pool.alpha[used]
    weights = parts * (rows @ image)
    order = np.lexsort((pool.places[used], -np.abs(weights)))
    supports = tuple(
        Support(margin.ids[place], margin.label_at(place), float(weight))
        for place, weight in zip(pool.places[used][order].tolist(), weights[order], strict=True)
    )
    prior = side * float(pool.prior.w @ z + pool.prior.b)
    return Explanation(
        label,
        margin.labels[other],
        float(margins[other]),
        prior,
        float(parts.sum()),
        supports,
        by_label,
        side * margin.W[pair],
    )
