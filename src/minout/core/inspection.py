"""A read-only view of a learner's internals for tests and benchmarks, as plain copies.

This is the one documented view of the engine's state from outside; it is not part of the public
interface and may change with the engine.
"""

from typing import NamedTuple

from minout._typing import Floats, Id, Ints, Label
from minout.core.choice import Choice
from minout.core.frame import Schedule
from minout.core.moments import RunningMoments
from minout.core.regions import pairs_between, regions_of
from minout.core.state import State

Name = Label | tuple[Label, int]
"""A label, or one of its regions."""


class SeparatorView(NamedTuple):
    """The separator of regions (low, high): f(x) = w·(x - origin) + b, positive on low's side.

    `ids`, `signs` and `alpha` describe the rows of its pool; `prior_w` and `prior_b` are its
    prior; `misfits` are the ids on its wrong side, `pending` those that wait to be settled. The
    weights of a far pair are computed for this view.
    """

    w: Floats
    b: float
    ids: tuple[Id, ...]
    signs: Floats
    alpha: Floats
    prior_w: Floats
    prior_b: float
    misfits: tuple[Id, ...]
    pending: tuple[Id, ...]
    is_far: bool


class SumsView(NamedTuple):
    """The sums of x - shift over the rows with serial numbers below `seen`, by region number.

    If `stale`, rows have left since, or have other regions, and the sums do not hold. `scatter` is
    the sum of products over the rows with serial numbers below `scattered`; None if there is none.
    """

    seen: int
    stale: bool
    shift: Floats
    rows: Floats
    scattered: int
    scatter: Floats | None


class Inspection(NamedTuple):
    """A copy of a learner's internal state, for tests and benchmarks; it may change.

    `labels` has the label of each region, by number, and `names` what stands for the region here:
    its label if every label has one region, otherwise (label, number).
    """

    choice: Choice
    origin: Floats
    K: Floats
    precision: Floats | None
    labels: tuple[Label, ...]
    names: tuple[Name, ...]
    members: dict[Name, tuple[Id, ...]]
    separators: dict[tuple[Name, Name], SeparatorView]
    violations: dict[Id, int]
    schedule: Schedule
    counts: Floats
    images: int
    places: dict[Id, int]
    serials: dict[Id, int]
    sums: SumsView


def inspect(state: State) -> Inspection:
    """Return a copy of what a state holds."""
    regions, frame = state.regions, state.frame
    names: list[Name] = [*regions.labels]
    if len(regions) > len(regions.names):
        names = [(label, regions.index(c)) for c, label in enumerate(regions.labels)]
    (origin, K, precision, _), moments = frame.geometry, frame.moments
    stored = state.examples.places()
    counts: Ints = state.examples.violations[stored]
    return Inspection(
        frame.choice,
        origin.copy(),
        K.copy(),
        None if precision is None else precision.copy(),
        tuple(regions.labels),
        tuple(names),
        {
            name: state.names(members.places)
            for name, members in zip(names, regions.members, strict=True)
        },
        {
            (names[low], names[high]): _separator(state, pair)
            for pair in pairs_between(regions.order.owner)
            for low, high in [regions_of(pair)]
        },
        dict(zip(state.names(stored), counts.tolist(), strict=True)),
        frame.schedule,
        moments.counts.copy(),
        frame.images.count,
        dict(zip(state.names(stored), stored.tolist(), strict=True)),
        dict(zip(state.names(stored), state.examples.serials[stored].tolist(), strict=True)),
        _sums(moments),
    )


def _sums(moments: RunningMoments) -> SumsView:
    scatter = None if moments.scatter is None else moments.scatter.copy()
    shift, sums = moments.shift.copy(), moments.sums.copy()
    return SumsView(moments.seen, moments.stale, shift, sums, moments.scattered, scatter)


def _separator(state: State, pair: int) -> SeparatorView:
    _, _, pool, misfits, pending, *_ = state.separators[pair]
    w, b = state.weights(pair)
    return SeparatorView(
        w.copy(),
        b,
        state.names(pool.places),
        pool.signs.copy(),
        pool.alpha.copy(),
        *state.separators.scores.prior(pair),
        state.names(misfits),
        state.names(pending),
        not state.separators.scores.near[pair],
    )
